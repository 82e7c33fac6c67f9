"""Bugs of learning in Krein spaces, each with the law that must notice it."""

from dataclasses import replace

import numpy as np
from laws import head_laws
from linear import test_krein, test_krein_ridge_classifier
from mutants.registry import changes, planted, replaces

from bochner.linear import krein, krein_ridge_classifier
from bochner.linear.krein import KreinSpectrum


@replaces(krein, "_system", head_laws.check_krein, lambda: head_laws.check_krein(m=35))
def solution_without_signature(gram, signature, alpha):
    return gram + alpha * np.eye(len(gram))


@planted(head_laws.check_poles, head_laws.check_cross_validation)
def spectrum_without_signature(patch):
    original = KreinSpectrum.of.__func__
    patch.setattr(
        KreinSpectrum,
        "of",
        classmethod(
            lambda cls, sums, signature, degrees: original(
                cls, sums, np.ones_like(signature), degrees
            )
        ),
    )


@changes(KreinSpectrum, "score", lambda: head_laws.check_cross_validation(fit_intercept=True))
def intercept_for_nothing(score, self, alpha):
    return score(replace(self, degrees=self.sums.weight), alpha)


@replaces(
    krein_ridge_classifier,
    "_are_of_classes",
    test_krein_ridge_classifier.test_weights_of_classes_are_no_counts,
)
def whole_weights_of_classes_are_counts(rows):
    return False


@replaces(KreinSpectrum, "distance", test_krein.test_alpha_close_to_a_pole_is_used_with_a_warning)
def absolute_distance_from_poles(self, alpha):
    return float(np.min(np.abs(self.poles - alpha), initial=np.inf))
