"""Sizes of a fit of a table, reduced to what a memory limit allows."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bochner._base.amounts import in_words
from bochner._base.arrays import Array, as_array
from bochner.tables.efforts import FEWEST_LANDMARKS, FEWEST_SEARCHED, Effort
from bochner.tables.kernel_products import BLOCK_BYTES
from bochner.tables.observation_roles import MOST_SCORED

_OF_ENTRY = 18.0
"""Bytes per encoded entry of the table: the encoded columns, and a copy of them in random order."""

_OF_TREES, _OF_LINE, _LINE_ROWS = 15.0, 22.0, 200_000
"""Bytes per encoded entry for boosted trees, their inputs included, and for the ridge regression to
whose residuals they are fitted, which has at most so many rows."""

_OF_SEARCH, _OF_MORE = 45.0, 55.0
"""Bytes of a thread per square of the rows of a search, and of the rows on which the best kernels
are refined: kernel matrices, their factors, inverses and slopes."""

_OF_EXACT = 9.0, 17.0
"""Bytes of an exact fit per square of its rows, and per square of its scored rows, in double
precision: the matrix, which its factor replaces, and the inverse of its last block. Most fits are
in single precision, with half of them, but that depends on the kernel."""

_OF_LANDMARKS = 26.0, 8.0
"""Bytes of a fit per square of its landmarks, and per landmark and scored row: sums of products,
their factor and the kernel matrix of the landmarks."""

_BLOCKS = 3
"""Blocks of kernel values that each thread has in memory: one computed, two to be added up."""

_OF_ANY = 4e7
"""Bytes of a fit of any size."""


def within_memory(
    effort: Effort, limit: int, shape: tuple[int, int], n_threads: int, largest_group: int = 0
) -> Effort:
    """Return the sizes of a fit to encoded rows of some shape that needs at most ``limit`` bytes.

    The table itself does not count. All observations of the largest group may be scored. Sizes that
    are small enough are unchanged. Raises ValueError if the smallest sizes need more memory.
    """
    n_rows, n_columns = shape
    n_scored = min(n_rows, max(MOST_SCORED, largest_group))
    of_table = _of_table(shape)
    of_thread = (limit - of_table) / n_threads
    search_rows = max(_root(of_thread / _OF_SEARCH), FEWEST_SEARCHED)
    more_rows = max(_root(of_thread / _OF_MORE), search_rows)

    def needed(of_fit: Callable[[Array, int], Array], largest: int) -> Array:
        """Return the bytes of fits with one up to ``largest`` rows or landmarks."""
        sizes = np.arange(1.0, largest + 1.0)
        of_blocks = np.minimum(BLOCK_BYTES, 8.0 * n_rows * sizes)
        return of_table + n_threads * _BLOCKS * of_blocks + of_fit(sizes, n_scored)

    of_exact = needed(_of_exact, effort.most_exact)
    of_landmarks = needed(_of_landmarks, effort.n_landmarks)
    most_exact, n_landmarks = (
        int(np.searchsorted(of_sizes, limit, side="right")) for of_sizes in (of_exact, of_landmarks)
    )
    fewest = min(effort.n_landmarks, FEWEST_LANDMARKS)
    if n_rows > most_exact and n_landmarks < fewest:
        # With one per cent more, the amount of three digits in the message suffices.
        least = 1.01 * min([of_landmarks[fewest - 1], *of_exact[n_rows - 1 : n_rows]])
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and a fit to {n_rows:,} different rows of "
            f"{n_columns} encoded columns needs {in_words(least)}: give more memory or "
            "fewer rows."
        )
    return replace(
        effort,
        search_rows=min(effort.search_rows, search_rows),
        more_rows=min(effort.more_rows, more_rows),
        most_exact=most_exact,
        n_landmarks=n_landmarks,
    )


def trees_fit(limit: int, shape: tuple[int, int]) -> bool:
    """Return whether trees for encoded rows of some shape are expected to fit into a limit."""
    n_rows, n_columns = shape
    per_column = _OF_TREES * n_rows + _OF_LINE * min(n_rows, _LINE_ROWS)
    return _of_table(shape) + per_column * n_columns <= limit


def _of_table(shape: tuple[int, int]) -> float:
    return _OF_ANY + _OF_ENTRY * shape[0] * shape[1]


def _of_exact(sizes: Array, n_scored: int) -> Array:
    return as_array(_OF_EXACT[0] * sizes**2 + _OF_EXACT[1] * np.minimum(sizes, n_scored) ** 2)


def _of_landmarks(sizes: Array, n_scored: int) -> Array:
    return as_array(_OF_LANDMARKS[0] * sizes**2 + _OF_LANDMARKS[1] * n_scored * sizes)


def _root(squares: float) -> int:
    """Return the largest number of rows whose square is at most ``squares``."""
    return int(np.sqrt(max(squares, 0.0)))
