"""Kernels defined by a user's function of a distance, an inner product or a lag."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array, InputRows, as_array, row_blocks, squared_norms
from bochner._base.limits import FUNCTION_ROUNDING
from bochner.kernels.base import Kernel
from bochner.kernels.kernel_parameters import checked_rows
from bochner.kernels.stationary import LagKernel

NORM_TOLERANCE = 1e-5
"""Tolerance of the unit norm of rows; rounding to float32 stays far below."""


class Domain(ABC):
    """Base of domains: sets of inputs on which kernels are defined."""

    __slots__ = ()

    @abstractmethod
    def check(self, X: InputRows) -> None:
        """Raise ``ValueError`` unless finite rows (n, d), dense or CSR, are in the domain."""


@dataclass(frozen=True, slots=True)
class RealSpace(Domain):
    """All inputs."""

    def check(self, X: InputRows) -> None:
        """Accept every input."""


@dataclass(frozen=True, slots=True)
class UnitSphere(Domain):
    """Inputs of Euclidean norm one, to within 1e-5."""

    def check(self, X: InputRows) -> None:
        norms: Array = np.sqrt(squared_norms(X))
        outside = np.flatnonzero(np.abs(norms - 1.0) > NORM_TOLERANCE)
        if outside.size:
            row = int(outside[0])
            raise ValueError(
                f"This kernel is defined on the unit sphere, but row {row} has norm "
                f"{norms[row]:.8g}. Normalise the rows, for example with "
                f"sklearn.preprocessing.Normalizer(), or use DotProduct(function) for inputs of "
                f"any norms."
            )


@dataclass(frozen=True, slots=True)
class NonNegative(Domain):
    """Inputs without a negative entry."""

    def check(self, X: Any) -> None:
        rows, columns = (X < 0).nonzero()
        if rows.size:
            row, column = int(rows[0]), int(columns[0])
            raise ValueError(
                f"This kernel is defined on inputs that are zero or more, but row {row} has "
                f"{X[row, column]:.8g} in column {column}. Move the columns up, for example with "
                f"sklearn.preprocessing.MinMaxScaler(clip=True)."
            )


@unique
class Metric(Enum):
    """The function of two inputs, a distance or the inner product, on which a kernel depends."""

    EUCLIDEAN = "euclidean"
    CITY_BLOCK = "cityblock"
    INNER_PRODUCT = "inner product"

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return a new array (n, n2) of the distances or inner products of rows ``X`` and ``Y``."""
        return as_array(X @ Y.T if self is Metric.INNER_PRODUCT else cdist(X, Y, self.value))

    def own(self, X: Array) -> Array:
        """Return the distance or inner product (n,) of each row with itself."""
        square: Array = np.einsum("ij,ij->i", X, X)
        return square if self is Metric.INNER_PRODUCT else np.zeros(len(X))


class Profiled(Kernel):
    """A kernel that depends on its inputs only through a distance or the inner product."""

    __slots__ = ()

    metric: ClassVar[Metric]
    domain: ClassVar[Domain] = RealSpace()

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """Return a new array of kernel values at values ``t`` of :attr:`metric`, of any shape."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.profile(self.metric.pairs(X, Y))

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_inputs(rows)
        values = self.profile(self.metric.own(rows))
        self.check_finite(values)
        return values

    def check_inputs(self, X: InputRows) -> None:
        self.domain.check(X)


Function = Callable[[Array], Array]

_SAMPLED_LAGS = 64
"""Lags of a block on which a promised symmetry is checked: a function that is asymmetric at 5 % of
all lags passes the check of one block with probability 0.95**64, 4 %."""


@dataclass(frozen=True, slots=True, repr=False)
class _OfOneNumber(Profiled):
    """Base of kernels defined by a user's function of the metric."""

    function: Function

    _noun: ClassVar[str]  # name of the metric in error messages

    def __post_init__(self) -> None:
        _check_callable(self)

    def profile(self, t: Array) -> Array:
        return values_of(self, t, t.shape, self._noun)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_name(self.function)})"


class Radial(_OfOneNumber):
    r"""Any function of the Euclidean distance, :math:`k(x, y) = f(\|x - y\|_2)`.

    Parameters
    ----------
    function : callable
        Function from an array of distances, zero or more, in the units of the inputs, to an array
        of the same shape of finite real numbers. Two kernels are equal if their functions are the
        same object. A function at the top level of a module, unlike ``lambda``, makes a kernel
        that can be pickled.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Radial
    >>> Radial(np.cos)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(4)
    array([[1.    , 0.2837]])
    """

    __slots__ = ()

    metric = Metric.EUCLIDEAN
    _noun = "distance"


class DotProduct(_OfOneNumber):
    r"""Any function of the inner product, :math:`k(x, y) = f(\langle x, y \rangle)`.

    Parameters
    ----------
    function : callable
        Function from an array of inner products, in the squared units of the inputs, to an array
        of the same shape of finite real numbers. Equality, pickling and errors are as for
        :class:`Radial`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import DotProduct
    >>> DotProduct(np.exp)([[1.0, 0.0]], [[0.0, 2.0], [1.0, 2.0]]).round(4)
    array([[1.    , 2.7183]])
    """

    __slots__ = ()

    metric = Metric.INNER_PRODUCT
    _noun = "inner product"


