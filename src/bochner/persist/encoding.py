"""Encode a model as a tree of JSON and named tensors."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner.persist.classes import (
    check_attributes,
    check_value,
    holds_function,
    is_estimator,
    is_value,
    value_fields,
)
from bochner.persist.container import ModelFileError
from bochner.persist.vocabulary import (
    NUMERIC,
    SCALARS,
    TYPES,
    Node,
    Path,
    Tensors,
    check_characters,
    check_depth,
    check_finite,
    where,
)

_GENERATORS = (np.random.Generator, np.random.RandomState)


@dataclass(frozen=True, slots=True)
class Encoder:
    """Turns values into JSON; numeric arrays become tensors, named by their place."""

    tensors: Tensors = field(default_factory=dict)

    def encode(self, value: Any, path: Path = ()) -> Any:
        """Return the JSON of a value found at ``path``.

        It is a ``TypeError`` if the value, or one within it, is of a type that model files do not
        hold, a ``ModelFileError`` if it holds a function, and a ``ValueError`` if an array is not
        finite, an estimator is fitted in part only, or values are nested too deep.
        """
        check_depth(path)
        cls = type(value)
        if value is None or cls in (bool, int, str) or (cls is float and math.isfinite(value)):
            return value
        if cls is list:
            return self._items(value, path)
        if cls in _ENCODERS:
            return _ENCODERS[cls](self, value, path)
        if is_value(cls):
            return self._value(value, path)
        if is_estimator(cls):
            return self._estimator(value, path)
        raise TypeError(
            f"{where(path)} is of type {cls.__module__}.{cls.__qualname__}, which a model file "
            f"cannot hold: as loading runs no code, it takes bochner's own classes, numbers, "
            f"text, arrays, and lists, tuples and dictionaries of them."
        )

    def _items(self, values: Any, path: Path) -> list[Any]:
        return [self.encode(value, (*path, str(i))) for i, value in enumerate(values)]

    def _members(self, values: Mapping[str, Any], path: Path) -> Node:
        return {name: self.encode(value, (*path, name)) for name, value in values.items()}

    def _float(self, value: float, path: Path) -> Node:
        return {"$": "float", "value": repr(value)}

    def _tuple(self, value: tuple[Any, ...], path: Path) -> Node:
        return {"$": "tuple", "items": self._items(value, path)}

    def _dict(self, value: dict[Any, Any], path: Path) -> Node:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{where(path)} has the key {key!r}; keys must be text.")
        return {"$": "dict", "items": self._members(value, path)}

    def _scalar(self, value: np.generic, path: Path) -> Node:
        item = self.encode(value.item(), path)
        return {"$": "scalar", "dtype": _name(type(value), SCALARS), "value": item}

    def _dtype(self, value: np.dtype[Any], path: Path) -> Node:
        return {"$": "dtype", "name": value.name}

    def _type(self, value: type, path: Path) -> Node:
        if value not in TYPES.values():
            raise TypeError(f"{where(path)} is the class {value!r}; give an object of it.")
        return {"$": "type", "name": _name(value, TYPES)}

    def _array(self, value: NDArray[Any], path: Path) -> Node:
        if value.dtype.kind in "UO":
            return self._texts(value, path)
        if value.dtype.name not in NUMERIC:
            raise TypeError(f"{where(path)} is an array of {value.dtype}, which is not supported.")
        check_finite(value, where(path))
        name = where(path).encode("ascii", "backslashreplace").decode()
        while name in self.tensors:
            name += "'"
        self.tensors[name] = np.array(value, dtype=value.dtype.newbyteorder("="), order="C")
        return {
            "$": "array",
            "tensor": name,
            "dtype": value.dtype.name,
            "shape": list(value.shape),
            # Matrix products round differently with the layout.
            "order": "F" if value.flags.fnc else "C",
        }

    def _texts(self, value: NDArray[Any], path: Path) -> Node:
        width = value.dtype.itemsize // 4 if value.dtype.kind == "U" else None
        check_characters(value.size, width, where(path))
        items = self._items(value.ravel().tolist(), path)
        return {"$": "texts", "width": width, "shape": list(value.shape), "items": items}

    def _value(self, value: Any, path: Path) -> Node:
        if holds_function(type(value)):
            raise ModelFileError(
                f"{where(path)} is {value!r}, whose function a model file cannot hold: functions "
                f"are code, and loading runs none. Use a kernel that is made of numbers, such as "
                f"TL1(tau) or NTK(), or keep the function in a module of your own and fit the "
                f"model again where it is needed."
            )
        known = value_fields(type(value)).items()
        members = {name: getattr(value, field.name) for name, field in known}
        encoded = self._members(members, path)
        check_value(type(value), members)
        return {"$": "value", "class": type(value).__name__, "fields": encoded}

    def _estimator(self, value: BaseEstimator, path: Path) -> Node:
        attributes = {k: v for k, v in vars(value).items() if k != "_metadata_request"}
        parameters = {name: attributes.pop(name) for name in value.get_params(deep=False)}
        if isinstance(parameters.get("random_state"), _GENERATORS):
            parameters["random_state"] = None
        check_attributes(type(value), attributes)
        return {
            "$": "estimator",
            "class": type(value).__name__,
            "parameters": self._members(parameters, path),
            "attributes": self._members(attributes, path),
        }


def _name(cls: type, table: Mapping[str, type]) -> str:
    return next(name for name, candidate in table.items() if candidate is cls)


_ENCODERS: Mapping[type, Callable[[Encoder, Any, Path], Node]] = MappingProxyType(
    {
        float: Encoder._float,
        tuple: Encoder._tuple,
        dict: Encoder._dict,
        type: Encoder._type,
        np.ndarray: Encoder._array,
        **dict.fromkeys(SCALARS.values(), Encoder._scalar),
        **{type(np.dtype(name)): Encoder._dtype for name in NUMERIC},
    }
)
