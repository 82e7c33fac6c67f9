"""Kernels of histograms, counts and sets: rows without negative entries."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import xlogy

from bochner._numerics.arrays import Array, InputRows, as_array, as_scalar_or_tuple, check_dim
from bochner.kernels.base import Kernel
from bochner.kernels.function import checked_rows, convert_fields
from bochner.kernels.profiled import NonNegative


def _as_shares(name: str, value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    shares = as_scalar_or_tuple(name, value)
    if not isinstance(shares, tuple) or min(shares) < 0.0 or not sum(shares) > 0.0:
        raise ValueError(
            f"{name} must have one number for each input, zero or more and not all zero, got "
            f"{value!r}."
        )
    return shares


@dataclass(frozen=True, slots=True, repr=False)
class Additive(Kernel):
    r"""The base of sums over columns, :math:`k(x, y) = \sum_i \kappa(x_i, y_i)`, of histograms.

    :math:`\kappa` is homogeneous, :math:`\kappa(x, y) = \sqrt{x y}\, K(\log x - \log y)`, and the
    spectrum of :math:`K` is that of the kernel's features.

    Parameters
    ----------
    shares : sequence of d floats, default=None
        Shares of the frequencies that columns have, in any unit; given, not learned. They change
        the accuracy of features only. ``None`` means that models take the means of the columns,
        which make the mean square error least, and equal shares where there are no data.
    """

    shares: tuple[float, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        convert_fields(self, shares=_as_shares)

    @abstractmethod
    def of_column(self, x: Array, y: Array) -> Array:
        r"""Return :math:`\kappa` for entries (n, 1) and (1, n2) of one column."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.zeros((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            K += self.of_column(x[:, None], y[None])
        return K

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        self.check_inputs(rows)
        return as_array(rows.sum(axis=1))

    def check_dim(self, dim: int) -> None:
        if self.shares is not None:
            check_dim("shares", self.shares, dim)

    def check_inputs(self, X: InputRows) -> None:
        NonNegative().check(X)

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        if rows is None or self.shares is not None or not rows.shape[0]:
            return self
        self.check_inputs(rows)
        means = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
        return replace(self, shares=tuple(means.tolist())) if means.any() else self


@dataclass(frozen=True, slots=True, repr=False)
class ChiSquared(Additive):
    r"""The additive :math:`\chi^2` kernel, :math:`k(x, y) = \sum_i 2 x_i y_i / (x_i + y_i)`.

    The kernel is :math:`\tfrac12 \sum_i (x_i + y_i) - \tfrac12 \chi^2(x, y)` with
    :math:`\chi^2(x, y) = \sum_i (x_i - y_i)^2 / (x_i + y_i)`. It is positive definite.

    Parameters
    ----------
    shares : sequence of d floats, default=None
        Shares of the frequencies that columns have; ``None`` means their means in the data.

    Raises
    ------
    ValueError
        If ``shares`` are negative or all zero; when called, if an entry is negative.

    References
    ----------
    Hein and Bousquet, "Hilbertian metrics and positive definite kernels on probability measures",
    2005; Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", 2012.

    Examples
    --------
    >>> from bochner.experimental import ChiSquared
    >>> ChiSquared()([[0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]).round(4)
    array([[1.    , 0.6667]])
    """

    def of_column(self, x: Array, y: Array) -> Array:
        total = x + y
        # The lesser entry first: products of small entries would underflow.
        share = np.divide(np.maximum(x, y), total, out=np.zeros_like(total), where=total > 0.0)
        return as_array(2.0 * np.minimum(x, y) * share)


