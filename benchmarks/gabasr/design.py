"""The design of the benchmark of locally stationary kernels: data, methods, budgets, figures."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.rows import FOLDS

OURS, PUBLISHED, BANK = "GaBaSR", "GaBaSR, as published", "BaNK"
LINEAR, LINEAR_SVM, RBF_SVM, TREES = "linear", "linear SVM", "RBF SVM", "trees"
TRUE = "truth"
HARMONIZABLE = "harmonizable"
WINDOWED = "GaBaSR, windows"
GIBBS, WARPED, DEEP = "Gibbs kernel", "warped inputs", "deep kernel"
OTHERS = (GIBBS, WARPED, DEEP)
"""Exact processes of other non-stationary kernels."""
METHODS = (OURS, PUBLISHED, BANK, LINEAR, LINEAR_SVM, RBF_SVM, TREES)

WDBC, CO2, CALIFORNIA = "breast_cancer_wdbc", "mauna_loa_co2_monthly", "california_housing"
CLASSIFICATIONS = (
    WDBC, "german_credit", "transfusion", "electricity", "eeg_eye_state", "kr_vs_kp"
)  # fmt: skip
REGRESSIONS = (CO2, CALIFORNIA, "boston", "diabetes")
BUNDLED_REGRESSION, BUNDLED_CLASSIFICATION = "diabetes", "breast_cancer"
LARGE = ("electricity", "eeg_eye_state")
"""Classifications whose rows are too many for the sampler that was published."""

MCYCLE, DOPPLER, TERRAIN, STATIONARY = "mcycle", "doppler", "terrain", "stationary"
TRENDS = (0, 1)
"""Degrees of a trend among which regressions choose, on training rows."""

SERIES_NAMES = (MCYCLE, DOPPLER, TERRAIN, STATIONARY)

WINDOWS = (0, 4)
"""Numbers of windows of harmonizable mixtures, among which the evidence chooses."""

HARMONIZABLE_FEATURES = 1_000
"""Twice as many as training rows or more, so that their error is small next to the noise."""

# The paper's M and "swaps" on real data, and its M for the mixture (12).
PAPER_FREQUENCIES, PAPER_SWEEPS, MIXTURE_FREQUENCIES = 500, 5, 250
XOR_FREQUENCIES, XOR_ROWS, PAPER_XOR_AUC = 300, 6_000, 0.98  # The paper's problem and its result


@dataclass(frozen=True, slots=True)
class Budget:
    """What a fit that samples may take."""

    n_frequencies: int
    n_iterations: int  # Burn-in iterations, and as many kept ones
    seconds: float  # After which sampling stops early


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    n_folds: int = FOLDS
    xor_trials: int = 2
    mixture_trials: int = 4
    splits: int = 10
    left_out: tuple[str, ...] = ()  # Series
    processes: tuple[str, ...] = OTHERS  # Ten seconds each
    xor_rows: int = XOR_ROWS  # To learn from, and as many to test on
    # Budgets of data sets below 2,000 rows, of those above, and of the other parts.
    small: Budget = Budget(100, 100, 20.0)
    large: Budget = Budget(200, 100, 60.0)
    xor: Budget = Budget(XOR_FREQUENCIES, 100, 40.0)
    mixture: Budget = Budget(MIXTURE_FREQUENCIES, 100, 12.0)
    series: Budget = Budget(50, 100, 12.0)
    published_frequencies: int = PAPER_FREQUENCIES  # GaBaSR as published has these on real data
    # The seconds of an update: rows; frequencies and amplitudes; repetitions.
    update_rows: int = 2_000
    update_each: int = 20
    update_trials: int = 5


FULL = Size()
QUICK = Size(
    n_folds=1,
    xor_trials=1,
    mixture_trials=1,
    splits=2,
    left_out=(TERRAIN,),
    processes=(),
    xor_rows=300,
    small=Budget(16, 5, 2.0),
    large=Budget(16, 5, 2.0),
    xor=Budget(16, 10, 2.0),
    mixture=Budget(30, 10, 2.0),
    series=Budget(16, 10, 2.0),
    published_frequencies=16,
    update_rows=300,
    update_each=5,
    update_trials=1,
)

SECONDS: Mapping[str, float] = {"kr_vs_kp": 20.0}
"""For a fold of a larger data set, where it is not as many as for the others."""

LARGER = (*LARGE, "kr_vs_kp", CALIFORNIA)

MOST_ROWS: Mapping[str, int] = {
    LINEAR: 1_000_000,
    LINEAR_SVM: 4_000,
    RBF_SVM: 4_000,
    TREES: 1_000_000,
}
"""Rows of a training fold, chosen at random, that a competitor learns from."""

MOST_CHOICE_ROWS: Mapping[str, int] = {
    LINEAR: 4_000,
    LINEAR_SVM: 2_000,
    RBF_SVM: 2_000,
    TREES: 20_000,
}
"""Rows that choose its settings; a quarter as many more compare them."""

PAPER_ROWS: Mapping[str, str] = {
    WDBC: "Breast Cancer",
    "german_credit": "Credit-g",
    "transfusion": "Blood Transfusion",
    "electricity": "Electricity",
    "eeg_eye_state": "Egg-eye-state",
    "kr_vs_kp": "Kr vs Kp",
    CO2: "Mauna LOA CO2",
    CALIFORNIA: "California houses",
    "boston": "Boston house-price",
    "diabetes": "Diabetes",
}
"""What the paper calls the data sets."""

PAPER: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "auc": {
        WDBC: {LINEAR: 0.96480, LINEAR_SVM: 0.934656, OURS: 0.51348},
        "german_credit": {LINEAR: 0.44576, LINEAR_SVM: 0.85282, OURS: 0.5142},
        "transfusion": {LINEAR: 0.37572, LINEAR_SVM: 0.0, OURS: 0.54063},
        "electricity": {LINEAR: 0.68576, LINEAR_SVM: 0.76076, OURS: 0.74991},
        "eeg_eye_state": {LINEAR: 0.61635, LINEAR_SVM: 0.692924, OURS: 0.519743},
        "kr_vs_kp": {LINEAR: 0.99357, LINEAR_SVM: 0.96970, OURS: 0.9045},
    },
    "mse": {
        CO2: {LINEAR: 6.86, LINEAR_SVM: 758.08513, OURS: 0.60522},
        CALIFORNIA: {LINEAR: 0.55, LINEAR_SVM: 2.00777, OURS: 2.91313},
        "boston": {LINEAR: 18.92, LINEAR_SVM: 47.66904, OURS: 3.10931},
        "diabetes": {LINEAR: 3141.62, LINEAR_SVM: 8094.08752, OURS: 5918263.6333},
    },
    "r2": {
        CO2: {LINEAR: 0.98, LINEAR_SVM: -1.60705, OURS: 0.99789},
        CALIFORNIA: {LINEAR: 0.59, LINEAR_SVM: -0.50784, OURS: -1.16892},
        "boston": {LINEAR: 0.78, LINEAR_SVM: 0.43533, OURS: 0.97060},
        "diabetes": {LINEAR: 0.51, LINEAR_SVM: -0.36496, OURS: -869.1321},
    },
}
"""Tables 1 to 6 of the paper, "Gaussian Mixture Bayesian Nonparametric Kernel Learning using
Spectral Representation". Its linear model of Table 1 is a perceptron, that of Table 5 a
regression."""


def budget_of(name: str, size: Size) -> Budget:
    """Return the budget of frequencies, iterations and seconds of a fit to a real data set."""
    if name not in LARGER:
        return size.small
    large = size.large
    seconds = min(large.seconds, SECONDS.get(name, large.seconds))
    return Budget(large.n_frequencies, large.n_iterations, seconds)


def methods_of(name: str) -> tuple[str, ...]:
    """Return the methods that are measured on a real data set."""
    if name in (*CLASSIFICATIONS, BUNDLED_CLASSIFICATION) and name not in LARGE:
        return METHODS
    return tuple(method for method in METHODS if method != PUBLISHED)
