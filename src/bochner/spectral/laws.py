"""Probability laws over frequencies, assembled from blocks that any scheme can fill."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv
from scipy.stats import f as f_distribution

from bochner._base.arrays import Array, LengthScale, as_array
from bochner.spectral.feature_factors import Amplitudes, CosineFactors
from bochner.spectral.hadamard import Matrix
from bochner.spectral.schemes import Coordinates, Directions, Layout, Scheme, Uniforms


class RadialLaw(ABC):
    """The distribution of the norm of an isotropic vector of unit scale."""

    __slots__ = ()

    n_uniforms: int

    @abstractmethod
    def radius(self, uniforms: Array, dim: int) -> Array:
        """Map uniforms (m, n_uniforms) to norms (m,) in ``dim`` dimensions by inverse transform.

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
    r"""A Gaussian vector of variance :math:`\tau / \alpha`, :math:`\tau \sim \Gamma(\alpha, 1)`."""

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
    """A constant norm: the law of one shell of a designed measure."""

    norm: float

    n_uniforms = 0

    def radius(self, uniforms: Array, dim: int) -> Array:
        return np.full(len(uniforms), self.norm)


class NoMeasureError(TypeError, NotImplementedError):
    """No spectral measure is known for a kernel; callers may fit weights by least squares."""


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    r"""Frequencies drawn from a law, with importance weights and phases.

    The mean of :math:`\rho_j \cos(\omega_j \cdot x - \nu_j \cdot y + \theta_j)` is the kernel, with
    ``ratio`` :math:`\rho \geq 0` of mean one, and ``nu`` (m, d2) or ``None`` for ``omega`` (m, d).
    """

    omega: Matrix
    ratio: Array
    phase: Array
    nu: Array | None = None
    factor: CosineFactors | Amplitudes | None = None

    def rearranged(self, order: NDArray[np.intp]) -> Draw:
        """Return the draw with rows selected by the indices ``order``, which may repeat."""
        nu = None if self.nu is None else self.nu[order]
        waves = None if self.factor is None else self.factor.rearranged(order)
        omega, ratio, phase = np.asarray(self.omega)[order], self.ratio[order], self.phase[order]
        return Draw(omega, ratio, phase, nu, waves)

    def reflected(self, signs: Array) -> Draw:
        """Return the draw with frequencies and phases times ``signs``, which keeps all cosines."""
        nu = None if self.nu is None else self.nu * signs[:, None]
        omega = np.asarray(self.omega) * signs[:, None]
        return Draw(omega, self.ratio, self.phase * signs, nu, self.factor)

    def __add__(self, other: Draw) -> Draw:
        """Return a draw for the product of two kernels: frequencies add, ratios multiply."""
        if self.factor is not None and other.factor is not None:
            raise NoMeasureError(
                "Products of two kernels of modulated waves have no sampled features; use "
                "weights='least_squares'."
            )
        waves = self.factor or other.factor
        omega, other_omega = np.asarray(self.omega), np.asarray(other.omega)
        nu = None
        if self.nu is not None or other.nu is not None:
            left = omega if self.nu is None else self.nu
            nu = left + (other_omega if other.nu is None else other.nu)
        ratio, phase = self.ratio * other.ratio, self.phase + other.phase
        return Draw(omega + other_omega, ratio, phase, nu, waves)


