"""Checks of likelihoods, which users write too: shapes, and derivatives of the log density."""

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.gaussian_process.likelihood import Likelihood

_MOST_ROWS = 5
"""Largest number of rows at which derivatives are compared: a wrong formula is wrong at most."""

_PLACES = (-0.7, 0.4)
"""Latent values from the prior mean, in units. Targets are rarely there, where densities of errors
may have kinks."""

_STEP = 1e-4
"""Step of central differences in units: truncation and rounding are below 1e-7 of the values."""

_RELATIVE, _ABSOLUTE = 0.01, 1e-6
"""Largest errors of a derivative, as a share of it and of the log density: rounding errors of
differences are a thousandth of either."""

_LARGEST = 1e12
"""Largest log density in size that is compared: larger ones overflow nearby, or are clipped."""


def latent_argument(latent: Array) -> Array:
    """Return latent values for a likelihood, without the axis of a single latent function."""
    return latent[:, 0] if latent.shape[1] == 1 else latent


def shaped(likelihood: Likelihood, method: str, values: Array, shape: tuple[int, ...]) -> Array:
    """Return values of a method; raise ``ValueError`` if they have another shape."""
    if np.shape(values) != shape:
        raise ValueError(
            f"{type(likelihood).__name__}.{method} must return an array of shape {shape}, the "
            f"first axis for the targets, got {np.shape(values)}."
        )
    return values


def check_derivatives(likelihood: Likelihood, y: Array, f: Array) -> None:
    """Raise ``ValueError`` if slope or curvature differs from a difference of the log density.

    A few rows of ``y`` (n,) are compared, at latent values near ``f`` (n, L).
    """
    rows = np.linspace(0, len(y) - 1, min(_MOST_ROWS, len(y))).astype(int)
    step = _STEP * likelihood.unit
    for place in _PLACES:
        at = f[rows] + place * likelihood.unit
        with np.errstate(all="ignore"):  # values that overflow are not compared
            density, slope, curvature = _values(likelihood, y[rows], at)
            shifts = step * np.eye(at.shape[1])
            ends = [
                [_values(likelihood, y[rows], at + sign * shift) for sign in (1.0, -1.0)]
                for shift in shifts
            ]
        by_density = [(up[0] - down[0]) / (2.0 * step) for up, down in ends]
        by_slope = [-(up[1] - down[1]) / (2.0 * step) for up, down in ends]
        for method, meaning, values, differences in (
            ("slope", "the derivative", slope, np.stack(by_density, axis=1)),
            ("curvature", "minus the second derivative", curvature, np.stack(by_slope, axis=2)),
        ):
            wrong = np.argwhere(_differs(values, differences, density, likelihood.unit))
            if len(wrong):
                place_of = tuple(wrong[0])
                raise ValueError(
                    f"{method} of {type(likelihood).__name__} differs from {meaning} of "
                    f"log_density at f = {_text(at[wrong[0][0]])}, y = {y[rows][wrong[0][0]]:g}: "
                    f"got {values[place_of]:.6g}, expected {differences[place_of]:.6g}."
                )


def _values(likelihood: Likelihood, y: Array, at: Array) -> tuple[Array, Array, Array]:
    """Return log densities (n,), slopes (n, L) and curvatures (n, L, L)."""
    f, shape = latent_argument(at), at.shape
    density = as_array(likelihood.log_density(y, f))
    slope = as_array(likelihood.slope(y, f)).reshape(shape)
    return density, slope, as_array(likelihood.curvature(y, f)).reshape(*shape, shape[1])


def _differs(values: Array, differences: Array, density: Array, unit: float) -> NDArray[np.bool_]:
    largest = np.maximum(np.abs(values), np.abs(differences))
    size = np.abs(density).reshape(-1, *[1] * (values.ndim - 1))
    least = _ABSOLUTE * (1.0 + size) / unit ** (values.ndim - 1)
    close = np.abs(values - differences) <= _RELATIVE * largest + least
    return np.asarray(~close & np.isfinite(differences) & (size <= _LARGEST), dtype=np.bool_)


def _text(f: Array) -> str:
    return ", ".join(f"{value:.4g}" for value in f)
