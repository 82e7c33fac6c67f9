"""Sizes of a fit within limits of time and memory, and the roles of observations in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import LARGEST_COUNT, Array, as_array
from bochner._base.number_texts import in_words
from bochner._base.threads import single_threaded_blas
from bochner.kernels import Exponential, Laplacian, Matern
from bochner.tables.kernel_search import Family
from bochner.tables.landmark_fits import BLOCK_BYTES, has_passes, sampled_rows
from bochner.tables.observations import FIRST, SECOND, Chosen, Elsewhere, Observations, Rows, Scored
from bochner.tables.scale_prior import ROUGH_SCALES, TURNED_SCALES

_MEASURED, _MEASUREMENTS = 600, 9
"""Rows of the matrices, and number of products, that measure the speed in some milliseconds."""

_ROUGH = Family(Laplacian, prior=ROUGH_SCALES)
"""Laplacian kernels: functions with kinks along every input, comparable to the steps of trees."""

_TURNED = Family(Exponential, is_mapped=True, prior=TURNED_SCALES)
"""Exponential kernels: functions with kinks in any direction."""

_SMOOTH = Family(lambda length: Matern(length, nu=2.5), is_mapped=True)
"""Matérn-5/2 kernels: functions with two derivatives."""

_LAW_SHARE = 0.35
"""Share of a time limit for the first kernel: the search takes half, and the weights the rest."""

_SEARCH_SHARE = 0.35
"""Share of a time limit for the search of all kernels."""

_OF_SEARCH, _LEAST_SEARCH = 100.0, 0.1
"""Operations of a search per cube of its rows, twice those of a kernel of eight, three of which are
searched to the end, and the seconds of few rows."""

_MORE_SHARE, _OF_MORE = 0.15, 150.0
"""Share of a time limit for refining the best kernels on more rows, and its operations per cube of
these rows: the errors of all kernels, and some steps of two kernels."""

_OF_EXACT, _OF_LANDMARKS = 5.0, (4.0, 6.0)
"""Operations of an exact fit per cube of its rows, and of one on m landmarks per n m^2 and per m^3:
products, factors and inverses. Of very many rows, ``n`` is a sample."""

_N_PASSES, _OF_PASS = 4.0, (90.0, 5.0)
"""Passes over very many rows, and the operations of a pass, at the rate of matrix products, per row
and landmark, and per column of both."""

_OF_DISTANCE = 60.0
"""Operations, at the rate of matrix products, for the difference of two rows in one column."""

OF_BINS = 1e3
"""Operations, at the rate of matrix products, of the bins of trees per row and column."""

_OF_LAW = 4e10
"""Operations, at the rate of matrix products, of a fit of a kernel to very few rows."""

FEWEST_SEARCHED, FEWEST_LANDMARKS = 200, 200
"""Least sizes: a fit with fewer rows would be worse than no fit within the limit."""


class InputCounts(NamedTuple):
    """Numbers of encoded columns, and of inputs of compiled loops, which read levels as a code."""

    n_columns: int
    n_inputs: int


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes that determine the time of a fit."""

    families: Mapping[str, tuple[Family, int]]  # Families and numbers of encodings
    search_rows: int
    most_exact: int  # Largest number of rows of an exact fit, of all rows or of a subset
    n_landmarks: int  # Number of landmarks if there are more rows
    more_rows: int = 2000  # Rows on which the best kernels for many rows are refined

    def landmarks(self, n_rows: int) -> int:
        """Return the number of landmarks of a fit to ``n_rows`` rows; 0 if the fit is exact."""
        return 0 if n_rows <= self.most_exact else self.n_landmarks

    def within(
        self, seconds: float, n_rows: int, counts: InputCounts, n_kernels: int, rate: float
    ) -> "Effort":
        """Return sizes with which the first of some kernels is expected to be fitted in time."""
        of_kernel = _SEARCH_SHARE * seconds / n_kernels - _LEAST_SEARCH
        search_rows = min(self.search_rows, _most(max(of_kernel, 0.0) * rate, _OF_SEARCH))
        search_rows = max(search_rows, min(self.search_rows, FEWEST_SEARCHED))
        more_rows = min(self.more_rows, _most(_MORE_SHARE * seconds * rate, _OF_MORE))
        more_rows = max(more_rows, search_rows)
        effort = replace(self, search_rows=search_rows, more_rows=more_rows)
        most_exact, n_landmarks = self.sizes_within(_LAW_SHARE * seconds, n_rows, counts, rate)
        effort = replace(effort, most_exact=most_exact)
        return effort if n_rows <= most_exact else replace(effort, n_landmarks=n_landmarks)

    def sizes_within(
        self, seconds: float, n_rows: int, counts: InputCounts, rate: float
    ) -> tuple[int, int]:
        """Return the largest numbers of rows of an exact fit, and of landmarks, in ``seconds``."""
        operations = seconds * rate - _OF_LAW
        sizes = np.arange(1.0, self.most_exact + 1.0)
        exact = _OF_EXACT * sizes**3 + _OF_DISTANCE * counts.n_columns * sizes**2
        most_exact = int(np.searchsorted(exact, operations, side="right"))
        sizes = np.arange(1.0, self.n_landmarks + 1.0)
        is_possible = _landmark_operations(n_rows, counts, sizes) <= operations
        fewest = min(self.n_landmarks, FEWEST_LANDMARKS)
        return most_exact, max(int(is_possible.sum()), fewest)


