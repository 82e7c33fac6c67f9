"""Kernels of integer codes 0, 1, ..., L - 1, for categories and for ordered levels."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from bochner._base.arrays import (
    Array,
    InputRows,
    LengthScale,
    as_array,
    as_count,
    as_positive,
    as_scalar_or_tuple,
    column_extremes,
)
from bochner.kernels.base import Kernel
from bochner.kernels.distances import decay
from bochner.kernels.kernel_parameters import POSITIVE, PROPORTION, Interval, convert_fields
from bochner.kernels.stationary import LagKernel

Counts = int | tuple[int, ...] | None

_MOST_LEVELS = 2**20
"""Largest number of levels of one input with features: more are identifiers and take gigabytes."""

_FEWEST_LEVELS = 2  # Least number of levels that have a correlation
_ROUNDING = 1e-12
"""Largest rounding error of weights that sum to one, a hundred times that of a million levels."""


@dataclass(frozen=True, slots=True, repr=False)
class Levels(LagKernel):
    """Base of kernels on integer codes of levels, which are products of one kernel per input."""

    n_levels: Counts = field(default=None, kw_only=True)

    per_input: ClassVar[tuple[str, ...]] = ("n_levels",)

    @abstractmethod
    def correlations(self, differences: Array, index: int) -> Array:
        """Return the kernel of input ``index`` at ``differences`` of codes, as a new array."""

    @abstractmethod
    def period(self, n_levels: int) -> int:
        """Return the period, in codes, of the features of an input with ``n_levels`` levels."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.ones((len(X), len(Y)))
        for index, (x, y) in enumerate(zip(X.T, Y.T, strict=True)):
            K *= self.correlations(np.abs(np.subtract.outer(x, y)), index)
        return K

    def check_inputs(self, X: InputRows) -> None:
        rows: Any = X  # A sparse matrix omits entries that are the code zero
        codes = as_array(rows.data if hasattr(X, "indptr") else rows)
        if not codes.size:
            return
        outside = (codes < 0.0) | (codes != np.round(codes))
        if outside.any():
            invalid_code = float(codes[outside][0])
            raise ValueError(
                f"{type(self).__name__} takes codes 0, 1, 2 and so on, got {invalid_code}. "
                f"sklearn.preprocessing.OrdinalEncoder makes codes of text and other values."
            )
        if self.n_levels is None:
            return
        self.check_dim(X.shape[1])
        greatest = column_extremes(X)[1]
        over = np.flatnonzero(greatest >= np.broadcast_to(self.n_levels, X.shape[1]))
        if over.size:
            raise ValueError(
                f"{self!r} has no level {greatest[over[0]]:g}. Give n_levels for all the levels "
                f"that there may be, those of later rows included: "
                f"n_levels={int(greatest[over[0]]) + 1} or more."
            )

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        if rows is None or self.n_levels is not None:
            return self
        self.check_inputs(rows)
        greatest = column_extremes(rows)[1]
        _check_count(greatest.max() + 1.0, f"X has the code {greatest.max():g}")
        return replace(self, n_levels=tuple(int(code) + 1 for code in greatest))

    def lines(self, dim: int) -> list[tuple[Array, Array]]:
        r"""Return lines of each of ``dim`` inputs: :math:`\sum_k w_k \cos(2 \pi k \Delta / P)`."""
        if self.n_levels is None:
            raise ValueError(
                f"The spectrum of {self!r} depends on how many levels there are: give n_levels, or "
                f"fit FourierFeatures or another model, which count them."
            )
        self.check_dim(dim)
        counts = np.broadcast_to(self.n_levels, dim).tolist()
        _check_count(max(counts), f"n_levels is {max(counts)}")
        return [self._lines_of(index, count) for index, count in enumerate(counts)]

    def _lines_of(self, index: int, n_levels: int) -> tuple[Array, Array]:
        period = self.period(n_levels)
        steps = np.arange(period)
        values = self.correlations(as_array(np.minimum(steps, period - steps)), index)
        weights = np.fft.rfft(values).real / period
        weights[1 : (period + 1) // 2] *= 2.0  # doubled for the opposite frequency
        if weights.min() < -_ROUNDING:
            raise ValueError(
                f"{self!r} is not positive definite with {n_levels} levels; its correlation must "
                f"be at least -1 / (n_levels - 1) = {-1.0 / (n_levels - 1):.6g}."
            )
        frequencies = 2.0 * np.pi / period * np.arange(len(weights))
        return as_array(frequencies), as_array(np.maximum(weights, 0.0))


@dataclass(frozen=True, slots=True, repr=False)
class Categorical(Levels):
    r"""The kernel of categories: one for equal categories, else a constant correlation.

    .. math:: k(x, y) = \prod_i \big(\rho_i + (1 - \rho_i)\, [x_i = y_i]\big)

    The effects of the levels of an input are exchangeable: any two have the correlation
    :math:`\rho_i`. With :math:`\rho = 0`, the overlap kernel, levels are independent. Features are
    exact, cosines and sines of :math:`2 \pi k x / L` for codes ``x`` of ``L`` levels, if there is
    a frequency for each :math:`k \leq L / 2` and one input.

    Parameters
    ----------
    correlation : float or sequence of d floats, default=0.0
        :math:`\rho`, from :math:`-1 / (L - 1)` to one. Values at these ends are not learned.
    n_levels : int or sequence of d ints, default=None
        Number of levels of every input, given; ``None`` means one more than the greatest code.

    References
    ----------
    Roustant, Padonou, Deville, Clément, Perrin, Giorla and Wynn, "Group kernels for Gaussian
    process metamodels with categorical inputs", 2020, where it is called compound symmetry.

    Examples
    --------
    >>> from bochner.kernels import Categorical
    >>> Categorical(correlation=0.2)([[0.0], [1.0], [2.0]], [[1.0]])
    array([[0.2],
           [1. ],
           [0.2]])
    """

    correlation: LengthScale = 0.0

    per_input = ("n_levels", "correlation")
    parameter_domains = MappingProxyType({"correlation": PROPORTION})

    def domain_of(self, name: str) -> Interval | None:
        n_levels = 0 if self.n_levels is None else int(np.max(self.n_levels))
        if name != "correlation" or n_levels < _FEWEST_LEVELS:
            return Levels.domain_of(self, name)
        # Least correlation for which the kernel is positive definite.
        return Interval(-1.0 / (n_levels - 1), 1.0)

    def __post_init__(self) -> None:
        convert_fields(self, correlation=as_scalar_or_tuple, n_levels=_as_counts)
        if not -1.0 <= np.min(self.correlation) <= np.max(self.correlation) <= 1.0:
            raise ValueError(f"correlation must lie between -1 and 1, got {self.correlation!r}.")

    def correlations(self, differences: Array, index: int) -> Array:
        return np.where(differences == 0.0, 1.0, _of(self.correlation, index))

    def period(self, n_levels: int) -> int:
        return n_levels


@dataclass(frozen=True, slots=True, repr=False)
class Ordinal(Levels):
    r"""The kernel of ordered levels, :math:`k(x, y) = \exp(-\sum_i |x_i - y_i| / \ell_i)`.

    Neighbouring levels have the correlation :math:`e^{-1/\ell}`. The correlation of other levels is
    the product of the correlations between them: the effect is a first-order autoregression along
    the levels. On codes the kernel equals :class:`Laplacian`, but its features are exact: the
    spectrum of ``L`` levels is that of a circle of :math:`2 (L - 1)` points, half of which are the
    levels.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, in levels.
    n_levels : int or sequence of d ints, default=None
        Number of levels of every input, given; ``None`` means one more than the greatest code.

    References
    ----------
    Qian, Wu and Wu, "Gaussian process models for computer experiments with qualitative and
    quantitative factors", 2008, for levels as places on a line. Dietrich and Newsam,
    "Fast and exact simulation of stationary Gaussian processes through circulant embedding of the
    covariance matrix", 1997, for the circle: convex decreasing functions stay positive definite.

    Examples
    --------
    >>> from bochner.kernels import Ordinal
    >>> Ordinal(2.0)([[0.0]], [[0.0], [1.0], [2.0]]).round(4)
    array([[1.    , 0.6065, 0.3679]])
    """

    length_scale: LengthScale = 1.0

    per_input = ("n_levels", "length_scale")
    parameter_domains = MappingProxyType({"length_scale": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, length_scale=as_positive, n_levels=_as_counts)

    def correlations(self, differences: Array, index: int) -> Array:
        return decay(differences.copy(), 1.0 / _of(self.length_scale, index))

    def period(self, n_levels: int) -> int:
        return max(2 * (n_levels - 1), 1)


def _check_count(n_levels: float, actual: str) -> None:
    if n_levels > _MOST_LEVELS:
        raise ValueError(
            f"Features are for at most {_MOST_LEVELS} levels of an input, and {actual}. Number the "
            f"levels that occur; sklearn.preprocessing.OrdinalEncoder does."
        )


def _of(values: LengthScale, index: int) -> float:
    return values[index] if isinstance(values, tuple) else values


def _as_counts(name: str, value: object) -> Counts:
    if value is None:
        return None
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(as_count(name, count) for count in value)
    return as_count(name, value)
