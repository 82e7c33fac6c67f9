"""The design of the benchmark of double mixtures: kernels, data sets, methods, seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.rows import POWERS_OF_TWO
from bochner import kernels
from bochner.kernels import Kernel

TAYLOR, EXACT = "DIGMM, taylor", "DIGMM, exact"
LARGER = "DIGMM, exact, larger sketch"
REWEIGHTED = "DIGMM, exact, least squares"
SPHERICAL, MACLAURIN = "spherical random features", "random Maclaurin"
DESIGNED, LEAST_SQUARES = "designed", "designed, least squares"
LINEAR, BEST = "liblinear", "library best"

DIGMMS = (TAYLOR, EXACT)
OTHERS = (SPHERICAL, MACLAURIN, DESIGNED, LEAST_SQUARES)
ACCURACY_METHODS = (*DIGMMS, *OTHERS)
ERROR_METHODS = (*DIGMMS, LARGER, REWEIGHTED, *OTHERS)
DRAWN_ERRORS = (*DIGMMS, LARGER, REWEIGHTED, SPHERICAL, LEAST_SQUARES)
DRAWN_ACCURACIES = (*DIGMMS, SPHERICAL, LEAST_SQUARES, BEST)  # And the paper's

IJCNN1, COVTYPE, SKIN = "ijcnn1", "covtype_93k", "skin"
EEG, SPAMBASE, MNIST = "eeg_eye_state", "spambase", "mnist"
TABLES = (IJCNN1, COVTYPE, SKIN, EEG, SPAMBASE)
"""Data sets of Tables III and IV, in the order of the paper."""

BUNDLED = "breast_cancer"
NO_KERNEL = "none"


@dataclass(frozen=True, slots=True)
class Similarity:
    """A kernel, and where its rows lie."""

    kernel: Callable[[int], Kernel]  # From the number of inputs to the kernel
    on_sphere: bool  # Whether rows have norm one; otherwise they are in the unit cube


POLYNOMIAL, HELLINGER, TL1, TANH = "polynomial", "Hellinger", "TL1", "tanh"
SIMILARITIES: Mapping[str, Similarity] = {
    # ((1 + <x, y>) / 2)^10 on the sphere, the paper's but for a constant factor.
    POLYNOMIAL: Similarity(lambda d: kernels.SphericalPolynomial(10), on_sphere=True),
    HELLINGER: Similarity(lambda d: kernels.Hellinger(), on_sphere=True),
    TL1: Similarity(lambda d: kernels.TL1(0.7 * d), on_sphere=False),
    TANH: Similarity(lambda d: kernels.Tanh(1.0 / d, 1.0), on_sphere=True),
}
FIGURE_KERNELS = (POLYNOMIAL, TL1)
"""Kernels of Figures 2 to 4, and of Tables V and VII."""

SIZES = (2, 8, 16, 32)  # M / d in Tables III and IV
ERROR_SIZES = (2, 4, 8, 16, 32)  # M / d in the part on errors, each twice the one before
FEATURES_PER_SIZE = 4
"""Real features for each input at size one: a cosine and a sine for each of both parts."""

CS = POWERS_OF_TWO[::2]  # Half of the paper's grid: a choice takes 30 fits for each feature map
PAPER_SKETCH = 5  # Rows of the paper's sketch, N_s


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    larger_sketch: int = 200  # Rows of the larger sketch
    # sizes, error_sizes, truncation_sizes: Frequencies of each of both parts over the number of
    # inputs.
    sizes: tuple[int, ...] = SIZES
    error_sizes: tuple[int, ...] = ERROR_SIZES
    truncation_sizes: tuple[int, ...] = (2, 8)
    sketch_size: int = 8  # The same, of the part on sketches
    truncations: tuple[int, ...] = (1, 5, 10)
    shifts: tuple[float, ...] = (1.1, 2.0, 5.0, 10.0, 20.0)
    sketches: tuple[int, ...] = (2, 5, 10, 50, 100)
    # Seeds of the errors; of truncation, sketches and seconds; and of shifts.
    error_seeds: int = 5
    few_seeds: int = 2
    shift_seeds: int = 5
    # Iterations and starts of ``exact``; ``None`` means its default.
    max_iter: int = 200
    n_starts: int = 3
    most_seeds: int = 10  # Seeds of accuracies
    best_seeds: int = 3  # Seeds of the best of the library


FULL = Size()
QUICK = Size(
    larger_sketch=10,
    sizes=(1,),
    error_sizes=(1,),
    truncation_sizes=(1,),
    sketch_size=1,
    truncations=(1, 5),
    shifts=(1.1, 5.0),
    sketches=(2, 5),
    error_seeds=1,
    few_seeds=1,
    shift_seeds=1,
    max_iter=5,
    n_starts=1,
    most_seeds=1,
    best_seeds=1,
)

_ENTRIES = ((2e6, 10), (8e6, 5), (2e7, 2))
"""Seeds by the most entries of a matrix of training features, and one beyond these: the time of a
fit is at least proportional to them."""

N_TRAIN: Mapping[str, int] = {
    IJCNN1: 20_000,
    COVTYPE: 20_000,
    SKIN: 20_000,
    EEG: 7_490,
    SPAMBASE: 2_300,
    MNIST: 10_000,
}
"""Training rows; the best of the library has all, but for the digits."""

N_INPUTS: Mapping[str, int] = {IJCNN1: 22, COVTYPE: 54, SKIN: 3, EEG: 14, SPAMBASE: 57, MNIST: 784}
"""Columns of the data sets, for the number of features before any is loaded."""


def n_seeds(name: str, size: int, most: int) -> int:
    """Return with how many seeds accuracies are measured: ten where features are few, or fewer."""
    entries = N_TRAIN.get(name, 0) * N_INPUTS.get(name, 0) * FEATURES_PER_SIZE * size
    return min(most, next((seeds for limit, seeds in _ENTRIES if entries <= limit), 1))


def is_measured(method: str, kernel: str) -> bool:
    """Whether a method is for a kernel: Maclaurin's is for polynomials."""
    return method != MACLAURIN or kernel == POLYNOMIAL
