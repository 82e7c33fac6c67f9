"""From a tree of JSON and its tensors back to a model; the tree is not trusted."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner.persist.classes import check_attributes, check_value, class_named
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
    conforms,
    where,
)


def decode(tree: Any, tensors: Tensors) -> Any:
    """Return the value of a tree from ``json.loads``, which uses every one of the tensors.

    ``ValueError``, ``TypeError`` or ``OverflowError`` if it is not as the encoder makes it.
    """
    decoder = _Decoder(tensors)
    value = decoder.decode(tree)
    unused = sorted(tensors.keys() - decoder.used)
    if unused:
        raise ValueError(f"it has a tensor {unused[0]!r} that its header does not name")
    return value


@dataclass(frozen=True, slots=True)
class _Decoder:
    tensors: Tensors
    used: set[str] = field(default_factory=set)

    def decode(self, node: Any, path: Path = ()) -> Any:
        check_depth(path)
        if isinstance(node, list):
            return self._items(node, path)
        if not isinstance(node, dict):
            return node
        return _DECODERS[_choice(node, "$", _DECODERS)](self, node, path)

    def _items(self, nodes: list[Any], path: Path) -> list[Any]:
        return [self.decode(node, (*path, str(i))) for i, node in enumerate(nodes)]

    def _members(self, nodes: Node, path: Path) -> dict[str, Any]:
        return {name: self.decode(node, (*path, name)) for name, node in nodes.items()}

    def _float(self, node: Node, path: Path) -> float:
        return float(_choice(node, "value", ("nan", "inf", "-inf")))

    def _tuple(self, node: Node, path: Path) -> tuple[Any, ...]:
        return tuple(self._items(_member(node, "items", list[Any]), path))

    def _dict(self, node: Node, path: Path) -> dict[str, Any]:
        return self._members(_member(node, "items", dict[str, Any]), path)

    def _scalar(self, node: Node, path: Path) -> Any:
        value = self.decode(_member(node, "value", Any), path)
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"{where(path)} should be a number or text")
        dtype = _choice(node, "dtype", SCALARS)
        with np.errstate(over="ignore"):
            scalar = SCALARS[dtype](value)
        if repr(scalar.item()) != repr(value):
            raise ValueError(f"{where(path)} should be {dtype}, found {_shown(value)}")
        return scalar

    def _dtype(self, node: Node, path: Path) -> np.dtype[Any]:
        return np.dtype(_choice(node, "name", NUMERIC))

    def _type(self, node: Node, path: Path) -> type:
        return TYPES[_choice(node, "name", TYPES)]

    def _array(self, node: Node, path: Path) -> NDArray[Any]:
        name = _member(node, "tensor", str)
        if name not in self.tensors:
            raise ValueError(f"the tensor {name!r} is missing")
        self.used.add(name)
        tensor = self.tensors[name]
        found = (tensor.dtype.name, list(tensor.shape))
        expected = (_choice(node, "dtype", NUMERIC), _member(node, "shape", list[int]))
        if found != expected:
            raise ValueError(
                f"the tensor {name!r} should be {expected[0]} of shape {expected[1]}, found "
                f"{found[0]} of shape {found[1]}"
            )
        check_finite(tensor, f"the tensor {name!r}")
        return np.array(tensor, order=_choice(node, "order", ("C", "F")))  # type: ignore[call-overload, no-any-return]

    def _texts(self, node: Node, path: Path) -> NDArray[Any]:
        items = self._items(_member(node, "items", list[Any]), path)
        width = _member(node, "width", int | None)
        check_characters(len(items), width, where(path))
        if width is not None and not all(isinstance(x, str) and len(x) <= width for x in items):
            raise ValueError(f"{where(path)} should be text of at most {width} characters")
        array = np.empty(len(items), dtype=object if width is None else f"U{width}")
        for i, item in enumerate(items):
            array[i] = item
        shape = _member(node, "shape", list[int])
        if any(size < 0 for size in shape):
            raise ValueError(f"{where(path)} has the impossible shape {shape}")
        return array.reshape(shape)

    def _value(self, node: Node, path: Path) -> Any:
        cls = class_named(_member(node, "class", str), estimator=False)
        members = self._members(_member(node, "fields", dict[str, Any]), path)
        check_value(cls, members)
        return cls(**members)

    def _estimator(self, node: Node, path: Path) -> BaseEstimator:
        cls = class_named(_member(node, "class", str), estimator=True)
        parameters = self._members(_member(node, "parameters", dict[str, Any]), path)
        attributes = self._members(_member(node, "attributes", dict[str, Any]), path)
        for name in parameters:
            if name not in inspect.signature(cls).parameters:
                raise ValueError(f"{cls.__name__} has no parameter {name!r}")
        check_attributes(cls, attributes)
        estimator = cls(**parameters)
        vars(estimator).update(attributes)
        return estimator


_DECODERS: Mapping[str, Callable[[_Decoder, Node, Path], Any]] = MappingProxyType(
    {
        "array": _Decoder._array,
        "dict": _Decoder._dict,
        "dtype": _Decoder._dtype,
        "estimator": _Decoder._estimator,
        "float": _Decoder._float,
        "scalar": _Decoder._scalar,
        "texts": _Decoder._texts,
        "tuple": _Decoder._tuple,
        "type": _Decoder._type,
        "value": _Decoder._value,
    }
)


def _member(node: Node, name: str, hint: Any) -> Any:
    if name not in node:
        raise ValueError(f"its header lacks {name!r} where it is needed")
    if not conforms(node[name], hint):
        raise ValueError(f"its header has an unusable {name!r}: {_shown(node[name])}")
    return node[name]


def _choice(node: Node, name: str, known: Collection[str]) -> str:
    chosen: str = _member(node, name, str)
    if chosen not in known:
        raise ValueError(f"its header has an unknown {name!r}: {_shown(chosen)}")
    return chosen


def _shown(value: Any) -> str:
    return repr(value)[:60]
