"""Data sets, methods, budgets and published figures of the benchmark of learned kernels."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.rows import FOLDS

OURS, RANKS, MH = "BaNK", "BaNK + ranks", "mh"
RKS, MKL, ALAC, RFO, TREES = "RKS", "MKL", "AlaC", "RFO", "trees"

REGRESSIONS = ("concrete", "airfoil", "naval", "bike_hourly")
CLASSIFICATIONS = ("pima", "debrecen", "eeg_eye_state", "shuttle", "skin")
BUNDLED_REGRESSION, BUNDLED_CLASSIFICATION = "diabetes", "breast_cancer"
RACED = ("concrete", "airfoil", BUNDLED_REGRESSION)
RANKED = ("concrete", "airfoil", "bike_hourly", BUNDLED_REGRESSION)

ALL = "all"


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    n_frequencies: int = 384  # ``m``; every method has ``2 m`` features
    n_folds: int = FOLDS  # How many of the five folds
    n_iterations: int = 100  # Burn-in iterations, and as many kept ones
    # The synthetic kernel: trials, frequencies (the paper's) and iterations.
    kernel_trials: int = 4
    kernel_frequencies: int = 250
    kernel_iterations: int = 100
    # scaling_rows, scaling_frequencies: At the most frequencies, and at ``scaling_at`` rows.
    scaling_rows: tuple[int, ...] = (1_000, 2_000, 4_000, 8_000)
    scaling_frequencies: tuple[int, ...] = (24, 48, 96, 192, 384)
    scaling_at: int = 8_000
    scaling_iterations: int = 20
    speed_rows: int = 17_379
    speed_frequencies: int = 384
    repetitions: int = 5


FULL = Size()
QUICK = Size(
    n_frequencies=16,
    n_folds=1,
    n_iterations=5,
    kernel_trials=1,
    kernel_frequencies=40,
    kernel_iterations=10,
    scaling_rows=(100, 200),
    scaling_frequencies=(8, 16),
    scaling_at=200,
    scaling_iterations=3,
    speed_rows=400,
    speed_frequencies=32,
    repetitions=2,
)

TIME_LIMITS: Mapping[str, float] = {
    "concrete": 65.0,
    "airfoil": 70.0,
    "naval": 200.0,
    "bike_hourly": 240.0,
    "pima": 75.0,
    "debrecen": 80.0,
    "eeg_eye_state": 240.0,
    "shuttle": 200.0,
    "skin": 200.0,
}
"""Seconds for a fold of BaNK: one and a half times what a small one needs with one thread, a
safety net on a busy machine, and what ends the largest."""

LONGER: Mapping[str, int] = {"bike_hourly": 2}
"""How many times the iterations of the others a data set has, within its time limit."""

MOST_ROWS: Mapping[str, int] = {
    RKS: 50_000,
    MKL: 50_000,
    ALAC: 8_000,
    RFO: 20_000,
    TREES: 1_000_000,
}
"""Rows of a training fold, chosen at random, that a competitor learns from."""

MOST_CHOICE_ROWS: Mapping[str, int] = {
    RKS: 4_000,
    MKL: 4_000,
    ALAC: 2_000,
    RFO: 3_000,
    TREES: 20_000,
}
"""Rows that choose its settings; a quarter as many more compare them."""

PAPER_ROWS: Mapping[str, str] = {
    "concrete": "concrete",
    "airfoil": "noise",
    "naval": "prop",
    "bike_hourly": "bike",
    "pima": "pima",
    "debrecen": "diabetic",
    "eeg_eye_state": "eeg",
    "shuttle": "space",
    "skin": "skin",
}
"""What the paper calls the data sets."""

PAPER: Mapping[str, Mapping[str, float]] = {
    "concrete": {RKS: 0.1313, MKL: 0.0942, ALAC: 0.0682, OURS: 0.1195},
    "airfoil": {RKS: 0.6974, MKL: 0.3217, ALAC: 0.3395, OURS: 0.3359},
    "naval": {RKS: 0.0006, MKL: 4.2e-5, ALAC: 0.0003, OURS: 8.9e-6},
    "bike_hourly": {RKS: 0.1832, MKL: 0.1509, ALAC: 0.0467, OURS: 0.0496},
    "pima": {RKS: 0.332, MKL: 0.4455, RFO: 0.2592, OURS: 0.263},
    "debrecen": {RKS: 0.3312, MKL: 0.3051, RFO: 0.4263, OURS: 0.279},
    "eeg_eye_state": {RKS: 0.0706, MKL: 0.0544, RFO: 0.2411, OURS: 0.0686},
    "shuttle": {RKS: 0.0022, MKL: 0.0015, RFO: 0.0018, OURS: 0.0009},
    "skin": {RKS: 0.1135, MKL: 0.2737, RFO: 0.0043, OURS: 0.0004},
}
"""Tables 1 (mean square errors) and 2 (error rates) of Oliva, Dubey, Wilson, Póczos, Schneider and
Xing, "Bayesian nonparametric kernel-learning", 2016."""

SCALED: Mapping[str, int] = {"bike_hourly": 13_900, "eeg_eye_state": 11_980}
"""On which scaling is measured, and the most rows of it."""


def is_regression(name: str) -> bool:
    """Return whether a data set of the design has a number to predict."""
    return name in (*REGRESSIONS, BUNDLED_REGRESSION)


def methods_of(name: str) -> tuple[str, ...]:
    """Return the methods that are measured on a data set, ours first and then ``mh``."""
    mh = (MH,) if name in RACED else ()
    ranks = (RANKS,) if name in RANKED else ()
    return (OURS, *mh, *ranks, RKS, MKL, ALAC if is_regression(name) else RFO, TREES)
