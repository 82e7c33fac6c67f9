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


@replaces(krein, "_system", head_laws.check_krein)
def signature_on_the_wrong_side(gram, signature, alpha):
    return signature[:, None] * gram + alpha * np.eye(len(gram))


@changes(krein, "_system", head_laws.check_krein, lambda: head_laws.check_krein(negative=False))
def flipped_alpha(system, gram, signature, alpha):
    return system(gram, signature, -alpha)


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


@replaces(KreinSpectrum, "is_pole", head_laws.check_poles)
def poles_at_positive_eigenvalues(self, alpha):
    return bool(np.any(np.abs(self.values - alpha) < 1e-6 * alpha))


@changes(KreinSpectrum, "score", head_laws.check_cross_validation)
def degrees_that_cancel(score, self, alpha):
    """The trace of H, in which eigenvalues of opposite signs cancel."""
    hat = self.values / (self.values + alpha)
    lost = float(np.sum(np.abs(hat)) - np.sum(hat))
    return score(replace(self, degrees=self.degrees + lost), alpha)


@changes(KreinSpectrum, "score", lambda: head_laws.check_cross_validation(fit_intercept=True))
def intercept_for_nothing(score, self, alpha):
    return score(replace(self, degrees=self.sums.weight), alpha)


@replaces(KreinSpectrum, "score", head_laws.check_cross_validation)
def residual_explained_twice(self, alpha):
    """y'y - 2 b'w + w'Gw without its last term."""
    hat = self.values / (self.values + alpha)
    residual = np.maximum(self.sums.square - 2.0 * hat @ self.squares, 1e-12)
    left = self.degrees - float(np.sum(np.abs(hat)))
    if left <= 0.0:
        return np.inf
    return float(np.mean(np.log(self.sums.weight * residual))) - 2.0 * float(np.log(left))


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
