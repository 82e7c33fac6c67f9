"""The design of the benchmark of asymmetric kernels: kernels, data sets, methods, trials."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import rows
from bochner import kernels
from bochner._base.arrays import Array
from bochner.features.nystroem import AsymmetricNystroem
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel
from bochner.spectral import SpectralMeasure
from bochner.spectral.decompositions import spectral_measure

SIGMA = 2.0  # The paper's length scale of all kernels, for inputs in [0, 1]
TRIALS = 10  # The paper's number of trials
FEW_TRIALS = 2  # Trials beyond _MANY_FREQUENCIES, where each takes longest

SHIFT, SINH, COSH = "ShiftGaussian", "SinhGaussian", "CoshGaussian"
GAUSSIAN, LINEAR = "Gaussian", "linear"
NO_KERNEL = "–"

KERNELS: Mapping[str, Callable[[int], Kernel]] = {
    SHIFT: lambda d: kernels.ShiftGaussian(SIGMA, shift=2.0 / d),
    SINH: lambda d: kernels.SinhGaussian(SIGMA, beta=0.5 * np.pi / d),
    COSH: lambda d: kernels.CoshGaussian(SIGMA, beta=0.5 * np.pi / d),
    GAUSSIAN: lambda d: kernels.Gaussian(SIGMA),
}
"""From the number of inputs ``d`` to the kernel, with the parameters of the paper."""

ASYMMETRIC = (SHIFT, SINH, COSH)
DATASETS = ("spambase", "ijcnn1", "letter", "cod_rna")
GRAPHS = ("cora_directed", "citeseer_directed")

JORDAN_IID = "Jordan, iid"
JORDAN_SETS = "Jordan, iid, equal sets"
JORDAN = "Jordan"
JORDAN_FITTED = "Jordan, iid, fitted masses"
POLAR_IID = "polar, iid"
POLAR = "polar"
LEAST_SQUARES = "polar, least squares"
NYSTROEM = "asymmetric Nyström"

SIZES = tuple(2**j for j in range(1, 11))  # M / d of the part on errors, each twice the one before
SHOWN_SIZES = (2, 4, 8, 32, 128, 512, 1024)  # Lines of the tables; pictures have all of SIZES
_MANY_FREQUENCIES = 8_192  # 1,024 for each of the eight inputs of cod_rna, which has ten trials

rows_of = partial(
    rows.rows_of, n_train=12_000, sizes=(("spambase", (2_760, 1_841)), ("letter", (12_000, 6_000)))
)
"""Rows of a data set by name, seed and folder."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to approximate a kernel with ``m`` frequencies, and how often it is measured."""

    # From a kernel, the number of frequencies and a seed to a feature map to be fitted.
    make: Callable[[Kernel, int, int], Any]
    trials: int = TRIALS
    # Greatest number of frequencies; ``None`` means any, with two trials beyond 8,192.
    most: int | None = None

    def n_trials(self, m: int) -> int:
        """Return the number of trials with ``m`` frequencies."""
        if self.most is not None:
            return self.trials if m <= self.most else 0
        return self.trials if m <= _MANY_FREQUENCIES else min(self.trials, FEW_TRIALS)


def _fourier(
    decomposition: str, scheme: str = "orthogonal", **options: Any
) -> Callable[[Kernel, int, int], Any]:
    def make(kernel: Kernel, m: int, seed: int) -> Any:
        return FourierFeatures(
            kernel,
            2 * m,
            scheme=scheme,
            decomposition=decomposition,
            dtype="float32",
            random_state=seed,
            **options,
        )

    return make


