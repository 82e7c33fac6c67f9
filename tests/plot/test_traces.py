"""Pictures of chains."""

import numpy as np
import pytest

from bochner import plot
from bochner.learned.trace import Trace


@pytest.fixture
def trace():
    names = ("seconds", "step_size", "acceptance_pcn", "log_evidence", "acceptance_toggle")
    records = {name: np.random.default_rng(1).random((3, 50)) for name in names}
    return Trace({**records, "n_components_used": np.full((3, 50), 4.0)}, 20)


def test_traces(trace):
    shown = ["log_evidence", "acceptance_pcn", "acceptance_toggle", "n_components_used",
             "step_size"]  # fmt: skip
    axes = plot.trace(trace).axes_
    assert [axis.get_ylabel() for axis in axes] == [name.replace("_", " ") for name in shown]
    for axis, name in zip(axes, shown, strict=True):
        assert axis.get_xlabel() == "iteration"
        for line, values in zip(axis.lines, trace.records[name], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 51))
            np.testing.assert_array_equal(line.get_ydata(), values)
        assert len({line.get_color() for line in axis.lines}) == 3
        (shade,) = axis.patches
        assert (shade.get_x(), shade.get_x() + shade.get_width()) == (0.5, 20.5)


def test_chosen_traces(trace):
    display = plot.trace(Trace(trace.records, 0), records=["seconds"])
    assert [axis.get_ylabel() for axis in display.axes_] == ["seconds"]
    assert not display.ax_.patches
    only = plot.trace(Trace({"other": np.ones((1, 3))}, 3))
    assert [axis.get_ylabel() for axis in only.axes_] == ["other"]
    with pytest.raises(KeyError, match="no record 'nothing'"):
        plot.trace(trace, records=["nothing"])


def test_many_chains_are_a_median_and_a_range():
    values = np.random.default_rng(3).random((7, 30))
    axis = plot.trace(Trace({"log_evidence": values}, 0)).ax_
    (line,) = axis.lines
    np.testing.assert_array_equal(line.get_ydata(), np.sort(values, axis=0)[3])
    vertices = axis.collections[0].get_paths()[0].vertices
    assert (vertices[:, 1].min(), vertices[:, 1].max()) == (values.min(), values.max())


def test_a_climb_in_burn_in_does_not_flatten_the_rest():
    values = np.random.default_rng(2).random((2, 50))
    values[:, 0] = -1e6
    axis = plot.trace(Trace({"log_evidence": values}, 20)).ax_
    low, high = axis.get_ylim()
    assert -4.0 < low < values[:, 20:].min()
    assert values.max() < high < 2.0
    assert axis.lines[0].get_ydata()[0] == -1e6
