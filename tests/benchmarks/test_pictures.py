"""Curves of results: what is given is what is drawn."""

from pathlib import Path

import pytest
from plot.layout import faults

from benchmarks import BENCHMARKS, find, read_rows
from benchmarks.looks import LOOKS
from benchmarks.pictures import LINEAR, LOG, curves_figure

RESULTS = Path(__file__).parents[2] / "docs" / "results"

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
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["iid", "qmc"]


def test_methods_have_one_colour_in_all_pictures():
    other = curves_figure({("wine", "qmc", 2): 1.0, ("wine", "mine", 2): 2.0}, xlabel="", ylabel="")
    colors = {
        line.get_label(): line.get_color()
        for figure in (other, curves_figure(VALUES, xlabel="features", ylabel="error"))
        for axis in figure.axes
        for line in axis.lines
    }
    assert {name: colors[name] for name in ("iid", "qmc")} == {
        name: LOOKS[name].color for name in ("iid", "qmc")
    }
    assert len(set(colors.values())) == 3


def test_pairs_of_curves_are_bands():
    curves = {"mean": 1.0, "low": 0.5, "high": 2.0}
    values = {("a", name, x): y * x for name, y in curves.items() for x in (1.0, 2.0, 3.0)}
    bands = {("90 %", "mean"): ("low", "high")}
    figure = curves_figure(values, xlabel="x", ylabel="y", scales=LINEAR, bands=bands)
    (axis,) = figure.axes
    (line,) = axis.lines
    assert line.get_xydata().tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    (band,) = axis.collections
    corners = {tuple(point) for point in band.get_paths()[0].vertices.tolist()}
    assert {(1.0, 0.5), (1.0, 2.0), (3.0, 1.5), (3.0, 6.0)} <= corners
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["mean", "90 %"]


def test_many_panels_take_several_lines():
    values = {
        (f"panel {i}", f"curve {j}", x): 1.0 for i in range(6) for j in range(6) for x in (1, 2)
    }
    figure = curves_figure(values, xlabel="x", ylabel="y")
    assert [axis.get_title() for axis in figure.axes] == [f"panel {i}" for i in range(6)]
    assert len({round(axis.get_subplotspec().rowspan.start) for axis in figure.axes}) == 2
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"curve {j}" for j in range(6)]
    assert figure.axes[0].get_legend() is None
    assert [axis.get_ylabel() for axis in figure.axes] == ["y", "", "", "y", "", ""]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_no_picture_of_committed_results_has_faults(name):
    rows = read_rows(RESULTS / f"{name}.csv")
    found = {picture: faults(figure) for picture, figure in find(name).figures(rows).items()}
    assert not {picture: wrong for picture, wrong in found.items() if wrong}


def test_a_panel_with_more_than_six_curves_is_refused():
    values = {("wine", f"curve {j}", x): 1.0 for j in range(7) for x in (1, 2)}
    with pytest.raises(ValueError, match=r"'wine' has 7 curves: expected at most 6, got curve 0,"):
        curves_figure(values, xlabel="x", ylabel="y")
