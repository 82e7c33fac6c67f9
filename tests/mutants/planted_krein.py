"""Bugs of learning in Krein spaces, each with the law that must notice it."""

from dataclasses import replace

import numpy as np
from laws import head_laws
from mutants.registry import planted

from bochner.learning import krein
from bochner.learning.krein import KreinSpectrum


@planted(head_laws.check_krein, lambda: head_laws.check_krein(m=35))
def solution_without_signature(patch):
    patch.setattr(krein, "_system", lambda gram, signature, alpha: gram + alpha * np.eye(len(gram)))


@planted(head_laws.check_krein)
def signature_on_the_wrong_side(patch):
    patch.setattr(
        krein,
        "_system",
        lambda gram, signature, alpha: signature[:, None] * gram + alpha * np.eye(len(gram)),
    )


@planted(head_laws.check_krein, lambda: head_laws.check_krein(negative=False))
def flipped_alpha(patch):
    system = krein._system
    patch.setattr(krein, "_system", lambda gram, signature, alpha: system(gram, signature, -alpha))


@planted(lambda: head_laws.check_krein(fit_intercept=True))
def intercept_without_means(patch):
    patch.setattr(
        krein, "origin", lambda sums, centred: (0.0 * sums.features, sums.targets / sums.weight)
    )


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


@planted(head_laws.check_poles)
def poles_at_positive_eigenvalues(patch):
    patch.setattr(
        KreinSpectrum,
        "is_pole",
        lambda self, alpha: bool(np.any(np.abs(self.values - alpha) < 1e-6 * alpha)),
    )


@planted(head_laws.check_cross_validation)
def degrees_that_cancel(patch):
    """The trace of H, in which eigenvalues of opposite signs cancel."""
    score = KreinSpectrum.score

    def cancelling(self, alpha):
        hat = self.values / (self.values + alpha)
        lost = float(np.sum(np.abs(hat)) - np.sum(hat))
        return score(replace(self, degrees=self.degrees + lost), alpha)

    patch.setattr(KreinSpectrum, "score", cancelling)


@planted(lambda: head_laws.check_cross_validation(fit_intercept=True))
def intercept_for_nothing(patch):
    score = KreinSpectrum.score
    patch.setattr(
        KreinSpectrum,
        "score",
        lambda self, alpha: score(replace(self, degrees=self.sums.weight), alpha),
    )


@planted(head_laws.check_cross_validation)
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
