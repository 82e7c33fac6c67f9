"""The rows of the benchmark of asymmetric kernels."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Rows, loaded, scaled

_TRAIN = 12_000

_SIZES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {"spambase": (2_760, 1_841), "letter": (12_000, 6_000)}
)

_FIRST_CLASSES = 13


@lru_cache(maxsize=4)
def rows_of(name: str, seed: int, folder: Path | None) -> Rows:
    """Return at most 12,000 training rows and 20,000 test rows of a data set, in the unit cube.

    Parameters
    ----------
    name : str
        Of two classes, or letter, whose classes are A to M and N to Z.
    seed : int
        Of the split, where the source has none, and of the choice of rows.
    folder : Path or None
    """
    train, y, test, y_test = scaled(loaded(name, folder), seed, _SIZES, _TRAIN)
    return Rows(train, _classes(name, y), test, _classes(name, y_test))


def _classes(name: str, y: NDArray[Any]) -> NDArray[np.bool_]:
    return y < _FIRST_CLASSES if name == "letter" else y > 0
