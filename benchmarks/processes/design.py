"""Draws, tables, methods and sizes of the benchmark of Gaussian processes at scale."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, Matern, WhiteKernel

from bochner._base.arrays import Array

EXACT = "exact"  # Posterior of the kernel that made the draw, from the Cholesky factor of the draw
GIVEN, GIVEN_APPROXIMATE = "bochner given", "bochner given approximate"
OURS, APPROXIMATE = "bochner", "bochner approximate"
SKLEARN, GPYTORCH = "scikit-learn", "GPyTorch exact"
SGPR, SVGP = "SGPR", "SVGP"

SPARSE = (SGPR, SVGP)
"""Sparse methods of GPyTorch, with which approximate fits are compared."""

LEARNED = (OURS, APPROXIMATE, SKLEARN, GPYTORCH, *SPARSE)
METHODS = (EXACT, GIVEN, GIVEN_APPROXIMATE, *LEARNED)

SLOW = (GPYTORCH, *SPARSE)
"""Methods without a quick run."""

BOCHNER = (OURS, APPROXIMATE, GIVEN, GIVEN_APPROXIMATE)

SPLITS = 2
"""Splits of a table for bochner; other methods, whose fits take minutes, have the first one."""

TEST_ROWS = 2_000  # Of a draw; the standard error of a coverage of 90 % is 0.7 points
HALF_SIDE = 3.0  # Rows of draws are uniform in [-3, 3]^d
LEVEL = 0.9  # Probability of the intervals
COVERAGES = (0.88, 0.92)  # Coverage outside of which the page names a case
MOST_SECONDS = 0.5  # Share of the seconds of the best sparse method above which it names a case

FEW_ROWS, MANY_ROWS, MOST_ROWS = 2_100, 8_000, 20_000
"""Training rows of draws: scikit-learn learns the kernel of the fewest in half a minute; the factor
of the Gram matrix of the most takes 4 GB."""

MOST_EXACT = 16_500  # Rows up to which bochner is exact by default
MOST_LEARNED = 5_000  # Rows up to which scikit-learn learns an exact process
QUICK_ROWS = 150  # Training rows, and test rows, of a run that only has to work

_NOISE_BOUNDS = (1e-8, 10.0)  # Variances, next to the least of a draw, 1e-6


@dataclass(frozen=True, slots=True)
class Draw:
    """A stationary process of variance one with noise, whose kernel has one length scale."""

    smoothness: float
    n_inputs: int
    length_scale: float
    noise: float  # Standard deviation

    @property
    def kernel(self) -> Kernel:
        """The kernel of the function."""
        return self._kernel(self.length_scale)

    @property
    def learned_kernel(self) -> Kernel:
        """The family of the kernel with a length scale for each input, and noise, to learn."""
        ones = np.ones(self.n_inputs)
        return ConstantKernel() * self._kernel(ones) + WhiteKernel(0.1, _NOISE_BOUNDS)

    def _kernel(self, length_scale: float | Array) -> Kernel:
        if np.isinf(self.smoothness):
            return RBF(length_scale)
        return Matern(length_scale, nu=self.smoothness)


DRAWS: Mapping[str, Draw] = {
    "matern52-1": Draw(2.5, 1, 0.1, 0.05),
    "matern52-2": Draw(2.5, 2, 0.5, 0.05),
    "matern52-2-smooth": Draw(2.5, 2, 1.0, 0.001),
    "gaussian-5": Draw(np.inf, 5, 1.0, 0.1),
    "matern12-2": Draw(0.5, 2, 0.5, 0.1),
}

LARGEST_DRAW = "matern52-2"
"""Process of which the most rows are drawn, once."""

TABLES: Mapping[str, int] = {
    "sunspots_monthly": 3_310,
    "kin8nm": 8_192,
    "bike_hourly": 17_379,
    "california_housing": 20_640,
    "diamonds": 50_000,
}
"""Tables of numbers and their rows, a tenth of which is tested."""

PUBLISHED = ("kin8nm",)
"""Tables whose splits are published."""

QUICK_TABLE = "diabetes"
TEST_SHARE = 0.1  # Rows of a table without a published split


def n_seeds(name: str, method: str) -> int:
    """Return the number of splits of a table on which a method is measured; draws are made once."""
    return SPLITS if name not in DRAWS and method in BOCHNER else 1


def methods_of(name: str, n: int) -> list[str]:
    """Return the methods for so many training rows of a draw, or rows of a table."""
    is_draw = name in DRAWS
    n_training = n if is_draw else (1.0 - TEST_SHARE) * n
    is_used = {
        EXACT: is_draw,
        GIVEN: is_draw and n <= MOST_EXACT,
        GIVEN_APPROXIMATE: is_draw,
        OURS: True,
        APPROXIMATE: FEW_ROWS < n_training <= MOST_EXACT,
        SKLEARN: n <= MOST_LEARNED,
        GPYTORCH: name == LARGEST_DRAW and n <= FEW_ROWS,
        SGPR: not is_draw or n == MANY_ROWS,
        SVGP: not is_draw,
    }
    return [method for method in METHODS if is_used[method]]
