"""The design of the benchmark of indefinite kernels: kernels, data sets, methods, seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks import baselines, rows
from bochner import kernels
from bochner._base.arrays import Array
from bochner.features.nystroem import KreinNystroem
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel, Metric, Profiled, SphericalPolynomial

DESIGNED = "designed"
LEAST_SQUARES = "designed, least squares"
DESIGNED_IID = "designed, iid"
JORDAN = "Jordan"
JORDAN_IID = "Jordan, iid"
SPHERICAL = "spherical random features"
MACLAURIN = "random Maclaurin"
TENSORIZED = "tensorised projections"
SKETCH = "TensorSketch"
NYSTROM = "Nyström, uniform"
LEVERAGE = "Nyström, leverage"
PIVOTED = "Nyström, pivoted"
EXACT = "exact"

OURS = (DESIGNED, LEAST_SQUARES, DESIGNED_IID)
RANDOM = (JORDAN, JORDAN_IID, SPHERICAL, MACLAURIN, TENSORIZED, SKETCH)
NYSTROMS = (NYSTROM, LEVERAGE, PIVOTED)
PROFILED = (EXACT, DESIGNED, JORDAN)

SEEDS = 10  # The paper's number of runs
FEW_SEEDS = 2  # Seeds of what takes longest
SIZES = (2, 8, 32)  # s / d in Table 2 of the paper
PROFILE_SET, PROFILE_SIZE = "letter", 8  # What the profile shows: the middle of ``SIZES``
CS = (0.01, 0.1, 1.0, 10.0, 100.0)  # The paper's grid
rows_of = partial(rows.rows_of, n_train=8_000, sizes=(("letter", (12_000, 6_000)),))
"""Rows of a data set by name, seed and folder, on the sphere or in the cube."""

# Above the first number Nyström's features, whose cost is cubic, are measured less often, and above
# the second not at all. At most 1,024 are needed for cod_rna, and 2,816 for ijcnn1.
_MANY_FEATURES, _TOO_MANY_FEATURES = 1_100, 3_000
_CANDIDATES = 1_000  # Half of KreinNystroem's default: the eigenvalues of these rows are computed


class FeatureMap(Protocol):
    """What every method is once it is made."""

    signature_: Array

    def fit(self, X: Array) -> Any:
        """Fit the map."""

    def transform(self, X: Array) -> NDArray[Any]:
        """Return the features."""

    def gram(self, X: Array, Y: Array | None = None) -> NDArray[Any]:
        """Return the approximate Gram matrix."""


Make = Callable[[Kernel, int, int], FeatureMap]


@dataclass(frozen=True, slots=True)
class Method:
    """A way to features, and how often it is measured."""

    # From a kernel, the number of real features and a seed to a feature map to be fitted.
    make: Make
    seeds: int = SEEDS
    kernels: tuple[type[Kernel], ...] = (Kernel,)  # Those that it is for
    on_sphere: bool = False  # Whether rows must have norm one
    learns: bool = False  # Whether a linear classifier is trained on the features
    # Whether its cost is cubic in the number of features, which then has to stay small.
    is_nystroem: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """A kernel and the data sets on which it is approximated."""

    kernel: Callable[[int], Kernel]  # From the number of inputs to the kernel
    datasets: Mapping[str, int]  # Names and numbers of seeds
    on_sphere: bool = True  # Whether rows have norm one; otherwise they are in the unit cube
    # Real features for each input at size 1: with 2, the size is the number of frequencies over
    # that of inputs. The paper's map has 4.
    features: int = 2
    learns: bool = False  # Whether classifiers are trained


def trapezoid(distance: Array) -> Array:
    """Return 1 up to a distance of 0.25, falling evenly to 0 at 1.25 and beyond.

    It is indefinite: a positive definite function that keeps its greatest value on an interval is
    constant.
    """
    return np.clip(1.25 - distance, 0.0, 1.0)


def _fourier(scheme: str = "orthogonal", **options: Any) -> Make:
    return lambda kernel, p, seed: FourierFeatures(
        kernel, p, scheme=scheme, random_state=seed, **options
    )


def _baseline(kind: Callable[..., FeatureMap], **options: Any) -> Make:
    return lambda kernel, p, seed: kind(kernel, p, random_state=seed, **options)


def spherical(kernel: Kernel, p: int, seed: int) -> FeatureMap:
    """Return features of the kernel as a function of the distance on the unit sphere.

    It is given as such because a kernel may not be defined on the whole sphere.
    """
    assert isinstance(kernel, Profiled)

    def function(distance: Array) -> Array:
        if kernel.metric is Metric.INNER_PRODUCT:
            return kernel.profile(1.0 - 0.5 * distance**2)
        return kernel.profile(distance)

    return baselines.SphericalRandomFeatures(function, p, random_state=seed)


def _nystroem(landmarks: str) -> Make:
    return _baseline(KreinNystroem, landmarks=landmarks, n_candidates=_CANDIDATES)


_CLOSED = (kernels.DeltaGaussian, SphericalPolynomial)
_POLYNOMIAL = (SphericalPolynomial,)

METHODS: Mapping[str, Method] = {
    DESIGNED: Method(_fourier(), learns=True),
    LEAST_SQUARES: Method(_fourier(weights="least_squares"), learns=True),
    DESIGNED_IID: Method(_fourier(scheme="iid"), seeds=5),
    JORDAN: Method(_fourier(decomposition="jordan"), kernels=_CLOSED, learns=True),
    JORDAN_IID: Method(_fourier(decomposition="jordan", scheme="iid"), seeds=5, kernels=_CLOSED),
    SPHERICAL: Method(spherical, on_sphere=True, learns=True),
    MACLAURIN: Method(_baseline(baselines.RandomMaclaurin), kernels=_POLYNOMIAL, learns=True),
    TENSORIZED: Method(
        _baseline(baselines.TensorizedRandomProjection), kernels=_POLYNOMIAL, learns=True
    ),
    SKETCH: Method(_baseline(baselines.TensorSketch), kernels=_POLYNOMIAL, learns=True),
    NYSTROM: Method(_nystroem("uniform"), learns=True, is_nystroem=True),
    LEVERAGE: Method(_nystroem("leverage"), seeds=FEW_SEEDS, is_nystroem=True),
    PIVOTED: Method(_nystroem("pivoted"), seeds=FEW_SEEDS, is_nystroem=True),
}

_PAPER = ("letter", "ijcnn1", "covtype_93k", "cod_rna")
_ALL = dict.fromkeys(_PAPER, SEEDS)
_MOSTLY_LETTER = {**dict.fromkeys(_PAPER, FEW_SEEDS), "letter": SEEDS}
_TWO = {"ijcnn1": 5, "cod_rna": 5}  # Half of the paper's runs, for kernels that it has not

DELTA_GAUSSIAN = "DeltaGaussian(1, 10)"
POLYNOMIALS = tuple(f"SphericalPolynomial({degree})" for degree in (1, 2, 3))
MAIN = (DELTA_GAUSSIAN, POLYNOMIALS[1])  # The polynomial of degree two
OTHERS = ("TL1(0.7 d)", "NTK", "Tanh(1, 1)", "Hellinger", "Radial(trapezoid)")

STUDIES: Mapping[str, Study] = {
    MAIN[0]: Study(lambda d: kernels.DeltaGaussian(1.0, 10.0), _ALL, features=4, learns=True),
    MAIN[1]: Study(lambda d: SphericalPolynomial(2), _ALL, features=4, learns=True),
    POLYNOMIALS[0]: Study(lambda d: SphericalPolynomial(1), _MOSTLY_LETTER, features=4),
    POLYNOMIALS[2]: Study(lambda d: SphericalPolynomial(3), _MOSTLY_LETTER, features=4),
    OTHERS[0]: Study(
        lambda d: kernels.TL1(0.7 * d),
        {"letter": 10, "ijcnn1": 5, "eeg_eye_state": 5, "spambase": 5},
        on_sphere=False,
    ),
    OTHERS[1]: Study(lambda d: kernels.NTK(), _TWO),
    OTHERS[2]: Study(lambda d: kernels.Tanh(1.0, 1.0), _TWO),
    OTHERS[3]: Study(lambda d: kernels.Hellinger(), _TWO),
    OTHERS[4]: Study(
        lambda d: kernels.Radial(trapezoid), {"letter": 5, "cod_rna": 5}, on_sphere=False
    ),
}


def n_seeds(study: Study, method: Method, n_features: int) -> int:
    """Return how many seeds a method is measured with, besides the data set's own limit."""
    if not isinstance(study.kernel(2), method.kernels) or (
        method.on_sphere and not study.on_sphere
    ):
        return 0
    if not method.is_nystroem:
        return method.seeds if n_features <= _TOO_MANY_FEATURES else FEW_SEEDS
    if n_features <= _MANY_FEATURES:
        return method.seeds
    return 2 if n_features <= _TOO_MANY_FEATURES and method is METHODS[NYSTROM] else 0


def learns(study: Study, method: Method, n_features: int, seed: int) -> bool:
    """Whether a classifier is trained: with few seeds, and one where there are many features."""
    if not (study.learns and method.learns):
        return False
    limit = FEW_SEEDS if n_features <= _MANY_FEATURES else 1
    return seed < limit and n_features <= _TOO_MANY_FEATURES
