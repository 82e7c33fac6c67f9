r"""Reparameterised frequencies: smooth functions of a kernel's parameters at fixed base draws.

A law of frequencies is the image of a law without parameters: :math:`\omega = e / \ell` for a
kernel of the scaled lag, :math:`\omega = \mu + L e` for a Gaussian component. If :math:`e` is drawn
once, functions of the frequencies are smooth functions of the parameters and can be maximised by
their gradients (the reparameterisation trick: Kingma and Welling, "Auto-encoding variational
Bayes", 2014).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import softmax

from bochner._base.arrays import Array, LengthScale, as_array
from bochner.kernels import Kernel, SpectralMixture
from bochner.kernels.gradients import input_derivatives
from bochner.linear.feature_evidence import FrequencySlopes
from bochner.spectral.decompositions import spectral_measure
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import Scheme

FACTORS = (1.0, 0.25, 4.0)
"""Factors by which the starts of a search multiply all length scales of its origin."""

_SHORTER = 4.0
"""Factor by which the length scale of one input is shortened in the search for another maximum."""

MOST_TRIED = 30
"""Largest number of length scales that are shortened one by one: more take longer than a search."""

STEP = 1e-5
"""Step of central differences by parameters: its errors are 1e-10 or less."""

SPREAD = 0.7
"""Standard deviation of random changes of log parameters at a start: about a factor of two."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseDraws:
    """Fixed random draws (m, d), from which parameters compute frequencies."""

    e: Array  # (m, d)
    part: NDArray[np.intp]  # (m,): Index of the part of the measure
    share: Array  # (m,): Weight of a frequency per unit mass of its part


D = TypeVar("D")


