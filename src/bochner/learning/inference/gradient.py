"""The derivative of the log evidence with respect to all frequencies and the precision."""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence
from bochner.learning.inference.rows import Rows
from bochner.learning.inference.summed import SummedRows, part_features


def frequency_gradient(evidence: Evidence, rows: SummedRows) -> Array:
    r"""Return :math:`\partial \log p(y \mid \omega) / \partial \omega`, of shape (m, d).

    :math:`\partial / \partial \Phi = W (\tau (y - \Phi u) u^\top - \Phi P)` with
    :math:`\tau = a_n / b_n`, carried through cosine and sine to the angles and from there to the
    frequencies: two matrix products with the data.
    """
    m, dtype = evidence.n_frequencies, rows.dtype
    (gradient,) = rows.total(
        part_gradient,
        evidence.omega,
        evidence.covariance[: 2 * m].astype(dtype, copy=False),
        evidence.mean.astype(dtype, copy=False),
        evidence.noise.precision(evidence.residual, evidence.degrees),
        along=(evidence.features,),
        n_features=2 * len(evidence.cross),
    )
    return gradient


def part_gradient(
    part: Rows,
    Z: NDArray[np.floating] | None,
    omega: Array,
    covariance: NDArray[np.floating],
    mean: NDArray[np.floating],
    tau: float,
) -> tuple[NDArray[np.floating]]:
    """Return the gradient's share of a part of the rows."""
    Z = part_features(part, omega, Z)
    n_features = len(covariance)
    slope = covariance @ Z
    fit = mean @ Z
    weight = None if part.weight is None else part.weight.astype(Z.dtype)
    target = part.target.astype(Z.dtype)
    # Targets are stored times their weights: of W (y - Phi u), only the second term needs them.
    residual = tau * (target - (fit if weight is None else weight * fit))
    cosine, sine = Z[0:n_features:2], Z[1:n_features:2]
    # With a = cos, b = sin: d(angle) = a d/db - b d/da.
    angle = (cosine * mean[1:n_features:2, None] - sine * mean[0:n_features:2, None]) * residual
    curvature = cosine * slope[1::2]
    curvature -= sine * slope[0::2]
    if weight is not None:
        curvature *= weight
    angle -= curvature
    return (angle @ part.inputs.T,)


def log_precision_gradient(evidence: Evidence) -> float:
    r"""Return :math:`\partial \log p(y) / \partial \log \lambda_0`."""
    m = evidence.n_frequencies
    weights = evidence.mean[: 2 * m]
    trace = float(np.sum(np.diagonal(evidence.covariance)[: 2 * m]))
    tau = evidence.noise.precision(evidence.residual, evidence.degrees)
    return m - 0.5 * evidence.precision * (trace + tau * float(weights @ weights))
