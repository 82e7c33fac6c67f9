"""What the encoder and the decoder of model files agree upon."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Node = dict[str, Any]
"""An object of the tree, ``{"$": tag, ...}``; numbers, text and lists stand for themselves."""

Path = tuple[str, ...]
"""Where in the model: the names of attributes and keys, and indices as text."""

Tensors = dict[str, NDArray[Any]]

NUMERIC = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
"""Names of the dtypes of tensors."""

SCALARS: Mapping[str, type] = MappingProxyType(
    {"str": np.str_, **{name: np.dtype(name).type for name in NUMERIC}}
)
"""NumPy's scalar types by name."""

TYPES: Mapping[str, type] = MappingProxyType(
    {"float": float, "float32": np.float32, "float64": np.float64}
)
"""Types that can themselves be parameters, as dtypes."""

_DEPTH = 64  # of nested values, far from the recursion limit of 1000 calls
_CHARACTERS = 2**26  # 256 MiB of fixed-width text, four bytes each


def where(path: Path) -> str:
    """Show a path.

    >>> where(("posterior_", "coef")), where(())
    ('posterior_.coef', 'the model')
    """
    return ".".join(path) or "the model"


def check_depth(path: Path) -> None:
    """Raise ``ValueError`` for values nested more than 64 deep."""
    if len(path) > _DEPTH:
        raise ValueError(f"values are nested more than {_DEPTH} deep")


def check_finite(array: NDArray[Any], name: str) -> None:
    """Raise ``ValueError`` for infinite entries and NaN."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds infinite numbers or NaN")


def check_characters(n_items: int, width: int | None, name: str) -> None:
    """Raise ``ValueError`` for an array of fixed-width text that takes over 256 MiB."""
    if width is not None and n_items * width > _CHARACTERS:
        raise ValueError(f"{name} is text of {n_items} times {width} characters: too much")
