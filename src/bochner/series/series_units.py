"""Units in which a series is modelled."""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, as_array, rounded
from bochner._base.registry import register
from bochner._base.spreads import spreads
from bochner.series.series_model import ScaledSeries

_CONSTANT = 0.5
"""Unit of a constant input: the standard deviation of an indicator of half of the rows. The effect
of a level that no row had is then as uncertain as effects of frequent levels."""


@register(shapes={"mean": "d", "scale": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class SeriesUnits:
    """Units of a series: of times, transformed values and inputs."""

    start: float
    span: float
    step: float
    centre: float
    deviation: float
    mean: Array  # (d,)
    scale: Array  # (d,)

    def __post_init__(self) -> None:
        """Raise ValueError for units that are not positive, or different numbers of inputs."""
        units = (self.span, self.step, self.deviation, *self.scale)
        if len(self.mean) != len(self.scale) or not all(unit > 0.0 for unit in units):
            raise ValueError("units of times, values and inputs must be positive")

    def rows(
        self, times: Array, transformed: Array, inputs: Array, clock: Array | None = None
    ) -> ScaledSeries:
        """Return rows in the units of `bochner.series.components`.

        They are rounded, so that a series in other units has the same rows and the same fit.
        """
        return ScaledSeries(
            self.ranges(times - self.start),
            rounded((transformed - self.centre) / self.deviation),
            rounded((inputs - self.mean) / self.scale),
            None if clock is None else self.ranges(clock),
        )

    def ranges(self, durations: Array | float) -> Array:
        """Return durations, in units of the times, in ranges of the rows."""
        # Steps are rounded and not ranges, because rows may be many steps apart.
        n_steps = rounded(np.asarray(durations / self.step))
        return as_array(n_steps / rounded(np.asarray(self.span / self.step)))

    @classmethod
    def of(cls, times: Array, transformed: Array, inputs: Array) -> "SeriesUnits":
        """Return units in which times range from zero to one and standard deviations are one."""
        return cls(
            float(times[0]),
            float(times[-1] - times[0]),
            float(np.median(np.diff(times))),
            float(np.nanmean(transformed)),
            float(np.nanstd(transformed)),
            inputs.mean(axis=0),
            spreads(inputs, np.ones(len(inputs)), _CONSTANT),
        )
