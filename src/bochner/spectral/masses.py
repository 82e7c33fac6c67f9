"""Masses of the parts of a measure, fitted to exact kernel values by least squares."""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.limits import NEGLIGIBLE
from bochner.frequencies import Frequencies
from bochner.spectral.least_squares import Sample

_RIDGE = 1e-6  # relative: 1e-12 of the square, just above rounding


def least_squares_masses(
    parts: Sequence[Frequencies], sample: Sample, value_at_zero: float | None = None
) -> list[Frequencies]:
    r"""Return the frequencies of parts with the masses that fit a Gram matrix.

    With :math:`\hat K_g` the Gram matrix of a part at its present mass, factors :math:`\xi_g` of
    the masses solve

    .. math:: \min_\xi \Big\| K - \sum_g \xi_g \hat K_g \Big\|_F^2 \quad \text{subject to} \quad
              \xi \geq 0, \quad \sum_g \xi_g \hat k_g(0) = k(0),

    so that no mass changes its sign (He, He, Liu, Huang, "Random Fourier features for asymmetric
    kernels", 2022, (12) and Algorithm 2). The parts of a Jordan decomposition are real, of zero
    phase, or imaginary, of phases :math:`\pm\pi/2`; the latter do not count at zero. There is no
    such constraint if ``value_at_zero`` is ``None`` or a part has other phases. A ridge towards the
    present masses decides what the sample does not determine; few rows are enough. It is a
    ``ValueError`` if there are no parts, or no nonnegative factors give ``value_at_zero``.

    Every feasible :math:`\xi` is a convex combination of vertices, at each of which one real part
    has all of :math:`k(0)`, plus nonnegative multiples of rays: one for each imaginary part, and
    one for each pair of real parts of opposite sign, whose masses grow by the same amount. The
    multipliers are found exactly, by nonnegative least squares.
    """
    if not parts:
        raise ValueError("At least one part of a measure is needed, got none.")
    vertices, rays = _feasible(_values_at_zero(parts, value_at_zero), value_at_zero)
    grams, target = _damped(parts, sample)
    columns = np.concatenate([target[:, None] - grams @ vertices, -grams @ rays], axis=1)
    factor = np.concatenate([vertices, rays], axis=1) @ _least(columns, vertices.shape[1])
    return [
        part.with_weights(xi * part.weight) for part, xi in zip(parts, factor.tolist(), strict=True)
    ]


def _damped(parts: Sequence[Frequencies], sample: Sample) -> tuple[Array, Array]:
    """Return the parts' Gram matrices as columns and the target, with a row for each factor."""
    columns = [part.gram(sample.left, sample.right).ravel() for part in parts]
    target = sample.gram.ravel()
    # Relative to what a part's Gram matrix could be: rows that are all the same give sines of
    # rounding errors, which would be blown up to any size.
    reach = np.array([np.abs(part.weight).sum() for part in parts])
    damping = _RIDGE * np.sqrt(len(target)) * reach
    size = float(np.linalg.norm(target)) or 1.0
    grams = np.concatenate([np.stack(columns, axis=1), np.diag(damping)])
    return grams / size, np.concatenate([target, damping]) / size


def _values_at_zero(parts: Sequence[Frequencies], value_at_zero: float | None) -> Array:
    """Return what each part has at zero; zeros where that is not constrained."""
    real = [not part.phase.any() for part in parts]
    imaginary = [bool((np.abs(np.cos(part.phase)) < NEGLIGIBLE).all()) for part in parts]
    free = value_at_zero is None or not np.logical_or(real, imaginary).all()
    if free:
        return np.zeros(len(parts))
    origins = ((np.zeros((1, part.dim)), np.zeros((1, part.dim_right))) for part in parts)
    values = [part.gram(*origin)[0, 0] for part, origin in zip(parts, origins, strict=True)]
    return np.where(real, values, 0.0)


def _feasible(values: Array, value_at_zero: float | None) -> tuple[Array, Array]:
    """Return vertices and rays of the factors, as columns, each with a row for each part."""
    unit = np.eye(len(values))
    whole = 0.0 if value_at_zero is None or not values.any() else value_at_zero
    helps = values * (1.0 if whole >= 0.0 else -1.0)
    more, less = np.flatnonzero(helps > 0.0), np.flatnonzero(helps < 0.0)
    free = unit[:, helps == 0.0]
    pairs = [unit[i] / helps[i] - unit[j] / helps[j] for i in more for j in less]
    rays = np.concatenate([free, *(pair[:, None] for pair in pairs)], axis=1)
    if whole == 0.0:
        return np.zeros((len(values), 1)), rays
    if not len(more):
        raise ValueError(
            f"The value at zero is {value_at_zero:.6g}, but no part of zero phase has that sign: "
            f"their values at zero are {values[less].tolist()}; give value_at_zero=None."
        )
    return unit[:, more] * (whole / values[more]), rays


def _least(columns: Array, n_vertices: int) -> Array:
    r"""Minimise :math:`\|Mz\|` over :math:`z \geq 0` whose first entries sum to one.

    The scaled solution of :math:`\min \|Mz\|^2 + (1 - \sum z_i)^2` satisfies the conditions of
    Karush, Kuhn and Tucker of that problem.
    """
    triangle = np.linalg.qr(columns, mode="r")
    ends = np.arange(columns.shape[1]) < n_vertices
    system = np.concatenate([triangle, ends[None].astype(np.float64)])
    multiplier = nnls(system, np.eye(len(system))[-1])[0]
    return as_array(multiplier / multiplier[ends].sum())
