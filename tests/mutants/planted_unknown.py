"""Bugs of rows with unknown entries or numbers out of range, each with the law that notices it."""

from functools import partial

import numpy as np
from laws import test_unlike_rows as laws
from mutants.registry import edit, planted, replaces

from bochner.tables import new_rows
from bochner.tables import new_rows as far_rows


def fresh(check, *args, **options):
    """A check whose models are fitted anew, with the bug."""

    def run():
        laws._numbers.cache_clear()
        laws.classes_of.cache_clear()
        try:
            check(*args, **options)
        finally:
            laws._numbers.cache_clear()
            laws.classes_of.cache_clear()

    return run


coverage, classes = fresh(laws.check_coverage), fresh(laws.check_classes)


@replaces(new_rows.RowKnowledge, "unknown", coverage, classes)
def unknown_entries_are_medians(self, known):
    return np.zeros(known.is_missing.shape, dtype=bool)


for name, old, new in (
    (
        "no_width_beyond_the_range",
        "return changes, as_array(np.maximum(rest",
        "return changes, as_array(0.0 * np.maximum(rest",
    ),
):
    planted(partial(laws.check_beyond), name=name)(edit(far_rows.FarRows, "continued", old, new))
