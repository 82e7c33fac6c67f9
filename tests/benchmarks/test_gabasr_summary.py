"""What the benchmark of locally stationary kernels makes of its rows."""

from pages import rows_of, table_lines, values_by_picture

from benchmarks.gabasr import design
from benchmarks.gabasr.accuracy import GRID, probability_name
from benchmarks.gabasr.benchmark import GABASR
from benchmarks.gabasr.mixture import PLACES
from benchmarks.gabasr.series import SHOWN
from benchmarks.pictures import fields_figure
from benchmarks.results import name_at


def rows(part, dataset, method, metric, *values, m=100):
    return rows_of(method, metric, *values, part=part, dataset=dataset, m=m)


def accuracy(dataset, method, metric, *values):
    return rows("accuracy", dataset, method, metric, *values)


ACCURACY = [
    *accuracy("transfusion", design.OURS, "auc", 0.74, 0.76),
    *accuracy("transfusion", design.LINEAR_SVM, "auc", 0.7, 0.8),
    *accuracy("transfusion", design.PUBLISHED, "auc", 0.5),
    *accuracy("transfusion", design.OURS, "nlpd", 0.5),
    *accuracy("diabetes", design.OURS, "r2", 0.47, 0.48),
    *accuracy("diabetes", design.OURS, "mse", 2800.0, 3000.0),
    *accuracy("diabetes", design.OURS, "fit_seconds", 3.0, 5.0, 90.0),
]
XOR = [
    row
    for x in GRID
    for y in GRID
    for row in rows("xor", "synthetic", design.TRUE, probability_name(x, y), x + y)
]
MIXTURE = [
    row
    for x in PLACES
    for row in rows("mixture", "synthetic", design.OURS, name_at("function", x), x)
]
SERIES = [
    *rows("nonstationary", "mcycle", design.OURS, "lpd", -4.0, -4.1, -9.0),
    *rows("nonstationary", "mcycle", design.BANK, "lpd", -4.5, -4.2, -4.0),
    *rows("nonstationary", "mcycle", design.OURS, "r2", 0.5),
    *rows("nonstationary", "mcycle", design.BANK, "r2", 0.5),
]
SHOWN_SERIES = [
    row
    for what in ("place", "mean", "low", "high")
    for share in SHOWN
    for row in rows("nonstationary", "mcycle", design.OURS, name_at(what, share), 10.0 * share)
]
UPDATE = [
    row
    for name, value in (("block", 0.01), ("refused", 0.005), ("refactored", 0.05),
                        ("recomputed", 0.12))
    for row in rows("update", "synthetic", design.OURS, f"{name}_seconds",
                    value, 0.5 * value, 7.0 * value, m=400)
]  # fmt: skip


def lines(rows):
    return table_lines(GABASR.page(rows))


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


def test_the_seconds_of_an_update():
    assert lines(UPDATE)[design.OURS] == [["10", "5", "50", "120"]]
    other = [{**item, "m": 25} for item in UPDATE]
    assert lines(other)[design.OURS] == [["10", "5", "50", "120"]]


def test_what_the_figures_show():
    values = values_by_picture(GABASR, [*XOR, *MIXTURE, *SERIES, *SHOWN_SERIES])
    assert [name for name, found in values.items() if found] == ["xor", "function", "mcycle"]
    assert values["function"]["", design.OURS, PLACES[7]] == PLACES[7]
    assert values["mcycle"][design.OURS, "high", 2.5] == 2.5
    assert values["xor"][design.TRUE, GRID[3], GRID[5]] == GRID[3] + GRID[5]


def test_the_first_input_of_a_field_goes_to_the_right():
    figure = GABASR.figures(XOR)["xor"]
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
