"""Contributions of columns to single predictions: interventional Shapley values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import comb

from bochner._base.arrays import Array, Index, as_array, steps
from bochner.tables.sensitivity import Cells, Dependence, ResultTable

_FEWEST_PAIRS = 8
"""Fewest pairs of permutations for each row; standard errors are then accurate to a quarter."""

_REPEATED = 32
"""Fewest background rows with a second pair, for the variance between permutations to a quarter."""

_BLOCK_NUMBERS = 2**22
"""Numbers in a block of rows to predict, 32 MB."""

Estimate = tuple[Array, Array]
"""Shapley values (n, g, k), and their variances or standard errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """A cooperative game for Shapley values: players are columns, values are predictions."""

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
        """Return Shapley values of rows (n, d) with predictions (n, k), and standard errors."""
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
        r"""Return the exact Shapley values (g, k) of a row (d,) with its prediction (k,).

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
        """Estimate Shapley values of rows and their variances by ``n_pairs`` permutation pairs."""
        size = len(self.background)
        m = min(n_pairs - min(_REPEATED, n_pairs // 4), size)
        n_passes = max(1, n_pairs // size)
        counts = [m] * n_passes if n_passes > 1 else [m, n_pairs - m]
        players = np.arange(self.n_players)
        ranks = [rng.permuted(np.tile(players, (count, 1)), axis=1) for count in counts]
        values, variances = np.empty((2, len(X), self.n_players, outputs.shape[1]))
        for rows in steps(len(X), self._block(m * self.n_players * outputs.shape[1])):
            # Rows have other parts of the background: an error of one would be that of all.
            some = (np.arange(rows.start, rows.stop)[:, None] * m + np.arange(m)) % size
            passes = [self._walks(X[rows], outputs[rows], each, some) for each in ranks]
            repeated = np.stack([each[:, : counts[-1]] for each in passes])
            within = repeated.var(axis=0, ddof=1).mean(axis=1) / n_passes
            of_background = np.mean(passes[:n_passes], axis=0)
            values[rows] = of_background.mean(axis=1)
            between = of_background.var(axis=1, ddof=1)
            variances[rows] = ((1.0 - m / size) * between + m / size * within) / m
        # Few background rows may be alike in a column: other rows tell its variance.
        own = m / (m + _REPEATED)
        return values, own * variances + (1.0 - own) * variances.mean(axis=0)

    def _walks(
        self, X: Array, outputs: Array, ranks: NDArray[np.intp], some: NDArray[np.intp]
    ) -> Array:
        """Return changes (n, m, g, k) of predictions as players join m coalitions by ``ranks``.

        The others have the entries of ``some`` background rows (n, m).
        """
        m, g = ranks.shape
        contributions = np.empty((len(X) * m, g, outputs.shape[1]))
        for block in steps(len(contributions), self._block((2 * g - 2) * X.shape[1])):
            i, walk = np.divmod(np.arange(block.start, block.stop), m)
            b, ranks_of_walk = some[i, walk], ranks[walk, None]
            early = ranks_of_walk < np.arange(1, g)[:, None]  # (p, g - 1, g)
            coalitions = np.concatenate([early, ~early], axis=1)
            values = self._values(X[i], coalitions, self.background[b])
            ends = (outputs[i] - self.background_values[b])[:, None]
            change = np.concatenate([-ends, values[:, : g - 1] - values[:, g - 1 :], ends], axis=1)
            joined = 0.5 * np.diff(change, axis=1)  # (p, g, k): By position
            contributions[block] = np.take_along_axis(joined, ranks[walk, :, None], axis=1)
        return contributions.reshape(len(X), m, g, -1)

    def _values(self, X: Array, coalitions: NDArray[np.bool_], rows: Array) -> Array:
        """Return predictions (p, c, k) with coalitions from ``X``, other players from ``rows``."""
        of_rows = len(X) + np.arange(len(rows))[:, None, None]
        sources = np.where(coalitions, np.arange(len(X))[:, None, None], of_rows)
        values = self.exchanged(np.vstack((X, rows)), sources.reshape(-1, self.n_players))
        return values.reshape(*sources.shape[:2], -1)

    def _block(self, width: int) -> int:
        """Return how many rows of ``width`` numbers fit into a block, at least one."""
        return max(1, _BLOCK_NUMBERS // width)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contributions(ResultTable):
    """Contributions of d columns to the predictions of n rows, as a table.

    For every row, ``base + values.sum(axis=1)`` is its ``prediction`` (n,). ``base`` is the average
    prediction of the background rows, ``values`` (n, d) are Shapley values of the ``columns``, and
    ``std_error`` (n, d) their standard errors, zero if the values are exact. With k ``classes``
    (labels, or names of several targets) the shapes are (k,) for ``base``, (n, d, k) for ``values``
    and ``std_error``, and (n, k) for ``prediction``.

    The table has the contributions to a single prediction, or mean absolute contributions to
    several predictions, the largest first. ``to_frame()`` has the values (n, d) by the names of the
    columns, with classes those of all classes below each other; ``to_shap()`` is for pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, 2.0 * X[:, 0])
    >>> found = model.contributions(X[:5], random_state=0)
    >>> first, second = np.abs(found.values).max(axis=0)
    >>> found.values.shape, bool(first > second)
    ((5, 2), True)
    """

    columns: tuple[str, ...]
    base: float | Array
    values: Array
    std_error: Array
    prediction: Array
    classes: NDArray[Any] | None = None

    def to_shap(self, X: Any = None) -> Any:
        """Return a ``shap.Explanation`` for the plots of the package shap.

        ``shap.plots.waterfall(contributions.to_shap(X)[0])`` draws the contributions to the first
        prediction. ``X`` are the explained rows, whose entries pictures then show. With classes, a
        class is chosen by the last index.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap.") from error
        base = np.broadcast_to(self.base, self.prediction.shape)
        names, labels = list(self.columns), None
        if self.classes is not None:
            labels = [str(label) for label in self.classes.tolist()]
        data = None if X is None else np.asarray(X)
        return shap.Explanation(self.values, base, data, feature_names=names, output_names=labels)

    def averaged(self, n_rows: int, parts: Sequence[tuple[Index, Index]]) -> "Contributions":
        """Return averages over the completions (r, k) of rows (r,), for each of the ``parts``."""
        # Errors of rows are correlated, because all have the same permutations.
        arrays = self.values, self.std_error, self.prediction
        averages = [np.empty((n_rows, *of_rows.shape[1:])) for of_rows in arrays]
        for rows, index in parts:
            for average, of_rows in zip(averages, arrays, strict=True):
                average[rows] = of_rows[index].mean(axis=1)
        values, errors, prediction = averages
        return replace(self, values=values, std_error=errors, prediction=prediction)

    def plus(self, changes: Array) -> "Contributions":
        """Add changes (n, d, k) due to each column to the contributions and the predictions."""
        changes = changes[..., 0] if self.classes is None else changes
        prediction = self.prediction + changes.sum(axis=1)
        return replace(self, values=self.values + changes, prediction=prediction)

    def __iter__(self) -> Iterator[dict[str, object]]:
        """Yield the contributions of all columns, as one dict for each row (and class)."""
        if self.classes is None:
            for row in self.values.tolist():
                yield dict(zip(self.columns, row, strict=True))
            return
        for number, values in enumerate(np.moveaxis(self.values, 2, 1).tolist()):
            for label, row in zip(self.classes.tolist(), values, strict=True):
                yield {"row": number, "class": label, **dict(zip(self.columns, row, strict=True))}

    def cells(self) -> Cells:
        """Return the columns and their contributions with four digits, as texts."""
        n, d = self.values.shape[:2]
        sizes = np.abs(self.values).mean(axis=0).reshape(d, -1)
        shown, sign, last = sizes, "", f"mean of {n} predictions"
        heading = ["mean size", "std error per row"]
        if n == 1:
            shown, sign, last = self.values[0].reshape(d, -1), "+", "prediction"
            heading = ["contribution", "std error"]
        base, mean = np.ravel(self.base), np.atleast_1d(self.prediction.mean(axis=0))
        digits = _digits(np.vstack([base, mean, shown]))
        order = np.argsort(-sizes.sum(axis=1), kind="stable")
        rows = [[self.columns[i], *_fixed(shown[i], digits, sign)] for i in order]
        rows.insert(0, ["average prediction", *_fixed(base, digits)])
        rows.append([last, *_fixed(mean, digits)])
        if self.classes is not None:
            return ["column", *map(str, self.classes)], rows
        errors = np.sqrt(np.mean(self.std_error**2, axis=0))[order]
        cells = ["", *(f"{error:.1g}" for error in errors), ""]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
        return ["column", *heading], rows


