"""The one number per pair of inputs that a kernel may be a function of."""

from enum import Enum, unique

import numpy as np
from scipy.spatial.distance import cdist

from bochner._numerics.arrays import Array


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
        """Return a new array of the number for every row of ``X`` (n, d) and of ``Y`` (n2, d).

        Returns
        -------
        t : ndarray of shape (n, n2)
            Distances are in the units of the inputs, inner products in their squares.
        """
        if self is Metric.INNER_PRODUCT:
            product: Array = X @ Y.T
            return product
        distance: Array = cdist(X, Y, self.value)
        return distance

    def own(self, X: Array) -> Array:
        """Return the number of every row with itself, of shape (n,)."""
        if self is Metric.INNER_PRODUCT:
            square: Array = np.einsum("ij,ij->i", X, X)
            return square
        return np.zeros(len(X))
