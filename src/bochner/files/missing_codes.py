"""Numbers that stand for missing entries, such as -999, in the columns of a file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bochner._base.names import Remarks

if TYPE_CHECKING:
    import pandas as pd

_CODE = re.compile(r"-?(?:9{2,}|[789]{2,}|[1-9]00+)(?:\.9+|\.0)?|-[1-9](?:\.0)?")
"""Numbers that people use for missing entries: repeated nines, sevens and eights, full hundreds,
and small negative numbers."""

_FEWEST_ROWS = 20
"""Fewest rows in which a code is looked for: two of ten rows may be equal by chance."""

_FEWEST_TIMES = 2
"""Fewest rows with a code."""

_MOST_DISTINCT = 5
"""Distinct other values below which a column holds levels, of which one may well be apart."""


def missing_codes(columns: Mapping[str, pd.Series], remarks: Remarks) -> dict[str, float]:
    """Return the codes of columns for missing entries, with remarks on them and on possible codes.

    A code is the smallest or the largest number of a column, occurs more often than once, and is
    farther from all others than these are from each other, or the only one of its sign. It is
    certain if several columns share it and at least one of them has it far from its other numbers.
    """
    found: dict[float, dict[str, bool]] = defaultdict(dict)
    for name, series in columns.items():
        if series.dtype.kind in "iuf" and len(series) >= _FEWEST_ROWS:
            for code, is_far in _candidates(series.to_numpy()):
                found[code][name] = is_far
    certain: dict[str, float] = {}
    for code, names in found.items():
        if len(names) > 1 and any(names.values()):
            certain |= dict.fromkeys(names, code)
    for name, code in certain.items():
        words = f"has {code:g} far from all other numbers, as other columns do: these are missing"
        count = f"{(columns[name] == code).sum()} of {len(columns[name])}"
        remarks.add(name, words, f"{count}; a type number, --types, keeps them")
    for code, names in found.items():
        words = f"has {code:g} far from all other numbers: if these are missing, name the code by"
        for name, is_far in names.items():
            if is_far and name not in certain:
                remarks.add(name, f"{words} missing= (--missing {code:g})")
    return certain


def _candidates(values: NDArray[np.generic]) -> list[tuple[float, bool]]:
    """Return numbers at either end that may be codes, and whether they are far from the others."""
    present = values[np.isfinite(values)]
    found = []
    for code in (present.min(), present.max()) if present.size else ():
        if not any(map(_CODE.fullmatch, (str(code), str(float(code))))):
            continue
        others = np.unique(present[present != code])
        if not others.size or np.count_nonzero(present == code) < _FEWEST_TIMES:
            continue
        code, low, high = float(code), float(others[0]), float(others[-1])
        is_far = max(low - code, code - high) > high - low and others.size >= _MOST_DISTINCT
        if is_far or code < 0.0 <= low:
            found.append((code, is_far))
    return found
