"""Array types, row blocks and the checks every value object makes on its fields."""

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
LengthScale = float | tuple[float, ...]

_BLOCK_BYTES = 2**23


def row_blocks(n_rows: int, row_bytes: int) -> Iterator[slice]:
    """Yield slices that cover ``range(n_rows)`` in blocks of about eight mebibytes."""
    step = max(1, _BLOCK_BYTES // max(1, row_bytes))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def as_scalar_or_tuple(name: str, value: ArrayLike) -> LengthScale:
    """Return ``value`` as a float or a flat tuple of floats, the hashable form of a field."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim > 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a number or one number per input, got an array of shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def as_array(value: LengthScale | tuple[tuple[float, ...], ...]) -> Array:
    """Return the array that a field stands for."""
    return np.asarray(value, dtype=np.float64)


def as_positive(name: str, value: ArrayLike) -> LengthScale:
    """Return ``value`` as a strictly positive float or tuple of floats."""
    checked = as_scalar_or_tuple(name, value)
    if np.min(checked) <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}.")
    return checked


def as_positive_scalar(name: str, value: Any) -> float:
    """Return ``value`` as a strictly positive, finite float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a positive number, got {value!r}.")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return number


def check_dim(name: str, value: LengthScale, dim: int) -> None:
    """Raise unless ``value`` is a scalar or has one entry per input."""
    if isinstance(value, tuple) and len(value) != dim:
        raise ValueError(
            f"{name} has {len(value)} entries, but the data have {dim} inputs; "
            f"give one number, or one per input."
        )