def _landmark_operations(n_rows: int, counts: InputCounts, sizes: Array) -> Array:
    """Return operation counts of kernel fits with numbers of landmarks ``sizes``."""
    by_passes = np.array([has_passes(n_rows, int(size)) for size in sizes])
    n_multiplied = np.where(by_passes, sampled_rows(sizes), n_rows)
    n_columns = np.where(by_passes, counts.n_inputs, counts.n_columns)
    per_row = _OF_LANDMARKS[0] * sizes**2 + _OF_DISTANCE * n_columns * sizes
    per_pass = n_rows * sizes * (_OF_PASS[0] + _OF_PASS[1] * counts.n_inputs)
    cubes = _OF_LANDMARKS[1] * sizes**3
    return as_array(n_multiplied * per_row + by_passes * _N_PASSES * per_pass + cubes)


def _most(operations: float, per_cube: float) -> int:
    """Return the largest n such that ``per_cube`` times n³ is at most ``operations``."""
    return int(min(np.cbrt(operations / per_cube), LARGEST_COUNT))


_RICH = {"rough": (_ROUGH, 3), "smooth": (_SMOOTH, 3), "turned": (_TURNED, 2)}

EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort({"rough": (_ROUGH, 2), "smooth": (_SMOOTH, 2)}, 400, 3000, 1500),
        "default": Effort(_RICH, 800, 16_500, 4000),
        "thorough": Effort(_RICH, 2000, 20_000, 6000),
    }
)
"""Sizes of a fit, by the value of ``effort``."""

TRIAL = Effort({"rough": (_ROUGH, 1)}, 400, 3000, 1000)
"""Sizes for comparing transformations of a target on some of the rows, half a second each."""


MOST_SCORED = 3000
"""Largest number of scored rows: the standard error of a quantile is below one per cent in rank."""

_FEWEST_OTHERS = 500
"""Fewest rows that are scored alone: a 90 per cent quantile has an error of 1.3 in rank."""

_VARIANCE_LANDMARKS = 500
"""Number of landmarks of variances, whose matrix takes half a megabyte of a model file: log
densities of new targets differ by 0.001 from those with a thousand."""

_LEAST_UNSCORED = 1000
"""Fewest rows that are not scored if there are many rows: they correct the noise."""

