"""Displays of a user's own file that break a promise are refused with what to return instead."""

from dataclasses import dataclass

import pytest

from bochner.plot.display import Display, PanelLayout


@dataclass(frozen=True, eq=False)
class Curve(Display):
    """A curve whose layout and description are given."""

    layout: object = PanelLayout()
    text: object = "A curve."

    def describe(self):
        return self.text

    def _layout(self):
        return self.layout

    def _draw(self, axes, theme):
        axes[0].plot([1.0, 2.0])


@pytest.mark.parametrize("layout", [None, 2, (1, (3, 2))])
def test_a_layout_is_a_panel_layout(layout):
    assert len(Curve(PanelLayout(panels=2)).plot().axes_) == 2
    with pytest.raises(
        TypeError, match=r"Curve\._layout must return a PanelLayout, such as .* got"
    ):
        Curve(layout).plot()


def test_a_description_is_a_text():
    display = Curve(text=None)
    for use in (display.plot, display.__repr__):
        with pytest.raises(TypeError, match=r"Curve\.describe must return a text, .* got None"):
            use()
