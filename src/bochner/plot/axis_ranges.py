"""Ranges of axes: logarithmic scales of skewed numbers, and points drawn at the edges."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import skew

from bochner._base.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float] | None

_CENTRAL = (0.005, 0.995)
"""Quantiles of the numbers that an axis always includes: the central 99 %."""

_ROOM, _STRETCHED = 0.25, 2.0
"""Margins of an axis, relative to the central range, and the ratio of the full range to that axis
from which extreme numbers are drawn at the edge."""

_DECADES = 1.5
"""Decades that positive numbers span from which a logarithmic axis may spread them better."""

_EDGES = {(-1, 0): "<", (1, 0): ">", (0, -1): "v", (0, 1): "^"}
"""Markers of points beyond the left, right, lower and upper edge."""


def are_skewed(values: NDArray[Any]) -> bool:
    """Return whether a logarithmic axis spreads positive numbers better than a linear one.

    >>> are_skewed(np.exp(np.linspace(0.0, 9.0, 99))), are_skewed(np.linspace(1.0, 99.0, 99))
    (True, False)
    """
    if values.dtype.kind not in "fiu":
        return False
    numbers = values[np.isfinite(values)].astype(np.float64)
    if not len(numbers) or numbers.min() <= 0.0 or np.ptp(np.log10(numbers)) < _DECADES:
        return False
    return bool(skew(numbers) > 1.0 and abs(skew(np.log(numbers))) < 0.5 * skew(numbers))


def central_limits(values: NDArray[Any]) -> Limits:
    """Return limits around the central 99 % if extreme numbers would stretch an axis, else None."""
    if values.dtype.kind not in "fiu":
        return None
    numbers = values[np.isfinite(values)]
    if not len(numbers):
        return None
    low, high = np.quantile(numbers, _CENTRAL).tolist()
    room = _ROOM * (high - low)
    if np.ptp(numbers) <= _STRETCHED * (high - low + 2.0 * room):
        return None
    return max(low - room, float(numbers.min())), min(high + room, float(numbers.max()))


def _sides(x: NDArray[Any], y: Array, limits: tuple[Limits, Limits]) -> NDArray[Any]:
    """Return -1 for rows below the limits, 1 above them and else 0 (2, n), along both axes."""
    parts = [
        np.zeros(len(x)) if ends is None else 1.0 * (values > ends[1]) - (values < ends[0])
        for values, ends in zip((x, y), limits, strict=True)
    ]
    return np.array(parts)


def n_beyond(x: NDArray[Any], y: Array, limits: tuple[Limits, Limits]) -> int:
    """Return the number of rows beyond the limits."""
    return int(_sides(x, y, limits).any(axis=0).sum())


def draw_points(
    axis: "Axes", x: NDArray[Any], y: Array, limits: tuple[Limits, Limits], **style: Any
) -> None:
    """Draw a point for each row, and a triangle at the edge for a row beyond the limits."""
    sides = _sides(x, y, limits)
    inside = ~sides.any(axis=0)
    axis.plot(x[inside], y[inside], "o", **style)
    shown = [
        v if ends is None else np.clip(v, *ends) for v, ends in zip((x, y), limits, strict=True)
    ]
    edge: dict[str, Any] = {"color": style["color"], "ms": 3.0, "mew": 0.0, "clip_on": False}
    sides[0] *= sides[1] == 0  # A corner is above or below
    for side, marker in _EDGES.items():
        rows = np.all(np.array(side) == sides.T, axis=1)
        if rows.any():
            axis.plot(shown[0][rows], shown[1][rows], marker, zorder=3, **edge)
    for ends, name in zip(limits, ("xlim", "ylim"), strict=True):
        if ends is not None:
            axis.set(**{name: ends})
