"""What the benchmark of indefinite kernels makes of its rows: tables and figures."""

import numpy as np
import pytest
from pages import pictures_of, rows_of

from benchmarks.indefinite import design
from benchmarks.indefinite.benchmark import INDEFINITE

DELTA = design.MAIN[0]


def rows(method, *values, metric="relative_error", kernel=DELTA, dataset="toy", size=2):
    return rows_of(method, metric, *values, kernel=kernel, dataset=dataset, size=size)


ROWS = [
    *rows(design.DESIGNED, 0.3, 0.1, 0.2),
    *rows(design.LEAST_SQUARES, 0.05),
    *rows(design.JORDAN, 0.15),
    *rows(design.SPHERICAL, 0.9),
    *rows(design.NYSTROM, 0.02),
    *rows(design.LEVERAGE, 0.08),
    *rows(design.DESIGNED, 0.1, size=8),
    *rows(design.LEAST_SQUARES, 0.06, size=8),
    *rows(design.JORDAN, 0.4, size=8),
    *rows(design.NYSTROM, 1e-9, size=8),
    *rows(design.DESIGNED, 0.3, kernel="NTK"),
    *rows(design.NYSTROM, 0.5, kernel="NTK"),
    *rows(design.DESIGNED, 0.25, 0.25, 0.25, metric="predicted_error"),
    *rows(design.LEAST_SQUARES, 0.05, metric="fit_error"),
    *rows(design.JORDAN, 0.5, 0.7, 0.9, metric="accuracy"),
    *rows(design.JORDAN, 1.0, 100.0, 100.0, metric="C"),
    *rows(design.DESIGNED, 1.5, metric="feature_seconds"),
    *rows(design.DESIGNED, 7.5, metric="feature_seconds", kernel="NTK"),
]


@pytest.fixture(scope="module")
def summary():
    return INDEFINITE.page(ROWS)


def table(text, title, index=0):
    """Return the lines of the table that follows a title, cell by cell."""
    part = text.split(f"**{title}**\n\n")[1 + index].split("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in part.splitlines()]


def test_the_table_of_errors(summary):
    header, _, *lines = table(summary, DELTA)
    assert header == [
        "data set, size", design.DESIGNED, design.LEAST_SQUARES, design.JORDAN, design.SPHERICAL,
        design.NYSTROM, design.LEVERAGE,
    ]  # fmt: skip
    assert lines == [
        ["toy, s = 2 d", "0.2", "**0.05**", "0.15", "0.9", "0.02 (2.5)", "0.08"],
        ["toy, s = 8 d", "0.1", "**0.06**", "0.4", "–", "1e-09 (over 10,000)", "–"],
    ]
    assert table(summary, "NTK")[2:] == [["toy, s = 2 d", "**0.3**", "0.5"]]


def test_what_the_errors_add_up_to(summary):
    for said in (
        f"“{design.DESIGNED}” is below every other random-feature method in 1 of 2 cells that "
        f"have one. Not in: {DELTA}, toy, s = 2 d ({design.JORDAN}).",
        f"“{design.LEAST_SQUARES}” is below every other random-feature method in 2 of 2 cells",
        f"lower than that of “{design.DESIGNED}” in 2 of 3 cells, by a factor of 10 to over 10,000",
        f"lower than that of “{design.LEAST_SQUARES}” in 2 of 2 cells, by a factor of 2.5 to",
    ):
        assert said in summary


def test_predictions_are_met_in_the_root_mean_square(summary):
    ratio = np.sqrt((0.3**2 + 0.1**2 + 0.2**2) / 3.0) / 0.25
    assert f"| {DELTA} | toy, s = 2 d | {ratio:.2f} | 1.00 |" in summary
    assert f"“{design.DESIGNED}” in 1 of 1, “{design.DESIGNED_IID}” in 0 of 0" in summary


def test_accuracies_and_seconds(summary):
    assert table(summary, DELTA, 1) == [
        ["data set, size", design.JORDAN], ["---", "---:"], ["toy, s = 2 d", "70.0"]
    ]  # fmt: skip
    assert "chosen in 2 of 3 fits" in summary
    assert table(summary, DELTA, 2)[2] == ["toy, s = 2 d", "1.5"]
    assert "7.5" not in summary


def test_figures_draw_medians():
    figures = INDEFINITE.figures(ROWS)
    assert set(figures) == {"error", "accuracy", "schemes", "others"}
    (axis,) = figures["error"].axes
    assert axis.get_title() == "toy"
    drawn = {line.get_label(): line.get_xydata().tolist() for line in axis.lines}
    assert drawn[design.DESIGNED] == [[2, 0.2], [8, 0.1]]
    assert drawn[design.NYSTROM] == [[2, 0.02], [8, 1e-9]]
    assert axis.get_ylim()[0] == 1e-6
    schemes = {line.get_label() for line in figures["schemes"].axes[0].lines}
    assert schemes == {design.JORDAN, design.DESIGNED}
    assert figures["accuracy"].axes[0].get_yscale() == "linear"


def test_panels_are_named_by_what_differs():
    def panels(rows):
        return list(dict.fromkeys(key[0] for key in pictures_of(INDEFINITE)[1].values(rows)))

    two = [row for k in reversed(design.MAIN) for row in rows(design.DESIGNED, 0.1, kernel=k)]
    assert panels(two) == list(design.MAIN)
    four = [*two, *(dict(row, dataset="other") for row in two)]
    assert panels(four) == [f"{k}, {name}" for k in design.MAIN for name in ("toy", "other")]
    assert panels(four[::2]) == ["toy", "other"]
    assert panels([]) == []
