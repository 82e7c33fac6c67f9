r"""Shapley values of a function of rows whose columns are players.

The value of a coalition ``S`` of the columns of a row ``x`` is :math:`E_b f(x_S, b_{-S})`, the
average prediction if the other columns come from background rows ``b``. The results are the
interventional Shapley values of Janzing, Minorics and Blöbaum ("Feature relevance quantification
in explainable AI: a causal problem", 2020).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import comb

from bochner._base.arrays import Array, as_array, steps

_FEWEST_PAIRS = 8
"""Fewest pairs of permutations for each row, whose standard errors are accurate to a quarter."""

_REPEATED = 32
"""Fewest background rows with a second pair, which gives the variance between permutations to a
quarter."""

_BLOCK_NUMBERS = 2**22
"""Numbers in a block of rows to predict, 32 MB."""

Estimate = tuple[Array, Array]
"""Shapley values (n, g, k), and their variances or standard errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """A function of rows, and background rows in random order from which columns are taken.

    ``exchanged`` maps rows (r, d), and the one (q, g) of them from which each player comes, to
    predictions (q, k).
    """

    exchanged: Callable[[Array, NDArray[np.intp]], Array]
    n_players: int
    background: Array  # (b, d)
    background_values: Array  # (b, k): Predictions of the background rows

    @property
    def base(self) -> Array:
        """The average prediction (k,) of the background rows."""
        return as_array(self.background_values.mean(axis=0))

    def shapley_values(
        self, X: Array, outputs: Array, n_evaluations: int, rng: Generator
    ) -> Estimate:
        """Return Shapley values of rows (n, d) with predictions (n, k), and standard errors.

        The values are exact if ``n_evaluations`` suffice, else estimated by random permutations.
        """
        n_coalitions = (1 << self.n_players) - 2
        if len(X) * len(self.background) * n_coalitions <= n_evaluations:
            values = np.stack([self.exact(x, output) for x, output in zip(X, outputs, strict=True)])
            return values, np.zeros_like(values)
        n_pairs = n_evaluations // (2 * self.n_players - 2)
        per_row = max(_FEWEST_PAIRS, n_pairs // len(X))
        values, variances = self._sampled(X, outputs, per_row, rng)
        # The error of the sum is distributed over all values in proportion to their variances.
        total = variances.sum(axis=1, keepdims=True)
        even = np.full_like(variances, 1.0 / self.n_players)
        shares = np.divide(variances, total, out=even, where=total > 0.0)
        lacking = outputs - self.base - values.sum(axis=1)
        return values + shares * lacking[:, None], np.sqrt(variances)

    def exact(self, x: Array, output: Array) -> Array:
        r"""Return Shapley values (g, k) of a row (d,) with its prediction (k,).

        The player ``j`` joins a coalition ``S`` of other players with the weight
        :math:`|S|! (g - |S| - 1)! / g! = 1 / (g \binom{g - 1}{|S|})`.
        """
        g = self.n_players
        coalitions = (np.arange(2**g)[:, None] >> np.arange(g)) % 2 == 1
        sums = np.zeros((2**g, len(output)))
        for rows in steps(len(self.background) if g > 1 else 0, self._block(2**g * len(x))):
            some = self.background[rows]
            sums[1:-1] += self._values(x[None], coalitions[None, 1:-1], some).sum(axis=0)
        values = sums / len(self.background)
        values[0], values[-1] = self.base, output
        sizes = coalitions.sum(axis=1)[:, None]
        of_size = 1.0 / (g * comb(g - 1, np.arange(g)))
        weights = np.where(coalitions, of_size[sizes - 1], -of_size[sizes % g])
        exact: Array = weights.T @ values
        return exact

    def _sampled(self, X: Array, outputs: Array, n_pairs: int, rng: Generator) -> Estimate:
        """Return Shapley values of rows, with variances, from ``n_pairs`` permutation pairs each.

        The pairs are spread evenly over as many background rows as possible. The variance is that
        of two-stage sampling: background rows without replacement, then permutations for each.
        """
        size = len(self.background)
        m = min(n_pairs - min(_REPEATED, n_pairs // 4), size)
        n_passes = max(1, n_pairs // size)
        counts = [m] * n_passes if n_passes > 1 else [m, n_pairs - m]
        ranks = [self._ranks(count, rng) for count in counts]
        values, variances = np.empty((2, len(X), self.n_players, outputs.shape[1]))
        for rows in steps(len(X), self._block(m * self.n_players * outputs.shape[1])):
            passes = [self._walks(X[rows], outputs[rows], each) for each in ranks]
            repeated = np.stack([each[:, : counts[-1]] for each in passes])
            within = repeated.var(axis=0, ddof=1).mean(axis=1) / n_passes
            of_background = np.mean(passes[:n_passes], axis=0)
            values[rows] = of_background.mean(axis=1)
            between = of_background.var(axis=1, ddof=1)
            variances[rows] = ((1.0 - m / size) * between + m / size * within) / m
        return values, variances

    def _ranks(self, n_pairs: int, rng: Generator) -> NDArray[np.intp]:
        """Return places (m, g) of players in random permutations."""
        return rng.permuted(np.tile(np.arange(self.n_players), (n_pairs, 1)), axis=1)

    def _walks(self, X: Array, outputs: Array, ranks: NDArray[np.intp]) -> Array:
        """Return contributions (n, m, g, k) of players who join rows one by one.

        Walks start at the first background rows. Contributions are averaged over the permutation
        with the ranks (m, g) of players and its reverse.
        """
        m, g = ranks.shape
        contributions = np.empty((len(X) * m, g, outputs.shape[1]))
        for block in steps(len(contributions), self._block((2 * g - 2) * X.shape[1])):
            i, b = np.divmod(np.arange(block.start, block.stop), m)
            ranks_of_walk = ranks[b, None]
            early = ranks_of_walk < np.arange(1, g)[:, None]  # (p, g - 1, g)
            coalitions = np.concatenate([early, ~early], axis=1)
            values = self._values(X[i], coalitions, self.background[b])
            ends = (outputs[i] - self.background_values[b])[:, None]
            change = np.concatenate([-ends, values[:, : g - 1] - values[:, g - 1 :], ends], axis=1)
            joined = 0.5 * np.diff(change, axis=1)  # (p, g, k): By place
            contributions[block] = np.take_along_axis(joined, ranks[b, :, None], axis=1)
        return contributions.reshape(len(X), m, g, -1)

    def _values(self, X: Array, coalitions: NDArray[np.bool_], rows: Array) -> Array:
        """Return predictions (p, c, k) of coalitions (p, c, g) of ``X``, the rest from ``rows``.

        ``X``, ``rows`` (p, d) and the coalitions have p entries, or one for all.
        """
        of_rows = len(X) + np.arange(len(rows))[:, None, None]
        sources = np.where(coalitions, np.arange(len(X))[:, None, None], of_rows)
        values = self.exchanged(np.vstack((X, rows)), sources.reshape(-1, self.n_players))
        return values.reshape(*sources.shape[:2], -1)

    def _block(self, width: int) -> int:
        """Return the number of rows of ``width`` numbers in a block, at least one."""
        return max(1, _BLOCK_NUMBERS // width)
