"""Sobol importance of columns, interactions of pairs, and average predictions of a function."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, steps, times_of
from bochner._base.limits import LARGEST_ENTRY
from bochner._base.names import brief, listed, nearest, shown
from bochner._base.number_texts import entries
from bochner._base.threads import in_order, single_threaded_blas
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import grid, has_codes, is_free_text

if TYPE_CHECKING:
    import pandas as pd

Cells = tuple[Sequence[str], Sequence[Sequence[str]]]
"""Headings (k,) and rows (n, k) of a table of texts."""


class ResultTable(ABC):
    """Base class of importance, effects and contributions."""

    __slots__ = ()

    @abstractmethod
    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of the data frame."""

    @abstractmethod
    def cells(self) -> Cells:
        """Return headings and rows of the printed table, with as many digits as mean something."""

    def to_frame(self) -> "pd.DataFrame":
        """Return the numbers as a pandas.DataFrame."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def __repr__(self) -> str:
        heading, rows = self.cells()
        columns = zip(heading, *rows, strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [map(str.rjust, row, widths) for row in (heading, *rows)]
        return "\n".join("  ".join(line) for line in lines)

    def _repr_html_(self) -> str:
        heading, rows = self.cells()
        lines = [("th", heading), *(("td", row) for row in rows)]
        texts = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in lines)
        return f"<table><tr>{'</tr><tr>'.join(texts)}</tr></table>"


_BATCH = 250
"""Rows that a thread predicts at once, 8 MB of 4,000 features, of a thousand that are stored."""


_MOST_EVALUATIONS, _FEWEST_ROWS = 40_000, 100
"""Most rows that one call predicts, in a few seconds, and fewest rows of the table that it uses."""

_EFFECT_ROWS = 500
"""Most rows of an effect: standard errors along its curve are below seven per cent of the half
width of its band, if rows are normally distributed around the curve."""

_N_PARTNERS = 2
"""Number of rows from which each row takes a column, one after another."""

_BLOCK_SOURCES = 2**21
"""Numbers in a block of sources of exchanged columns, 16 MB."""

_MOST_BLOCKS, _BLOCK_ROWS = 20, 8
"""Most blocks for standard errors, accurate to 16 per cent from 20; fewest rows of a block."""

_MOST_PAIRED, _LEAST_SHARE = 8, 0.01
"""Most columns that are paired, 28 pairs, and their smallest share, which bounds interactions."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VarianceShares(ResultTable):
    """Shares of the variance of predictions, the largest first, as a table.

    ``columns`` are k names, or k pairs of names. ``share`` (k,) are the shares that involve them,
    and ``std_error`` (k,) their standard errors from blocks of rows, ``nan`` below 16 rows.
    ``plot()`` draws them as bars, and ``to_frame()`` has a row for each name or pair.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, 2.0 * X[:, 0])
    >>> shares = model.importance()
    >>> shares.columns[0], bool(shares.share[0] > 0.95)
    ('x0', True)
    """

    columns: tuple[Any, ...]
    share: Array
    std_error: Array

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield one dict for each column or pair, with its share and standard error."""
        names = [name if isinstance(name, str) else " × ".join(name) for name in self.columns]
        for name, share, error in zip(names, self.share, self.std_error, strict=True):
            yield {"column": name, "share": float(share), "std_error": float(error)}

    def __len__(self) -> int:
        return len(self.columns)

    def cells(self) -> Cells:
        """Return the names, and shares and standard errors in per cent, as texts."""
        rows = [
            [each["column"], f"{each['share']:.1%}", f"{each['std_error']:.1%}"] for each in self
        ]
        return ["column", "share", "std error"], rows

    def plot(self, ax: Any = None, *, theme: str = "light") -> Any:
        """Draw the shares as bars with :func:`bochner.plot.relevance` or ``interactions``."""
        from bochner import plot

        are_pairs = bool(self.columns) and not isinstance(self.columns[0], str)
        return (plot.interactions if are_pairs else plot.relevance)(self, ax=ax, theme=theme)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Effect(ResultTable):
    """Averaged predictions over a grid of one or two columns, as a table.

    ``values`` has one array for each of the ``columns``, (v1,) and (v2,): numbers, decimal years of
    dates, or levels, ``nan`` for missing. ``mean`` (v1,) or (v1, v2), with ``classes`` (labels, or
    names of several targets) (..., n_classes), is the average prediction if all rows had these
    values. ``lower`` and ``upper``, of the same shape, are quartiles over rows of each row's
    predictions along the grid, after each row is shifted to the common average over the grid. The
    band is not a confidence interval: it has zero width if the effect is the same for all rows, and
    a positive width if the effect depends on other columns. ``dates`` are the names of columns of
    dates, whose decimal years the table shows as dates. ``plot()`` draws the effect, and
    ``to_frame()`` has a row for each point of the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, 2.0 * X[:, 0])
    >>> effect = model.effect("x0", n_values=3)
    >>> effect.values[0].shape, bool(effect.mean[0] < effect.mean[2])
    ((3,), True)
    """

    columns: tuple[str, ...]
    values: tuple[NDArray[Any], ...]
    mean: Array
    lower: Array
    upper: Array
    classes: NDArray[Any] | None = None
    dates: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield one dict for each point of the grid."""
        points = list(product(*map(self._shown_values, self.columns)))
        if self.classes is None:
            parts = {"mean": self.mean, "lower": self.lower, "upper": self.upper}
        else:
            means = self.mean.reshape(len(points), -1).T
            parts = dict(zip(map(str, self.classes), means, strict=True))
        rows = np.column_stack([np.ravel(part) for part in parts.values()]).tolist()
        for point, row in zip(points, rows, strict=True):
            yield dict(zip((*self.columns, *parts), (*point, *row), strict=True))

    def _shown_values(self, name: str) -> NDArray[Any]:
        """Return the values of a column, with times in place of decimal years of dates."""
        values = self.values[self.columns.index(name)]
        return times_of(values) if name in self.dates else values

    def cells(self) -> Cells:
        """Return the grid and the averages, with four digits of the largest, as texts."""
        texts = []
        for name in self.columns:
            values = self._shown_values(name)
            is_number = values.dtype.kind in "fiu"
            named = entries(values.tolist(), 5) if is_number else list(map(_text_of, values))
            texts.append(["missing" if text == "–" else text for text in named])
        points = list(product(*texts))
        parts = [self.mean, self.lower, self.upper] if self.classes is None else [self.mean]
        numbers = np.hstack([part.reshape(len(points), -1) for part in parts])
        names = ["mean", "lower", "upper"] if self.classes is None else map(str, self.classes)
        size = max(float(np.abs(numbers).max()), float(np.finfo(np.float64).tiny))
        decimals = max(0, 3 - int(np.floor(np.log10(size))))
        rows = [
            [*point, *(f"{value:,.{decimals}f}" for value in row)]
            for point, row in zip(points, numbers, strict=True)
        ]
        return [*self.columns, *names], rows

    def plot(self, ax: Any = None, *, theme: str = "light") -> Any:
        """Draw the effect with :func:`bochner.plot.effect`."""
        from bochner import plot

        return plot.effect(self, ax=ax, theme=theme)


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """A function of rows, evaluated at rows with columns exchanged between rows."""

    function: Callable[[Array], Array]  # From rows (n, d) to predictions (n,) or (n, t)
    X: Array  # (n, d): Rows in random order
    groups: Mapping[str, NDArray[np.intp]]  # Columns by name

    def importance(self) -> VarianceShares:
        """Return the total Sobol' index of every group."""
        return self._shares([(name,) for name in self.groups])

    def interactions(self, importance: VarianceShares | None = None) -> VarianceShares:
        """Return the superset importance of the pairs of the most important groups."""
        importance = importance or self.importance()
        n_used = min(_MOST_PAIRED, int(np.sum(importance.share > _LEAST_SHARE)))
        used = [name for name in self.groups if name in importance.columns[:n_used]]
        return self._shares(list(combinations(used, 2)), 1)

    def effect(
        self,
        grid: Mapping[str, tuple[NDArray[np.generic], NDArray[np.intp]]],
        classes: Any = None,
        dates: tuple[str, ...] = (),
    ) -> Effect:
        """Return averaged predictions; ``grid`` has values by name, each with a row of ``X``."""
        values = tuple(values for values, _ in grid.values())
        shape = tuple(map(len, values))
        n_rows = min(_EFFECT_ROWS, len(self._rows(int(np.prod(shape)))))
        of_group = np.full((int(np.prod(shape)), len(self.groups) + 1), -1)
        donors = np.stack(list(product(*(rows for _, rows in grid.values()))))
        of_group[:, [list(self.groups).index(name) for name in grid]] = donors
        curves = self._after(n_rows, of_group >= 0, of_group[None]).swapaxes(0, 1)
        shape = shape if classes is None else (*shape, len(classes))
        mean, lower, upper = (part.reshape(shape) for part in averages(curves))
        return Effect(tuple(grid), values, mean, lower, upper, classes, dates)

    def _shares(
        self, sets: Sequence[tuple[str, ...]], n_partners: int = _N_PARTNERS
    ) -> VarianceShares:
        r"""Return superset importances of single groups or pairs, by Jansen's formulas.

        For the set u: :math:`E[(\sum_{v \subseteq u} (-1)^{|v|} f(x'_v, x_{-v}))^2] / (2^{|u|} V)`.
        """
        subsets = [[v for k in range(len(u) + 1) for v in combinations(u, k)] for u in sets]
        n_rows = len(self._rows(n_partners * len(set().union(*subsets)) or 1))
        n_blocks = min(_MOST_BLOCKS, max(1, n_rows // _BLOCK_ROWS))
        blocks = np.array_split(np.arange(n_rows), n_blocks)
        distinct = list(dict.fromkeys(chain([()], *subsets)))
        is_exchanged = np.array([[name in v for name in (*self.groups, None)] for v in distinct])
        terms = np.zeros((len(sets), n_rows))
        for shift in range(1, n_partners + 1):
            # Partners are in the same block, so that blocks are independent.
            partners = np.concatenate([np.roll(block, -shift) for block in blocks])
            values = self._after(n_rows, is_exchanged, partners[:, None, None])
            values_of = dict(zip(distinct, values.swapaxes(0, 1), strict=True))
            for squares, of_set in zip(terms, subsets, strict=True):
                sums = sum((-1) ** len(v) * values_of[v] for v in of_set)
                squares += np.sum(sums**2, axis=1) / (len(of_set) * n_partners)
        base = values[:, 0]
        spread = np.sum((base - base.mean(axis=0)) ** 2, axis=1)
        variance = max(float(spread.mean()), float(np.finfo(np.float64).tiny))
        share = terms.mean(axis=1) / variance
        residuals = terms - share[:, None] * spread  # Delta method for a ratio of means
        means = np.stack([residuals[:, block].mean(axis=1) for block in blocks])
        error = means.std(axis=0) / np.sqrt(n_blocks - 1 or np.nan) / variance
        names = [u[0] if len(u) == 1 else u for u in sets]
        order = np.argsort(-share, kind="stable")
        return VarianceShares(tuple(names[i] for i in order), share[order], error[order])

    def _after(
        self, n_rows: int, is_exchanged: NDArray[np.bool_], donors: NDArray[np.intp]
    ) -> Array:
        """Return predictions (n, c, t) of the first n rows after each of c exchanges of groups.

        ``is_exchanged`` (c, g + 1) marks groups; ``donors`` broadcast to their rows (n, c, g + 1).
        """
        parts = []
        for block in steps(n_rows, max(1, _BLOCK_SOURCES // is_exchanged.size)):
            rows = np.arange(block.start, block.stop)[:, None, None]
            of_block = donors[block] if len(donors) > 1 else donors
            sources = np.where(is_exchanged, of_block, rows)
            values = self.exchanged(self.X, sources.reshape(-1, sources.shape[2]))
            parts.append(values.reshape(*sources.shape[:2], -1))
        return np.concatenate(parts)

    def _rows(self, n_evaluations: int) -> Array:
        """Return as many first rows as the limit allows with ``n_evaluations`` for each row."""
        return self.X[: max(_FEWEST_ROWS, _MOST_EVALUATIONS // n_evaluations)]

    def predict(self, X: Array) -> Array:
        """Return predictions (n, t) of rows (n, d), by batches that threads share."""
        return self._in_batches(len(X), lambda batch: X[batch])

    def exchanged(self, pool: Array, sources: NDArray[np.intp]) -> Array:
        """Return predictions (q, t) of rows whose groups come from ``sources`` (q, g) in a pool."""
        columns = np.arange(self.X.shape[1])
        # Columns without a group have the group after the last one.
        owners = np.full(len(columns), len(self.groups))
        for number, of_group in enumerate(self.groups.values()):
            owners[of_group] = number
        return self._in_batches(
            len(sources), lambda batch: pool[sources[batch][:, owners], columns]
        )

    def _in_batches(self, count: int, rows: Callable[[slice], Array]) -> Array:
        # Matrices of few rows gain nothing from threads of linear algebra, which wait for each
        # other: 80 draws of learned frequencies took two to five times the CPU time with two.
        batches = list(steps(count, _BATCH))
        with single_threaded_blas() as n_threads:
            parts = in_order(lambda batch: self.function(rows(batch)), batches, n_threads)
            return np.concatenate([values for _, values in parts]).reshape(count, -1)


def averages(curves: Array) -> tuple[Array, Array, Array]:
    """Return averages (v, t) of predictions (v, n, t), and quartiles of rows with equal means."""
    mean = curves.mean(axis=1)
    shifted = curves + (mean.mean(axis=0) - curves.mean(axis=0))
    lower, upper = np.quantile(shifted, (0.25, 0.75), axis=1)
    return mean, lower, upper


def _text_of(entry: Any) -> str:
    """Return a level, or a time without seconds, and without hours at midnight."""
    if not isinstance(entry, np.datetime64):
        return str(entry)
    return "missing" if np.isnat(entry) else str(entry)[:16].removesuffix("T00:00")


def grids_of(
    dependence: Dependence,
    states: Mapping[str, Any],
    background_values: Array,
    columns: Sequence[str],
    most: int,
) -> dict[str, Any]:
    """Return at most ``most`` values of each of one or two columns; else raise ValueError."""
    are_names = all(isinstance(column, str | int) for column in columns)
    if not are_names or len(columns) not in (1, 2) or len(set(columns)) < len(columns):
        raise ValueError(f"effect takes one column or two different ones, got {shown(columns)}.")
    unknown = [name for name in columns if not len(dependence.groups.get(name, ()))]
    if unknown:
        used = [str(name) for name, group in dependence.groups.items() if len(group)]
        reason = "had no features at fit" if unknown[0] in states else "is not in the table"
        near = nearest(str(unknown[0]), used)
        columns_used = listed(list(map(shown, used)))
        hint = f"Did you mean {brief(near)}?" if near else f"Columns are {columns_used}."
        raise ValueError(f"Column {shown(unknown[0])} {reason}. {hint}")
    free = [name for name in columns if is_free_text(states[name])]
    if free:
        raise ValueError(
            f"Column {shown(free[0])} is free text without levels, along which there is no effect. "
            "Use contributions(X) for the texts of some rows, or importance() for all."
        )
    values = dict(zip(states, background_values.T, strict=True))
    return {
        name: grid(states[name], values[name], dependence.X[:, dependence.groups[name]], most)
        for name in columns
    }


def check_background(
    encoders: Sequence[TableEncoder], background: Array, values: Array, donors: Array
) -> None:
    """Raise ValueError if background rows do not have the columns of the encoders."""
    n_rows, n_encoded = background.shape
    n_outputs = sum(len(encoder.get_feature_names_out()) for encoder in encoders)
    states = encoders[0].columns_
    shape = (n_rows or 1, len(states))
    if n_encoded != n_outputs or values.shape != shape or donors.shape != shape:
        raise ValueError("the rows kept for importance are not those of the table's columns")
    if np.abs(background).max() > LARGEST_ENTRY:
        raise ValueError("the rows kept for importance are larger than any encoded column")
    for state, column in zip(states, values.T, strict=True):
        if has_codes(state) and not np.isin(column, np.arange(len(state["levels"]) + 1)).all():
            raise ValueError(f"the rows kept for importance have no levels of {state['name']}")
