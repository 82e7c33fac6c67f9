"""Indefinite kernels of a distance."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array, as_positive_scalar
from bochner.kernels.profiled import Metric, Profiled


@dataclass(frozen=True, slots=True)
class DeltaGaussian(Profiled):
    r"""The difference of two Gaussian kernels.

    .. math:: k(\Delta) = \exp(-z^2 / 2\tau_1^2) - \exp(-z^2 / 2\tau_2^2),
              \qquad z = \|\Delta\|_2.

    It is zero at zero, and so never positive definite. The same as
    ``Gaussian(tau1) - Gaussian(tau2)``.

    Parameters
    ----------
    tau1, tau2 : float, default=1.0 and 10.0
        In the units of the inputs; different from each other.

    Raises
    ------
    ValueError
        If a scale is not positive, or the two are equal.

    References
    ----------
    Oglic and Gärtner, "Learning in reproducing kernel Kreĭn spaces", 2018; Liu, Huang, Chen and
    Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed measures", 2021,
    Section 4.

    Examples
    --------
    >>> from bochner.kernels import DeltaGaussian
    >>> DeltaGaussian(1.0, 10.0)([[0.0]], [[0.0], [2.0]]).round(4)
    array([[ 0.    , -0.8449]])
    """

    tau1: float = 1.0
    tau2: float = 10.0

    metric = Metric.EUCLIDEAN

    def __post_init__(self) -> None:
        for name in ("tau1", "tau2"):
            object.__setattr__(self, name, as_positive_scalar(name, getattr(self, name)))
        if self.tau1 == self.tau2:
            raise ValueError(
                f"tau1 and tau2 must differ, or the kernel is zero everywhere; got {self.tau1} "
                f"twice."
            )

    def profile(self, t: Array) -> Array:
        square = t * t
        near = square * (-0.5 / self.tau1**2)
        np.exp(near, out=near)
        square *= -0.5 / self.tau2**2
        near -= np.exp(square, out=square)
        return near


@dataclass(frozen=True, slots=True)
class TL1(Profiled):
    r"""The truncated city-block kernel, :math:`k(\Delta) = \max(\tau - \|\Delta\|_1, 0)`.

    A tent, and positive definite, with one column; indefinite with two or more.

    Parameters
    ----------
    tau : float
        :math:`\tau`, positive, in the units of the inputs. Inputs scaled to [0, 1] often do well
        with 0.7 times their number, which is what the name ``"tl1"`` stands for.

    Raises
    ------
    ValueError
        If ``tau`` is not positive.

    References
    ----------
    Huang, Suykens, Wang, Hornegger and Maier, "Classification with truncated l1 distance
    kernel", 2018.

    Examples
    --------
    >>> from bochner.kernels import TL1
    >>> TL1(1.5)([[0.0, 0.0]], [[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]])
    array([[1.5 , 0.75, 0.  ]])
    """

    tau: float

    metric = Metric.CITY_BLOCK

    def __post_init__(self) -> None:
        object.__setattr__(self, "tau", as_positive_scalar("tau", self.tau))

    def profile(self, t: Array) -> Array:
        value: Array = self.tau - t
        return np.maximum(value, 0.0, out=value)
