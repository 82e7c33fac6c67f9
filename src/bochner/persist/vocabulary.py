"""What the encoder and the decoder of model files agree upon."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

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

SCALARS: Mapping[str, type] = {"str": np.str_, **{name: np.dtype(name).type for name in NUMERIC}}
"""NumPy's scalar types by name."""

TYPES: Mapping[str, type] = {"float": float, "float32": np.float32, "float64": np.float64}
"""Types that can themselves be parameters, as dtypes."""

_DEPTH = 64  # of nested values, far from the recursion limit of 1000 calls
_CHARACTERS = 2**26  # 256 MiB of fixed-width text, four bytes each


def where(path: Path) -> str:
    """Show a path: ``posterior_.coef`` for ``("posterior_", "coef")``."""
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


def conforms(value: Any, hint: Any) -> bool:
    """Tell whether a value is of an annotated type, with what it contains.

    ``hint`` is a class, ``Any``, a union, a literal, a typed dictionary, ``list[T]``, ``tuple[T,
    ...]``, ``dict[str, T]`` or ``NDArray[T]``. A ``float`` is a finite number, an ``int`` is no
    ``bool``, and an ``NDArray`` has a dtype derived from the one in the annotation. No value is a
    ``Callable``: functions are code.
    """
    if hint is Any:
        return True
    if is_typeddict(hint):
        return isinstance(value, dict) and _has_items(value, get_type_hints(hint))
    inside = _INSIDE.get(get_origin(hint))
    if inside is not None:
        return inside(value, get_args(hint))
    if hint is float:
        if isinstance(value, int):
            return not isinstance(value, bool)
        return isinstance(value, float) and math.isfinite(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, get_origin(hint) or hint)


def _has_items(value: dict[Any, Any], hints: Mapping[str, Any]) -> bool:
    return value.keys() == hints.keys() and all(conforms(value[k], hints[k]) for k in hints)


def _is_array(value: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    (scalar,) = get_args(arguments[1])
    return scalar is Any or issubclass(value.dtype.type, get_origin(scalar) or scalar)


def _is_sequence(cls: type[list[Any] | tuple[Any, ...]], value: Any, arguments: Any) -> bool:
    return isinstance(value, cls) and all(conforms(item, arguments[0]) for item in value)


def _is_dict(value: Any, arguments: tuple[Any, ...]) -> bool:
    if not isinstance(value, dict):
        return False
    key, item = arguments
    return all(conforms(k, key) and conforms(v, item) for k, v in value.items())


def _is_one_of(value: Any, arguments: tuple[Any, ...]) -> bool:
    return any(conforms(value, argument) for argument in arguments)


def _is_literal(value: Any, arguments: tuple[Any, ...]) -> bool:
    return any(type(value) is type(literal) and value == literal for literal in arguments)


_INSIDE: Mapping[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    Union: _is_one_of,
    UnionType: _is_one_of,
    Literal: _is_literal,
    Callable: lambda value, arguments: False,  # model files hold no code
    list: partial(_is_sequence, list),
    tuple: partial(_is_sequence, tuple),
    dict: _is_dict,
    np.ndarray: _is_array,
}
