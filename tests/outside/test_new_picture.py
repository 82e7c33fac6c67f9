"""A picture of a user's own file has the style, the text and the formats of the others."""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array
from bochner.plot import to_svg
from bochner.plot.axis_texts import finish
from bochner.plot.display import Display, PanelLayout
from bochner.plot.style import DATA


@dataclass(frozen=True, slots=True, eq=False)
class LagDisplay(Display):
    """Values of a series over the values before them."""

    values: Array

    def describe(self):
        return f"{len(self.values) - 1} values over the values before them."

    def _layout(self):
        return PanelLayout()

    def _draw(self, axes, theme):
        (axis,) = axes
        axis.plot(self.values[:-1], self.values[1:], "o", color=DATA, ms=2.0)
        finish(axis, "value before", "value")


def test_it_is_drawn_described_and_written():
    values = np.sin(np.arange(30.0))
    display = LagDisplay(values).plot()
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), values[:-1])
    assert display.ax_.get_xlabel() == "value before"
    assert repr(display) == "<LagDisplay: 29 values over the values before them>"
    svg = to_svg(display, title="Lags", description=display.describe())
    assert svg.lstrip().startswith("<svg")
    assert "29 values" in svg
