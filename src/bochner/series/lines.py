"""Spectral lines (periods) in the prediction errors of a model."""

import numpy as np
from scipy.fft import next_fast_len, rfft

from bochner._base.arrays import Array

_FEWEST_TURNS = 3.0
"""Smallest number of periods in the range of the rows: fewer look like slow changes."""

_PADDING = 4
"""Frequencies per width of a line: the largest power on the grid is lower than the peak by a few
per cent at most."""

_SURPRISE = 7.0
"""Excess power of a significant line, in nats above the expected maximum of independent errors: one
series in a thousand without lines has one."""


def strongest_period(times: Array, errors: Array, step: float) -> float | None:
    """Return the period of the strongest line in one-step errors of variance one, if it is real.

    ``errors`` (n,) at ``times`` (n,), about ``step`` apart, have no lines if the model is complete:
    the power of each frequency is then exponential with mean one.
    """
    places = np.rint((times - times[0]) / step).astype(np.int64)
    size = int(places[-1]) + 1
    # On a regular grid, where missing rows count as errors of zero.
    binned = np.bincount(places, weights=errors, minlength=size)
    padded = next_fast_len(_PADDING * size, real=True)
    power = np.abs(rfft(binned, padded)) ** 2 / len(errors)
    frequency = np.arange(len(power)) / (padded * step)
    power[frequency * (times[-1] - times[0]) < _FEWEST_TURNS] = 0.0
    best = int(np.argmax(power))
    if power[best] < np.log(0.5 * size) + _SURPRISE:
        return None
    return float(1.0 / frequency[best])
