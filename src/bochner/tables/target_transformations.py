"""Maps between targets of tables and the scaled targets of a fit."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register

TRANSFORMATIONS = ("none", "log", "sqrt", "rank")
"""Names of transformations; ``"auto"`` chooses one of them."""

_MOST_KNOTS, _TARGETS_PER_KNOT = 100, 20
"""Most knots of a curve of ranks, and fewest targets between two knots: the standard error of a
slope is then a quarter of it."""

_OUTER = 0.1
"""Share of the knots at each end that determine the slope beyond the end."""

_LARGEST = 700.0
"""Largest logarithm that is transformed back: exponentials of larger ones overflow."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Transformation:
    """An increasing function of a target: its logarithm, its root, or a curve by its ranks."""

    name: str
    curve: tuple[Array, Array] | None = None  # Increasing targets (k,) and images; "rank" only

    def __post_init__(self) -> None:
        if self.name not in TRANSFORMATIONS or (self.curve is None) == (self.name == "rank"):
            raise ValueError(
                f"There is no transformation {self.name!r} with curve={self.curve}: choose one of "
                f"{TRANSFORMATIONS}; only 'rank' has a curve."
            )
        if self.curve is not None:
            knots, images = self.curve
            if knots.shape != images.shape or knots.ndim != 1 or len(knots) < 2:
                raise ValueError("A curve of ranks needs two or more knots, and an image of each.")
            if not ((np.diff(knots) > 0.0).all() and (np.diff(images) > 0.0).all()):
                raise ValueError("Knots and images of a curve of ranks must increase.")

    @classmethod
    def of(cls, name: str, y: Array) -> "Transformation":
        """Return the transformation of a name; a curve of ranks is fitted to the targets (n,)."""
        if name == "log" and not np.min(y) > 0.0:
            raise ValueError(
                f"transformation='log' needs positive targets y, got {np.min(y):g}: use 'sqrt' "
                "for targets that may be zero, or 'rank' for any."
            )
        if name == "sqrt" and not np.min(y) >= 0.0:
            raise ValueError(
                f"transformation='sqrt' needs non-negative targets y, got {np.min(y):g}: "
                "use 'rank' for any."
            )
        return cls(name, _curve(y)) if name == "rank" else cls(name)

    def __call__(self, y: Array) -> Array:
        """Return transformed targets, of any shape."""
        if self.name == "log":
            return as_array(np.log(y))
        if self.name == "sqrt":
            return as_array(np.sqrt(y))
        if self.curve is not None:
            return _along(y, *self.curve)
        return y

    def inverse(self, z: Array) -> Array:
        """Return targets from transformed targets; negative square roots are clipped to zero."""
        if self.name == "log":
            return as_array(np.exp(np.minimum(z, _LARGEST)))
        if self.name == "sqrt":
            return as_array(np.square(np.maximum(z, 0.0)))
        if self.curve is not None:
            return _along(z, *self.curve[::-1])
        return z

    @property
    def n_knots(self) -> int:
        """Number of knots, which are parameters fitted to the targets."""
        return 0 if self.curve is None else len(self.curve[0])

    def log_slope(self, y: Array) -> Array:
        """Return logarithms of the derivative, which log densities of transformed targets gain."""
        if self.name == "log":
            return as_array(-np.log(y))
        if self.name == "sqrt":
            return as_array(-np.log(2.0 * np.sqrt(np.maximum(y, np.finfo(np.float64).tiny))))
        if self.curve is not None:
            knots, images = self.curve
            slopes = np.diff(images) / np.diff(knots)
            place = np.searchsorted(knots, y, side="right") - 1
            return as_array(np.log(slopes[np.clip(place, 0, len(slopes) - 1)]))
        return np.zeros(np.shape(y))


def _curve(y: Array) -> tuple[Array, Array]:
    """Return knots and normal quantiles of their ranks; a line if all targets are equal."""
    values, counts = np.unique(y, return_counts=True)
    if len(values) == 1:
        return values + np.array([-0.5, 0.5]), np.array([-0.5, 0.5])
    # Middle ranks of equal targets.
    middle = np.cumsum(counts) - 0.5 * counts
    count = min(_MOST_KNOTS, max(3, len(y) // _TARGETS_PER_KNOT))
    # Even ranks, not even values: a long tail would get most of the knots.
    places = np.linspace(0.0, len(y), count)
    some = np.unique(np.clip(np.searchsorted(middle, places), 0, len(values) - 1))
    some = np.unique(np.concatenate(([0], some, [len(values) - 1])))
    return values[some], as_array(ndtri(middle[some] / len(y)))


def _along(x: Array, knots: Array, images: Array) -> Array:
    """Return values of a piecewise linear curve, extrapolated by the slopes of its outer tenths."""
    values = np.interp(x, knots, images)
    count = max(1, int(_OUTER * len(knots)))
    for end, inner, side in ((0, count, x < knots[0]), (-1, -1 - count, x > knots[-1])):
        slope = (images[end] - images[inner]) / (knots[end] - knots[inner])
        values = np.where(side, images[end] + slope * (x - knots[end]), values)
    return as_array(values)


def candidates(
    y: Array, rng: Generator, count: int
) -> tuple[NDArray[np.intp], list[Transformation]]:
    """Return indices of ``count`` random targets, and the transformations of all targets."""
    least = np.min(y)
    # Transformations are tried only if they are defined for all targets.
    names = ["none", *["log"] * int(least > 0.0), *["sqrt"] * int(least >= 0.0), "rank"]
    some = np.sort(rng.permutation(len(y))[:count]).astype(np.intp)
    return some, [Transformation.of(name, y) for name in names]


def most_likely(densities: Array) -> int:
    """Return the index of the best column of log densities (n, c), or 0 if it is hardly better."""
    best = int(np.argmax(densities.mean(axis=0)))
    # Paired differences have a smaller variance than differences of means.
    gains = densities[:, best] - densities[:, 0]
    is_better = np.mean(gains) > 2.0 * np.std(gains) / np.sqrt(len(gains))
    return best if is_better else 0
