"""The rows of the benchmark of learned mixtures."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from sklearn.preprocessing import normalize

from bochner._numerics.arrays import Array
from bochner.benchmarks._digmm_paper import COVTYPE, MNIST, SKIN
from bochner.benchmarks._rows import Rows, loaded, scaled

MOST_ROWS: Mapping[str, int] = MappingProxyType({MNIST: 5_000})
"""Training rows of a data set at the most, 10,000 of the others."""

_MOST = 10_000
_POSITIVE: Mapping[str, int] = MappingProxyType({COVTYPE: 2, SKIN: 1})
"""The first of two classes, where it is not the positive one: lodgepole pine, and skin."""

_SIZES: Mapping[str, tuple[int, int]] = MappingProxyType({COVTYPE: (74_370, 18_592)})


@lru_cache(maxsize=2)
def rows_of(
    name: str, seed: int, folder: Path | None, *, on_sphere: bool, every: bool = False
) -> Rows:
    """Return training rows and at most 20,000 test rows of a data set, with their classes.

    Parameters
    ----------
    name : str
    seed : int
        Of the split, where the source has none, and of the choice of rows.
    folder : Path or None
    on_sphere : bool
        Whether rows, scaled to the unit cube, are then divided by their Euclidean norms; a row of
        zeros is taken for one of equal entries.
    every : bool, default=False
        Whether all training rows are wanted, but for those of the digits.
    """
    most = MOST_ROWS.get(name, 10**9 if every else _MOST)
    train, y, test, y_test = scaled(loaded(name, folder), seed, _SIZES, most)
    if on_sphere:
        train, test = _directions(train), _directions(test)
    if name != MNIST:
        positive = _POSITIVE.get(name)
        y, y_test = (part > 0 if positive is None else part == positive for part in (y, y_test))
    return Rows(train, y, test, y_test)


def _directions(X: Array) -> Array:
    """Return rows divided by their norms; a row of zeros, such as black, is that of equal entries.

    It has no direction of its own, and some kernels are defined on the sphere alone.
    """
    directions: Array = normalize(np.where(X.any(axis=1, keepdims=True), X, 1.0))
    return directions
