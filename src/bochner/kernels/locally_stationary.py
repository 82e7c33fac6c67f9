"""Locally stationary kernels, whose amplitude varies over the inputs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import Array, LengthScale, as_array, as_scalar_or_tuple, check_dim
from bochner.kernels.base import Kernel, Product, Scaled, Sum
from bochner.kernels.definiteness import Definiteness, definiteness
from bochner.kernels.function import checked_rows, convert_fields
from bochner.kernels.spectral_mixture import SpectralMixture
from bochner.kernels.stationary import Anova, Correlation


@dataclass(frozen=True, slots=True, repr=False)
class LocallyStationary(Kernel):
    r"""A stationary kernel with an amplitude that depends on the midpoint of the arguments.

    .. math:: k(x, y) = \kappa_1\big(\tfrac{x + y}{2} - c\big)\, \kappa_s(x - y)

    Near the centre :math:`c` it is nearly :math:`\kappa_s`, and the variance
    :math:`k(x, x) = \kappa_1(x - c)\, \kappa_s(0)` changes from place to place. It is symmetric,
    and positive definite only for some pairs of factors: :meth:`positive_definite` checks it.

    Parameters
    ----------
    envelope : Kernel
        :math:`\kappa_1(u)` is its value at the lag ``u``. Gaussian, Laplacian, Exponential, Matern,
        Cauchy, RationalQuadratic, SpectralMixture, Anova, and sums, products and positive
        multiples of them.
    stationary : Kernel
        :math:`\kappa_s`, one of the same kernels.
    centre : float or sequence of d floats, default=0.0
        :math:`c`, in the units of the inputs; a number is the same for every input. Models on
        features keep it, and the parameters of both kernels, as given.

    Raises
    ------
    TypeError
        If a factor is not a kernel.
    ValueError
        If a factor is not one of these kernels, or the centre not finite; when called, if
        parameters do not fit the number of inputs.

    References
    ----------
    Silverman, "Locally stationary random processes", 1957. Genton, "Classes of kernels for machine
    learning: a statistics perspective", 2001.

    Examples
    --------
    >>> from bochner.kernels import Gaussian, LocallyStationary
    >>> k = LocallyStationary(Gaussian(2.0), Gaussian(1.0))
    >>> k([[0.0], [2.0]]).round(4)
    array([[1.    , 0.1194],
           [0.1194, 0.6065]])
    >>> k.positive_definite(1).holds
    True
    """

    envelope: Kernel
    stationary: Kernel
    centre: LengthScale = 0.0

    def __post_init__(self) -> None:
        convert_fields(self, envelope=_as_factor, stationary=_as_factor, centre=as_scalar_or_tuple)

    def evaluate(self, X: Array, Y: Array) -> Array:
        centre = as_array(self.centre)
        # The lag of these two is the midpoint, counted from the centre.
        K = self.envelope.evaluate(0.5 * (X - centre), 0.5 * (centre - Y))
        K *= self.stationary.evaluate(X, Y)
        return K

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_dim(rows.shape[1])
        origin = np.zeros((1, rows.shape[1]))
        amplitude = self.envelope.evaluate(rows - as_array(self.centre), origin)
        return as_array(amplitude[:, 0] * self.stationary.diag(rows))

    def check_dim(self, dim: int) -> None:
        self.envelope.check_dim(dim)
        self.stationary.check_dim(dim)
        check_dim("centre", self.centre, dim)

    def positive_definite(self, dim: int) -> Definiteness:
        r"""Check positive definiteness on ``dim`` inputs, and return the result with the reason.

        With two Gaussians, of precisions :math:`\Sigma` of the envelope and :math:`S` of the
        stationary factor, the kernel is positive definite exactly if :math:`S - \Sigma / 4` is
        positive semidefinite. The conditions for other factors, a sufficient and a necessary one,
        and their derivation are in ``bochner/kernels/definiteness.py``.

        Examples
        --------
        >>> from bochner.kernels import Gaussian, LocallyStationary, Matern
        >>> found = LocallyStationary(Gaussian(), Matern()).positive_definite(1)
        >>> found.holds, len(found.witness)
        (False, 2)
        """
        self.check_dim(dim)
        return definiteness(self.envelope, self.stationary, self.centre, dim)


def _as_factor(name: str, kernel: object) -> Kernel:
    """Return a positive definite function of the lag in closed form."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"{name} must be a kernel, such as Gaussian(1.0), got {kernel!r}.")
    if not _is_of_the_lag(kernel):
        raise ValueError(
            f"{name} must be a symmetric, positive definite function of the lag in closed form: "
            f"Gaussian, Laplacian, Exponential, Matern, Cauchy, RationalQuadratic, "
            f"SpectralMixture, Anova, or sums, products and positive multiples of them; got "
            f"{kernel!r}."
        )
    return kernel


def _is_of_the_lag(kernel: Kernel) -> bool:
    if isinstance(kernel, Sum | Product):
        return all(map(_is_of_the_lag, kernel.members))
    if isinstance(kernel, Scaled):
        return kernel.factor > 0.0 and _is_of_the_lag(kernel.kernel)
    return isinstance(kernel, Correlation | SpectralMixture | Anova)
