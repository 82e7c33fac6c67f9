"""Where chains start: frequencies from the prior, or from what the data show."""

import numpy as np

from bochner._numerics.arrays import Array
from bochner.frequencies.waves import Layout, wave_features
from bochner.learning.inference.dense import DensePrior
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.sparse import SparseHyper, SparsePrior
from bochner.learning.mixture import GammaPrior, MixturePrior, sample_prior
from bochner.learning.wishart import NormalInverseWishart

_MEAN_STRENGTH = 0.05
_CANDIDATES, _PURSUED, _PURSUIT_ROWS = 4000, 24, 2000
_WIDEST, _FEWEST_VALUES = 300.0, 8
_INSIGNIFICANT, _JITTER, _MOST_COPIES = 3.0, 0.02, 8


def sparse_start(
    rng: np.random.Generator, scale: Array, n_frequencies: int, X: Array, y: Array
) -> tuple[Array, FrequencyPrior]:
    """Return frequencies (m, d) and prior to start a sparse chain from.

    Those of the prior, and, as in :func:`dense_start`, some that explain ``y`` (n,), each along
    one input alone.
    """
    prior = SparsePrior.start(SparseHyper(scale))
    finest = finest_frequencies(X)
    fine = np.flatnonzero(finest > scale)
    omega = prior.sample(rng, n_frequencies)
    if not len(fine):
        return omega, prior
    which = rng.choice(fine, size=_CANDIDATES)
    single = np.zeros((_CANDIDATES, len(scale)))
    size = rng.uniform(np.log(0.5 * scale[which]), np.log(finest[which]))
    single[np.arange(_CANDIDATES), which] = np.exp(size)
    pursued = _pursued(rng, X, y, single, n_frequencies)
    omega[: len(pursued)] = pursued
    return omega, prior


def paper_start(
    rng: np.random.Generator, scale: Array, n_frequencies: int
) -> tuple[Array, FrequencyPrior]:
    """Return a draw of the dense prior, with the paper's independence proposals."""
    hyper = _dense_hyper(scale)
    mixture, omega = sample_prior(rng, hyper, n_frequencies)
    return omega, DensePrior(hyper, mixture, correlations=(0.0,), jumps=0.0)


def dense_start(
    rng: np.random.Generator, scale: Array, n_frequencies: int, X: Array, y: Array
) -> tuple[Array, FrequencyPrior]:
    """Return frequencies (m, d) and prior to start a dense chain from.

    Some frequencies are those that explain most of ``y`` (n,), one after another, among draws of
    a broad law: a chain of local moves finds the place of a narrow line, not the line.
    """
    d = len(scale)
    directions = rng.normal(size=(_CANDIDATES, d))
    # A frequency and its negative are one: lines of either sign would make one broad component.
    directions *= np.where(directions[:, :1] < 0, -1.0, 1.0)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    finest = np.maximum(finest_frequencies(X), scale)
    most = np.min(finest / np.abs(directions), axis=1)
    least = 0.5 / np.linalg.norm(directions / scale, axis=1)
    size = np.exp(rng.uniform(np.log(np.minimum(least, most)), np.log(most)))
    copies = _pursued(rng, X, y, size[:, None] * directions, n_frequencies)
    copies = copies + _JITTER * rng.normal(size=copies.shape) * scale
    rest = rng.normal(size=(n_frequencies - len(copies), d)) * scale / np.sqrt(d)
    omega = np.concatenate([copies, rest])
    return omega, DensePrior.start(rng, _dense_hyper(scale), omega)


def finest_frequencies(X: Array) -> Array:
    """Return the highest frequency that the values of each input can show, of shape (d,).

    Half of that at which waves on a grid of as many values are alike, at most three hundred
    times the standard deviation's reciprocal; zero for inputs of a few values.
    """
    finest = np.zeros(X.shape[1])
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        if len(values) >= _FEWEST_VALUES:
            finest[column] = np.pi * (len(values) - 1) / (values[-1] - values[0])
    return np.minimum(finest, _WIDEST)


def _pursued(
    rng: np.random.Generator, X: Array, y: Array, candidates: Array, n_frequencies: int
) -> Array:
    """Return the candidates that explain ``y``, repeated so as to be a quarter of all."""
    rows = rng.permutation(len(X))[:_PURSUIT_ROWS]
    most = min(_PURSUED, n_frequencies // 4)
    chosen = candidates[pursuit(X[rows], y[rows], candidates, most)]
    if not len(chosen):
        return chosen
    times = min(_MOST_COPIES, max(1, n_frequencies // (4 * len(chosen))))
    return np.repeat(chosen, times, axis=0)


def _dense_hyper(scale: Array) -> MixturePrior:
    d = len(scale)
    base = NormalInverseWishart(np.zeros(d), _MEAN_STRENGTH, np.diag(scale**2) / d, d + 2.0)
    return MixturePrior(base, GammaPrior(1.0, 1.0))


def pursuit(X: Array, y: Array, candidates: Array, count: int) -> list[int]:
    """Return at most ``count`` candidate frequencies (C, d) that explain ``y``, greedily.

    Orthogonal matching pursuit on pairs of cosine and sine, beside a quadratic trend. It ends
    when the best of all candidates explains no more than the best of as many waves would of
    noise.
    """
    waves = Layout.BY_WAVE.pairs(wave_features(X.T, candidates, Layout.BY_WAVE))
    waves = np.ascontiguousarray(waves.transpose(1, 2, 0))
    basis, _ = np.linalg.qr(np.concatenate([np.ones((len(X), 1)), X, X**2], axis=1))
    residual = y - basis @ (basis.T @ y)
    waves -= basis @ (basis.T @ waves)
    norms = np.maximum(np.sum(waves**2, axis=1), 1e-6 * len(X))
    chosen: list[int] = []
    for _ in range(count):
        gain = np.sum((np.einsum("kni,n->ki", waves, residual)) ** 2 / norms, axis=0)
        gain[chosen] = -1.0
        best = int(np.argmax(gain))
        # Of noise a wave explains twice its variance times an exponential variate: log(C) at most.
        expected = 2.0 * float(residual @ residual) / len(y)
        if gain[best] < expected * (np.log(len(candidates)) + _INSIGNIFICANT):
            break
        chosen.append(best)
        pair, _ = np.linalg.qr(waves[:, :, best].T)
        residual = residual - pair @ (pair.T @ residual)
    return chosen