class Law(ABC):
    """A probability distribution of frequencies in ``dim`` dimensions, with optional phases."""

    __slots__ = ()

    dim: int

    @property
    def members(self) -> tuple[Law, ...]:
        """The component laws of a composite law, from which its properties follow."""
        return ()

    @property
    def dim_right(self) -> int:
        """Number of inputs of the right argument."""
        return self.members[0].dim_right if self.members else self.dim

    @property
    def at_zero(self) -> float:
        """The transform at a zero lag; one unless there are phases."""
        return float(np.prod([law.at_zero for law in self.members]))

    @property
    def is_positive(self) -> bool:
        """Whether the transform is positive definite: no phases."""
        return all(law.is_positive for law in self.members)

    @property
    def is_jordan(self) -> bool:
        """Whether the law describes one Jordan part of a complex measure."""
        return any(law.is_jordan for law in self.members)

    @property
    def is_even(self) -> bool:
        """Whether a frequency and its negative, with negated phase, are equally likely."""
        return all(law.is_even for law in self.members)

    @property
    def is_two_sided(self) -> bool:
        """Whether the two arguments have separate frequencies."""
        return any(law.is_two_sided for law in self.members)

    @abstractmethod
    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        """Return ``m`` frequencies from this law, with importance weights and phases."""

    def draw_factor(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        """Return ``m`` draws for a factor of a product, with importance ratios near one."""
        return self.draw(m, rng, scheme)

    def jordan(self) -> tuple[tuple[float, Law], ...]:
        """Return pairs of signed mass and law, one for each Jordan part."""
        return ((1.0, self),)

    @property
    def amplitude(self) -> float:
        """Greatest squared factor of a feature over the inputs for which the law is defined."""
        return float(np.prod([law.amplitude for law in self.members]))

    @property
    def n_atoms(self) -> int | None:
        """Number of frequencies with which draws are exact; ``None`` if draws are never exact."""
        return None

    def mapped(self, left: Array, right: Array) -> Law | None:
        """Return the law for linearly mapped inputs, or ``None`` if this class has none."""
        return None

    def convolved(self, other: Law) -> Law | None:
        """Return the law of the product of two kernels, or ``None`` if this class has none."""
        return None

    def joined(
        self, mass: float, other: Law, other_mass: float
    ) -> tuple[tuple[float, Law], ...] | None:
        """Return the sum of two laws with masses as merged (mass, law) pairs, or ``None``."""
        return None


class BlockLaw(Law):
    """A law defined by a map from blocks of directions and uniforms to frequencies."""

    __slots__ = ()

    is_positive = True
    amplitude = 1.0
    n_atoms = None

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The blocks of directions and uniforms that the map takes."""

    @abstractmethod
    def assemble(self, blocks: list[Matrix]) -> Matrix:
        """Map sampled blocks to frequencies (m, dim)."""

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        omega = self.assemble(scheme.sample(self.layout, m, rng))
        return Draw(omega, np.ones(m), np.zeros(m))


@dataclass(frozen=True, slots=True)
class Isotropic(BlockLaw):
    r"""Direction times radius, :math:`\omega = r u / \ell`, ``u`` uniform on the sphere.

    ``length_scale`` is :math:`\ell`, a number or one per input.
    """

    radial: RadialLaw
    dim: int
    length_scale: LengthScale = 1.0

    @property
    def layout(self) -> Layout:
        return (Directions(self.dim), Uniforms(self.radial.n_uniforms))

    def assemble(self, blocks: list[Matrix]) -> Matrix:
        directions, uniforms = blocks
        radius = self.radial.radius(np.asarray(uniforms), self.dim)
        return directions * radius[:, None] / as_array(self.length_scale)


@dataclass(frozen=True, slots=True)
class Elliptical(BlockLaw):
    r"""An isotropic vector, mapped and shifted: :math:`\omega = \mu + L (r u)`.

    ``mean`` (d,) is :math:`\mu` and ``factor`` (d, d) is :math:`L`.
    """

    radial: RadialLaw
    mean: tuple[float, ...]
    factor: tuple[tuple[float, ...], ...]

    @property
    def dim(self) -> int:  # type: ignore[override]
        return len(self.mean)

    @property
    def is_even(self) -> bool:
        return not any(self.mean)

    @property
    def layout(self) -> Layout:
        return Isotropic(self.radial, self.dim).layout

    def assemble(self, blocks: list[Matrix]) -> Array:
        standard = np.asarray(Isotropic(self.radial, self.dim).assemble(blocks))
        return standard @ as_array(self.factor).T + as_array(self.mean)


@dataclass(frozen=True, slots=True)
class Independent(BlockLaw):
    r"""Independent symmetric coordinates, each zero with probability :math:`1 - \pi_i`.

    With :math:`\pi = 1` the law of a product of one-dimensional kernels; below one the
    spike-and-slab law of an ANOVA kernel. A coordinate's uniform ``u`` decides the spike, the
    sign and the magnitude: ``|2u - 1|`` below :math:`1 - \pi_i` is the spike.
    ``radial`` is the law of a coordinate's magnitude, at ``dim=1``, and ``inclusion`` is
    :math:`\pi`; without ``allow_zero`` no frequency is zero in every coordinate.
    """

    radial: RadialLaw
    dim: int
    length_scale: LengthScale = 1.0
    inclusion: LengthScale = 1.0
    allow_zero: bool = True

    @property
    def layout(self) -> Layout:
        extra = self.dim * (self.radial.n_uniforms - 1)
        return (Coordinates(self.dim), Uniforms(extra)) if extra else (Coordinates(self.dim),)

    def assemble(self, blocks: list[Matrix]) -> Array:
        coordinates, *extra = (np.asarray(block) for block in blocks)
        signed = 2.0 * coordinates - 1.0
        inclusion = self._inclusion(np.abs(signed))
        slab = np.abs(signed) - (1.0 - inclusion)
        active = slab > 0.0
        uniforms = [np.where(active, slab / np.where(inclusion > 0, inclusion, 1.0), 0.5)]
        uniforms += np.split(extra[0], self.radial.n_uniforms - 1, axis=1) if extra else []
        flat = np.stack([np.clip(u, 0.0, 1.0 - 2.0**-53).ravel() for u in uniforms], axis=1)
        magnitude = self.radial.radius(flat, 1).reshape(coordinates.shape)
        return np.where(active, np.sign(signed) * magnitude, 0.0) / as_array(self.length_scale)

    def _inclusion(self, uniforms: Array) -> Array:
        """Return the probability (m, dim) of every coordinate given the coordinates before it."""
        inclusion = np.broadcast_to(as_array(self.inclusion), uniforms.shape)
        if self.allow_zero:
            return inclusion
        # If all earlier coordinates are zero, a later one must be nonzero.
        some_later = 1.0 - np.cumprod(1.0 - inclusion[:, ::-1], axis=1)[:, ::-1]
        conditional = inclusion / np.where(some_later > 0.0, some_later, 1.0)
        zero_so_far = np.ones(len(uniforms), dtype=bool)
        chosen = np.empty_like(uniforms)
        for i in range(self.dim):
            chosen[:, i] = np.where(zero_so_far, conditional[:, i], inclusion[:, i])
            zero_so_far &= uniforms[:, i] <= 1.0 - chosen[:, i]
        return chosen
