"""The picture of a forecast in time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.special import ndtri

from bochner._numerics.arrays import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """A series, and predictions of it with standard deviations.

    Parameters
    ----------
    time, observed : ndarray of shape (n,)
    mean, std : ndarray of shape (n,)
        Predictions for all times.
    start : float
        Where the held-out part begins.
    """

    time: Array
    observed: Array
    mean: Array
    std: Array
    start: float


def forecast_figure(forecast: Forecast, *, ylabel: str, title: str) -> "Figure":
    """Return the series, the held-out part, the forecast and its 90 % band."""
    from matplotlib.figure import Figure

    held_out = forecast.time >= forecast.start
    half_width = ndtri(0.95) * forecast.std
    figure = Figure(figsize=(8.0, 3.8), layout="constrained")
    axis = figure.subplots()
    axis.plot(
        forecast.time[~held_out], forecast.observed[~held_out], ".", ms=1.5, c="0.45",
        label="observed",
    )  # fmt: skip
    axis.plot(
        forecast.time[held_out], forecast.observed[held_out], ".", ms=2.5, c="tab:red",
        label="held out",
    )  # fmt: skip
    axis.plot(forecast.time, forecast.mean, lw=0.9, c="tab:blue", label="prediction")
    axis.fill_between(
        forecast.time,
        forecast.mean - half_width,
        forecast.mean + half_width,
        color="tab:blue",
        alpha=0.2,
        lw=0,
        label="90 % interval",
    )
    axis.axvline(forecast.start, color="0.3", lw=0.8, ls="--")
    axis.set(xlabel="year", ylabel=ylabel, title=title)
    axis.legend(frameon=False, loc="upper left")
    axis.margins(x=0.01)
    return figure
