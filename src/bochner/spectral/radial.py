"""Radial laws: how long a frequency is, given its direction."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv
from scipy.stats import f as f_distribution

from bochner._base.arrays import Array, as_array


class RadialLaw(ABC):
    """The law of the norm of an isotropic vector of unit scale, by inverse transform."""

    __slots__ = ()

    n_uniforms: int

    @abstractmethod
    def radius(self, uniforms: Array, dim: int) -> Array:
        """Return norms of shape (m,) in ``dim`` dimensions from uniforms (m, n_uniforms).

        Nondecreasing in the first uniform.
        """


@dataclass(frozen=True, slots=True)
class Chi(RadialLaw):
    r"""The norm of a standard normal vector: the Gaussian kernel's law."""

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        return as_array(np.sqrt(2.0 * gammaincinv(dim / 2.0, uniforms[:, 0])))


@dataclass(frozen=True, slots=True)
class Student(RadialLaw):
    r"""The norm of a *multivariate* Student-t vector: the Matérn kernel's law.

    :math:`\|t\|^2 / d` follows :math:`F(d, \mathrm{dof})`: one chi-square is shared by all
    coordinates of a frequency. Independent univariate draws would be another kernel's law.
    """

    dof: float

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        return np.sqrt(dim * f_distribution.ppf(uniforms[:, 0], dim, self.dof))


@dataclass(frozen=True, slots=True)
class GammaMixture(RadialLaw):
    r"""A Gaussian vector of variance :math:`\tau / \alpha`, :math:`\tau \sim \Gamma(\alpha, 1)`.

    The rational quadratic kernel's law.
    """

    alpha: float

    n_uniforms = 2

    def radius(self, uniforms: Array, dim: int) -> Array:
        variance = gammaincinv(self.alpha, uniforms[:, 1]) / self.alpha
        return as_array(np.sqrt(variance) * Chi().radius(uniforms, dim))


@dataclass(frozen=True, slots=True)
class ExponentialMagnitude(RadialLaw):
    """The absolute value of a standard Laplace variable: the Cauchy kernel's law, for ``dim=1``."""

    n_uniforms = 1

    def radius(self, uniforms: Array, dim: int) -> Array:
        if dim != 1:
            raise ValueError(f"The Laplace law is defined in one dimension, not {dim}.")
        return -np.log1p(-uniforms[:, 0])


@dataclass(frozen=True, slots=True)
class Shell(RadialLaw):
    """A fixed norm: the law of one shell of a designed measure."""

    norm: float

    n_uniforms = 0

    def radius(self, uniforms: Array, dim: int) -> Array:
        return np.full(len(uniforms), self.norm)
