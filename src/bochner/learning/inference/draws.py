"""What is kept of a chain: frequencies and weights of some of its states, and predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import lapack

from bochner._numerics import limits
from bochner._numerics.arrays import Array
from bochner.learning.inference.basis import PLAIN, Basis
from bochner.learning.inference.components import Components
from bochner.learning.inference.evidence import Evidence
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.waves import Waves
from bochner.learning.moves.noise_field import log_factor
from bochner.registry import register


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
    r"""Posterior draws of frequencies, each with its posterior of weights.

    Features are those of :class:`~bochner.learning.inference.training_data.TrainingData`: cosines
    and sines in turn, scaled by :math:`m^{-1/2}`, then the fixed columns.
    """

    omega: Array  # (S, k, D): Units of the basis: for plain waves, their frequencies
    coef: Array  # (S, p): Posterior means of the weights
    precision: Array  # (S,): lambda_0
    noise_variance: Array  # (S,)
    # (S,): Log evidence, or log likelihood of a classification, by which draws are compared
    log_density: Array
    # (W, p, p) float32: Of some draws: upper triangular U with U U' = P, their weights'
    # covariance over the noise variance
    whitener: NDArray[np.float32]
    whitened: NDArray[np.int64]  # (W,): Which draws those are
    basis: Basis = PLAIN
    field_omega: Array | None = None  # (S, K, d) or None
    # (S, 2K) or None: Where noise varies with the inputs, see NoiseField
    field_weights: Array | None = None

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
        """Frequencies of all waves, without those of amplitudes, of shape (S, m, d)."""
        return np.stack([self.waves(index).omega for index in range(self.n_draws)])

    def waves(self, index: int) -> Waves:
        """Return the waves of one draw."""
        return self.basis.waves(self.omega[index])

    def signal_std(self, inputs: Array) -> Array:
        r"""Return the root of :math:`\sigma^2 k(x, x) / \lambda_0`, on average over draws, (n,)."""
        total = np.zeros(inputs.shape[1])
        for index in range(self.n_draws):
            level = self.noise_variance[index] / self.precision[index]
            total += np.sqrt(level * self.waves(index).variance(inputs))
        return total / self.n_draws

    def activations(self, inputs: Array, fixed: Array) -> Iterator[tuple[slice, Array]]:
        """Yield blocks of rows of ``inputs`` (d, n) with each draw's mean function, (S, block)."""
        for part in self._blocks(inputs.shape[1]):
            values = np.empty((self.n_draws, part.stop - part.start))
            for index in range(self.n_draws):
                values[index] = self.coef[index] @ self.features(
                    index, inputs[:, part], fixed[:, part]
                )
            yield part, values

    def spreads(self, inputs: Array, fixed: Array) -> Iterator[tuple[slice, Array]]:
        r"""Yield blocks of rows with :math:`\phi^\top P \phi` of the whitened draws, (W, block)."""
        for part in self._blocks(inputs.shape[1]):
            values = np.empty((len(self.whitened), part.stop - part.start))
            for place, index in enumerate(self.whitened):
                Z = self.features(int(index), inputs[:, part], fixed[:, part])
                half = self.whitener[place].T @ Z.astype(np.float32)
                values[place] = np.einsum("pn,pn->n", half, half, dtype=np.float64)
            yield part, values

    def noise(self, index: int, inputs: Array) -> Array:
        """Return the noise's variance of one draw at inputs (d, n), of shape (n,)."""
        variance = float(self.noise_variance[index])
        if self.field_omega is None or self.field_weights is None:
            return np.full(inputs.shape[1], variance)
        field = log_factor(inputs, self.field_omega[index], self.field_weights[index])
        varying: Array = variance * np.exp(field)
        return varying

    def pick(self, rng: Generator) -> tuple[int, int, int]:
        """Return a random draw for the mean function, and a whitened one for deviations from it.

        It is the same one where the draw is whitened, so that functions have the moments of the
        mixture of all draws. The place of the second in ``whitened`` comes last.
        """
        mean = int(rng.integers(self.n_draws))
        place = int(rng.integers(len(self.whitened)))
        own = np.flatnonzero(self.whitened == mean)
        if len(own):
            place = int(own[0])
        return mean, int(self.whitened[place]), place

    def features(self, index: int, inputs: Array, fixed: Array) -> Array:
        """Return features of one draw, of shape (p, n)."""
        waves = self.waves(index)
        out = np.empty((self.coef.shape[1], inputs.shape[1]))
        waves.features(inputs, 1.0 / np.sqrt(len(waves)), out[: 2 * len(waves)])
        out[2 * len(waves) :] = fixed
        return out

    def _blocks(self, n_samples: int) -> Iterator[slice]:
        step = max(64, limits.BLOCK_BYTES // (8 * self.coef.shape[1]))
        for start in range(0, n_samples, step):
            yield slice(start, min(start + step, n_samples))


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """One state of a chain, as it is kept; see :class:`Draws`."""

    omega: Array
    coef: Array
    precision: float
    noise_variance: float
    log_density: float
    whitener: NDArray[np.float32] | None
    components: Components | None
    field_omega: Array | None = None
    field_weights: Array | None = None


def drawn(evidence: Evidence, prior: FrequencyPrior, log_density: float, *, in_full: bool) -> Draw:
    """Return what is kept of a state; ``in_full`` with covariance and mixture."""
    return Draw(
        omega=evidence.omega.copy(),
        coef=evidence.mean.copy(),
        precision=evidence.precision,
        noise_variance=evidence.noise.variance(evidence.residual, evidence.degrees),
        log_density=log_density,
        whitener=_whitener(evidence) if in_full else None,
        components=prior.components() if in_full else None,
    )


def point_draw(
    omega: Array,
    coef: Array,
    precision: float,
    log_density: float,
    prior: FrequencyPrior,
    *,
    in_full: bool,
) -> Draw:
    """Return a draw of frequencies (k, D) and weights (p,) that have no spread left."""
    whitener = np.zeros((len(coef), len(coef)), dtype=np.float32) if in_full else None
    components = prior.components() if in_full else None
    parts = omega.copy(), coef.copy(), precision, 1.0, log_density
    return Draw(*parts, whitener, components)


def stacked(draws: Sequence[Draw], basis: Basis = PLAIN) -> Draws:
    """Return the draws as one value."""
    whitened = [index for index, draw in enumerate(draws) if draw.whitener is not None]
    p = len(draws[0].coef)
    whiteners: list[Any] = [draws[index].whitener for index in whitened]
    return Draws(
        omega=np.stack([draw.omega for draw in draws]),
        coef=np.stack([draw.coef for draw in draws]),
        precision=np.array([draw.precision for draw in draws]),
        noise_variance=np.array([draw.noise_variance for draw in draws]),
        log_density=np.array([draw.log_density for draw in draws]),
        whitener=np.stack(whiteners) if whiteners else np.empty((0, p, p), dtype=np.float32),
        whitened=np.array(whitened, dtype=np.int64),
        basis=basis,
        field_omega=_all([draw.field_omega for draw in draws]),
        field_weights=_all([draw.field_weights for draw in draws]),
    )


def _all(arrays: Sequence[Array | None]) -> Array | None:
    """Return arrays as one, or ``None`` where there are none."""
    known = [array for array in arrays if array is not None]
    return np.stack(known) if known else None


def _whitener(evidence: Evidence) -> NDArray[np.float32]:
    """Return ``U`` with ``U U' = P``, from the lower factor of ``A``: its transposed inverse."""
    lower, _ = lapack.dpotrf(evidence.posterior_precision(), lower=1, overwrite_a=1, clean=1)
    inverse, _ = lapack.dtrtri(lower, lower=1)
    return np.ascontiguousarray(inverse.T, dtype=np.float32)