_MANY_ROWS = 4000
"""Rows above which a fit takes more than a second, so that only the best kernels are fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class FitPlan:
    """Roles of randomly ordered observations: the first choose kernels, the last are scored."""

    observations: Observations
    order: Chosen  # (n,): Indices of the observations
    search: Chosen  # The first observations, which choose kernels
    rows: Rows  # Distinct rows of all observations; rows of scored observations come last
    scored: Scored  # The last observations of the order
    more_rows: int  # Number of rows on which the best kernels are refined after the search
    n_landmarks: int  # Zero for exact fits
    n_variance: int  # Number of landmarks of variances; zero if variances are not needed
    by_halves: bool  # Whether scored observations are in the search, in either half
    elsewhere: Elsewhere | None
    n_part: int = 0  # Number of rows of an exact fit to a subset; zero without one

    @classmethod
    def of(
        cls,
        observations: Observations,
        effort: Effort,
        latest: NDArray[np.bool_] | None,
        with_variance: bool,
        rng: Generator,
        elsewhere: Elsewhere | None = None,
        used: Chosen | None = None,
    ) -> "FitPlan":
        """Plan a fit to the observations ``used``, of which ``latest`` are scored if given."""
        used = np.arange(len(observations)) if used is None else used
        n_rows = len(np.unique(observations.cell[used]))
        # With rows elsewhere a fit is never exact: their number is unknown here.
        n_landmarks = effort.landmarks(n_rows) if elsewhere is None else effort.n_landmarks
        n_more = effort.more_rows if n_rows > _MANY_ROWS else _LEAST_UNSCORED
        n_others = len(used) - max(effort.search_rows, n_landmarks, n_more)
        has_others = n_others >= _FEWEST_OTHERS
        order = rng.permutation(used)
        if latest is not None:
            is_last = latest[order]
        elif has_others:
            is_last = _last(observations, order, min(n_others, MOST_SCORED))
        else:
            is_last = np.ones(len(order), dtype=bool)
        # Scored observations come last, where fits expect their rows.
        order = np.concatenate((order[~is_last], order[is_last]))
        n_scored = int(np.sum(is_last))
        unscored = order if is_last.all() else order[:-n_scored]
        search = observations.prefix(unscored, effort.search_rows)
        by_halves = not has_others and latest is None
        # REST, except for observations that chose the kernel.
        part = np.zeros(n_scored, dtype=np.int64)
        if by_halves:
            part[: len(search)] = _halves(observations, search)
        rows = observations.rows(order, n_scored)
        n_variance = min(len(rows), _VARIANCE_LANDMARKS)
        scored = observations.scored(order, n_scored, part)
        sizes = effort.more_rows, min(n_landmarks, len(rows)), n_variance if with_variance else 0
        n_part = effort.most_exact if n_landmarks and elsewhere is None else 0
        return cls(observations, order, search, rows, scored, *sizes, by_halves, elsewhere, n_part)

    @property
    def has_many_rows(self) -> bool:
        """Whether only the best kernels are fitted, selected on more rows than the search had."""
        return len(self.rows) > _MANY_ROWS

    @property
    def n_scored_rows(self) -> int:
        """Number of distinct rows of the scored observations, which come last."""
        return len(self.rows) - int(self.scored.observed.cell.min())

    @property
    def part(self) -> Chosen:
        """Indices of the rows of an exact fit to a subset: the first rows and the scored rows."""
        n_rows, n_last = len(self.rows), self.n_scored_rows
        return np.append(np.arange(self.n_part - n_last), np.arange(n_rows - n_last, n_rows))

    def rows_of_laws(self, count: int) -> Array:
        """Return the ``count`` encoded rows that base models use: all, landmarks or a subset."""
        if count == len(self.rows):
            return self.rows.X
        if count == self.n_part:
            return self.rows.X[self.part]  # Other kernels use the first rows as landmarks
        return self.rows.X[:count].copy()  # A view would keep all rows in memory

    def rows_of_part(self) -> tuple[Rows, Scored]:
        """Return the rows of ``part``, and the scored observations with their row indices in it."""
        observed = self.scored.observed
        observed = replace(observed, cell=observed.cell - (len(self.rows) - self.n_part))
        return self.rows.part(self.part), replace(self.scored, observed=observed)

    def first(self, n_rows: int) -> Rows:
        """Return the first distinct rows, at most ``n_rows``, without rows that are only scored."""
        n_others = len(self.order) - (0 if self.by_halves else len(self.scored.units))
        return self.observations.rows(self.observations.prefix(self.order[:n_others], n_rows))


def _halves(observations: Observations, search: Chosen) -> Chosen:
    """Return FIRST or SECOND for each observation of the search, as :meth:`Rows.halves` does."""
    is_first = np.arange(len(search)) < (len(search) + 1) // 2
    if observations.groups is not None:
        number = np.unique(observations.groups[search], return_inverse=True)[1]
        is_first = number % 2 == 0 if number.any() else is_first
    return np.where(is_first, FIRST, SECOND)


def _last(observations: Observations, order: Chosen, count: int) -> NDArray[np.bool_]:
    """Return a mask (n,) of about ``count`` last observations in ``order``, in whole groups."""
    if observations.groups is None:
        return np.arange(len(order)) >= len(order) - count
    labels, places, groups = np.unique(
        observations.groups[order], return_index=True, return_inverse=True
    )
    # Groups in descending order of their first observation in the random order.
    latest_first = np.argsort(-places)
    totals = np.cumsum(np.bincount(groups)[latest_first])
    n_groups = min(max(1, np.searchsorted(totals, count, "right")), len(labels) - 1)
    return np.isin(groups, latest_first[:n_groups])


_OF_ENTRY = 18.0
"""Bytes per encoded entry of the table: the encoded columns, and a copy of them in random order."""

_OF_TREES, _OF_LINE, _LINE_ROWS = 15.0, 22.0, 200_000
"""Bytes per encoded entry for boosted trees, their inputs included, and for the ridge regression to
whose residuals they are fitted; the largest number of rows of this regression."""

_SEARCH_BYTES, _REFINED_BYTES = 45.0, 55.0
"""Bytes of a thread per square of the rows of a search, and of the rows on which the best kernels
are refined: kernel matrices, their factors, inverses and slopes."""

_EXACT_BYTES = 9.0, 17.0
"""Bytes of an exact fit per square of its rows, for the matrix, and per square of its scored rows,
for the inverse of the last block, in double precision."""

_LANDMARK_BYTES = 26.0, 8.0
"""Bytes of a fit per square of its landmarks, and per landmark and scored row: sums of products,
their factor and the kernel matrix of the landmarks."""

_BLOCKS = 3
"""Blocks of kernel values that each thread has in memory: one computed, two to be added up."""

_OF_VALUE, _OF_TREE_VALUE, _OF_LEAVES = 90.0, 100.0, 256.0
"""Bytes per observation and output after the first, of targets and left-out predictions, and of
boosted trees with their derivatives; bytes of the leaves of a tree per output."""

_OF_ANY = 4e7
"""Bytes that a fit needs whatever its size."""


def within_memory(
    effort: Effort, limit: int, shape: tuple[int, ...], n_threads: int, largest_group: int = 0
) -> Effort:
    """Return the sizes of a fit that needs at most ``limit`` bytes.

    The ``shape`` has the numbers of different rows, encoded columns and values of further outputs.
    """
    n_rows, n_columns, *n_values = shape
    n_scored = min(n_rows, max(MOST_SCORED, largest_group))
    of_table = _of_table(shape)
    of_thread = (limit - of_table) / n_threads
    search_rows = max(int(np.sqrt(max(of_thread, 0.0) / _SEARCH_BYTES)), FEWEST_SEARCHED)
    more_rows = max(int(np.sqrt(max(of_thread, 0.0) / _REFINED_BYTES)), search_rows)

    def needed(of_fit: Callable[[Array, int], Array], largest: int) -> Array:
        """Return the memory in bytes of fits with 1 to ``largest`` rows or landmarks."""
        sizes = np.arange(1.0, largest + 1.0)
        of_blocks = np.minimum(BLOCK_BYTES, 8.0 * n_rows * sizes)
        return of_table + n_threads * _BLOCKS * of_blocks + of_fit(sizes, n_scored)

    of_exact = needed(_of_exact, effort.most_exact)
    of_landmarks = needed(_of_landmarks, effort.n_landmarks)
    most_exact = int(np.searchsorted(of_exact, limit, side="right"))
    n_landmarks = int(np.searchsorted(of_landmarks, limit, side="right"))
    fewest = min(effort.n_landmarks, FEWEST_LANDMARKS)
    if n_rows > most_exact and n_landmarks < fewest:
        # One per cent more, so that the rounded amount in the message suffices.
        least = 1.01 * min([of_landmarks[fewest - 1], *of_exact[n_rows - 1 : n_rows]])
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and a fit to {n_rows:,} different rows of "
            f"{n_columns} encoded columns{' and many targets or classes' if any(n_values) else ''} "
            f"needs {in_words(least)}: give more memory or fewer rows."
        )
    return replace(
        effort,
        search_rows=min(effort.search_rows, search_rows),
        more_rows=min(effort.more_rows, more_rows),
        most_exact=most_exact,
        n_landmarks=n_landmarks,
    )


def trees_fit(limit: int, shape: tuple[int, ...], n_trees: int = 0, n_threads: int = 1) -> bool:
    """Return whether trees, in total ``n_trees`` per output, need at most ``limit`` bytes."""
    n_rows, n_columns, *n_values = shape
    per_column = _OF_TREES * n_rows + _OF_LINE * min(n_rows, _LINE_ROWS)
    of_fits = n_threads * (per_column * n_columns + _OF_TREE_VALUE * sum(n_values))
    return _of_table(shape) + of_fits + _OF_LEAVES * n_trees <= limit


def _of_table(shape: tuple[int, ...]) -> float:
    return _OF_ANY + _OF_ENTRY * shape[0] * shape[1] + _OF_VALUE * sum(shape[2:])


def _of_exact(sizes: Array, n_scored: int) -> Array:
    return as_array(_EXACT_BYTES[0] * sizes**2 + _EXACT_BYTES[1] * np.minimum(sizes, n_scored) ** 2)


def _of_landmarks(sizes: Array, n_scored: int) -> Array:
    return as_array(_LANDMARK_BYTES[0] * sizes**2 + _LANDMARK_BYTES[1] * n_scored * sizes)


def measured_rate(n_threads: int) -> float:
    """Return the operations per second of matrix products, from those of one thread."""
    matrix = np.ones((_MEASURED, _MEASURED))
    seconds = []
    with single_threaded_blas():
        for _ in range(_MEASUREMENTS):
            began = perf_counter()
            matrix @ matrix
            seconds.append(perf_counter() - began)
    return float(n_threads * 2.0 * _MEASURED**3 / np.median(seconds))