class EqualSets:
    """Independent frequencies of Jordan parts, as many for each part whatever its mass.

    This is Algorithm 1 of the paper; :class:`FourierFeatures` shares them in
    proportion to the masses.
    """

    def __init__(self, kernel: Kernel, m: int, seed: int) -> None:
        self.kernel, self.m, self.seed = kernel, m, seed

    def fit(self, X: Array) -> "EqualSets":
        """Draw the frequencies; of the data only their width counts."""
        parts = spectral_measure(self.kernel, X.shape[1], decomposition="jordan").parts
        n_larger, streams = self.m % len(parts), np.random.default_rng(self.seed).spawn(len(parts))
        sets = (
            SpectralMeasure((part,)).sample(self.m // len(parts) + (i < n_larger), stream, "iid")
            for i, (part, stream) in enumerate(zip(parts, streams, strict=True))
        )
        self.frequencies_ = reduce(add, sets)
        return self

    def gram(self, X: Array, Y: Array | None = None) -> NDArray[Any]:
        """Return the approximate Gram matrix, in single precision."""
        pair = (X, X if Y is None else Y)
        return self.frequencies_.gram(*(part.astype(np.float32) for part in pair))


def _nystroem(kernel: Kernel, m: int, seed: int) -> Any:
    return AsymmetricNystroem(kernel, 2 * m, random_state=seed)


METHODS: Mapping[str, Method] = {
    JORDAN_IID: Method(_fourier("jordan", scheme="iid")),
    JORDAN_SETS: Method(EqualSets, most=_MANY_FREQUENCIES),
    JORDAN: Method(_fourier("jordan"), most=_MANY_FREQUENCIES),
    JORDAN_FITTED: Method(
        _fourier("jordan", scheme="iid", masses="least_squares"), most=_MANY_FREQUENCIES
    ),
    POLAR_IID: Method(_fourier("polar", scheme="iid")),
    POLAR: Method(_fourier("polar")),
    LEAST_SQUARES: Method(_fourier("polar", weights="least_squares"), most=1_024),
    NYSTROEM: Method(_nystroem, trials=3, most=512),
}
"""Methods of the part on errors, all with as many real features, two for each frequency."""

FITTED, SERIES, QUADRATURE = "fitted", "series", "quadrature"
EXACT_MASSES = (SERIES, QUADRATURE)
MASS_NAMES = ("real positive", "real negative", "imaginary")

SPEED_DIM = 16  # Inputs of the part on speed, as many as letter has
REPETITIONS = 11  # Timings of each cell; odd, so that their median is one of them

ASY_JORDAN = "asymmetric, Jordan, 3 M"
ASY_POLAR = "asymmetric, polar, 3 M"
SYM = "symmetrised, M"
SYM_THRICE = "symmetrised, 3 M"
RBF = "RBF, M"
RBF_THRICE = "RBF, 3 M"
RBF_TWICE = "RBF, 3 M, twice"
BY_KERNEL = (ASY_JORDAN, ASY_POLAR, SYM, SYM_THRICE)
BY_GAUSSIAN = (RBF, RBF_THRICE, RBF_TWICE)

TABLE_SIZE = 2  # M / d in Table 1 of the paper
ACCURACY_TRIALS: Mapping[int, int] = {1: 3, 4: 1}
"""Trials by size, besides that of Table 1."""
CS = rows.POWERS_OF_TWO

PAPER: Mapping[str, Mapping[str, tuple[float, ...]]] = {
        "spambase": {
            SHIFT: (92.689, 92.591), SINH: (92.787, 92.624), COSH: (92.787, 92.520),
            GAUSSIAN: (92.461,), LINEAR: (90.261,),
        },
        "ijcnn1": {
            SHIFT: (93.763, 93.180), SINH: (93.683, 93.110), COSH: (93.583, 93.464),
            GAUSSIAN: (93.157,), LINEAR: (91.011,),
        },
        "letter": {
            SHIFT: (80.631, 77.975), SINH: (82.455, 78.553), COSH: (82.237, 77.652),
            GAUSSIAN: (77.547,), LINEAR: (72.541,),
        },
        "cod_rna": {
            SHIFT: (95.881, 95.789), SINH: (95.932, 95.866), COSH: (95.950, 95.794),
            GAUSSIAN: (95.831,), LINEAR: (91.618,),
        },
    }  # fmt: skip
"""Accuracies in per cent of Table 1 of He et al. (2022): asymmetric, then symmetrised."""
