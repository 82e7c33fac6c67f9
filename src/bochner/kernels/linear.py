"""Kernels to add to other kernels: linear functions, constants and white noise."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import (
    Array,
    InputRows,
    LengthScale,
    as_array,
    as_finite_scalar,
    as_positive,
    as_positive_scalar,
    as_scalar_or_tuple,
    column_extremes,
)
from bochner._base.warn import warn_user
from bochner.kernels.base import Kernel
from bochner.kernels.kernel_parameters import POSITIVE, checked_rows, convert_fields
from bochner.kernels.stationary import LagKernel


@dataclass(frozen=True, slots=True, repr=False)
class Linear(Kernel):
    r"""The kernel of linear functions, :math:`k(x, y) = \sum_i v_i (x_i - c_i)(y_i - c_i)`.

    The covariance of :math:`\sum_i w_i (x_i - c_i)` for independent slopes ``w`` of variance ``v``.
    Its product with another kernel is a kernel whose amplitude grows with the input. There is one
    frequency per input. Up to ``reach``, the feature is the sine of a small angle
    (:meth:`angles`) and equals the input to within 1e-10, or 1 % on devices without float64.
    Products of two linear kernels have no sampled features; :class:`Polynomial` is a kernel of all
    pairs of inputs.

    Parameters
    ----------
    variance : float or sequence of d floats, default=1.0
        :math:`v`, in inverse squared units of the inputs. Models on features learn a factor of a
        term of a sum; ratios between inputs are given. A sum of kernels on single columns has a
        factor for each of them.
    centre : float or sequence of d floats, default=0.0
        :math:`c`, where the functions are zero, in the units of the inputs; given, not learned.
    reach : float or sequence of d floats, default=None
        Greatest :math:`|x_i - c_i|` for which features are accurate, given; ``None`` means that
        models set it from the training data. The relative error of features is 2e-7 at a hundred
        times the reach, and 2e-3 at ten thousand times.

    References
    ----------
    Duvenaud, "Automatic model construction with Gaussian processes", 2014, Section 2.2.

    Examples
    --------
    >>> from bochner.kernels import Linear
    >>> Linear(2.0, centre=1.0)([[3.0]], [[1.0], [2.0]])
    array([[0., 4.]])
    """

    variance: LengthScale = 1.0
    centre: LengthScale = 0.0
    reach: LengthScale | None = None

    per_input = ("variance", "centre", "reach")
    parameter_domains = MappingProxyType({"variance": POSITIVE})

    farthest: ClassVar[float] = 1e4
    """Multiple of the reach beyond which the relative error of the features exceeds 2e-3."""

    angle: ClassVar[float] = 1e-5
    """Angle of the sines at the reach, in radians, which balances curvature and rounding errors."""

    def __post_init__(self) -> None:
        convert_fields(self, variance=as_positive, centre=as_scalar_or_tuple)
        if self.reach is not None:
            convert_fields(self, reach=as_positive)

    def evaluate(self, X: Array, Y: Array) -> Array:
        centre = as_array(self.centre)
        return as_array(((X - centre) * as_array(self.variance)) @ (Y - centre).T)

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        return as_array(((rows - as_array(self.centre)) ** 2 * as_array(self.variance)).sum(axis=1))

    def check_inputs(self, X: InputRows) -> None:
        if self.reach is None or not X.shape[0]:
            return
        low, high = column_extremes(X)
        reach = np.maximum(high - as_array(self.centre), as_array(self.centre) - low)
        if (reach > self.farthest * as_array(self.reach)).any():
            warn_user(
                f"Features of {self!r} are sines, and bend on rows that are more than "
                f"{self.farthest:g} times as far from the centre as reach. Give a larger reach, or "
                f"fit on data that reach as far."
            )

    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Kernel:
        if rows is None or self.reach is not None:
            return self
        self.check_dim(rows.shape[1])
        low, high = column_extremes(rows)
        reach = np.maximum(high - as_array(self.centre), as_array(self.centre) - low)
        return replace(self, reach=tuple(np.where(reach > 0.0, reach, 1.0).tolist()))

    def angles(self, dim: int) -> tuple[Array, Array, Array]:
        r"""Return frequencies, phases and masses (dim,) of sines that are almost lines.

        In :math:`v_i \epsilon_i^{-2} \sin(\epsilon_i (x_i - c_i)) \sin(\epsilon_i (y_i - c_i))` the
        mass is :math:`v_i \epsilon_i^{-2}` and the phase :math:`-\epsilon_i c_i`. Raises
        ``ValueError`` if the reach is ``None``, or the masses overflow.
        """
        if self.reach is None:
            raise ValueError(
                f"Features of {self!r} depend on how far the inputs reach: give reach, or fit "
                f"FourierFeatures or another model, which find it in the data."
            )
        self.check_dim(dim)
        rate = np.broadcast_to(self.angle / as_array(self.reach), dim)
        with np.errstate(divide="ignore", over="ignore"):
            mass = as_array(self.variance) / rate**2
        if not np.isfinite(mass).all():
            raise ValueError(
                f"Features of {self!r} overflow on rows as far as its reach. Scale X by a smaller "
                f"factor."
            )
        return rate, -rate * as_array(self.centre), mass


@dataclass(frozen=True, slots=True, repr=False)
class Constant(LagKernel):
    r"""The constant kernel, :math:`k(x, y) = c`.

    The covariance of a random constant of variance ``c``, such as the level of a sum of kernels.
    Its spectral measure is the mass ``c`` at frequency zero.

    Parameters
    ----------
    value : float, default=1.0
        :math:`c`; the kernel is positive definite if it is zero or more. Models on features learn
        a factor of a term of a sum, and keep the value as given.

    Examples
    --------
    >>> from bochner.kernels import Constant, Gaussian
    >>> (Gaussian() + Constant(4.0))([[0.0]], [[0.0], [9.0]])
    array([[5., 4.]])
    """

    value: float = 1.0

    parameter_domains = MappingProxyType({"value": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, value=as_finite_scalar)

    def evaluate(self, X: Array, Y: Array) -> Array:
        return np.full((len(X), len(Y)), self.value)


@dataclass(frozen=True, slots=True, repr=False)
class White(Kernel):
    r"""White noise kernel: independent noise on every row.

    ``k(X)`` has :math:`\sigma^2` on its diagonal, and ``k(X, Y)`` is zero, also for equal rows, as
    :class:`sklearn.gaussian_process.kernels.WhiteKernel`. White noise has no random features: a
    model on features has the parameter ``alpha`` instead, and refuses this kernel.

    Parameters
    ----------
    noise : float, default=1.0
        :math:`\sigma^2`, the variance, positive; learned by processes that take the kernel.

    Examples
    --------
    >>> from bochner.kernels import Gaussian, White
    >>> k = Gaussian() + White(0.5)
    >>> k([[0.0], [0.0]]), k([[0.0]], [[0.0]])
    (array([[1.5, 1. ],
           [1. , 1.5]]), array([[1.]]))
    """

    noise: float = 1.0

    parameter_domains = MappingProxyType({"noise": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, noise=as_positive_scalar)

    @property
    def has_noise(self) -> bool:
        return True

    def evaluate(self, X: Array, Y: Array) -> Array:
        return np.zeros((len(X), len(Y)))

    def diag(self, X: ArrayLike) -> Array:
        return np.full(len(checked_rows(X)), self.noise)
