"""Nearest rows among all rows, and among the rows before each row in an order."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from bochner._base.arrays import Array

Places = NDArray[np.intp]

_GROWTH = 1.25
"""Factor by which the rows that a row can have as neighbours grow: its neighbours are among at
least four fifths of the rows before it."""

_TREE_COLUMNS = 8
"""Most columns for which trees are faster than all distances, with some ten thousand rows."""


def nearest(points: Array, queries: Array, count: int) -> Places:
    """Return positions (n, count) of the points nearest to each query, at most all points."""
    algorithm = "kd_tree" if points.shape[1] <= _TREE_COLUMNS else "brute"
    search = NearestNeighbors(algorithm=algorithm).fit(points)
    found: Places = search.kneighbors(queries, min(count, len(points)), return_distance=False)
    return found


def nearest_earlier(points: Array, count: int) -> list[Places]:
    """Return, for each row of points (n, d), positions of near rows among earlier ones.

    The first rows have all earlier rows.
    """
    n, first = len(points), min(len(points), 2 * count)
    found: list[Places] = [np.arange(min(i, count)) for i in range(min(n, count + 1))]
    for i in range(len(found), first):
        lags = points[:i] - points[i]
        found.append(np.argpartition(np.einsum("ij,ij->i", lags, lags), count - 1)[:count])
    while len(found) < n:
        size = len(found)
        following = points[size : int(_GROWTH * size) + 1]
        found.extend(nearest(points[:size], following, count))
    return found
