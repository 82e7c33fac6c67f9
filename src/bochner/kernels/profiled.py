"""Kernels that are functions of one number for each pair of inputs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from bochner._base.arrays import Array, InputRows, as_array, squared_norms
from bochner.kernels.base import Kernel
from bochner.kernels.function import checked_rows

NORM_TOLERANCE = 1e-5
"""Tolerance of the unit norm of rows; rounding to float32 stays far below."""


class Domain(ABC):
    """A set of inputs; an immutable value."""

    __slots__ = ()

    @abstractmethod
    def check(self, X: InputRows) -> None:
        """Raise ``ValueError`` unless finite rows (n, d), dense or CSR, are in the domain."""


@dataclass(frozen=True, slots=True)
class RealSpace(Domain):
    """All inputs."""

    def check(self, X: InputRows) -> None:
        """Accept every input."""


@dataclass(frozen=True, slots=True)
class UnitSphere(Domain):
    """Inputs of Euclidean norm one, to within 1e-5."""

    def check(self, X: InputRows) -> None:
        norms: Array = np.sqrt(squared_norms(X))
        outside = np.flatnonzero(np.abs(norms - 1.0) > NORM_TOLERANCE)
        if outside.size:
            row = int(outside[0])
            raise ValueError(
                f"This kernel is defined on the unit sphere, but row {row} has norm "
                f"{norms[row]:.8g}. Normalise the rows, for example with "
                f"sklearn.preprocessing.Normalizer(), or use DotProduct(function) for inputs of "
                f"any norms."
            )


@dataclass(frozen=True, slots=True)
class NonNegative(Domain):
    """Inputs without a negative entry."""

    def check(self, X: Any) -> None:
        rows, columns = (X < 0).nonzero()
        if rows.size:
            row, column = int(rows[0]), int(columns[0])
            raise ValueError(
                f"This kernel is defined on inputs that are zero or more, but row {row} has "
                f"{X[row, column]:.8g} in column {column}. Move the columns up, for example with "
                f"sklearn.preprocessing.MinMaxScaler(clip=True)."
            )


@unique
class Metric(Enum):
    """A distance or the inner product of two inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import Metric
    >>> X, Y = np.array([[0.0, 1.0]]), np.array([[3.0, 5.0]])
    >>> [float(metric.pairs(X, Y)[0, 0]) for metric in Metric]
    [5.0, 7.0, 5.0]
    """

    EUCLIDEAN = "euclidean"
    CITY_BLOCK = "cityblock"
    INNER_PRODUCT = "inner product"

    def pairs(self, X: Array, Y: Array) -> Array:
        """Return a new array (n, n2) of the number for every row of ``X`` and of ``Y``.

        Distances are in the units of the inputs, inner products in their squares.
        """
        return as_array(X @ Y.T if self is Metric.INNER_PRODUCT else cdist(X, Y, self.value))

    def own(self, X: Array) -> Array:
        """Return the number of every row with itself, of shape (n,)."""
        square: Array = np.einsum("ij,ij->i", X, X)
        return square if self is Metric.INNER_PRODUCT else np.zeros(len(X))


class Profiled(Kernel):
    """A kernel that depends on its inputs only through their distance or inner product.

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
        """Return a new array of kernel values for values of :attr:`metric`, of any shape."""

    def evaluate(self, X: Array, Y: Array) -> Array:
        return self.profile(self.metric.pairs(X, Y))

    def diag(self, X: ArrayLike) -> Array:
        rows = checked_rows(X)
        self.check_inputs(rows)
        values = self.profile(self.metric.own(rows))
        self.check_finite(values)
        return values

    def check_dim(self, dim: int) -> None:
        """Accept any number of inputs."""

    def check_inputs(self, X: InputRows) -> None:
        self.domain.check(X)
