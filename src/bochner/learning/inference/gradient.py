"""The derivative of the log evidence with respect to all frequencies."""

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.learning.inference.evidence import Evidence
from bochner.learning.inference.summed import SummedRows, part_features
from bochner.learning.inference.training_data import TrainingData


def frequency_gradient(evidence: Evidence, rows: SummedRows) -> Array:
    r"""Return :math:`\partial \log p(y \mid \omega) / \partial \omega`, of shape (k, D).

    :math:`\partial / \partial \Phi = W (\tau (y - \Phi u) u^\top - \Phi P)` with
    :math:`\tau = a_n / b_n`, carried through cosine and sine to the angles and from there to the
    frequencies: two matrix products with the data.
    """
    m, dtype = evidence.n_waves, rows.dtype
    gradient = rows.total(
        part_gradient,
        evidence.omega,
        evidence.covariance[: 2 * m].astype(dtype, copy=False),
        evidence.mean.astype(dtype, copy=False),
        evidence.noise.precision(evidence.residual, evidence.degrees),
        along=(evidence.features,),
        n_features=2 * len(evidence.cross),
    )
    return rows.basis.pull(tuple(gradient), len(evidence.omega))


def part_gradient(
    part: TrainingData,
    Z: NDArray[np.floating] | None,
    omega: Array,
    covariance: NDArray[np.floating],
    mean: NDArray[np.floating],
    tau: float,
) -> tuple[Array, ...]:
    """Return the gradient's share of a part of the rows."""
    Z = part_features(part, omega, Z)
    n_features = len(covariance)
    slope = covariance @ Z
    fit = mean @ Z
    weight = None if part.weight is None else part.weight.astype(Z.dtype)
    target = part.target.astype(Z.dtype)
    # Targets are stored times their weights: of W (y - Phi u), only the second term needs them.
    residual = tau * (target - (fit if weight is None else weight * fit))
    if weight is not None:
        slope *= weight
    # The derivative by the features, in place.
    np.subtract(mean[:n_features, None] * residual, slope, out=slope)
    waves = part.basis.waves(omega)
    scale = 1.0 / np.sqrt(len(waves))
    return waves.gradient(part.inputs, Z[:n_features], slope, scale)
