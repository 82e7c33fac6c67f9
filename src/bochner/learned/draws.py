"""Posterior draws of a chain: their predictions, and sampled functions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import lapack

from bochner._base.arrays import Array, as_array, row_blocks
from bochner._base.registry import register
from bochner.learned.basis import PLAIN, Basis
from bochner.learned.chain_state import ChainEvidence
from bochner.learned.frequency_priors import Components, FrequencyPrior
from bochner.learned.modulated_waves import WaveFeatures
from bochner.learned.noise_field import log_factor
from bochner.learned.training_data import Scaling, Trend
from bochner.linear.sampled_functions import (
    FrequencyIndices,
    FunctionTerm,
    SampledFunctions,
    WaveTerm,
)
from bochner.spectral.frequencies import Frequencies


@register(
    shapes={
        "omega": "smd",
        "coef": "sp",
        "precision": "s",
        "noise_variance": "s",
        "log_density": "s",
        "whitener": "wpp",
        "whitened": "w",
        "field_omega": "ski",
        "field_weights": "se",
    }
)
@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    r"""Posterior draws of frequencies, each with the posterior of the features' weights given it.

    Features are cosines and sines in turn, scaled by :math:`m^{-1/2}`, then the fixed columns.
    """

    omega: Array  # (S, k, D): Units of the basis: for plain waves, their frequencies
    coef: Array  # (S, p): Posterior means of the weights
    precision: Array  # (S,): lambda_0
    noise_variance: Array  # (S,)
    log_density: Array  # (S,): Log evidence, or log likelihood of a classification
    # (W, p, p): Upper triangular U with U U' = P, the weights' covariance over the noise variance
    whitener: NDArray[np.float32]
    whitened: NDArray[np.int64]  # (W,): Indices of the draws with a whitener
    basis: Basis = PLAIN
    field_omega: Array | None = None  # (S, K, d) if noise varies: see NoiseField
    field_weights: Array | None = None  # (S, 2K)
    noise_unit: float = 1.0  # Factor of noise_variance for an observation of weight one

    def __post_init__(self) -> None:
        if not np.isin(self.whitened, np.arange(self.n_draws)).all():
            raise ValueError(f"whitened must be indices of the {self.n_draws} draws")
        if (self.field_omega is None) != (self.field_weights is None) or (
            self.field_omega is not None
            and self.field_weights is not None
            and self.field_weights.shape[1] != 2 * self.field_omega.shape[1]
        ):
            raise ValueError("field_weights must have two columns for each of field_omega")
        if not (self.noise_variance > 0.0).all():
            raise ValueError("noise_variance must be positive")

    @property
    def n_draws(self) -> int:
        """Number of draws, ``S``."""
        return len(self.omega)

    @property
    def best(self) -> int:
        """Index of the draw of greatest log density."""
        return int(np.argmax(self.log_density))

    @property
    def n_waves(self) -> int:
        """Number of waves of a draw, ``m``."""
        return self.basis.n_waves(self.omega.shape[1])

    @property
    def frequencies(self) -> Array:
        """Frequencies (S, m, d) of all waves, without the frequencies of amplitudes."""
        return np.stack([self.waves(index).omega for index in range(self.n_draws)])

    def waves(self, index: int) -> WaveFeatures:
        """Return the waves of one draw."""
        return self.basis.waves(self.omega[index])

    def signal_std(self, inputs: Array) -> Array:
        r"""Return the envelope (n,): :math:`\sqrt{\sigma^2 k(x, x) / \lambda_0}`, averaged."""
        total = np.zeros(inputs.shape[1])
        for index in range(self.n_draws):
            level = self.noise_variance[index] / self.precision[index]
            total += np.sqrt(level * self.waves(index).variance(inputs))
        return total / self.n_draws

    def activations(self, inputs: Array, fixed: Array) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of inputs (d, n) with the values (S, block) of each draw's mean function."""
        for part in self._blocks(inputs.shape[1]):
            values = np.empty((self.n_draws, part.stop - part.start))
            for index, coef in enumerate(self.coef):
                values[index] = coef @ self.features(index, inputs[:, part], fixed[:, part])
            yield part, values

    def spreads(self, inputs: Array, fixed: Array) -> Iterator[tuple[slice, Array]]:
        r"""Yield blocks of inputs with :math:`\phi^\top P \phi` (W, block) of whitened draws."""
        for part in self._blocks(inputs.shape[1]):
            values = np.empty((len(self.whitened), part.stop - part.start))
            for place, index in enumerate(self.whitened):
                Z = self.features(int(index), inputs[:, part], fixed[:, part])
                # In single precision, as whiteners are stored: standard deviations need few digits.
                half = self.whitener[place].T @ Z.astype(np.float32)
                values[place] = np.einsum("pn,pn->n", half, half, dtype=np.float64)
            yield part, values

    def covariance(self, inputs: Array, fixed: Array) -> Array:
        """Return the covariance (n, n) of new observations at inputs (d, n), noise included.

        It is the covariance between draws of their mean functions, plus the mean over draws of the
        covariance given the draw.
        """
        parts = [values for _, values in self.activations(inputs, fixed)]
        deviation = np.concatenate(parts, axis=1)
        # The covariance between draws of their mean functions.
        deviation -= deviation.mean(axis=0)
        covariance: Array = deviation.T @ deviation / self.n_draws
        for place, index in enumerate(self.whitened):
            Z = self.features(int(index), inputs, fixed)
            half = (self.whitener[place].T @ Z.astype(np.float32)).astype(np.float64)
            within = self.noise_variance[index] * (half.T @ half)
            within[np.diag_indices_from(within)] += self.noise(int(index), inputs)
            covariance += within / len(self.whitened)
        return covariance

    def noise(self, index: int, inputs: Array) -> Array:
        """Return the noise variance (n,) of one draw at inputs (d, n), for rows of weight one."""
        variance = self.noise_unit * float(self.noise_variance[index])
        if self.field_omega is None or self.field_weights is None:
            return np.full(inputs.shape[1], variance)
        field = log_factor(inputs, self.field_omega[index], self.field_weights[index])
        return variance * np.exp(field)

    def pick(self, rng: Generator) -> tuple[int, int, int]:
        """Return a random draw for the mean function, and a whitened draw for deviations from it.

        Both are the same draw if it is whitened, so that functions have the moments of the mixture
        of all draws. The third result is the position of the whitened draw in ``whitened``.
        """
        mean, place = int(rng.integers(self.n_draws)), int(rng.integers(len(self.whitened)))
        places = np.flatnonzero(self.whitened == mean)
        # The random position is drawn in any case, so that streams do not depend on the draw.
        place = int(places[0]) if len(places) else place
        return mean, int(self.whitened[place]), place

    def features(self, index: int, inputs: Array, fixed: Array) -> Array:
        """Return features and fixed columns of one draw, of shape (p, n)."""
        waves = self.waves(index)
        out = np.empty((self.coef.shape[1], inputs.shape[1]))
        waves.features(inputs, 1.0 / np.sqrt(len(waves)), out[: 2 * len(waves)])
        out[2 * len(waves) :] = fixed
        return out

    def _blocks(self, n_samples: int) -> Iterator[slice]:
        return row_blocks(n_samples, 8 * self.coef.shape[1], least=64)