@dataclass(frozen=True, slots=True, repr=False)
class Intersection(Additive):
    r"""The histogram intersection kernel, :math:`k(x, y) = \sum_i \min(x_i, y_i)`.

    Positive definite. The exponential of the distance that belongs to it,
    :math:`e^{-\gamma \sum_i |x_i - y_i|}`, is :class:`bochner.kernels.Laplacian`.

    Parameters
    ----------
    shares : sequence of d floats, default=None
        Shares of the frequencies that columns have; ``None`` means their means in the data.

    Raises
    ------
    ValueError
        If ``shares`` are negative or all zero; when called, if an entry is negative.

    References
    ----------
    Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", 2012.

    Examples
    --------
    >>> from bochner.experimental import Intersection
    >>> Intersection()([[0.5, 0.5]], [[0.5, 0.5], [0.75, 0.25]])
    array([[1.  , 0.75]])
    """

    def of_column(self, x: Array, y: Array) -> Array:
        return np.minimum(x, y)


@dataclass(frozen=True, slots=True, repr=False)
class JensenShannon(Additive):
    r"""The Jensen–Shannon kernel of histograms.

    .. math:: k(x, y) = \sum_i \tfrac12 x_i \log_2 \frac{x_i + y_i}{x_i}
              + \tfrac12 y_i \log_2 \frac{x_i + y_i}{y_i}

    For histograms that sum to one it is one minus the Jensen–Shannon divergence in bits. Positive
    definite.

    Parameters
    ----------
    shares : sequence of d floats, default=None
        Shares of the frequencies that columns have; ``None`` means their means in the data.

    Raises
    ------
    ValueError
        If ``shares`` are negative or all zero; when called, if an entry is negative.

    References
    ----------
    Hein and Bousquet, "Hilbertian metrics and positive definite kernels on probability measures",
    2005; Vedaldi and Zisserman, "Efficient additive kernels via explicit feature maps", 2012.

    Examples
    --------
    >>> from bochner.experimental import JensenShannon
    >>> JensenShannon()([[0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]).round(4)
    array([[1.    , 0.6887]])
    """

    def of_column(self, x: Array, y: Array) -> Array:
        total = x + y
        parts = xlogy(x, np.divide(total, x, out=np.ones_like(total), where=x > 0.0))
        parts += xlogy(y, np.divide(total, y, out=np.ones_like(total), where=y > 0.0))
        return as_array(0.5 / np.log(2.0) * parts)


@dataclass(frozen=True, slots=True, repr=False)
class Tanimoto(Kernel):
    r"""The Tanimoto kernel, :math:`k(x, y) = \sum_i \min(x_i, y_i) / \sum_i \max(x_i, y_i)`.

    For sets, given as rows of zeros and ones, it is the size of the intersection over that of the
    union (Jaccard); fingerprints of molecules and categories are such sets. For counts it is also
    called the min-max kernel or the weighted Jaccard index. Positive definite, and one where rows
    are equal, rows of zeros included.

    Features are random signs of hashes, see :class:`~bochner.experimental.Hashes`: for ``p`` of
    them the estimate has the variance :math:`(1 - k^2) / p`.

    Raises
    ------
    ValueError
        When called, if an entry is negative.

    References
    ----------
    Ralaivola, Swamidass, Saigo and Baldi, "Graph kernels for chemical informatics", 2005; Tripp,
    Bacallado, Singh and Hernández-Lobato, "Tanimoto random features for scalable molecular machine
    learning", 2023.

    Examples
    --------
    >>> from bochner.experimental import Tanimoto
    >>> Tanimoto()([[1, 1, 0]], [[1, 0, 0], [0, 1, 1], [0, 0, 1]]).round(4)
    array([[0.5   , 0.3333, 0.    ]])
    """

    def evaluate(self, X: Array, Y: Array) -> Array:
        difference = cdist(X, Y, "cityblock")
        total = X.sum(axis=1)[:, None] + Y.sum(axis=1)
        # Sums of minima and maxima are half of the total less or plus the difference.
        least, greatest = np.maximum(total - difference, 0.0), total + difference
        return as_array(np.divide(least, greatest, out=np.ones_like(total), where=greatest > 0.0))

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_inputs(rows)
        return np.ones(len(rows))

    def check_dim(self, dim: int) -> None:
        """Accept any number of inputs."""

    def check_inputs(self, X: InputRows) -> None:
        NonNegative().check(X)
