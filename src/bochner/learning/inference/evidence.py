"""The Gaussian evidence of a set of frequencies, from sums over rows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack

from bochner._numerics.arrays import Array
from bochner.learning.inference.noise import Noise
from bochner.learning.inference.summed import SummedRows, part_features
from bochner.learning.inference.training_data import TrainingData

KEPT_BYTES = 2**30
"""Features of all rows are kept between moves up to this size, all copies together."""

_LEAST: Mapping[Any, float] = MappingProxyType({np.float64: 1e-11, np.float32: 2e-6})
"""The least precision as a share of the sum of squares of all features."""


@dataclass(slots=True, eq=False)
class Evidence:
    r"""Frequencies, the sums over rows that belong to them, and their posterior.

    With :math:`A = \Phi^\top W \Phi + \Lambda_0`, :math:`\Lambda_0 = \lambda_0 I` on features and
    zero on fixed columns, the weights have the posterior mean :math:`u = A^{-1} b` and the
    covariance :math:`\sigma^2 P`, :math:`P = A^{-1}`. Arrays belong to the state and are
    overwritten by the moves.
    """

    omega: Array  # (k, D): Units of the rows' basis: for plain waves, their frequencies
    n_waves: int  # m, in which they result
    gram: Array  # (p, p): Phi' W Phi, p = 2m + q
    cross: Array  # (p,): b = Phi' W y
    square: float  # y' W y
    degrees: float  # Rows, each as often as its weight says, less fixed columns
    noise: Noise
    precision: float  # lambda_0, the ratio of noise variance to weight variance
    covariance: Array  # (p, p): P
    mean: Array  # (p,): u
    explained: float  # q = b . u
    log_determinant: float  # log |A|
    least_precision: float  # least lambda_0 at which rounding leaves A positive definite
    features: NDArray[Any] | None  # (p, n) of all rows, where they are kept

    def posterior_precision(self, precision: float | None = None) -> Array:
        """Return :math:`A` (p, p) in Fortran order, here or at another ``precision``."""
        A = self.gram.copy(order="F")
        ridge = np.arange(2 * self.n_waves)
        A[ridge, ridge] += self.precision if precision is None else precision
        return A

    @property
    def residual(self) -> float:
        """``square - explained``, twice the rate that the fit leaves to the noise."""
        return max(self.square - self.explained, 0.0)

    def log_evidence(
        self, explained: float | None = None, log_determinant: float | None = None
    ) -> float:
        """Return equation (14) of the paper up to a constant, here or at other values."""
        q = self.explained if explained is None else explained
        logdet = self.log_determinant if log_determinant is None else log_determinant
        fit = self.noise.log_likelihood(max(self.square - q, 0.0), self.degrees)
        return self.n_waves * float(np.log(self.precision)) - 0.5 * logdet + fit


def evidence_of(
    rows: SummedRows,
    omega: Array,
    precision: float,
    noise: Noise,
    *,
    keep: bool | None = None,
    n_copies: int = 1,
    features: NDArray[Any] | None = None,
    degrees: float | None = None,
) -> Evidence:
    """Return the evidence of ``omega`` (k, D), from one pass over the rows.

    ``keep`` says whether to keep the features of all rows, ``None`` to do so where ``n_copies`` of
    them are small; ``features`` are those of ``omega`` where they are known, ``degrees`` those
    of the noise where weights of rows do not count them.
    """
    n_waves = rows.basis.n_waves(len(omega))
    p = 2 * n_waves + rows.n_fixed
    if keep is None:
        keep = n_copies * p * rows.n_samples * rows.dtype.itemsize <= KEPT_BYTES
    known = features is not None
    if keep and not known:
        features = rows.room(p)
    gram, cross = rows.total(part_sums, omega, known, along=(features,), n_features=p)
    unsolved = Evidence(
        omega=omega.copy(),
        n_waves=n_waves,
        gram=gram,
        cross=cross,
        square=rows.total_square,
        degrees=rows.total_weight - rows.n_fixed if degrees is None else degrees,
        noise=noise,
        precision=precision,
        covariance=np.empty((0, 0)),
        mean=np.empty(0),
        explained=0.0,
        log_determinant=0.0,
        least_precision=_LEAST[rows.dtype.type] * float(np.trace(gram)),
        features=features,
    )
    return solved(unsolved, max(precision, unsolved.least_precision))


def solved(evidence: Evidence, precision: float) -> Evidence:
    """Return the evidence with its posterior computed afresh from the sums.

    Sums that are not positive definite at this precision raise ``numpy.linalg.LinAlgError``.
    """
    lower, log_determinant = _factor(evidence, precision)
    covariance, info = lapack.dpotri(lower, lower=1, overwrite_c=1)
    if info != 0:
        raise LinAlgError("The posterior precision of the weights is singular.")
    covariance = np.tril(covariance)
    covariance += np.tril(covariance, -1).T
    mean: Array = covariance @ evidence.cross
    return replace(
        evidence,
        precision=precision,
        covariance=np.asfortranarray(covariance),
        mean=mean,
        explained=float(evidence.cross @ mean),
        log_determinant=log_determinant,
    )


def log_evidence_at(evidence: Evidence, precision: float) -> float:
    """Return the log evidence of the same frequencies at another ``precision``."""
    lower, log_determinant = _factor(evidence, precision)
    half, _ = lapack.dtrtrs(lower, evidence.cross, lower=1)
    return replace(evidence, precision=precision).log_evidence(float(half @ half), log_determinant)


def part_sums(
    part: TrainingData, Z: NDArray[Any] | None, omega: Array, known: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the Gram matrix and the cross products of a part of the rows.

    ``Z`` are their features, if ``known``, or where to keep them, if anywhere.
    """
    made = part_features(part, omega, Z if known else None)
    if Z is not None and not known:
        Z[:] = made
    weighted = made if part.weight is None else made * part.weight.astype(made.dtype)
    return weighted @ made.T, made @ part.target.astype(made.dtype)


def _factor(evidence: Evidence, precision: float) -> tuple[Array, float]:
    lower, info = lapack.dpotrf(evidence.posterior_precision(precision), lower=1, overwrite_a=1)
    if info != 0:
        raise LinAlgError(
            "The posterior precision of the weights is not positive definite at "
            f"lambda_0 = {precision:.3g}."
        )
    return lower, 2.0 * float(np.sum(np.log(np.diagonal(lower))))