@dataclass(frozen=True, slots=True, eq=False)
class ChainDraw:
    """What is stored of one state of a chain, by the names of :class:`Draws`."""

    omega: Array
    coef: Array
    precision: float
    noise_variance: float
    log_density: float
    whitener: NDArray[np.float32] | None
    components: Components | None
    field_omega: Array | None = None
    field_weights: Array | None = None


def drawn(
    evidence: ChainEvidence, prior: FrequencyPrior | None, log_density: float, *, in_full: bool
) -> ChainDraw:
    """Return what is stored of a state; ``in_full`` adds the covariance and the mixture."""
    return ChainDraw(
        omega=evidence.omega.copy(),
        coef=evidence.mean.copy(),
        precision=evidence.precision,
        noise_variance=evidence.noise.variance(evidence.residual, evidence.degrees),
        log_density=log_density,
        whitener=_whitener(evidence) if in_full else None,
        components=prior.components() if in_full and prior is not None else None,
    )


def point_draw(
    omega: Array,
    coef: Array,
    precision: float,
    log_density: float,
    prior: FrequencyPrior,
    *,
    in_full: bool,
) -> ChainDraw:
    """Return a draw of frequencies (k, D) and weights (p,) without posterior covariance."""
    whitener = np.zeros((len(coef), len(coef)), dtype=np.float32) if in_full else None
    parts = omega.copy(), coef.copy(), precision, 1.0, log_density, whitener
    return ChainDraw(*parts, prior.components() if in_full else None)


def stacked(draws: Sequence[ChainDraw], basis: Basis = PLAIN, noise_unit: float = 1.0) -> Draws:
    """Return a chain's draws as one object, whose arrays have a leading axis of draws."""

    def all_of(name: str) -> Any:
        """Stack the named field of all draws that have it; ``None`` if no draw does."""
        values = [getattr(draw, name) for draw in draws]
        present = [value for value in values if value is not None]
        return np.stack(present) if present else None

    names = ("omega", "coef", "precision", "noise_variance", "log_density")
    fields = ("field_omega", "field_weights")
    whitener, p = all_of("whitener"), len(draws[0].coef)
    return Draws(
        **{name: all_of(name) for name in (*names, *fields)},
        whitener=np.empty((0, p, p), dtype=np.float32) if whitener is None else whitener,
        whitened=np.flatnonzero([draw.whitener is not None for draw in draws]),
        basis=basis,
        noise_unit=noise_unit,
    )


