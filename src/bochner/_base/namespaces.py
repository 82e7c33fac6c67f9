"""Arrays of other namespaces than NumPy, such as torch tensors, and their conversion.

Such arrays occur only with scikit-learn's ``array_api_dispatch``; without it, input validation
converts them to NumPy arrays. "On a device" means an array of another namespace than NumPy's, even
on the CPU. Differences between libraries are handled by array-api-compat.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn import get_config

DeviceArray = Any
"""An array of NumPy or of another namespace, whose library has other types."""


def on_device(X: object) -> bool:
    """Return whether ``X`` is an array of another namespace than NumPy."""
    return hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray | np.generic)


def namespace(X: object) -> Any:
    """Return the module whose functions take ``X``."""
    return _compat().array_namespace(X) if on_device(X) else np


def home_of(X: object) -> Any:
    """Return an empty array where ``X`` is on a device that dispatch turns to, or ``None``."""
    if not on_device(X) or not get_config()["array_api_dispatch"]:
        return None
    return namespace(X).empty((0,), dtype=_widest(X), device=_compat().device(X))


def same_namespace(X: object, Y: object) -> None:
    """Raise ``ValueError`` unless two inputs, validated or not, are of one namespace and device."""
    if Y is None or not get_config()["array_api_dispatch"] or not (on_device(X) or on_device(Y)):
        return
    homes = [(namespace(A), _compat().device(A)) if on_device(A) else None for A in (X, Y)]
    if homes[0] != homes[1]:
        names = " and ".join(
            "NumPy" if home is None else f"{home[0].__name__} on {home[1]}" for home in homes
        )
        raise ValueError(f"Arrays must be of one namespace and on one device; got {names}.")


def float_types(X: object, wanted: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return float32 and float64 of the namespace of ``X``, if its device supports them."""
    if not on_device(X) or not get_config()["array_api_dispatch"]:
        return wanted
    xp, widest = namespace(X), _widest(X)
    if widest == xp.float32:
        return (widest,)
    return tuple(getattr(xp, np.dtype(dtype).name) for dtype in wanted)


def widened(X: Any) -> Any:
    """Cast ``X``, dense or sparse, to float64, or to float32 if its device lacks float64."""
    if not on_device(X):
        return X.astype(np.float64, copy=False)
    return namespace(X).astype(X, _widest(X), copy=False)


def retyped(X: Any, dtype: DTypeLike | None) -> Any:
    """Cast ``X`` to float32 or float64 of its array namespace; ``dtype`` may be a NumPy type."""
    if not on_device(X):
        return X.astype(dtype, copy=False)
    if isinstance(dtype, type | np.dtype):
        dtype = float_types(X, (dtype,))[0]
    return namespace(X).astype(X, dtype, copy=False)


def like(values: NDArray[Any], X: Any) -> Any:
    """Return a NumPy array in the namespace and type of ``X``, on its device."""
    if not on_device(X):
        return values.astype(X.dtype, copy=False)
    xp = namespace(X)
    # A copy of that type, because torch would share memory, and not every device has float64.
    narrow = np.array(values, np.float32 if X.dtype == xp.float32 else np.float64)
    return xp.asarray(narrow, device=_compat().device(X))


def to_numpy(X: object) -> Any:
    """Return an array on a device as a NumPy array; anything else is returned as is."""
    return _brought(X) if on_device(X) else X


def _brought(X: object) -> NDArray[np.generic]:
    X = X.detach() if hasattr(X, "detach") else X
    if _compat().is_torch_array(X) or _compat().is_cupy_array(X):
        return np.asarray(_compat().to_device(X, "cpu"))
    xp = namespace(X)
    return np.asarray(xp.asarray(X, device=xp.__array_namespace_info__().default_device()))


def taken(X: Any, index: object, axis: int = 0) -> Any:
    """Return some rows (indices or a slice), or with ``axis=1`` columns (indices), of an array."""
    if not on_device(X):
        return X[index] if axis == 0 else X[:, index]
    if isinstance(index, slice):
        return X[index, ...]
    xp = namespace(X)
    return xp.take(X, xp.asarray(index, device=_compat().device(X)), axis=axis)


def side_by_side(parts: list[Any]) -> Any:
    """Concatenate the columns of arrays of one namespace with equal numbers of rows."""
    return namespace(parts[0]).concat(parts, axis=1) if on_device(parts[0]) else np.hstack(parts)


def _compat() -> Any:
    """Return array-api-compat, which only arrays on a device need."""
    try:
        import array_api_compat
    except ImportError as error:
        raise ImportError(
            "Arrays of other libraries than NumPy need array-api-compat: "
            "pip install array-api-compat."
        ) from error
    return array_api_compat


def _widest(X: object) -> Any:
    """Return float64 of an array's namespace, or float32 if its device lacks float64."""
    xp = namespace(X)
    dtypes = xp.__array_namespace_info__().dtypes(device=_compat().device(X), kind="real floating")
    return dtypes.get("float64", xp.float32)


@dataclass(frozen=True, slots=True, eq=False)
class HostView:
    """Rows (n, d) on a device with the part of NumPy's interface that fits use.

    Results are computed on the device and returned as NumPy arrays; products with a matrix and
    comparisons stay on the device.
    """

    rows: Any

    @property
    def shape(self) -> tuple[int, int]:
        n, d = self.rows.shape
        return int(n), int(d)

    def __getitem__(self, index: object) -> NDArray[np.floating]:
        """Return the rows of an array of indices, or one entry."""
        entry = isinstance(index, tuple)
        return np.asarray(to_numpy(self.rows[index] if entry else taken(self.rows, index)))

    def __matmul__(self, other: NDArray[np.float64]) -> Any:
        rows = widened(self.rows)
        product = rows @ like(other, rows)
        return HostView(product) if other.ndim == 2 else to_numpy(product)

    def columns(self, index: object) -> "HostView":
        """Return some columns, which stay on the device."""
        return HostView(taken(self.rows, index, axis=1))

    def __lt__(self, bound: float) -> "HostView":
        return HostView(self.rows < bound)

    def nonzero(self) -> tuple[NDArray[np.intp], ...]:
        return tuple(to_numpy(part) for part in namespace(self.rows).nonzero(self.rows))

    def mean(self, axis: int) -> NDArray[Any]:
        return self._reduced("mean", widened(self.rows), axis)

    def min(self, axis: int) -> NDArray[np.floating]:
        return self._reduced("min", self.rows, axis)

    def max(self, axis: int) -> NDArray[Any]:
        return self._reduced("max", self.rows, axis)

    @staticmethod
    def _reduced(name: str, rows: object, axis: int) -> NDArray[np.floating]:
        return np.asarray(to_numpy(getattr(namespace(rows), name)(rows, axis=axis)))


def chosen_columns(X: Any, index: tuple[int, ...]) -> Any:
    """Return some columns of rows (n, d): dense, CSR or on a device."""
    return X.columns(list(index)) if isinstance(X, HostView) else X[:, list(index)]


def host_view(X: object) -> Any:
    """Return a :class:`HostView` of rows on a device; NumPy and sparse rows are returned as is."""
    return HostView(X) if on_device(X) else X
