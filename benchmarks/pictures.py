"""Pictures of tidy results: curves in panels, and fields in the plane."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.results import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINEAR = ("linear", "linear")
SEMILOG = ("log", "linear")
LOG = ("log", "log")


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels of curves, or of fields if ``color`` names what colours mean.

    Parameters
    ----------
    name, caption, xlabel, ylabel : str
    values : callable
        From a part's rows to ordinates by panel, curve and abscissa (to colours by panel, abscissa
        and ordinate); an empty mapping means that there is nothing to draw.
    scales : tuple of two str, default=("log", "log")
        Scales of the abscissa and the ordinate.
    lowest : float or None, default=None
        Lower limit of the ordinate.
    color : str or None, default=None
        Label of the colour bar of a field of values between 0 and 1.
    """

    name: str
    caption: str
    xlabel: str
    ylabel: str
    values: Callable[[Sequence[Row]], Mapping[Any, float]]
    scales: tuple[str, str] = LOG
    lowest: float | None = None
    color: str | None = None

    def draw(self, values: Mapping[Any, float]) -> "Figure":
        """Return the figure of what ``values`` has returned."""
        # matplotlib is needed for pictures alone.
        from bochner.plot.curves import curves_figure, fields_figure

        labels = {"xlabel": self.xlabel, "ylabel": self.ylabel}
        if self.color is not None:
            return fields_figure(values, label=self.color, limits=(0.0, 1.0), **labels)
        return curves_figure(values, scales=self.scales, lowest=self.lowest, **labels)