def contributions(
    dependence: Dependence,
    X: Array,
    rng: Generator,
    n_evaluations: int,
    classes: NDArray[np.generic] | None = None,
) -> Contributions:
    """Return Shapley values of the groups of columns for the predictions of rows ``X`` (n, d)."""
    names = tuple(dependence.groups)
    players = [i for i, name in enumerate(names) if len(dependence.groups[name])]

    def exchanged(pool: Array, sources: NDArray[np.intp]) -> Array:
        of_groups = np.zeros((len(sources), len(names)), dtype=np.intp)
        of_groups[:, players] = sources
        return dependence.exchanged(pool, of_groups)

    background = rng.permutation(dependence.X)
    game = Game(exchanged, len(players), background, dependence.predict(background))
    outputs = dependence.predict(X)
    values, errors = np.zeros((2, len(X), len(names), outputs.shape[1]))
    values[:, players], errors[:, players] = game.shapley_values(X, outputs, n_evaluations, rng)
    if classes is None:
        single_output = values[..., 0], errors[..., 0], outputs[:, 0]
        return Contributions(names, float(game.base[0]), *single_output)
    return Contributions(names, game.base, values, errors, outputs, classes)


def _digits(numbers: Array) -> list[int]:
    """Return, per column, the number of decimals that shows four digits of the largest number."""
    largest = np.maximum(np.abs(numbers).max(axis=0), np.finfo(np.float64).tiny)
    return [max(0, 3 - int(power)) for power in np.floor(np.log10(largest))]


def _fixed(numbers: Array, digits: list[int], sign: str = "") -> list[str]:
    return [f"{x:{sign}.{places}f}" for x, places in zip(numbers, digits, strict=True)]
