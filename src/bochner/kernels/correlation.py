"""The base of kernels that have a length scale and are one at zero."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import Array, LengthScale, as_array, as_positive, check_dim
from bochner.kernels._base import Kernel


@dataclass(frozen=True, slots=True)
class Correlation(Kernel):
    """A kernel of the scaled lag ``(x - y) / length_scale`` with ``k(x, x) = 1``.

    Parameters
    ----------
    length_scale : float or sequence of d floats, default=1.0
        In the units of the inputs; one number, or one per input.
    """

    length_scale: LengthScale = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "length_scale", as_positive("length_scale", self.length_scale))

    @abstractmethod
    def correlation(self, X: Array, Y: Array) -> Array:
        """Return a new array of kernel values for rows already divided by the length scale."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.correlation(X / as_array(self.length_scale), Y / as_array(self.length_scale))

    def diag(self, X: ArrayLike) -> Array:
        return np.ones(len(check_array(X, dtype=np.float64, input_name="X")))

    def check_dim(self, dim: int) -> None:
        check_dim("length_scale", self.length_scale, dim)
