"""Checks of fields that are numbers."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def as_finite_scalar(name: str, value: Any) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}.")
    return number


def as_degree(value: Any) -> int:
    """Return a polynomial's degree as a positive int."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"degree must be a positive whole number, got {value!r}.")
    if value < 1:
        raise ValueError(f"degree must be at least 1, got {value!r}.")
    return int(value)
