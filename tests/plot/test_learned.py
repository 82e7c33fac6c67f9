"""Pictures of what is learned: the drawn data are what they should be, recomputed here."""

import io

import numpy as np
import pytest
from plot.test_spectra import FREQUENCIES

from bochner import plot
from bochner.kernels import Gaussian, SpectralMixture
from bochner.learning.trace import Trace

RNG = np.random.default_rng(0)
SCALES = RNG.uniform(0.5, 2.0, 41)


def band_edges(collection, x):
    """The lower and the upper edge of a band at its abscissae."""
    vertices = collection.get_paths()[0].vertices
    at = [vertices[np.isclose(vertices[:, 0], value), 1] for value in x]
    return np.array([[y.min(), y.max()] for y in at]).T


def test_kernels_are_drawn_along_each_input_in_its_units():
    draws = [Gaussian((scale, 2.0 * scale)) for scale in SCALES]
    mean = SpectralMixture([1.0], [[2.0, 3.0]], [[0.1, 0.2]])
    figure = plot.kernel_figure(draws, mean, 2, names=["time", "place"], extent=(3.0, 5.0))
    assert [axis.get_xlabel() for axis in figure.axes] == ["lag in time", "lag in place"]
    assert [axis.get_xlim() for axis in figure.axes] == [(0.0, 3.0), (0.0, 5.0)]
    for axis, frequency, variance in zip(figure.axes, (2.0, 3.0), (0.1, 0.2), strict=True):
        line = next(line for line in axis.lines if line.get_label() == "mean")
        lags, values = line.get_data()
        assert (lags[0], lags[-1]) == axis.get_xlim()
        expected = np.exp(-0.5 * variance * lags**2) * np.cos(frequency * lags)
        np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_kernel_band_holds_its_share_of_draws(level):
    figure = plot.kernel_figure([Gaussian(s) for s in SCALES], None, 1, extent=4.0, level=level)
    (axis,) = figure.axes
    (band,) = axis.collections
    lags, mean = next(line for line in axis.lines if line.get_label() == "mean").get_data()
    draws = np.exp(-0.5 * (lags / SCALES[:, None]) ** 2)
    np.testing.assert_allclose(mean, draws.mean(axis=0))
    edges = band_edges(band, lags)
    # The kernel increases with the scale, so quantiles are those of the scales; of 41 draws
    # they are draws at these levels.
    ends = np.sort(SCALES)[[round(40 * (0.5 - level / 2)), round(40 * (0.5 + level / 2))]]
    np.testing.assert_allclose(edges, np.exp(-0.5 * (lags / ends[:, None]) ** 2), atol=1e-12)
    assert band.get_label() == f"{100 * level:g} % of draws"


def test_any_function_is_a_kernel_and_inputs_are_chosen_by_name_or_number():
    def linear(X, Y):
        X += 1.0  # a function that spoils its rows
        return (X - 1.0) @ [[1.0], [2.0], [3.0]] - Y.sum(axis=1)

    figure = plot.kernel_figure(
        [linear], linear, 3, inputs=["c", 0], names=["a", "b", "c"], extent=2.0
    )
    ends = [axis.lines[0].get_ydata()[-1] for axis in figure.axes]
    assert ends == pytest.approx([6.0, 2.0])


@pytest.fixture
def trace():
    names = ("seconds", "step_size", "acceptance_pcn", "log_evidence", "acceptance_toggle")
    records = {name: np.random.default_rng(1).random((3, 50)) for name in names}
    return Trace({**records, "n_components_used": np.full((3, 50), 4.0)}, 20)


def test_traces(trace):
    figure = plot.trace_figure(trace)
    shown = [
        "log_evidence",
        "acceptance_pcn",
        "acceptance_toggle",
        "n_components_used",
        "step_size",
    ]
    assert [axis.get_ylabel() for axis in figure.axes] == [name.replace("_", " ") for name in shown]
    for axis, name in zip(figure.axes, shown, strict=True):
        assert axis.get_xlabel() == "iteration"
        for line, values in zip(axis.lines, trace.records[name], strict=True):
            np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 51))
            np.testing.assert_array_equal(line.get_ydata(), values)
        assert len({line.get_color() for line in axis.lines}) == 3
        (shade,) = axis.patches
        assert (shade.get_x(), shade.get_x() + shade.get_width()) == (0.5, 20.5)


def test_chosen_traces(trace):
    figure = plot.trace_figure(Trace(trace.records, 0), records=["seconds"])
    assert [axis.get_ylabel() for axis in figure.axes] == ["seconds"]
    assert not figure.axes[0].patches
    only = plot.trace_figure(Trace({"other": np.ones((1, 3))}, 3))
    assert [axis.get_ylabel() for axis in only.axes] == ["other"]
    with pytest.raises(KeyError, match="no record 'nothing'"):
        plot.trace_figure(trace, records=["nothing"])


