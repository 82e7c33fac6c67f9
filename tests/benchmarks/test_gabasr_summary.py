"""What the benchmark of locally stationary kernels makes of its rows."""

import pytest
from pages import table_lines

from benchmarks.figures import FIGURES
from benchmarks.gabasr import design
from benchmarks.gabasr.benchmark import FIELD, GABASR, VIEWS, field_values
from benchmarks.gabasr.mixture import PLACES, metric_name
from benchmarks.gabasr.series import SHOWN, shown_name
from benchmarks.gabasr.xor import GRID, probability_name
from bochner.plot.curves import fields_figure


def row(part, dataset, method, metric, value, seed=0, m=100):
    return {
        "part": part,
        "dataset": dataset,
        "method": method,
        "metric": metric,
        "value": value,
        "seed": seed,
        "m": m,
    }


def rows_of(part, dataset, method, metric, *values):
    return [row(part, dataset, method, metric, value, seed) for seed, value in enumerate(values)]


ACCURACY = [
    *rows_of(design.ACCURACY, "transfusion", design.OURS, "auc", 0.74, 0.76),
    *rows_of(design.ACCURACY, "transfusion", design.LINEAR_SVM, "auc", 0.7, 0.8),
    *rows_of(design.ACCURACY, "transfusion", design.PUBLISHED, "auc", 0.5),
    *rows_of(design.ACCURACY, "transfusion", design.OURS, "nlpd", 0.5),
    *rows_of(design.ACCURACY, "diabetes", design.OURS, "r2", 0.47, 0.48),
    *rows_of(design.ACCURACY, "diabetes", design.OURS, "mse", 2800.0, 3000.0),
    *rows_of(design.ACCURACY, "diabetes", design.OURS, "fit_seconds", 3.0, 5.0, 90.0),
]
XOR = [
    *rows_of(design.XOR, "synthetic", design.OURS, "auc", 0.97, 0.985),
    *rows_of(design.XOR, "synthetic", design.TRUE, "auc", 0.99),
    *(
        row(design.XOR, "synthetic", design.TRUE, probability_name(x, y), x + y)
        for x in GRID
        for y in GRID
    ),
]
MIXTURE = [
    *rows_of(design.MIXTURE, "synthetic", design.OURS, "rms_error", 0.2, 0.4),
    *(row(design.MIXTURE, "synthetic", design.OURS, metric_name("function", x), x) for x in PLACES),
]
SERIES = [
    *rows_of(design.SERIES, "mcycle", design.OURS, "lpd", -4.0, -4.1, -9.0),
    *rows_of(design.SERIES, "mcycle", design.BANK, "lpd", -4.5, -4.2, -4.0),
    *rows_of(design.SERIES, "stationary", design.OURS, "lpd", -1.0, -1.0),
    *rows_of(design.SERIES, "stationary", design.BANK, "lpd", -0.9, -0.92),
    *(
        row(design.SERIES, name, method, metric, 0.5)
        for name in ("mcycle", "stationary")
        for method in (design.OURS, design.BANK)
        for metric in ("r2",)
    ),
    *(
        row(design.SERIES, "mcycle", design.OURS, shown_name(what, share), 10.0 * share)
        for what in ("place", "mean", "low", "high")
        for share in SHOWN
    ),
]
UPDATE = [
    row(design.UPDATE, "synthetic", design.OURS, f"{name}_seconds", value * factor, seed, m=400)
    for name, value in (("block", 0.01), ("refused", 0.005), ("refactored", 0.05),
                        ("recomputed", 0.12))
    for seed, factor in enumerate((1.0, 0.5, 7.0))
]  # fmt: skip
EVERYTHING = [*ACCURACY, *XOR, *MIXTURE, *SERIES, *UPDATE]


def lines(rows):
    return table_lines(GABASR.summarise(rows))