@dataclass(frozen=True, slots=True, repr=False)
class Stationary(LagKernel):
    r"""Any function of the lag, :math:`k(x, y) = f(x - y)`, symmetric or not.

    Parameters
    ----------
    function : callable
        Function from an array of lags of shape (..., d), in the units of the inputs, to an array
        of shape (...) of finite real numbers. Equality and pickling are as for :class:`Radial`.
    symmetric : bool, default=False
        Promise that :math:`f(-\Delta) = f(\Delta)`, checked on some of the lags whenever the
        kernel is evaluated.

    References
    ----------
    He, He, Liu and Huang, "Random Fourier features for asymmetric kernels", 2022, Theorem 1, for
    the spectral measure, which is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Stationary
    >>> def fading(delta):
    ...     return np.exp(-np.abs(delta + 0.5).sum(axis=-1))
    >>> k = Stationary(fading)
    >>> k([[0.0, 0.0]], [[0.5, 0.5]]), k([[0.5, 0.5]], [[0.0, 0.0]]).round(4)
    (array([[1.]]), array([[0.1353]]))
    """

    function: Function
    symmetric: bool = False

    def __post_init__(self) -> None:
        _check_callable(self)
        if not isinstance(self.symmetric, bool):
            raise TypeError(f"symmetric must be True or False, got {self.symmetric!r:.60}.")

    def at_lags(self, delta: Array) -> Array:
        """Return a new array (...) of the kernel's values at lags of shape (..., d)."""
        flat = delta.reshape(-1, delta.shape[-1])
        values = values_of(self, flat, flat.shape[:1], "lag")
        if self.symmetric and len(flat):
            self._check_symmetry(flat, values)
        return values.reshape(delta.shape[:-1])

    def evaluate(self, X: Array, Y: Array) -> Array:
        K = np.empty((len(X), len(Y)))
        # Computed in blocks, because lags take d times the memory of kernel values.
        for columns in row_blocks(len(Y), X.itemsize * X.shape[1]):
            for rows in row_blocks(len(X), Y[columns].nbytes):
                K[rows, columns] = self.at_lags(X[rows, None, :] - Y[None, columns, :])
        return K

    @property
    def is_symmetric(self) -> bool:
        return self.symmetric

    def _check_symmetry(self, lags: Array, values: Array) -> None:
        """Raise ``ValueError`` if the function is not even at a sample of the lags."""
        # Sampled at random, because equally spaced rows may all be zero lags.
        some = np.random.default_rng(0).integers(len(lags), size=_SAMPLED_LAGS)
        opposite = values_of(self, -lags[some], some.shape, "lag")
        gap = np.abs(opposite - values[some])
        worst = int(np.argmax(gap))
        if gap[worst] > FUNCTION_ROUNDING * np.abs(values[some]).max():
            raise ValueError(
                f"The function of {self!r} returned {values[some][worst]:.8g} at the lag "
                f"{lags[some][worst].tolist()} and {opposite[worst]:.8g} at its opposite, so the "
                f"kernel is not symmetric; leave symmetric=False."
            )

    def __repr__(self) -> str:
        promise = ", symmetric=True" if self.symmetric else ""
        return f"Stationary({_name(self.function)}{promise})"


def _check_callable(kernel: "_OfOneNumber | Stationary") -> None:
    if not callable(kernel.function):
        raise TypeError(
            f"{type(kernel).__name__} needs a function from arrays to arrays, got "
            f"{kernel.function!r}."
        )


def _name(function: object) -> str:
    name: str = getattr(function, "__qualname__", None) or repr(function)
    return name


def values_of(
    kernel: _OfOneNumber | Stationary, t: Array, shape: tuple[int, ...], noun: str
) -> Array:
    """Return the values of a kernel's function at ``t``, checked to have shape ``shape``."""
    is_number = t.shape == shape
    vectors, result, call = " of shape (..., d)", "shape (...)", "(function, signature='(d)->()')"
    if is_number:
        vectors, result, call = "", "the same shape", ""
    remedy = (
        f"It is called with an array of {noun}s{vectors} and must return an array of {result}; "
        f"numpy.vectorize{call} makes such a function of any."
    )
    try:
        # Divisions by zero give nonfinite values, which raise an error below.
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = np.asarray(kernel.function(np.array(t)))
    except (TypeError, ValueError, IndexError) as problem:
        raise ValueError(f"The function of {kernel!r} failed: {problem}. {remedy}") from problem
    if values.shape != shape:
        raise ValueError(
            f"The function of {kernel!r} turned shape {t.shape} into {values.shape}. {remedy}"
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The function of {kernel!r} must return real numbers, got {values.dtype}."
        )
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        place = t.reshape(values.size, -1)[first].tolist()
        raise ValueError(
            f"The function of {kernel!r} returned {values.flat[first]} at the {noun} "
            f"{place[0] if is_number else place!r}; it must be finite at every {noun} that "
            f"the inputs have."
        )
    return values.astype(np.float64)
