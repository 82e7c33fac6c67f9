"""Default numbers and lengths of chains, and the rows of their warm-ups."""

from collections.abc import Iterator, Mapping
from typing import Any

_MANY_ROWS = 5_000
"""Number of rows from which few longer chains are the default. The mean square errors of eight
chains of 10 + 10 iterations and of two chains of 80 + 20 iterations are 0.0585 and 0.0568 on 7,373
rows (kin8nm), 0.162 and 0.152 on 16,512 rows (california_housing), where an iteration has fewer
rounds. On small tables many chains near different modes are better."""

_SHORT: Mapping[str, int] = {"n_burn_in": 10, "n_samples": 10, "n_chains": 8}
"""Numbers of iterations and chains for fewer rows. With five kept iterations instead of ten, the
mean square error is 0.081 instead of 0.079 on concrete and 0.058 instead of 0.053 on airfoil."""
_LONGER: Mapping[str, int] = {"n_burn_in": 80, "n_samples": 20, "n_chains": 2}
"""Numbers of iterations and chains for many rows, with about the same total."""

_LADDER = ((3000, False, 0.25), (20_000, True, 0.45))
"""Warm-ups: number of rows, whether labels have their logistic likelihood, and the share of the
time at which they end. A sweep costs in proportion to the rows, so that many cheap sweeps come
first."""


def default_sizes(n_rows: int) -> dict[str, Any]:
    """Return the default numbers of iterations and chains for a number of rows."""
    return dict(_LONGER if n_rows >= _MANY_ROWS else _SHORT)


def warm_ups(n_rows: int, n_burn_in: int) -> Iterator[tuple[int, int, bool, float]]:
    """Yield the rows, iterations, likelihood and end of every warm-up; see ``_LADDER``."""
    for rows, is_binary, until in _LADDER:
        if n_rows >= 2 * rows and n_burn_in >= 2:
            yield rows, n_burn_in // 2, is_binary, until
            n_burn_in -= n_burn_in // 2