def test_a_climb_in_burn_in_does_not_flatten_the_rest():
    values = np.random.default_rng(2).random((2, 50))
    values[:, 0] = -1e6
    (axis,) = plot.trace_figure(Trace({"log_evidence": values}, 20)).axes
    low, high = axis.get_ylim()
    assert -4.0 < low < values[:, 20:].min()
    assert values.max() < high < 2.0
    assert axis.lines[0].get_ydata()[0] == -1e6


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_predictions(level):
    rng = np.random.default_rng(3)
    std = rng.uniform(0.5, 2.0, 200)
    y = rng.normal(size=200)
    mean = y + std * rng.normal(size=200)
    (axis,) = plot.prediction_figure(y, mean, std, level=level).axes
    quantile = {0.5: 0.6744897501960817, 0.9: 1.6448536269514722}[level]
    covered = (mean - quantile * std <= y) & (y <= mean + quantile * std)
    expected = f"{100 * level:g} % intervals cover {100 * covered.mean():.1f} %"
    assert axis.get_title() == expected
    lines = {line.get_label(): line.get_xydata() for line in axis.lines}
    for label, rows, bars in zip(
        ("covered", "missed"), (covered, ~covered), axis.collections, strict=True
    ):
        np.testing.assert_array_equal(lines[label], np.column_stack([y, mean])[rows])
        segments = np.array(bars.get_segments())
        np.testing.assert_array_equal(segments[:, :, 0], np.column_stack([y, y])[rows])
        ends = np.column_stack([mean - quantile * std, mean + quantile * std])
        np.testing.assert_allclose(segments[:, :, 1], ends[rows])
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("observed", "predicted")


def test_relevance():
    inclusion, importance, *pairs = np.random.default_rng(5).random((6, 4))
    names = ["a", "b", "c", "d"]
    figure = plot.relevance_figure({"in": inclusion, "much": importance}, pairs, names=names)
    bars, plane = figure.axes[:2]
    containers = {container.get_label(): container for container in bars.containers}
    for label, values in (("in", inclusion), ("much", importance)):
        np.testing.assert_allclose([bar.get_width() for bar in containers[label]], values)
        middles = [bar.get_y() + 0.5 * bar.get_height() for bar in containers[label]]
        np.testing.assert_array_equal(np.round(middles), range(4))
    for axis in (bars, plane):
        assert [text.get_text() for text in axis.get_yticklabels()] == names
    shown = plane.images[0].get_array().filled(np.nan)
    np.testing.assert_array_equal(shown, np.where(np.eye(4) > 0.0, np.nan, pairs))


def test_relevance_alone():
    figure = plot.relevance_figure([0.5, 0.25])
    assert [bar.get_width() for bar in figure.axes[0].patches] == [0.5, 0.25]
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["x0", "x1"]
    # The first input is on top.
    assert figure.axes[0].yaxis_inverted()


def test_all_can_be_written_and_leave_their_inputs_alone(trace):
    arrays = [FREQUENCIES, SCALES[:9].reshape(3, 3).copy(), SCALES.copy()]
    before = [array.copy() for array in arrays]
    for figure in (
        plot.kernel_figure([Gaussian()], None, 3, extent=arrays[2][:3]),
        plot.spectrum_figure(arrays[0], np.ones((5, 400)), inputs=[0, 1]),
        plot.trace_figure(trace),
        plot.prediction_figure(arrays[2], arrays[2], arrays[2]),
        plot.relevance_figure(arrays[2][:3], arrays[1]),
    ):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=30)
        assert buffer.getvalue().startswith(b"\x89PNG")
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def kernels(**arguments):
    given = {"kernels": [Gaussian()], "mean_kernel": None, "dim": 2, **arguments}
    return lambda: plot.kernel_figure(**given)


REFUSED = [
    (kernels(kernels=[]), "no kernel to draw"),
    (kernels(level=1.0), "level must be between 0 and 1"),
    (kernels(extent=(1.0, 2.0, 3.0)), "extent must be a positive number, or one for each of 2"),
    (kernels(extent=0.0), "extent must be a positive number"),
    (kernels(inputs=[2]), r"some of x0, x1, by name or number, got \[2\]"),
    (kernels(inputs=[]), "some of x0, x1"),
    (kernels(names=["a"]), "one for each of 2 inputs"),
    (kernels(mean_kernel=lambda X, Y: np.zeros(len(X))), r"return shape \(201, 1\)"),
    *(
        (
            lambda std=std: plot.prediction_figure([1.0, 2.0], [1.0, 2.0], std),
            r"one shape \(n,\), got \(2,\), \(2,\) and",
        )
        for std in ([1.0], [[1.0, 1.0]])
    ),
    *(
        (lambda relevance=relevance: plot.relevance_figure(relevance), "one number per input")
        for relevance in ({}, [[1.0]], {"a": [1.0], "b": [1.0, 2.0]})
    ),
    (
        lambda: plot.relevance_figure([1.0, 2.0], np.ones((3, 3))),
        r"interactions must have shape \(2, 2\)",
    ),
]


@pytest.mark.parametrize(("draw", "message"), REFUSED)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
