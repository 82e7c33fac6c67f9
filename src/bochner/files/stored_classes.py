"""Types of values and fields of registered classes that model files may hold, with checks."""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, Field, fields
from types import UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner._base.names import shown
from bochner._base.registry import Registration, is_registered, registration
from bochner.files.safetensors_container import ModelFileError
from bochner.kernels import Kernel

Path = tuple[str, ...]
"""Position in the model: names of attributes and keys, and indices as text."""

NUMERIC = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
"""Names of the dtypes of tensors."""

SCALARS: Mapping[str, type] = {"str": np.str_, **{name: np.dtype(name).type for name in NUMERIC}}
"""NumPy's scalar types by name."""

TYPES: Mapping[str, type] = {"float": float, "float32": np.float32, "float64": np.float64}
"""Types that can themselves be parameters, as dtypes."""

DTYPES = (*NUMERIC, "object")
"""Names of dtypes that can themselves be values."""

_DEPTH = 100  # of nested values: two for each of 40 nested kernels, far from 1000 calls
_WIDEST = 256
"""Most reserved characters of a fixed-width text array per character that its items use.

A file then takes at most a fixed multiple of its size in memory; columns of text of very different
lengths are objects, which have no width."""

_FROM_SCIKIT_LEARN: Mapping[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": NDArray[np.object_],
    "_sklearn_output_config": dict[str, str],
}
"""Attributes that scikit-learn gives to any estimator, fitted or not."""


def where(path: Path) -> str:
    """Return a path as text: ``posterior_.coef`` for ``("posterior_", "coef")``."""
    return ".".join(path) or "the model"


def check_depth(path: Path) -> None:
    """Raise ``ValueError`` for values nested more than 100 deep."""
    if len(path) > _DEPTH:
        raise ValueError(f"values are nested more than {_DEPTH} deep")


def check_finite(array: NDArray[np.generic], name: str) -> None:
    """Raise ``ValueError`` for infinite entries and NaN."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds infinite numbers or NaN")


def check_texts(items: list[Any], width: int, name: str) -> None:
    """Raise ``ValueError`` unless items are text, with a mean length not far below ``width``."""
    if not all(isinstance(item, str) and len(item) <= width for item in items):
        raise ValueError(f"{name} should be text of at most {width} characters")
    n_held = sum(map(len, items)) + len(items)
    if len(items) * width > _WIDEST * n_held:
        raise ValueError(
            f"{name} reserves {len(items)} times {width} characters for {n_held}, more than "
            f"{_WIDEST} times as many; shorten its dtype"
        )


def conforms(value: object, hint: Any) -> bool:
    """Return whether a value and its elements conform to an annotated type; functions never do."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType, NotRequired):
        return any(conforms(value, each) for each in inside)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in inside)
    if hint is int or hint is float:
        is_finite = hint is float and isinstance(value, float) and math.isfinite(value)
        return is_finite or (isinstance(value, int) and not isinstance(value, bool))
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        required = {name for name, each in hints.items() if get_origin(each) is not NotRequired}
        if not (isinstance(value, dict) and required <= value.keys() <= hints.keys()):
            return False
        return all(conforms(each, hints[name]) for name, each in value.items())
    if hint is Any or origin is Callable or not isinstance(value, origin or hint):
        return hint is Any
    if origin is dict:
        return all(conforms(key, inside[0]) and conforms(value[key], inside[1]) for key in value)
    if origin is np.ndarray:
        (scalar,) = get_args(inside[1])
        if scalar is Any:
            return True
        # No part of a model is in half precision, which compiled loops do not take.
        scalar = get_origin(scalar) or scalar
        return value.dtype != np.float16 and issubclass(value.dtype.type, scalar)
    return origin not in (list, tuple) or all(conforms(item, inside[0]) for item in value)


def is_value(cls: type) -> bool:
    """Return whether model files may hold objects of a dataclass."""
    return is_registered(cls) and not issubclass(cls, BaseEstimator)


def is_estimator(cls: type) -> bool:
    """Return whether model files may hold estimators of a class."""
    return is_registered(cls) and issubclass(cls, BaseEstimator)


