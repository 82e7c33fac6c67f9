"""The kernel of functions that repeat."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from scipy.special import ive

from bochner._base.arrays import Array, LengthScale, as_array, as_positive, check_dim
from bochner._base.intervals import POSITIVE
from bochner.kernels.function import convert_fields, decay
from bochner.kernels.stationary import LagKernel

_TAIL = 1e-12  # mass of the lines that are left out: rounding of a float is a ten-thousandth of it
SHORTEST = 1e-3
"""Least length scale of features, with 7,100 lines; their number grows with its inverse."""


@dataclass(frozen=True, slots=True, repr=False)
class Periodic(LagKernel):
    r"""The periodic kernel, a Gaussian of the distance on a circle.

    .. math:: k(\Delta) = \exp\Big(-\sum_i \frac{2}{\ell_i^2} \sin^2 \frac{\pi \Delta_i}{p_i}\Big)

    The spectrum consists of lines at :math:`2 \pi j / p`, of weights :math:`e^{-1/\ell^2}
    I_j(1/\ell^2)`, ``I`` the modified Bessel function, twice that for :math:`j > 0`. Features are
    exact if there is a frequency for each line, about :math:`5 + 7 / \ell` for one input.

    Parameters
    ----------
    period : float or sequence of d floats, default=1.0
        :math:`p`, in the units of the inputs. Models on features keep it as given: its evidence
        has many maxima. :class:`KernelAdapter`, for processes of scikit-learn, learns it.
    length_scale : float or sequence of d floats, default=1.0
        :math:`\ell`, without a unit: small values let the function change much within a period.

    Raises
    ------
    ValueError
        If a period or a length scale is not positive. For features, if a length scale is less than
        0.001, because its spectrum has more than 7,000 lines.

    References
    ----------
    MacKay, "Introduction to Gaussian processes", 1998. Solin and Särkkä, "Explicit link
    between periodic covariance functions and state space models", 2014, for the weights.

    Examples
    --------
    >>> from bochner.kernels import Periodic
    >>> Periodic(period=24.0)([[1.0]], [[25.0], [13.0], [7.0]]).round(4)
    array([[1.    , 0.1353, 0.3679]])
    """

    period: LengthScale = 1.0
    length_scale: LengthScale = 1.0

    parameter_domains = MappingProxyType({"period": POSITIVE, "length_scale": POSITIVE})

    def __post_init__(self) -> None:
        convert_fields(self, period=as_positive, length_scale=as_positive)

    def evaluate(self, X: Array, Y: Array) -> Array:
        total = np.zeros((len(X), len(Y)))
        scale = np.broadcast_to(as_array(self.length_scale), X.shape[1])
        turns = np.pi / as_array(self.period)
        for x, y, column_scale in zip((X * turns).T, (Y * turns).T, scale, strict=True):
            total += 2.0 * (np.sin(np.subtract.outer(x, y)) / column_scale) ** 2
        return decay(total)

    def check_dim(self, dim: int) -> None:
        for name in ("period", "length_scale"):
            check_dim(name, getattr(self, name), dim)

    def lines(self, dim: int) -> list[tuple[Array, Array]]:
        """Return frequencies and their weights, which sum to one, for each of ``dim`` inputs."""
        self.check_dim(dim)
        pairs = zip(
            np.broadcast_to(self.period, dim).tolist(),
            np.broadcast_to(self.length_scale, dim).tolist(),
            strict=True,
        )
        return [_lines(period, scale) for period, scale in pairs]


def _lines(period: float, length_scale: float) -> tuple[Array, Array]:
    if length_scale < SHORTEST:
        raise ValueError(
            f"A Periodic kernel of length_scale={length_scale:g} has too many spectral lines; it "
            f"must be at least {SHORTEST:g}, relative to the period, for features."
        )
    rate = length_scale**-2
    # A line's number is about normal of variance 1/l^2, with a tail like Poisson's for small rates.
    orders = np.arange(20 + int(8.0 * np.sqrt(rate)))
    weights = as_array(ive(orders, rate) * np.where(orders == 0, 1.0, 2.0))
    leading = np.flatnonzero(1.0 - np.cumsum(weights) > _TAIL)
    weights = weights[: len(leading) + 1]
    return as_array(2.0 * np.pi / period * orders[: len(weights)]), weights / weights.sum()