@pytest.mark.parametrize(
    ("what", "reached", "met"),
    [
        ("transfusion: area under the curve", "0.7500", "yes"),
        ("diabetes: R²", "0.4750", "no"),
        ("xor: area under the curve", "0.9775", "no"),
        ("mcycle: gain over BaNK in log predictive density, median", "+0.100", "yes"),
        ("stationary: gain over BaNK in log predictive density, median", "-0.090", "no"),
        ("block update of an amplitude: faster than sums and factorisation afresh", "12.0", "yes"),
    ],
)
def test_asked_and_reached(what, reached, met):
    """Means over folds; medians of differences split by split, and no differences of medians."""
    assert lines(EVERYTHING)[what][0][1:] == [reached, met]


def test_how_many_are_met():
    assert "**Asked and reached**: 3 of 6.\n" in GABASR.summarise(EVERYTHING)


def test_the_papers_figures_stand_below_ours():
    found = lines(ACCURACY)
    assert ["0.75 ± 0.01", "0.5", "0.75 ± 0.05"] in found["transfusion"]
    assert found["paper, “Blood Transfusion”"] == [["0.5406", "–", "0"]]
    assert [line[0] for line in found["paper, “Diabetes”"]] == ["-869.1", "5.918e+06"]
    assert ["2900 ± 100"] in found["diabetes"]
    assert ["5"] in found["diabetes"]


def test_series_are_compared_split_by_split():
    found = lines(SERIES)
    assert found["mcycle"] == [["-4.100 (0.500)", "-4.200 (0.500)", "+0.100", "-2.450, +0.300",
                                "2 of 3"]]  # fmt: skip


@pytest.mark.parametrize(
    "rows", [ACCURACY, XOR, MIXTURE, SERIES, UPDATE, EVERYTHING],
    ids=["accuracy", "xor", "mixture", "series", "update", "everything"],
)  # fmt: skip
def test_any_part_can_be_shown_alone(rows):
    figures = FIGURES["gabasr"](rows)
    text = GABASR.summarise(rows)
    assert [name for name in figures if f"(gabasr-{name}.svg)" not in text] == []
    assert text.count("![") == len(figures)


def test_an_update_is_compared_at_the_size_that_was_asked_for():
    assert lines(UPDATE)[design.OURS] == [["10", "5", "50", "120"]]
    other = [{**item, "m": 25} for item in UPDATE]
    assert "Asked" not in GABASR.summarise(other)
    assert lines(other)[design.OURS] == [["10", "5", "50", "120"]]


def test_what_the_figures_show():
    values = {view.name: view.values(EVERYTHING) for view in VIEWS}
    assert [name for name, found in values.items() if found] == ["function", "mcycle"]
    assert values["function"]["trial 0", design.OURS, PLACES[7]] == PLACES[7]
    assert values["mcycle"][design.OURS, "high", 2.5] == 2.5
    assert field_values(EVERYTHING)[design.TRUE, GRID[3], GRID[5]] == GRID[3] + GRID[5]


def test_the_first_input_of_a_field_goes_to_the_right():
    figure = FIGURES["gabasr"](XOR)[FIELD]
    mesh = figure.axes[0].collections[0]
    grid = mesh.get_array().reshape(len(GRID), len(GRID))
    assert grid[5, 3] == GRID[3] + GRID[5]
    skewed = fields_figure(
        {("a", x, y): x + 10.0 * y for x in (0.0, 1.0) for y in (0.0, 1.0, 2.0)},
        xlabel="x", ylabel="y", label="value", limits=(0.0, 21.0),
    )  # fmt: skip
    grid = skewed.axes[0].collections[0].get_array().reshape(3, 2)
    assert grid[2, 1] == 21.0
    assert grid[2, 0] == 20.0


def test_a_field_with_a_hole_is_refused():
    values = {("a", x, y): 0.0 for x in (0.0, 1.0) for y in (0.0, 1.0)}
    del values["a", 1.0, 1.0]
    with pytest.raises(ValueError, match="2 x 2 places, got 3"):
        fields_figure(values, xlabel="x", ylabel="y", label="value", limits=(0.0, 1.0))
