"""Tables, splits and limits of the benchmark of default settings, and figures of others."""

from collections.abc import Mapping

SETS = {
    "yacht": 308,
    "energy": 768,
    "wine_red": 1_599,
    "boston": 506,
    "concrete": 1_030,
    "kin8nm": 8_192,
    "power_plant": 9_568,
    "naval": 11_934,
}
"""Tables with published splits, and their rows."""

SPLITS = 5  # The first of the 20 that are published

FOLD_REGRESSIONS = {
    "airfoil": 1_503,
    "concrete": 1_030,
    "bike_hourly": 17_379,
    "california_housing": 20_640,
}
"""Tables of numbers that are split into folds, and their rows."""

FOLD_CLASSES = (
    "transfusion",
    "pima",
    "breast_cancer_wdbc",
    "german_credit",
    "debrecen",
    "kr_vs_kp",
    "spambase",
    "eeg_eye_state",
    "letter",
    "electricity",
)
FOLDS = 5  # As many as in the papers that name a number

THREADS = 2  # As many as the machine of the published results has cores
INTERVAL = 0.9  # Probability of the intervals whose coverage is counted

MOST_EXACT = 2_000
"""Rows of a table to which the exact Gaussian process is fitted: seconds for up to 1,439 training
rows, but more than five minutes on two cores for the 7,373 of kin8nm, the next larger table."""

SLOW_SPLITS = 1
"""Splits of SVGP, which takes minutes a table, and folds of xRFM, whose matrices of 30,000 rows
take gigabytes."""

BEYOND_MEMORY = ("letter", "electricity")
"""Tables to which xRFM is not fitted: the first fold of either takes more than 24 GB."""

OURS = "bochner"
QUICK = "bochner, quick"  # Not on folds
TREES, CATBOOST, XRFM = "boosted trees", "CatBoost", "xRFM"
EXACT, SPARSE = "exact GP", "SVGP"

PRINTED: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "rmse": {
        "yacht": {"MC dropout": "0.67", "scikit-learn": "0.936", "GPyTorch": "0.4157",
                  "GPy": "0.3931"},
        "energy": {"MC dropout": "0.54", "scikit-learn": "0.4773", "GPyTorch": "0.4773",
                   "GPy": "0.4756"},
        "wine_red": {"MC dropout": "0.62", "SGPR, GPyTorch": "0.628"},
        "boston": {"MC dropout": "2.90"},
        "concrete": {"MC dropout": "4.82"},
        "kin8nm": {"MC dropout": "0.08"},
        "power_plant": {"MC dropout": "4.01", "SGPR, GPyTorch": "3.777"},
        "naval": {"MC dropout": "0.00", "SGPR, GPyTorch": "1.707e-05", "SGPR, GPy": "1.571e-05"},
    },
    "nlpd": {
        "yacht": {"MC dropout": "1.25", "scikit-learn": "1.411", "GPyTorch": "0.2",
                  "GPy": "0.1971"},
        "energy": {"MC dropout": "1.21", "scikit-learn": "0.692", "GPyTorch": "0.6894",
                   "GPy": "0.6859"},
        "wine_red": {"MC dropout": "0.93", "SGPR, GPyTorch": "0.951"},
        "boston": {"MC dropout": "2.40"},
        "concrete": {"MC dropout": "2.93"},
        "kin8nm": {"MC dropout": "-1.14"},
        "power_plant": {"MC dropout": "2.80", "SGPR, GPyTorch": "2.753"},
        "naval": {"MC dropout": "-4.45", "SGPR, GPy": "-9.681"},
    },
}  # fmt: skip
"""Figures as their sources print them, by metric, table and method, means over all 20 splits.

MC dropout with a grid search: readme of the repository yaringal/DropoutUncertaintyExps. Exact
Gaussian processes with an ARD RBF kernel by library, and SGPR with 512 inducing points:
``docs/comparison.md`` of the repository YUKIKEDA/gprx.
"""
