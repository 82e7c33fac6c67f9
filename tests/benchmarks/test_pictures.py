"""Curves of results: what is given is what is drawn."""

from benchmarks.pictures import LOG, curves_figure

VALUES = {
    ("wine", "iid", 2): 0.5,
    ("wine", "iid", 8): 0.25,
    ("wine", "qmc", 2): 0.3,
    ("letter", "iid", 2): 0.6,
    ("letter", "iid", 8): 0.2,
}


def test_curves():
    figure = curves_figure(VALUES, xlabel="features", ylabel="error")
    assert [axis.get_title() for axis in figure.axes] == ["wine", "letter"]
    assert {axis.get_xlabel() for axis in figure.axes} == {"features"}
    assert figure.axes[0].get_ylabel() == "error"
    drawn = {
        (axis.get_title(), line.get_label(), x): y
        for axis in figure.axes
        for line in axis.lines
        for x, y in line.get_xydata()
    }
    assert drawn == VALUES
    assert {(axis.get_xscale(), axis.get_yscale()) for axis in figure.axes} == {LOG}
    shown = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert shown == ["iid", "qmc"]


def test_many_panels_take_several_lines_and_many_curves_an_outer_legend():
    values = {
        (f"panel {i}", f"curve {j}", x): 1.0 for i in range(6) for j in range(9) for x in (1, 2)
    }
    figure = curves_figure(values, xlabel="x", ylabel="y")
    assert [axis.get_title() for axis in figure.axes] == [f"panel {i}" for i in range(6)]
    assert len({round(axis.get_subplotspec().rowspan.start) for axis in figure.axes}) == 2
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"curve {j}" for j in range(9)]
    assert figure.axes[0].get_legend() is None
    assert [axis.get_ylabel() for axis in figure.axes] == ["y", "", "", "", "y", ""]
