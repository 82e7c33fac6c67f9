"""Sizes that determine the time of a fit of a table, reduced to what a time limit allows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from types import MappingProxyType

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner._base.threads import single_threaded_blas
from bochner.kernels import Exponential, Laplacian, Matern
from bochner.tables.kernel_passes import has_passes, sampled_rows
from bochner.tables.kernel_search import Family

_ROUGH = Family(Laplacian)
"""Laplacian kernels: functions with kinks along every input, comparable to the steps of trees."""

_TURNED = Family(Exponential, is_mapped=True)
"""Exponential kernels: functions with kinks in any direction."""

_SMOOTH = Family(lambda length: Matern(length, nu=2.5), is_mapped=True)
"""Matérn-5/2 kernels: functions with two derivatives."""

_LAW_SHARE = 0.35
"""Share of a time limit for the fit of the first kernel to all rows: the search takes half, and the
weights of the laws need the rest."""

_SEARCH_SHARE = 0.35
"""Share of a time limit for the search of all kernels."""

_OF_SEARCH, _LEAST_SEARCH = 200.0, 0.1
"""Operations of a search per cube of its rows: some fifty steps, each a factor and an inverse; and
the seconds of a search of very few rows."""

_MORE_SHARE, _OF_MORE = 0.15, 150.0
"""Share of a time limit for refining the best kernels on more rows, and its operations per cube of
these rows: the errors of all kernels, and some steps of two kernels."""

_OF_EXACT, _OF_LANDMARKS = 5.0, (4.0, 6.0)
"""Operations of an exact fit per cube of its rows, and of a fit on m landmarks per n m^2 and per
m^3: products, factors and inverses for means, variances and left-out predictions. Of very many
rows, ``n`` is a sample."""

_N_PASSES, _OF_PASS = 4.0, (90.0, 5.0)
"""Passes over very many rows, and the operations of a pass, at the rate of matrix products, per row
and landmark, and per column of both."""

_OF_DISTANCE = 60.0
"""Operations, at the rate of matrix products, for the difference of two rows in one column."""

_OF_TREE = 8e7, 70.0
"""Operations, at the rate of matrix products, per tree, and per tree, row and column."""

_OF_LAW = 4e10
"""Operations, at the rate of matrix products, of a fit of a kernel to very few rows."""

FEWEST_SEARCHED, FEWEST_LANDMARKS = 200, 200
"""Least sizes: a fit with fewer rows would be worse than no fit within the limit."""

_MEASURED, _MEASUREMENTS = 600, 9
"""Number of rows of the matrix products that measure the speed, in some milliseconds each, and of
products: their median does not depend on a short pause of one of them."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Sizes that determine the time of a fit."""

    families: Mapping[str, tuple[Family, int]]  # By name, with the number of encodings
    search_rows: int
    most_exact: int  # Largest number of rows of an exact fit: of all rows or of a part of them
    n_landmarks: int  # Number of landmarks for more rows
    more_rows: int = 2000  # Rows on which the best kernels for many rows are refined

    def landmarks(self, n_rows: int) -> int:
        """Return the number of landmarks of a fit to ``n_rows`` rows; 0 if the fit is exact."""
        return 0 if n_rows <= self.most_exact else self.n_landmarks

    def within(
        self, seconds: float, n_rows: int, n_columns: int, n_kernels: int, rate: float
    ) -> "Effort":
        """Return sizes with which the first kernel is expected to be fitted within a time limit.

        The search compares ``n_kernels`` kernels. ``rate`` is the number of operations per second.
        Sizes that are small enough are unchanged.
        """
        of_kernel = _SEARCH_SHARE * seconds / n_kernels - _LEAST_SEARCH
        search_rows = min(self.search_rows, _most(max(of_kernel, 0.0) * rate, _OF_SEARCH))
        search_rows = max(search_rows, min(self.search_rows, FEWEST_SEARCHED))
        more_rows = min(self.more_rows, _most(_MORE_SHARE * seconds * rate, _OF_MORE))
        more_rows = max(more_rows, search_rows)
        effort = replace(self, search_rows=search_rows, more_rows=more_rows)
        most_exact, n_landmarks = self.sizes_within(_LAW_SHARE * seconds, n_rows, n_columns, rate)
        effort = replace(effort, most_exact=most_exact)
        return effort if n_rows <= most_exact else replace(effort, n_landmarks=n_landmarks)

    def sizes_within(
        self, seconds: float, n_rows: int, n_columns: int, rate: float
    ) -> tuple[int, int]:
        """Return the most rows of an exact fit of a kernel in some seconds, and the landmarks."""
        operations = seconds * rate - _OF_LAW
        sizes = np.arange(1.0, self.most_exact + 1.0)
        exact = _OF_EXACT * sizes**3 + _OF_DISTANCE * n_columns * sizes**2
        most_exact = int(np.searchsorted(exact, operations, side="right"))
        return most_exact, self._most_landmarks(operations, n_rows, n_columns)

    def _most_landmarks(self, operations: float, n_rows: int, n_columns: int) -> int:
        sizes = np.arange(1.0, self.n_landmarks + 1.0)
        is_possible = _landmark_operations(n_rows, n_columns, sizes) <= operations
        return max(int(is_possible.sum()), min(self.n_landmarks, FEWEST_LANDMARKS))


def _landmark_operations(n_rows: int, n_columns: int, sizes: Array) -> Array:
    """Return the operations of fits of a kernel on numbers of landmarks."""
    by_passes = np.array([has_passes(n_rows, int(size)) for size in sizes])
    n_multiplied = np.where(by_passes, sampled_rows(sizes), n_rows)
    per_row = _OF_LANDMARKS[0] * sizes**2 + _OF_DISTANCE * n_columns * sizes
    per_pass = n_rows * sizes * (_OF_PASS[0] + _OF_PASS[1] * n_columns)
    cubes = _OF_LANDMARKS[1] * sizes**3
    return as_array(n_multiplied * per_row + by_passes * _N_PASSES * per_pass + cubes)


def _most(operations: float, per_cube: float) -> int:
    """Return the largest number of rows whose cube needs at most ``operations``."""
    return int(np.cbrt(operations / per_cube))


def tree_seconds(n_rows: int, n_columns: int, n_trees: int, rate: float) -> float:
    """Return the expected seconds of boosted trees."""
    return n_trees * (_OF_TREE[0] + _OF_TREE[1] * n_rows * n_columns) / rate


def measured_rate(n_threads: int) -> float:
    """Return the operations per second in products of matrices by some threads.

    One thread is measured: several wait for each other in so short a time if another program runs.
    """
    matrix = np.ones((_MEASURED, _MEASURED))
    seconds = []
    with single_threaded_blas():
        for _ in range(_MEASUREMENTS):
            began = perf_counter()
            matrix @ matrix
            seconds.append(perf_counter() - began)
    return float(n_threads * 2.0 * _MEASURED**3 / np.median(seconds))


_RICH = {"rough": (_ROUGH, 3), "smooth": (_SMOOTH, 3), "turned": (_TURNED, 2)}

EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        "quick": Effort({"rough": (_ROUGH, 2), "smooth": (_SMOOTH, 2)}, 400, 3000, 1500),
        "default": Effort(_RICH, 800, 16_500, 4000),
        "thorough": Effort(_RICH, 2000, 20_000, 6000),
    }
)
"""Sizes by name."""

TRIAL = Effort({"rough": (_ROUGH, 1)}, 400, 3000, 1000)
"""Sizes for comparing transformations of a target on some of the rows, half a second each."""
