"""Calls of the functions that kernels are given as."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array
from bochner.kernels._base import Kernel

Function = Callable[[Array], Array]


def check_callable(kernel: str, function: Any) -> None:
    """Raise ``TypeError`` unless ``function`` can be called."""
    if not callable(function):
        raise TypeError(f"{kernel} needs a function from arrays to arrays, got {function!r}.")


def name_of(function: Any) -> str:
    """Return the name of a function, or else its repr."""
    name: str = getattr(function, "__qualname__", None) or repr(function)
    return name


def values_of(
    kernel: Kernel, function: Function, t: Array, shape: tuple[int, ...], noun: str
) -> Array:
    """Return what the function returns for a copy of ``t``, checked and copied.

    Parameters
    ----------
    kernel : Kernel
        Named in errors.
    function : callable
    t : ndarray
        Numbers, or vectors along the last axis.
    shape : tuple of int
        What the values must have.
    noun : str
        What ``t`` is an array of.
    """
    remedy = _remedy(noun, t.shape == shape)
    try:
        # What comes of a division by zero is looked at below.
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(function(np.array(t)))
    except (TypeError, ValueError, IndexError) as problem:
        raise ValueError(f"The function of {kernel!r} failed: {problem}. {remedy}") from problem
    if values.shape != shape:
        raise ValueError(
            f"The function of {kernel!r} turned shape {t.shape} into {values.shape}. {remedy}"
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(
            f"The function of {kernel!r} must return real numbers, got {values.dtype}."
        )
    finite = np.isfinite(values)
    if not finite.all():
        first = int(np.argmin(finite))
        place = t.reshape(values.size, -1)[first].tolist()
        raise ValueError(
            f"The function of {kernel!r} returned {values.flat[first]} at the {noun} "
            f"{place if t.shape != shape else place[0]!r}; it must be finite at every {noun} that "
            f"the inputs have."
        )
    return values.astype(np.float64)


def _remedy(noun: str, of_numbers: bool) -> str:
    if of_numbers:
        return (
            f"It is called with an array of {noun}s and must return an array of the same shape; "
            f"numpy.vectorize makes such a function of any."
        )
    return (
        f"It is called with an array of {noun}s of shape (..., d) and must return an array of "
        f"shape (...); numpy.vectorize(function, signature='(d)->()') makes such a function of "
        f"any."
    )
