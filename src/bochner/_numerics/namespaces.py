"""Arrays of other namespaces than NumPy's, such as torch tensors: who they are, there and back.

Such arrays occur only with scikit-learn's ``array_api_dispatch``; without it they have become
NumPy's where inputs are checked.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import _array_api


def on_device(X: Any) -> bool:
    """Tell whether ``X`` is an array of another namespace than NumPy's, wherever it lies."""
    return hasattr(X, "__dlpack__") and not isinstance(X, np.ndarray | np.generic)


def namespace(X: Any) -> Any:
    """Return the module whose functions take ``X``."""
    return _array_api.get_namespace_and_device(X)[0] if on_device(X) else np


def same_namespace(X: Any, Y: Any) -> None:
    """Raise ``ValueError`` unless two inputs, checked or not, are of one namespace and device.

    Whatever is no array, and everything without ``array_api_dispatch``, becomes NumPy's.
    """
    if Y is None or not get_config()["array_api_dispatch"] or not (on_device(X) or on_device(Y)):
        return
    homes = [_array_api.get_namespace_and_device(A)[::2] if on_device(A) else None for A in (X, Y)]
    if homes[0] != homes[1]:
        names = " and ".join(
            "NumPy's" if home is None else f"{home[0].__name__} on {home[1]}" for home in homes
        )
        raise ValueError(f"Arrays must be of one namespace and on one device; got {names}.")


def float_types(X: Any, wanted: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return NumPy's floating types ``wanted`` of ``X`` as types of its own namespace.

    Parameters
    ----------
    X : object
        Whatever was given for an array; that of a device may have no float64.
    wanted : tuple of float32 and float64
    """
    if not on_device(X):
        return wanted
    xp, is_kept, device = _array_api.get_namespace_and_device(X)
    if not is_kept:
        return wanted
    if _array_api._max_precision_float_dtype(xp, device) == xp.float32:
        return (xp.float32,)
    return tuple(getattr(xp, np.dtype(one).name) for one in wanted)


def widened(X: Any) -> Any:
    """Return ``X``, dense or sparse, in float64, or in float32 where its device has no more."""
    if not on_device(X):
        return X.astype(np.float64, copy=False)
    xp, _, device = _array_api.get_namespace_and_device(X)
    return xp.astype(X, _array_api._max_precision_float_dtype(xp, device), copy=False)


def retyped(X: Any, dtype: Any) -> Any:
    """Return ``X`` in float32 or float64 of its own namespace, of which ``dtype`` may be NumPy's.

    A device without float64 gives float32.
    """
    if not on_device(X):
        return X.astype(dtype, copy=False)
    if isinstance(dtype, type | np.dtype):
        dtype = float_types(X, (dtype,))[0]
    return namespace(X).astype(X, dtype, copy=False)


def like(values: NDArray[Any], X: Any) -> Any:
    """Return an array of numbers in the namespace and type, and on the device, of ``X``."""
    if not on_device(X):
        return values.astype(X.dtype, copy=False)
    xp, _, device = _array_api.get_namespace_and_device(X)
    # A copy of that type, because torch would share memory, and not every device has float64.
    narrow = np.array(values, np.float32 if X.dtype == xp.float32 else np.float64)
    return xp.asarray(narrow, device=device)


def to_numpy(X: Any) -> Any:
    """Return the NumPy array of the same numbers; whatever is not on a device is returned as is."""
    if not on_device(X):
        return X
    X = X.detach() if hasattr(X, "detach") else X
    return np.asarray(_array_api._convert_to_numpy(X, namespace(X)))


def taken(X: Any, index: Any, axis: int = 0) -> Any:
    """Return some rows, or columns with ``axis=1``, of an array; of rows a slice may be asked."""
    if not on_device(X):
        return X[index] if axis == 0 else X[:, index]
    if isinstance(index, slice):
        return X[index, ...]
    xp, _, device = _array_api.get_namespace_and_device(X)
    return xp.take(X, xp.asarray(index, device=device), axis=axis)


@dataclass(frozen=True, slots=True, eq=False)
class HostView:
    """Rows on a device as the host may see them: a few of them, or a number or so for each.

    What is asked of it is computed on the device, and the answer brought to the host.

    Parameters
    ----------
    rows : array of shape (n, d)
    """

    rows: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n, d = self.rows.shape
        return int(n), int(d)

    def __getitem__(self, index: Any) -> NDArray[Any]:
        """Return the rows of an array of indices, or one entry."""
        if isinstance(index, tuple):
            return np.asarray(to_numpy(self.rows[index]))
        return np.asarray(to_numpy(taken(self.rows, index)))

    def __matmul__(self, other: NDArray[np.float64]) -> Any:
        """Return the product with a vector; that with a matrix stays on the device."""
        rows = widened(self.rows)
        product = rows @ like(other, rows)
        return HostView(product) if other.ndim == 2 else to_numpy(product)

    def __lt__(self, bound: float) -> "HostView":
        return HostView(self.rows < bound)

    def nonzero(self) -> tuple[NDArray[np.intp], ...]:
        """Return where entries are not zero, as NumPy does."""
        return tuple(to_numpy(part) for part in namespace(self.rows).nonzero(self.rows))

    def mean(self, axis: int) -> NDArray[Any]:
        """Return means along an axis."""
        rows = widened(self.rows)
        return np.asarray(to_numpy(namespace(rows).mean(rows, axis=axis)))

    def min(self, axis: int) -> NDArray[Any]:
        """Return the least entries along an axis."""
        return np.asarray(to_numpy(namespace(self.rows).min(self.rows, axis=axis)))

    def max(self, axis: int) -> NDArray[Any]:
        """Return the greatest entries along an axis."""
        return np.asarray(to_numpy(namespace(self.rows).max(self.rows, axis=axis)))


def host_view(X: Any) -> Any:
    """Return ``X``, NumPy's or sparse, itself, and a :class:`HostView` of rows on a device."""
    return HostView(X) if on_device(X) else X
