"""Fitting a weighted sum of laws to a table, and predicting with intervals that hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from time import perf_counter
from types import MappingProxyType

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas
from bochner.learning.ensemble.blocks import (
    Rows,
    best_by_evidence,
    best_by_left_out,
    left_out_blocks,
    predictions,
)
from bochner.learning.ensemble.landmarks import ROUGH, SMOOTH, LandmarkFeatures, best_kernel
from bochner.learning.ensemble.pooled import ChainSizes, WaveFeatures, run_chains
from bochner.learning.ensemble.weights import member_weights
from bochner.learning.ridge import RidgePosterior, fit_ridge
from bochner.registry import register

_MOST_SCORES = 5000
"""Most left-out scores that are kept: the error of a quantile is below one per cent in rank."""

_SCORED_ROWS = 3000
"""Left-out rows after which no more blocks are scored; each block costs one more fit."""

_FEWEST_OTHERS = 500
"""Fewest rows that are no landmarks, unless all are: their scores' quantile of 90 per cent is
accurate to 1.3 per cent in rank."""

_CHAIN_SHARE = 0.6
"""Share of a time limit that chains may take; the rest is for the fits to all rows."""

_FEW_FREQUENCIES = 800
"""Frequencies of a law of 400 to 3,200 rows. More would hardly do any good: they approximate the
kernel of their prior to 3 per cent. Fewer rows have two for each."""

_TINY = 1e-12
"""Least standard deviation, relative to that of the target: exact predictions have scores, too."""

Pair = tuple[Array, Array]
"""Means and standard deviations, each of shape (n,)."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes of everything that takes time."""

    n_blocks: int  # Blocks of rows; each encoding has a chain for each
    chains: ChainSizes
    few_rows: int  # Below so many rows, chains are twice as many and half as wide
    most_landmarks: int
    most_frequencies: int  # Of all chains together, in one law

    def blocks(self, n_samples: int) -> int:
        """Return the number of blocks: half as many of many rows, whose chains see a part only."""
        return self.n_blocks // (1 if n_samples < self.few_rows else 2)

    def sizes(self, n_samples: int) -> ChainSizes:
        """Return the sizes of chains: few rows have half as many frequencies."""
        half = 2 if n_samples < self.few_rows else 1
        return replace(self.chains, n_frequencies=self.chains.n_frequencies // half)

    def pooled(self, n_samples: int) -> int:
        """Return how many frequencies a learned law has."""
        few = min(_FEW_FREQUENCIES, 2 * n_samples)
        return min(self.most_frequencies, max(few, n_samples // 4))


EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort(4, ChainSizes(100, 10, 5, 2000), 3000, 1000, 800),
        "default": Effort(8, ChainSizes(200, 20, 10, 3000), 3000, 2000, 2000),
        "thorough": Effort(8, ChainSizes(400, 60, 20, 6000), 3000, 4000, 4000),
    }
)
"""Sizes by name."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One law: features of some encoded columns, and the posterior of a ridge fit on them."""

    name: str
    features: WaveFeatures | LandmarkFeatures
    columns: NDArray[np.int64]  # (d',): The encoded columns that it uses
    posterior: RidgePosterior

    def mean(self, X: Array) -> Array:
        """Return means (n,) of encoded rows (n, d)."""
        products = self.features.products(X[:, self.columns], self.posterior.coef)
        mean: Array = products[:, 0] + self.posterior.intercept[0]
        return mean

    def predict(self, X: Array) -> Pair:
        """Return means and standard deviations, noise included, of encoded rows (n, d)."""
        return predictions(self.posterior, self.features, X[:, self.columns])


@register(shapes={"weights": "k", "scores": "s"})
@dataclass(frozen=True, slots=True, eq=False)
class SumOfLaws:
    r"""A weighted sum of laws, and the left-out scores that calibrate its intervals.

    With weights :math:`w_k`, mean and variance are those of the mixture, :math:`m = \sum_k w_k m_k`
    and :math:`s^2 = \sum_k w_k (s_k^2 + (m_k - m)^2)`. The scores are
    :math:`r_i = |y_i - m_{-i}(x_i)| / s_{-i}(x_i)` of rows left out. Standard deviations are
    multiplied by the scores' root mean square. The interval of level ``l`` is
    :math:`m(x) \pm q s(x)`, ``q`` the :math:`\lceil (n + 1) l \rceil`-th smallest score, as in
    jackknife+ after bootstrap (Kim, Xu and Barber, 2020). For exchangeable rows that has a coverage
    of at least :math:`2 l - 1`, and of about ``l`` if leaving out a block changes predictions
    little. The few numbers that are chosen on all rows (length scales, noise, weights) are not
    covered by the guarantee.
    """

    members: list[Member]
    weights: Array  # (K,)
    scores: Array  # (s,): Sorted
    scale: float  # Root mean square of the scores
    left_out_rmse: float  # Root mean square of left-out residuals

    def predict(self, X: Array, return_std: bool = False) -> Array | Pair:
        """Return means (n,) of encoded rows (n, d), and standard deviations if asked for."""
        if not return_std:
            means = np.column_stack([member.mean(X) for member in self.members])
            averaged: Array = means @ self.weights
            return averaged
        mean, std = self._moments(X)
        return mean, self.scale * std

    def interval(self, X: Array, level: float) -> Pair:
        """Return lower and upper ends of prediction intervals of encoded rows (n, d)."""
        mean, std = self._moments(X)
        half = self.score(level) * std
        return mean - half, mean + half

    def score(self, level: float) -> float:
        """Return the conformal quantile of the scores: the greatest, if there are too few."""
        rank = int(np.ceil((len(self.scores) + 1) * level))
        return float(self.scores[min(rank, len(self.scores)) - 1])

    def _moments(self, X: Array) -> Pair:
        means, stds = zip(*(member.predict(X) for member in self.members), strict=True)
        return mixture(np.column_stack(means), np.column_stack(stds), self.weights)


def mixture(means: Array, stds: Array, weights: Array) -> Pair:
    """Return mean and standard deviation (n,) of mixtures of laws with these moments (n, K)."""
    mean = means @ weights
    variance = (stds**2 + (means - mean[:, None]) ** 2) @ weights
    return mean, np.sqrt(variance)


@dataclass(frozen=True, slots=True)
class Learner:
    """How to fit a sum of laws; see :class:`bochner.TableRegressor`."""

    effort: Effort
    is_fixed: bool  # Whether a rough and a smooth kernel take part
    n_threads: int
    time_limit: float | None
    progress: Progress

    def fit(
        self,
        X: Array,
        encodings: Sequence[NDArray[np.int64]],
        y: Array,
        rng: Generator,
    ) -> SumOfLaws:
        """Return the sum of laws of encoded rows (n, d) and standardised targets (n,).

        ``encodings`` are sets of columns, each the whole table. The kernels choose
        one of them. Chains run on the first, and on all columns together.
        """
        began = perf_counter()
        block_rng, kernel_rng, chain_rng, score_rng = rng.spawn(4)
        n_blocks = min(self.effort.blocks(len(y)), len(y))
        n_scored = min(n_blocks, -(-_SCORED_ROWS * n_blocks // len(y)))
        rows = Rows(X, y, left_out_blocks(len(y), n_blocks, block_rng), n_scored)
        landmarks = self._landmarks(len(y), kernel_rng)
        laws: list[tuple[Member, Pair]] = []
        if self.is_fixed:
            laws += self._kernels(rows, encodings, landmarks, kernel_rng)
        left = None
        if self.time_limit is not None:
            left = max(0.0, _CHAIN_SHARE * self.time_limit - (perf_counter() - began))
        laws += self._chains(rows, encodings, chain_rng, left)
        members, left_out = zip(*laws, strict=True)
        scored = rows.blocks < rows.n_scored
        if len(landmarks) < len(y):
            # New rows are no landmarks, at which features lack no variance.
            scored[landmarks] = False
        return _weighed(list(members), list(left_out), y, scored, score_rng)

    def _landmarks(self, n_samples: int, rng: Generator) -> NDArray[np.int64]:
        """Return the rows that are landmarks: all, or a random part that leaves rows to score."""
        most = self.effort.most_landmarks
        count = most if n_samples >= most + _FEWEST_OTHERS else n_samples
        return np.sort(rng.permutation(n_samples)[:count])

    def _kernels(
        self,
        rows: Rows,
        encodings: Sequence[NDArray[np.int64]],
        landmarks: NDArray[np.int64],
        rng: Generator,
    ) -> list[tuple[Member, Pair]]:
        laws = []
        tables = [rows.X[:, columns] for columns in encodings]
        for name, families in (("rough kernel", ROUGH), ("smooth kernel", SMOOTH)):
            self.progress(f"choosing a {name}")
            with single_threaded_blas():
                kernel, index, alpha = best_kernel(families, tables, rows.y, rng, self.n_threads)
            features = LandmarkFeatures.of(kernel, tables[index][landmarks])
            part = rows.columns(encodings[index])
            posterior, left_out = best_by_left_out(part, features, alpha)
            laws.append((Member(name, features, encodings[index], posterior), left_out))
        return laws

    def _chains(
        self,
        rows: Rows,
        encodings: Sequence[NDArray[np.int64]],
        rng: Generator,
        seconds: float | None,
    ) -> list[tuple[Member, Pair]]:
        used = [encodings[0]]
        if len(encodings) > 1:
            used.append(np.unique(np.concatenate(encodings)))
        waves = -(-rows.n_blocks // self.n_threads) * len(used)
        laws = []
        for number, columns in enumerate(used):
            part = rows.columns(columns)
            report = _Reports(self.progress, number * rows.n_blocks, len(used) * rows.n_blocks)
            # Chains share the threads, and their matrices are too small to gain from any.
            with single_threaded_blas():
                chains = run_chains(
                    part,
                    self.effort.sizes(len(rows.y)),
                    rng,
                    n_threads=self.n_threads,
                    seconds=None if seconds is None else seconds / waves,
                    report=report,
                )
            self.progress("fitting the frequencies of all chains to all rows")
            features = chains.of_all(self.effort.pooled(len(rows.y)))
            posterior = best_by_evidence(part.sums(features))
            left_out = np.full((2, len(rows.y)), np.nan)
            for block in range(rows.n_scored):
                own = chains.of_one(block)
                without = fit_ridge(
                    part.without(block).sums(own), posterior.alpha, fit_intercept=True
                )
                # Scores of rows left out are in units of the standard deviation of new ones.
                without = replace(without, noise_variance=posterior.noise_variance)
                scored = rows.blocks == block
                left_out[:, scored] = predictions(without, own, part.X[scored])
            member = Member("learned frequencies", features, columns, posterior)
            laws.append((member, (left_out[0], left_out[1])))
        return laws


def _weighed(
    members: list[Member],
    left_out: list[Pair],
    y: Array,
    scored: NDArray[np.bool_],
    rng: Generator,
) -> SumOfLaws:
    """Return the members with the weights and the scores of left-out predictions of some rows."""
    means, stds = (np.column_stack(part)[scored] for part in zip(*left_out, strict=True))
    target = y[scored]
    weights = member_weights(means - target[:, None])
    mean, std = mixture(means, stds, weights)
    scores = np.abs(target - mean) / np.maximum(std, _TINY)
    scale, error = (float(np.sqrt(np.mean(part**2))) for part in (scores, target - mean))
    if len(scores) > _MOST_SCORES:
        scores = rng.choice(scores, _MOST_SCORES, replace=False)
    return SumOfLaws(members, weights, np.sort(scores), max(scale, _TINY), error)


class _Reports:
    """Lines of progress of chains that run side by side."""

    def __init__(self, progress: Progress, done: int, total: int) -> None:
        self._progress, self._done, self._total = progress, done, total
        self._lock = Lock()

    def __call__(self, chain: int) -> Progress:
        def report(line: str) -> None:
            with self._lock:
                self._progress(f"chain {self._done + chain + 1} of {self._total}: {line}")

        return report