class ParameterisedKernel(ABC, Generic[D]):
    """A family of kernels indexed by unconstrained parameters (q,) of order one."""

    __slots__ = ()

    @property
    @abstractmethod
    def origin(self) -> Array:
        """Prior mean (q,) of the parameters, near which searches start."""

    @abstractmethod
    def starts(self, rng: Generator) -> Sequence[Array]:
        """Return the initial parameters (q,) from which searches start."""

    def neighbours(self, theta: Array) -> Sequence[Array]:
        """Return parameters (q,) from which a search may reach another maximum of the evidence."""
        return ()

    @property
    def in_units(self) -> Self:
        """The same family, for rows that were divided by the column scales of a search."""
        return self

    @property
    def total(self) -> float:
        """The total variation of the kernel's measure, which does not depend on the parameters."""
        return 1.0

    @property
    def least(self) -> int:
        """Least allowed number of base draws."""
        return 1

    @property
    def n_atoms(self) -> int | None:
        """Number of frequencies that give the exact kernel; ``None`` if no number does."""
        return None

    @abstractmethod
    def draw(self, m: int, seed: int, scheme: Scheme | str) -> D:
        """Return ``m`` base draws, or :attr:`n_atoms` draws if that is fewer."""

    def draw_factor(self, m: int, seed: int, scheme: Scheme | str) -> D:
        """Return ``m`` base draws for a factor of a product of kernels."""
        return self.draw(m, seed, scheme)

    @abstractmethod
    def frequencies(self, draws: D, theta: Array) -> Frequencies:
        """Return the frequencies of base draws at parameters (q,)."""

    def pulled_back(self, draws: D, theta: Array, slopes: FrequencySlopes) -> Array:
        """Return derivatives by parameters (q,), from ``slopes`` by frequencies (chain rule)."""
        return self.differences(draws, theta, slopes)

    def differences(
        self, draws: D, theta: Array, slopes: FrequencySlopes, n_known: int = 0
    ) -> Array:
        """Return derivatives by the last parameters, by differences of the frequencies."""
        by_parameter = np.empty(len(theta) - n_known)
        for index, step in enumerate(STEP * np.eye(len(theta))[n_known:]):
            above, below = (self.frequencies(draws, theta + move) for move in (step, -step))
            mean = 0.5 * (above.weight + below.weight)
            # A spectral line of zero weight does not change the evidence.
            by_weight = slopes.log_weight / np.where(mean > 0.0, mean, 1.0)
            by_omega = np.sum(slopes.omega * (above.omega - below.omega))
            change = by_omega + by_weight @ (above.weight - below.weight)
            by_parameter[index] = change / (2.0 * STEP)
        return by_parameter

    @abstractmethod
    def kernel(self, theta: Array) -> Kernel:
        """Return the kernel at parameters (q,)."""

    is_exact: ClassVar[bool] = False
    """Whether searches use the exact kernel on few rows instead of features."""

    def gram_slopes(self, theta: Array, X: Array, by_gram: Array) -> Array | None:
        """Return derivatives by parameters (q,); ``None`` means finite differences."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class LengthScales(ParameterisedKernel[BaseDraws]):
    r"""Kernels of the scaled lag, whose length scales are :math:`\ell = e^\theta` times ``unit``.

    :math:`\omega = e / \ell`, and the derivative by :math:`\log\ell_i` is :math:`-\sum_j
    \omega_{ji}\, \partial_{\omega_{ji}}` for any law of :math:`e`.
    """

    family: Callable[[LengthScale], Kernel]
    unit: Array  # (d,): Length scales if all parameters are zero
    is_shared: bool = False
    units: Array | float = 1.0  # (d,)

    @property
    def origin(self) -> Array:
        return np.zeros(1 if self.is_shared else len(self.unit))

    def starts(self, rng: Generator) -> Sequence[Array]:
        # Starts that scale all inputs equally come first; a perturbed one breaks the symmetry.
        common = [self.origin + np.log(factor) for factor in FACTORS]
        perturbed = self.origin + SPREAD * rng.standard_normal(len(self.origin))
        return common if len(self.origin) == 1 else [*common, perturbed]

    def neighbours(self, theta: Array) -> Sequence[Array]:
        # On few rows, variation at short lags cannot be distinguished from noise: a search on more
        # rows tries shorter length scales.
        if len(theta) > MOST_TRIED:
            return ()
        return list(theta - np.log(_SHORTER) * np.eye(len(theta)))

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> BaseDraws:
        base = spectral_measure(self.family(1.0), len(self.unit)).sample(m, seed, scheme)
        return BaseDraws(base.omega, np.zeros(m, dtype=np.intp), base.weight)

    def frequencies(self, draws: BaseDraws, theta: Array) -> Frequencies:
        return Frequencies(draws.e / self._scales(theta), draws.share)

    def pulled_back(self, draws: BaseDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        by_scale = -np.einsum("ji,ji->i", draws.e / self._scales(theta), slopes.omega)
        return as_array(by_scale.sum(keepdims=True) if self.is_shared else by_scale)

    @property
    def in_units(self) -> Self:
        return replace(self, units=1.0)

    def kernel(self, theta: Array) -> Kernel:
        return self.family(tuple((self._scales(theta) * self.units).tolist()))

    def gram_slopes(self, theta: Array, X: Array, by_gram: Array) -> Array | None:
        # A kernel of (x - y) / scale: scale dk / dscale = -(x - y) dk / dx.
        slopes = input_derivatives(self.kernel(theta), X, X)
        lags = (np.subtract.outer(column, column) for column in X.T)
        try:
            by_scale = [
                -np.vdot(by_gram * lag, slope) for lag, slope in zip(lags, slopes, strict=True)
            ]
        except NotImplementedError:
            return None
        return np.array([sum(by_scale)] if self.is_shared else by_scale)

    def _scales(self, theta: Array) -> Array:
        return as_array(self.unit * np.exp(theta))


@dataclass(frozen=True, slots=True, eq=False)
class MixtureParameters(ParameterisedKernel[BaseDraws]):
    r"""Spectral mixtures: logits of weights (Q,), means (Q, d), and logarithms of scales (Q, d).

    :math:`\omega = \mu_q + S_q L_q e`, where :math:`L_q` is the factor of the covariance of
    ``start``, and :math:`S_q` a diagonal matrix that scales its deviations.
    """

    start: SpectralMixture
    unit: Array  # (d,): Means are multiples of its inverse

    @property
    def origin(self) -> Array:
        means = as_array(self.start.means)
        return np.concatenate(
            (np.log(self.start.weights), (means * self.unit).ravel(), np.zeros(means.size))
        )

    def starts(self, rng: Generator) -> Sequence[Array]:
        return [self.origin, self.origin + SPREAD * rng.standard_normal(len(self.origin))]

    @property
    def total(self) -> float:
        return float(np.sum(self.start.weights))

    @property
    def least(self) -> int:
        return 2 * len(self.start.weights)

    def draw(self, m: int, seed: int, scheme: Scheme | str) -> BaseDraws:
        weights, shape = as_array(self.start.weights), np.shape(self.start.means)
        if m < self.least:
            raise ValueError(
                f"n_components must be at least {2 * self.least} to learn a SpectralMixture of "
                f"{len(weights)} components: two frequencies each; got {2 * m}."
            )
        standard = _mixture(weights, np.zeros(shape), np.ones(len(weights)))
        pieces = spectral_measure(standard, shape[1]).sample_parts(m, seed, scheme)
        part = np.repeat(np.arange(len(pieces)), [piece.n_frequencies for piece in pieces])
        # Weights are relative to the component, because its own weight is a parameter.
        share = np.concatenate([piece.weight for piece in pieces]) / weights[part]
        return BaseDraws(np.concatenate([piece.omega for piece in pieces]), part, share)

    def frequencies(self, draws: BaseDraws, theta: Array) -> Frequencies:
        weights, means, stretch = self._parts(theta)
        omega = means[draws.part] + stretch[draws.part] * self._spread(draws)
        return Frequencies(omega, weights[draws.part] * draws.share)

    def pulled_back(self, draws: BaseDraws, theta: Array, slopes: FrequencySlopes) -> Array:
        weights, means, stretch = self._parts(theta)
        by_weight = np.bincount(draws.part, slopes.log_weight, len(weights))
        by_mean, by_stretch = np.zeros_like(means), np.zeros_like(means)
        np.add.at(by_mean, draws.part, slopes.omega)
        np.add.at(by_stretch, draws.part, slopes.omega * self._spread(draws))
        by_logit = slopes_by_logit(as_array(by_weight), weights)
        return np.concatenate(
            (by_logit, (by_mean / self.unit).ravel(), (by_stretch * stretch).ravel())
        )

    def kernel(self, theta: Array) -> SpectralMixture:
        weights, means, stretch = self._parts(theta)
        covariances = as_array(self.start.covariances)
        if covariances.ndim == 3:
            scaled = stretch[:, :, None] * covariances * stretch[:, None, :]
        else:
            scaled = stretch**2 * covariances.reshape(len(weights), -1)
        return _mixture(weights, means, scaled)

    def _parts(self, theta: Array) -> tuple[Array, Array, Array]:
        """Return weights (Q,), means (Q, d) and factors (Q, d) of the standard deviations."""
        weights, shape = as_array(self.start.weights), np.shape(self.start.means)
        logits, means, stretch = np.split(theta, [len(weights), len(weights) + np.prod(shape)])
        weights = weights.sum() * softmax(logits)
        return weights, means.reshape(shape) / self.unit, np.exp(stretch).reshape(shape)

    def _spread(self, draws: BaseDraws) -> Array:
        r"""Return the deviations :math:`L_q e` (m, d) of the frequencies from their means."""
        return as_array(np.einsum("jik,jk->ji", self.start.factors()[draws.part], draws.e))


def slopes_by_logit(by_log_weight: Array, weights: Array) -> Array:
    """Return derivatives by logits (K,) from those by log weights, the softmax times a constant."""
    return as_array(by_log_weight - weights / weights.sum() * by_log_weight.sum())


def _mixture(weights: Array, means: Array, covariances: Array) -> SpectralMixture:
    return SpectralMixture(weights.tolist(), means.tolist(), covariances.tolist())
