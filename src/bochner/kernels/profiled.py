"""Kernels that are functions of one number per pair of inputs."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from bochner._numerics.arrays import Array
from bochner.kernels._base import Kernel
from bochner.kernels.domains import Domain, RealSpace
from bochner.kernels.metrics import Metric


class Profiled(Kernel):
    """A kernel that depends on its inputs through a distance or their inner product alone.

    Attributes
    ----------
    metric : Metric
        The number that it is a function of.
    domain : Domain
        The inputs on which it is defined.
    """

    __slots__ = ()

    metric: ClassVar[Metric]
    domain: ClassVar[Domain] = RealSpace()

    @abstractmethod
    def profile(self, t: Array) -> Array:
        """Return a new array of kernel values for distances or inner products of any shape.

        Parameters
        ----------
        t : ndarray
            Values of :attr:`metric`; left as it is.
        """

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.profile(self.metric.pairs(X, Y))

    def diag(self, X: ArrayLike) -> Array:
        rows: Array = check_array(X, dtype=np.float64, input_name="X")
        self.check_inputs(rows)
        return self.profile(self.metric.own(rows))

    def check_dim(self, dim: int) -> None:
        """Accept any number of inputs."""

    def check_inputs(self, X: Any) -> None:
        self.domain.check(X)
