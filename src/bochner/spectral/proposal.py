"""Frequencies for kernels of which nothing is known."""

import numpy as np

from bochner._numerics.arrays import Array, squared_norms
from bochner.spectral.allocation import ByVariance
from bochner.spectral.laws import Isotropic
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import Chi, Shell

_SHELLS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
_RATES = (0.05, 0.2, 0.8, 3.2)


def broad_proposal(rows: Array, length: float) -> SpectralMeasure:
    """Return a positive measure broad enough for most similarities of ``rows`` (n, d).

    ``length`` is a typical distance of rows, such as their median. Half of the mass is on shells,
    for functions of the lag, from a tenth to thirteen times the inverse length; half on damped
    Gaussians, for functions of the inner product. Weights are to be fitted by least squares.
    """
    dim = rows.shape[1]
    radius = float(np.sqrt(squared_norms(rows).max())) or 1.0
    shells = (
        Part(0.5 / len(_SHELLS), Isotropic(Shell(norm * np.sqrt(dim) / length), dim))
        for norm in _SHELLS
    )
    damped = (
        Part(
            0.5 / len(_RATES),
            Isotropic(Chi(), dim, radius / np.sqrt(2.0 * rate)),
            (rate / radius**2, radius),
        )
        for rate in _RATES
    )
    parts = (*shells, *damped)
    alike = (1.0,) * len(parts)
    # Every part is there, the constant too, as soon as there are as many frequencies.
    return SpectralMeasure(parts, allocation=ByVariance(alike, alike, 1))