def not_saved(value: object) -> str:
    """Return the error message for a value that model files cannot hold."""
    cls = type(value)
    if cls.__module__.partition(".")[0] == "sklearn":
        return (
            f"of scikit-learn's class {cls.__qualname__}, which a model file cannot hold: save it "
            f"with joblib.dump or skops.io.dump."
        )
    return (
        f"of type {cls.__module__}.{cls.__qualname__}, which a model file cannot hold: it takes "
        f"classes registered with bochner.register, numbers, text, arrays, and lists, tuples and "
        f"dictionaries of them."
    )


def no_code(subject: str, examples: str) -> str:
    """Return the error message for a function, with kernels to use in its place."""
    return (
        f"{subject} a model file cannot hold: functions are code, and loading runs none. Use a "
        f"kernel that is made of numbers, such as {examples}, or keep the function in a module of "
        f"your own and fit the model again where it is needed."
    )


def holds_function(cls: type) -> bool:
    """Return whether a value class has a field that is a function, which is code and not data."""
    return any(get_origin(hint) is Callable for hint in get_type_hints(cls).values())


def _registration(cls: type) -> Registration:
    return registration(cls) or Registration()


def value_fields(cls: type) -> dict[str, Field[Any]]:
    """Return the fields of a value class by their names in its constructor and in model files."""
    names = _registration(cls).arguments
    return {names.get(field.name, field.name): field for field in fields(cls)}


def check_value(cls: type, values: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless values match the fields of a class in name, type and shape."""
    hints, fields = get_type_hints(cls), value_fields(cls)
    if _registration(cls).allow_nan:
        unknown = (k for k, v in values.items() if isinstance(v, float) and not math.isfinite(v))
        values = {**values, **dict.fromkeys(unknown, 0.0)}
    _check_types(cls, values, {name: hints[field.name] for name, field in fields.items()})
    missing = [name for name in fields if name not in values]
    if missing:
        raise ValueError(f"{cls.__name__} lacks {', '.join(missing)}")
    sizes: dict[str, int] = {}
    for name, letters in _registration(cls).shapes.items():
        if values.get(name) is None or isinstance(values[name], float):
            continue  # The type allows a number in place of an array
        shape = np.shape(values[name])
        expected = tuple(sizes.setdefault(a, n) for a, n in zip(letters, shape, strict=False))
        if len(shape) != len(letters) or shape != expected:
            raise ValueError(
                f"{cls.__name__}.{name} has shape {shape}, which does not fit "
                f"({', '.join(letters)}) with {sizes}"
            )


def check_attributes(cls: type[BaseEstimator], attributes: Mapping[str, object]) -> None:
    """Raise ``ValueError`` unless attributes match a fitted or unfitted estimator of a class."""
    hints = {
        name: hint
        for name, hint in get_type_hints(cls).items()
        if get_origin(hint) is not ClassVar
        and hint is not KW_ONLY
        and (not hasattr(cls, name) or name.endswith("_"))
        and name not in _FROM_SCIKIT_LEARN
    }
    for name, hint in hints.items():
        value = attributes.get(name)
        takes_kernel = Kernel in (hint, *get_args(hint))
        if takes_kernel and callable(value) and not isinstance(value, Kernel):
            function = getattr(value, "__qualname__", None) or type(value).__qualname__
            subject = f"{cls.__name__}.{name} is the function {function}, which"
            examples = "Gaussian(length_scale) or Bilinear(kernel, left, right)"
            raise ModelFileError(no_code(subject, examples))
    _check_types(cls, attributes, {**_FROM_SCIKIT_LEARN, **hints})
    missing = [name for name in hints if name not in attributes and not hasattr(cls, name)]
    if missing and any(name in attributes for name in hints):
        raise ValueError(f"{cls.__name__} is fitted in part only: it lacks {', '.join(missing)}")


def _check_types(cls: type, values: Mapping[str, object], hints: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name not in hints:
            raise ValueError(
                f"{cls.__name__} has no attribute {shown(name)} among its annotations: a class of "
                f"your own needs one for all that fit sets, such as {name[:40]}: float in its body"
            )
        if conforms(value, hint := hints[name]):
            continue
        found = f"{shown(value)} ({type(value).__name__})"
        if isinstance(value, np.ndarray):
            found = f"an array of {value.dtype} of shape {value.shape}"
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        names = [each.__name__ if isinstance(each, type) else str(each) for each in kinds
                 if get_origin(each) is not Callable]  # fmt: skip
        expected = " | ".join(names) or hint
        raise ValueError(f"{cls.__name__}.{name} should be {expected}, found {found}")
