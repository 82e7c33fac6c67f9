"""Numbers and lengths of chains, and the rows of their warm-ups, where a user leaves them open."""

from collections.abc import Iterator, Mapping
from typing import Any

_MANY_ROWS = 5_000
"""Rows from which few longer chains are the default. In mean square error, eight chains of 10 + 10
iterations and two of 80 + 20 have 0.0585 and 0.0568 on 7,373 rows (kin8nm), 0.162 and 0.152 on
16,512 (california_housing): rounds of an iteration are fewer there. Small tables gain from chains
near different modes."""

_SHORT: Mapping[str, int] = {"n_burn_in": 10, "n_samples": 10, "n_chains": 8}
"""Iterations and chains of fewer rows: five kept ones instead of ten have a mean square error of
0.081 instead of 0.079 on concrete and 0.058 instead of 0.053 on airfoil."""
_LONGER: Mapping[str, int] = {"n_burn_in": 80, "n_samples": 20, "n_chains": 2}
"""Iterations and chains of many rows, of about the same total."""

_LADDER = ((3000, False, 0.25), (20_000, True, 0.45))
"""Warm-ups: rows, whether labels have their own likelihood yet, and the share of the time at which
they end. A sweep costs in proportion to the rows, so that many short sweeps come first."""


def default_sizes(n_rows: int) -> dict[str, Any]:
    """Return the numbers of iterations and chains for a number of rows."""
    return dict(_LONGER if n_rows >= _MANY_ROWS else _SHORT)


def warm_ups(n_rows: int, n_burn_in: int) -> Iterator[tuple[int, int, bool, float]]:
    """Yield rows, iterations, the use of labels and the end of every warm-up of ``n_rows`` rows."""
    for rows, is_binary, until in _LADDER:
        if n_rows >= 2 * rows and n_burn_in >= 2:
            yield rows, n_burn_in // 2, is_binary, until
            n_burn_in -= n_burn_in // 2
