"""Tables, methods and kinds of test rows of the benchmark of rows unlike the training rows."""

from collections.abc import Mapping
from dataclasses import dataclass

OURS, OURS_WITH_TIME = "bochner", "bochner with time"
CATBOOST, TREES, NGBOOST = "CatBoost", "boosted trees", "NGBoost"
PROCESS, TARGET_ALONE = "Gaussian process", "target alone"

METHODS = (OURS, OURS_WITH_TIME, CATBOOST, TREES, NGBOOST, PROCESS, TARGET_ALONE)
BOCHNER = (OURS, OURS_WITH_TIME)

COMPLETE, ONE_GAP, FEW_GAPS, MANY_GAPS = "complete", "one gap", "gaps in 10 %", "gaps in 30 %"
TRAINING_GAPS, NEW_LEVEL, BEYOND, LATER = "gaps in both", "new level", "beyond range", "later"

KINDS: Mapping[str, str] = {
    COMPLETE: "as they are",
    ONE_GAP: "the most important column is missing",
    FEW_GAPS: "gaps in 10 % of the entries, at random",
    MANY_GAPS: "gaps in 30 % of the entries, at random",
    TRAINING_GAPS: "gaps in 10 % of the entries of training rows and of test rows, at random",
    NEW_LEVEL: "levels of the most important text column that the training rows do not have",
    BEYOND: "the largest 10 % (second split: the smallest) of the most important column of numbers",
    LATER: "the latest 30 % of the rows",
}
"""Kinds of test rows; those with the same training rows are next to each other."""

GAPS: Mapping[str, float] = {FEW_GAPS: 0.1, MANY_GAPS: 0.3, TRAINING_GAPS: 0.1}
"""Shares of the entries of test rows that are made missing."""

COMPLETE_TRAINING = (COMPLETE, ONE_GAP, FEW_GAPS, MANY_GAPS)
"""Kinds whose training rows are those of complete rows."""

LEVELS = (0.5, 0.8, 0.9)
"""Probabilities of the intervals whose coverage is counted."""

COVERAGES = (0.85, 0.96)
"""Coverage of 90 % intervals outside of which the page names a table."""

MOST_ECE = 0.04
"""Calibration error of classes above which the page names a table."""

SEEDS = 2  # Splits; held-back numbers are the largest in the first and the smallest in the second
BEYOND_SHARE = 0.1  # Rows whose number is held back
LATER_SHARE = 0.3  # Rows that are later than all training rows
LEVEL_SHARE = 0.1  # Rows whose level is held back, as nearly as levels allow
TEST_SHARE, MOST_TEST_ROWS = 0.3, 1_500  # Standard error of a coverage of 90 %: 0.8 points
MOST_TRAINING_ROWS = 2_000  # A fit takes seconds
MOST_ROWS = 10_000  # Larger tables are thinned at random
MOST_PROCESS_ROWS = 1_000  # Training rows of the exact Gaussian process
QUICK_ROWS = 150  # Training rows, and test rows, of a run that only has to work

FEWEST_GAP_ROWS = 50
"""Test rows without the most important column from which their own coverage is measured."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a table allows: a target of numbers, the column of its dates, levels and ranges."""

    is_regression: bool = True
    time: str | None = None
    has_levels: bool = True
    has_range: bool = True

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of test rows that the table can have."""
        possible = {NEW_LEVEL: self.has_levels, BEYOND: self.has_range, LATER: bool(self.time)}
        return tuple(kind for kind in KINDS if possible.get(kind, True))


BIKES = "bikes"
"""Table that is made of ``bike_hourly.npz`` in the folder of data sets, with the date of each row;
the other tables are those of the benchmark ``real``."""

TABLES: Mapping[str, Table] = {
    "diamonds": Table(),
    "tate": Table(has_range=False),
    "chicago": Table(time="date", has_levels=False),
    "loans": Table(),
    "hotel": Table(time="arrival_date"),
    BIKES: Table(time="date", has_levels=False),
    "credit": Table(False),
    "stops": Table(False, time="date"),
}
"""Tables by name: first those of numbers, then those of two classes."""

QUICK: Mapping[str, Table] = {"sacramento": Table(), "email": Table(False, time="time")}
"""Tables of the small design, of a package that tests install."""

QUICK_METHODS = (OURS, OURS_WITH_TIME, PROCESS, TARGET_ALONE)

EVERY: Mapping[str, Table] = {**TABLES, **QUICK}
