"""Conversion of models to JSON trees with named tensors, and back from untrusted files."""

import inspect
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import kernels

from bochner._base.registry import registered_class
from bochner.files.safetensors_container import ModelFileError, Tensors
from bochner.files.stored_classes import (
    DTYPES,
    NUMERIC,
    SCALARS,
    TYPES,
    Path,
    check_attributes,
    check_depth,
    check_finite,
    check_texts,
    check_value,
    conforms,
    holds_function,
    is_estimator,
    is_value,
    no_code,
    not_saved,
    value_fields,
    where,
)
from bochner.kernels import KernelAdapter

Node = dict[str, Any]
"""An object of the tree, ``{"$": tag, ...}``; numbers, text and lists are stored directly."""

_GENERATORS = (np.random.Generator, np.random.RandomState)
"""Types of ``random_state`` that files replace by None."""

_LONG_LIST = 64
"""Fewest numbers of a list that is stored as a tensor: text takes 2.5 times the space."""

_SMALL = 2**14
"""Bytes up to which arrays are not compressed, because other parts of a file take more."""

_MOST_EXPANDED = 1032  # Most bytes of an array per compressed byte: the limit of zlib's format

_PROCESS_KERNELS: Mapping[str, type] = {
    cls.__name__: cls
    for cls in (
        *(kernels.ConstantKernel, kernels.WhiteKernel, kernels.RBF, kernels.Matern),
        *(kernels.RationalQuadratic, kernels.ExpSineSquared, kernels.DotProduct),
        *(kernels.Sum, kernels.Product, kernels.Exponentiation, KernelAdapter),
    )
}
"""Kernels of scikit-learn's Gaussian processes: their classes and parameters are stored."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """Converts values to JSON; numeric arrays become tensors named by their path in the tree."""

    tensors: Tensors = field(default_factory=dict)

    def encode(self, value: Any, path: Path = ()) -> Any:
        """Return the JSON of a value; refuse types that model files do not hold."""
        check_depth(path)
        cls = type(value)
        if value is None or cls in (bool, int, str) or (cls is float and math.isfinite(value)):
            return value
        if cls in _ENCODERS:
            return _ENCODERS[cls](self, value, path)
        if is_value(cls):
            return self._value(value, path)
        if is_estimator(cls):
            return self._estimator(value, path)
        raise TypeError(f"{where(path)} is {not_saved(value)}")

    def _items(self, values: Any, path: Path) -> list[Any]:
        return [self.encode(value, (*path, str(i))) for i, value in enumerate(values)]

    def _members(self, values: Mapping[str, object], path: Path) -> Node:
        return {name: self.encode(value, (*path, name)) for name, value in values.items()}

    def _list(self, values: Sequence[Any], path: Path) -> Node | list[Any]:
        are_floats = all(type(value) is float and math.isfinite(value) for value in values)
        if len(values) < _LONG_LIST or not are_floats:
            return self._items(values, path)
        return {"$": "floats", "items": self._tensor(np.array(values), path)}

    def _dict(self, value: dict[Any, Any], path: Path) -> Node:
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{where(path)} has the key {key!r:.60}; keys must be text.")
        return {"$": "dict", "items": self._members(value, path)}

    def _scalar(self, value: np.generic, path: Path) -> Node:
        item = self.encode(value.item(), path)
        return {"$": "scalar", "dtype": np.dtype(type(value)).name, "value": item}

    def _type(self, value: type, path: Path) -> Node:
        if value not in TYPES.values():
            raise TypeError(f"{where(path)} is the class {value!r:.60}; give an object of it.")
        return {"$": "type", "name": value.__name__}

    def _array(self, value: NDArray[np.generic], path: Path) -> Node:
        if value.dtype.kind in "UO":
            width = value.dtype.itemsize // 4 if value.dtype.kind == "U" else None
            items = self._items(value.ravel().tolist(), path)
            if width is not None:
                check_texts(items, width, where(path))
            return {"$": "texts", "width": width, "shape": list(value.shape), "items": items}
        if value.dtype.name not in NUMERIC:
            raise TypeError(f"{where(path)} is an array of {value.dtype}, which is not supported.")
        check_finite(value, where(path))
        # Matrix products round differently with the layout.
        return {**self._tensor(value, path), "order": "F" if value.flags.fnc else "C"}

    def _tensor(self, value: NDArray[np.generic], path: Path) -> Node:
        name = where(path).encode("ascii", "backslashreplace").decode()
        while name in self.tensors:
            name += "'"
        tensor, tag = np.array(value, dtype=value.dtype.newbyteorder("="), order="C"), "array"
        dtype, shape = value.dtype.name, list(value.shape)
        if tensor.nbytes > _SMALL:
            # Columns of encoded tables have few different numbers, and triangles many zeros.
            packed = zlib.compress(tensor.T.tobytes(), 1)
            if 4 * len(packed) < 3 * tensor.nbytes:
                tensor, tag = np.frombuffer(packed, dtype=np.uint8), "packed"
        self.tensors[name] = tensor
        return {"$": tag, "tensor": name, "dtype": dtype, "shape": shape, "order": "C"}

    def _value(self, value: object, path: Path) -> Node:
        if holds_function(type(value)):
            subject = f"{where(path)} is {value!r:.60}, whose function"
            raise ModelFileError(no_code(subject, "TL1(tau) or NTK()"))
        declared = value_fields(type(value)).items()
        members = {name: getattr(value, field.name) for name, field in declared}
        encoded = self._members(members, path)
        check_value(type(value), members)
        return {"$": "value", "class": type(value).__name__, "fields": encoded}

    def _estimator(self, value: BaseEstimator, path: Path) -> Node:
        left_out = ("_metadata_request", *getattr(value, "_recomputed", ()))
        attributes = {k: v for k, v in vars(value).items() if k not in left_out}
        parameters = {name: attributes.pop(name) for name in value.get_params(deep=False)}
        if isinstance(parameters.get("random_state"), _GENERATORS):
            parameters["random_state"] = None
        check_attributes(type(value), attributes)
        node = {
            "$": "estimator",
            "class": type(value).__name__,
            "parameters": self._members(parameters, path),
            "attributes": self._members(attributes, path),
        }
        _check_parameters(value, attributes)  # After errors of unstorable values
        return node

    def _kernel(self, value: Any, path: Path) -> Node:
        parameters = self._members(value.get_params(deep=False), path)
        return {"$": "kernel", "class": type(value).__name__, "parameters": parameters}


_ENCODERS: Mapping[type, Callable[[Encoder, Any, Path], Any]] = {
    float: lambda encoder, value, path: {"$": "float", "value": repr(value)},
    list: Encoder._list,
    tuple: lambda encoder, value, path: {"$": "tuple", "items": encoder._items(value, path)},
    dict: Encoder._dict,
    type: Encoder._type,
    np.ndarray: Encoder._array,
    **dict.fromkeys(_PROCESS_KERNELS.values(), Encoder._kernel),
    **dict.fromkeys(SCALARS.values(), Encoder._scalar),
    **dict.fromkeys(
        (type(np.dtype(name)) for name in DTYPES),
        lambda encoder, value, path: {"$": "dtype", "name": value.name},
    ),
}


def decode(tree: object, tensors: Tensors) -> Any:
    """Return the value of a tree from ``json.loads``; every tensor must be used."""
    decoder = _Decoder(tensors)
    value = decoder.decode(tree)
    unused = sorted(tensors.keys() - decoder.used)
    if unused:
        raise ValueError(f"it has a tensor {unused[0]!r:.60} that its header does not name")
    return value


@dataclass(frozen=True, slots=True)
class _Decoder:
    tensors: Tensors
    used: set[str] = field(default_factory=set)

    def decode(self, node: object, path: Path = ()) -> Any:
        check_depth(path)
        if isinstance(node, list):
            return self._items(node, path)
        if not isinstance(node, dict):
            return node
        read, hints = _DECODERS[_member(node, "$", Literal[*_DECODERS])]
        return read(self, path, *(_member(node, name, hint) for name, hint in hints.items()))

    def _items(self, nodes: Sequence[object], path: Path) -> list[Any]:
        return [self.decode(node, (*path, str(i))) for i, node in enumerate(nodes)]

    def _members(self, nodes: Node, path: Path) -> dict[str, object]:
        return {name: self.decode(node, (*path, name)) for name, node in nodes.items()}

    def _scalar(self, path: Path, dtype: str, node: object) -> Any:
        value = self.decode(node, path)
        if not isinstance(value, bool | int | float | str):
            raise ValueError(f"{where(path)} should be a number or text")
        with np.errstate(over="ignore"):
            scalar = SCALARS[dtype](value)
        if repr(scalar.item()) != repr(value):
            raise ValueError(f"{where(path)} should be {dtype}, found {value!r:.60}")
        return scalar

    def _array(
        self, path: Path, name: str, dtype: str, shape: list[int], order: Any, *, packed: bool
    ) -> NDArray[np.generic]:
        if name not in self.tensors or name in self.used:
            problem = "named twice" if name in self.used else "missing"
            raise ValueError(f"the tensor {name!r:.60} is {problem}")
        self.used.add(name)
        tensor = self.tensors[name]
        if packed:
            tensor = _unpacked(tensor, np.dtype(dtype), shape, where(path))
        if (tensor.dtype.name, list(tensor.shape)) != (dtype, shape):
            raise ValueError(
                f"{where(path)} should be {dtype} of shape {shape}, found "
                f"{tensor.dtype.name} of shape {list(tensor.shape)}"
            )
        check_finite(tensor, f"the tensor {name!r:.60}")
        return np.array(tensor, order=order)

    def _floats(self, path: Path, node: Node) -> list[float]:
        items = self.decode(node, path)
        if not (isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype == np.float64):
            raise ValueError(f"{where(path)} should be a list of float64")
        return list(items.tolist())

    def _texts(
        self, path: Path, nodes: list[Any], width: int | None, shape: list[int]
    ) -> NDArray[np.generic]:
        items = self._items(nodes, path)
        if width is not None:
            check_texts(items, width, where(path))
        array = np.empty(len(items), dtype=object if width is None else f"U{width}")
        for i, item in enumerate(items):
            array[i] = item
        if any(size < 0 for size in shape):
            raise ValueError(f"{where(path)} has the impossible shape {shape}")
        return array.reshape(shape)

    def _value(self, path: Path, name: str, nodes: Node) -> Any:
        cls, members = _class_named(name, is_value), self._members(nodes, path)
        check_value(cls, members)
        return cls(**members)

    def _estimator(self, path: Path, name: str, parameters: Node, nodes: Node) -> BaseEstimator:
        cls = _class_named(name, is_estimator)
        estimator = _constructed(cls, self._members(parameters, path))
        attributes = self._members(nodes, path)
        check_attributes(cls, attributes)
        vars(estimator).update(attributes)
        _check_parameters(estimator, attributes)
        return estimator

    def _kernel(self, path: Path, name: str, parameters: Node) -> Any:
        kernel = _constructed(_PROCESS_KERNELS[name], self._members(parameters, path))
        kernel.theta, kernel.bounds, repr(kernel)  # Errors of unusable values
        return kernel


_OF_ARRAY: Mapping[str, Any] = {
    "tensor": str, "dtype": Literal[*NUMERIC], "shape": list[int], "order": Literal["C", "F"],
}  # fmt: skip
_DECODERS: Mapping[str, tuple[Callable[..., Any], Mapping[str, Any]]] = {
    "array": (partial(_Decoder._array, packed=False), _OF_ARRAY),
    "packed": (partial(_Decoder._array, packed=True), _OF_ARRAY),
    "dict": (lambda self, path, nodes: self._members(nodes, path), {"items": Node}),
    "dtype": (lambda self, path, name: np.dtype(name), {"name": Literal[*DTYPES]}),
    "estimator": (_Decoder._estimator, {"class": str, "parameters": Node, "attributes": Node}),
    "floats": (_Decoder._floats, {"items": Node}),
    "float": (lambda self, path, text: float(text), {"value": Literal["nan", "inf", "-inf"]}),
    "kernel": (_Decoder._kernel, {"class": Literal[*_PROCESS_KERNELS], "parameters": Node}),
    "scalar": (_Decoder._scalar, {"dtype": Literal[*SCALARS], "value": Any}),
    "texts": (_Decoder._texts, {"items": list[Any], "width": int | None, "shape": list[int]}),
    "tuple": (lambda self, path, nodes: tuple(self._items(nodes, path)), {"items": list[Any]}),
    "type": (lambda self, path, name: TYPES[name], {"name": Literal[*TYPES]}),
    "value": (_Decoder._value, {"class": str, "fields": Node}),
}
"""The reading of each kind of node, and the types of its members."""


def _member(node: Node, name: str, hint: object) -> Any:
    if name not in node:
        raise ValueError(f"its header lacks {name!r:.60} where it is needed")
    if not conforms(node[name], hint):
        raise ValueError(f"its header has an unusable {name!r:.60}: {node[name]!r:.60}")
    return node[name]


def _unpacked(
    packed: NDArray[np.generic], dtype: np.dtype[Any], shape: list[int], name: str
) -> NDArray[np.generic]:
    """Decompress an array; raise ``ValueError`` unless its size matches the stated shape."""
    size = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 0 or not 0 <= size <= _MOST_EXPANDED * packed.nbytes:
        raise ValueError(f"{name} of shape {shape} is far beyond its {packed.nbytes} bytes")
    try:
        content = zlib.decompressobj().decompress(packed.tobytes(), size + 1)
    except zlib.error as error:
        raise ValueError(f"{name} cannot be decompressed ({error})") from error
    if len(content) != size:
        raise ValueError(f"{name} of shape {shape} has another size")
    return np.frombuffer(content, dtype).reshape(shape[::-1]).T


def _constructed(cls: type, parameters: Mapping[str, Any]) -> Any:
    for name in parameters:
        if name not in inspect.signature(cls).parameters:
            raise ValueError(f"{cls.__name__} has no parameter {name!r:.60}")
    return cls(**parameters)


def _class_named(name: str, is_of_kind: Callable[[type], bool]) -> type:
    cls = registered_class(name)
    if cls is None or not is_of_kind(cls):
        raise ValueError(
            f"bochner has no class {name!r:.60} here; if it is your own, import the module that "
            f"calls bochner.register before loading"
        )
    return cls


def _check_parameters(estimator: BaseEstimator, attributes: Mapping[str, object]) -> None:
    """Validate the parameters of a fitted estimator with the checks of its ``fit``."""
    if attributes and hasattr(estimator, "_check_parameters"):
        estimator._check_parameters()
