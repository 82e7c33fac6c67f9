"""The rows of the benchmark of indefinite kernels."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from benchmarks.rows import Rows, loaded, scaled

_TRAIN = 8_000

_POSITIVE: Mapping[str, Callable[[NDArray[Any]], NDArray[np.bool_]]] = MappingProxyType(
    {"letter": lambda y: y < 13, "covtype_93k": lambda y: y == 2}
)
"""The first of two classes, where a data set has more: A to M, and lodgepole pine.

The others have labels of which one alone is positive.
"""

_SIZES: Mapping[str, tuple[int, int]] = MappingProxyType({"letter": (12_000, 6_000)})


@lru_cache(maxsize=2)
def rows_of(name: str, seed: int, folder: Path | None, *, on_sphere: bool) -> Rows:
    """Return at most 8,000 training rows and 20,000 test rows of a data set.

    Parameters
    ----------
    name : str
        Of two classes, or one that the benchmark splits in two.
    seed : int
        Of the split, where the source has none, and of the choice of rows.
    folder : Path or None
    on_sphere : bool
        Whether rows, scaled to the unit cube, are then divided by their Euclidean norms.
    """
    train, y, test, y_test = scaled(loaded(name, folder), seed, _SIZES, _TRAIN)
    if on_sphere:
        train, test = normalize(train), normalize(test)
    return Rows(train, _classes(name, y), test, _classes(name, y_test))


def _classes(name: str, y: NDArray[Any]) -> NDArray[np.bool_]:
    return _POSITIVE[name](y) if name in _POSITIVE else y > 0