def _whitener(evidence: ChainEvidence) -> NDArray[np.float32]:
    """Return ``U`` with ``U U' = P``: the transposed inverse of the Cholesky factor of ``A``."""
    lower, _ = lapack.dpotrf(evidence.posterior_precision(), lower=1, overwrite_a=1, clean=1)
    inverse, _ = lapack.dtrtri(lower, lower=1)
    return np.ascontiguousarray(inverse.T, dtype=np.float32)


@register(shapes={"members": "k"})
@dataclass(frozen=True, slots=True, eq=False)
class TrendTerm(FunctionTerm):
    """A term of sampled functions: a weighted sum of the columns of a trend."""

    trend: Trend

    def values(self, X: Array) -> Array:
        return as_array(self.trend.columns(X) @ self.coef)

    def gradient(self, X: Array) -> Array:
        gradient = np.zeros((*X.shape, self.coef.shape[1]))
        weights = self.trend.polynomial(self.coef.T, X.shape[1])
        for power in range(1, self.trend.degree + 1):
            slope = power * X ** (power - 1)
            gradient += slope[:, :, None] * weights[:, power - 1].T
        return gradient


def drawn_functions(
    draws: Draws, trend: Trend, scaling: Scaling, count: int, rng: Generator, factor: float
) -> tuple[SampledFunctions, FrequencyIndices]:
    """Return ``count`` posterior functions, and the indices (count,) of the draws of their noise.

    A function is the mean function of a random draw plus a random deviation with the posterior
    covariance of a whitened draw (:meth:`Draws.pick`). The deviation of the function from the mean
    over all draws is multiplied by ``factor``.
    """
    deviating = np.empty(count, dtype=np.int64)
    coef = np.zeros((count, 2, draws.coef.shape[1]))
    number = np.empty((count, 2), dtype=np.int64)
    for column in range(count):
        chosen, index, place = draws.pick(rng)
        change = draws.whitener[place] @ rng.normal(size=draws.coef.shape[1])
        coef[column] = draws.coef[chosen], np.sqrt(draws.noise_variance[index]) * change
        number[column] = chosen, index
        deviating[column] = index
    rest = (1.0 - factor) * draws.coef / draws.n_draws
    n_waves = 2 * draws.n_waves
    parts = [*_own(factor * coef, number)]
    if factor != 1.0:
        all_functions = np.arange(count)
        parts += [(index, rest[index, :, None], all_functions) for index in range(draws.n_draws)]
    terms: list[FunctionTerm] = [
        WaveTerm(
            np.concatenate((coefs[:n_waves:2], coefs[1:n_waves:2])), members, _of(draws, index)
        )
        for index, coefs, members in parts
    ]
    fixed = factor * coef.sum(axis=1)[:, n_waves:] + rest.sum(axis=0)[n_waves:]
    terms.append(TrendTerm(fixed.T, np.arange(count), trend))
    constant, dim = np.zeros(count), len(scaling.scale)
    return SampledFunctions(tuple(terms), constant, (count,), dim, scaling), deviating


def _own(coef: Array, number: FrequencyIndices) -> Iterator[tuple[int, Array, FrequencyIndices]]:
    """Yield each draw's index, the functions (k,) that use it, and feature weights (p, k).

    Function ``f`` sums the features of two draws, ``number[f]``, with the weights ``coef[f]``.
    """
    for index in np.unique(number):
        uses = number == index
        members = np.flatnonzero(uses.any(axis=1))
        weights = np.sum(coef[members] * uses[members, :, None], axis=1)
        yield int(index), weights.T, members


def _of(draws: Draws, index: int) -> Frequencies:
    """Return the frequencies of one draw, as a function of scaled inputs."""
    waves = draws.waves(index)
    dim = waves.omega.shape[1]
    return waves_in_units(waves, Scaling(np.zeros(dim), np.ones(dim)))


def waves_in_units(waves: WaveFeatures, scaling: Scaling) -> Frequencies:
    """Return frequencies of ``waves`` on unscaled inputs, each with an equal share of weight."""
    m = len(waves)
    omega, weight = waves.omega / scaling.scale, np.full(m, 1.0 / m)
    if waves.amplitudes is None or not len(waves.modulated):
        return Frequencies(omega, weight)
    weight, modulation = waves.amplitudes.in_units(scaling.centre, scaling.scale, weight)
    return Frequencies(omega, weight, factor=modulation)
