"""Where chains start: frequencies from the prior, or from what the data show."""

import numpy as np

from bochner._numerics.arrays import Array
from bochner.learning.inference.dense import DensePrior
from bochner.learning.inference.prior import FrequencyPrior
from bochner.learning.inference.sparse import SparseHyper, SparsePrior
from bochner.learning.mixture import GammaPrior, MixturePrior, sample_prior
from bochner.learning.wishart import NormalInverseWishart

_MEAN_STRENGTH = 0.05
_CANDIDATES, _PURSUED, _PURSUIT_ROWS = 4000, 24, 2000
_WIDEST = 300.0
_INSIGNIFICANT = 3.0


def sparse_start(
    rng: np.random.Generator, scale: Array, n_frequencies: int
) -> tuple[Array, FrequencyPrior]:
    """Return frequencies (m, d) and prior to start a sparse chain from."""
    prior = SparsePrior.start(SparseHyper(scale))
    return prior.sample(rng, n_frequencies), prior


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
    broad = _broad(rng, scale, _CANDIDATES)
    rows = rng.permutation(len(X))[:_PURSUIT_ROWS]
    pursued = broad[pursuit(X[rows], y[rows], broad, min(_PURSUED, n_frequencies // 4))]
    # A frequency and its negative are one: lines of either sign would make one broad component.
    pursued = np.where(pursued[:, :1] < 0, -pursued, pursued)
    copies = np.repeat(pursued, max(1, n_frequencies // (4 * max(1, len(pursued)))), axis=0)
    rest = rng.normal(size=(n_frequencies - len(copies), d)) * scale / np.sqrt(d)
    omega = np.concatenate([copies + 0.02 * rng.normal(size=copies.shape) * scale, rest])
    return omega, DensePrior.start(rng, _dense_hyper(scale), omega)


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
    angle = X @ candidates.T
    waves = np.stack([np.cos(angle), np.sin(angle)])
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


def _broad(rng: np.random.Generator, scale: Array, count: int) -> Array:
    """Return candidates whose sizes are log-uniform from half the scale to far beyond it."""
    d = len(scale)
    directions = rng.normal(size=(count, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sizes = np.exp(rng.uniform(np.log(0.5), np.log(_WIDEST), size=(count, 1)))
    broad: Array = sizes * directions * scale
    return broad
