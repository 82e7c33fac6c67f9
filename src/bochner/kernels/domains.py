"""The sets of inputs on which kernels are defined."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, squared_norms

NORM_TOLERANCE = 1e-5
"""How far from one the norm of a row may be; rounding to float32 stays far below."""


class Domain(ABC):
    """A set of inputs; an immutable value."""

    __slots__ = ()

    @abstractmethod
    def check(self, X: Any) -> None:
        """Raise ``ValueError`` unless every row of ``X`` is in the domain.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Finite.
        """


@dataclass(frozen=True, slots=True)
class RealSpace(Domain):
    """All inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import RealSpace
    >>> RealSpace().check(np.array([[-5.0, 3.0]]))
    """

    def check(self, X: Any) -> None:
        """Accept every input."""


@dataclass(frozen=True, slots=True)
class UnitSphere(Domain):
    """Inputs of Euclidean norm one, to within 1e-5.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import UnitSphere
    >>> UnitSphere().check(np.array([[0.6, 0.8], [0.0, -1.0]]))
    >>> UnitSphere().check(np.array([[0.6, 0.8], [3.0, 4.0]]))
    Traceback (most recent call last):
    ...
    ValueError: This kernel is defined on the unit sphere, but row 1 has norm 5. Normalise the
    rows, for example with sklearn.preprocessing.Normalizer(), or use DotProduct(function) for
    inputs of any norms.
    """

    def check(self, X: Any) -> None:
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
    """Inputs without a negative entry.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.kernels import NonNegative
    >>> NonNegative().check(np.array([[0.0, 2.0], [1.0, -0.5]]))
    Traceback (most recent call last):
    ...
    ValueError: This kernel is defined on inputs that are zero or more, but row 1 has -0.5 in
    column 1. Move the columns up, for example with sklearn.preprocessing.MinMaxScaler(clip=True).
    """

    def check(self, X: Any) -> None:
        rows, columns = (X < 0).nonzero()
        if rows.size:
            row, column = int(rows[0]), int(columns[0])
            raise ValueError(
                f"This kernel is defined on inputs that are zero or more, but row {row} has "
                f"{X[row, column]:.8g} in column {column}. Move the columns up, for example with "
                f"sklearn.preprocessing.MinMaxScaler(clip=True)."
            )
