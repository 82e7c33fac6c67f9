"""Eigenvalues and singular values of a Gram matrix: inertia and effective rank."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigvalsh, svdvals

from bochner._base.arrays import Array

# Share of the sum that the values counted by rank_99 reach.
_RANK_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Spectrum:
    r"""Inertia and effective rank of a matrix with eigenvalues :math:`\lambda_i`.

    Attributes
    ----------
    n_positive, n_negative, n_zero : int
        The inertia: numbers of positive, negative and zero eigenvalues.
    tolerance : float
        Absolute value, relative to the largest one, up to which eigenvalues count as zero.
    negative_share : float
        :math:`\sum_{\lambda_i < 0} |\lambda_i| / \sum_i |\lambda_i|`, from 0 to 1.
    most_negative : float
        Smallest eigenvalue if it is negative, otherwise zero, relative to the largest absolute
        value; from −1 to 0.
    effective_rank : float
        :math:`(\sum_i |\lambda_i|)^2 / \sum_i \lambda_i^2`.
    rank_99 : int
        Smallest number of eigenvalues that make up 99 % of :math:`\sum_i |\lambda_i|`.
    """

    n_positive: int
    n_negative: int
    n_zero: int
    tolerance: float
    negative_share: float
    most_negative: float
    effective_rank: float
    rank_99: int

    @property
    def definiteness(self) -> str:
        """The text "positive semidefinite", "negative semidefinite", "indefinite" or "zero"."""
        if self.n_positive and self.n_negative:
            return "indefinite"
        if self.n_negative:
            return "negative semidefinite"
        return "positive semidefinite" if self.n_positive else "zero"


def spectrum_of(gram: Array, tolerance: float = 1e-10) -> Spectrum:
    """Return the inertia and effective rank of the symmetric part of a finite matrix (n, n).

    ``tolerance`` is relative to the largest absolute eigenvalue.
    """
    scale = float(np.abs(gram).max(initial=0.0)) or 1.0
    symmetric: Array = (0.5 / scale) * (gram + gram.T)
    values: Array = np.asarray(eigvalsh(symmetric), dtype=np.float64)
    size = -np.sort(-np.abs(values))
    total, least = float(size.sum()), tolerance * float(size[0])
    negative = values < -least
    effective_rank, rank_99 = _ranks(size)
    return Spectrum(
        n_positive=int(np.count_nonzero(values > least)),
        n_negative=int(np.count_nonzero(negative)),
        n_zero=int(np.count_nonzero(np.abs(values) <= least)),
        tolerance=tolerance,
        negative_share=float(-values[negative].sum()) / (total or 1.0),
        most_negative=float(values[negative].min(initial=0.0)) / (float(size[0]) or 1.0),
        effective_rank=effective_rank,
        rank_99=rank_99,
    )


@dataclass(frozen=True, slots=True)
class SingularValues:
    r"""Effective rank of a matrix with singular values :math:`\sigma_i`.

    Attributes
    ----------
    effective_rank : float
        :math:`(\sum_i \sigma_i)^2 / \sum_i \sigma_i^2`.
    rank_99 : int
        Smallest number of singular values that make up 99 % of :math:`\sum_i \sigma_i`.
    """

    effective_rank: float
    rank_99: int


def singular_values_of(gram: Array) -> SingularValues:
    """Return the effective rank of a finite matrix (n, n2), symmetric or not."""
    scale = float(np.abs(gram).max(initial=0.0)) or 1.0
    return SingularValues(*_ranks(np.asarray(svdvals(gram / scale), dtype=np.float64)))


def _ranks(size: Array) -> tuple[float, int]:
    """Return the effective rank and the number of largest values that sum to 99 % of the total."""
    total = float(size.sum())
    effective = total**2 / (float(size @ size) or 1.0)
    most = int(np.searchsorted(np.cumsum(size), _RANK_SHARE * total)) + 1 if total else 0
    return effective, most
