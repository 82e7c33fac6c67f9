"""Bugs of learning in Krein spaces, each with the law that must notice it."""

from dataclasses import replace

import numpy as np
from laws import head_laws
from mutants.planted import Mutant

from bochner.learning import krein
from bochner.learning.krein import KreinSpectrum


def solution_without_signature(patch):
    patch.setattr(krein, "_system", lambda gram, signature, alpha: gram + alpha * np.eye(len(gram)))


def signature_on_the_wrong_side(patch):
    patch.setattr(
        krein,
        "_system",
        lambda gram, signature, alpha: signature[:, None] * gram + alpha * np.eye(len(gram)),
    )


def flipped_alpha(patch):
    system = krein._system
    patch.setattr(krein, "_system", lambda gram, signature, alpha: system(gram, signature, -alpha))


def intercept_without_means(patch):
    patch.setattr(
        krein,
        "origin",
        lambda sums, centred: (0.0 * sums.features, sums.targets / sums.weight),
    )


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


def poles_at_positive_eigenvalues(patch):
    patch.setattr(
        KreinSpectrum,
        "is_pole",
        lambda self, alpha: bool(np.any(np.abs(self.values - alpha) < 1e-6 * alpha)),
    )


def degrees_that_cancel(patch):
    """The trace of H, in which eigenvalues of opposite signs cancel."""
    score = KreinSpectrum.score

    def cancelling(self, alpha):
        hat = self.values / (self.values + alpha)
        lost = float(np.sum(np.abs(hat)) - np.sum(hat))
        return score(replace(self, degrees=self.degrees + lost), alpha)

    patch.setattr(KreinSpectrum, "score", cancelling)


def intercept_for_nothing(patch):
    score = KreinSpectrum.score
    patch.setattr(
        KreinSpectrum,
        "score",
        lambda self, alpha: score(replace(self, degrees=self.sums.weight), alpha),
    )


def residual_explained_twice(patch):
    """y'y - 2 b'w + w'Gw without its last term."""

    def score(self, alpha):
        hat = self.values / (self.values + alpha)
        residual = np.maximum(self.sums.square - 2.0 * hat @ self.squares, 1e-12)
        left = self.degrees - float(np.sum(np.abs(hat)))
        if left <= 0.0:
            return np.inf
        return float(np.mean(np.log(self.sums.weight * residual))) - 2.0 * float(np.log(left))

    patch.setattr(KreinSpectrum, "score", score)


MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(plant.__name__, plant, checks)
    for plant, checks in {
        solution_without_signature: (head_laws.check_krein, lambda: head_laws.check_krein(m=35)),
        signature_on_the_wrong_side: (head_laws.check_krein,),
        flipped_alpha: (head_laws.check_krein, lambda: head_laws.check_krein(negative=False)),
        intercept_without_means: (lambda: head_laws.check_krein(fit_intercept=True),),
        spectrum_without_signature: (head_laws.check_poles, head_laws.check_cross_validation),
        poles_at_positive_eigenvalues: (head_laws.check_poles,),
        degrees_that_cancel: (head_laws.check_cross_validation,),
        intercept_for_nothing: (lambda: head_laws.check_cross_validation(fit_intercept=True),),
        residual_explained_twice: (head_laws.check_cross_validation,),
    }.items()
)
