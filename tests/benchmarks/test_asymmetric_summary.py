"""What the benchmark of asymmetric kernels makes of its rows: tables and figures."""

import pytest
from pages import pictures_of, rows_of, table_lines

from benchmarks.asymmetric import design
from benchmarks.asymmetric.benchmark import ASYMMETRIC
from benchmarks.asymmetric.direction import LOGISTIC, SYMMETRISED_ALONE


def rows(part, method, metric, *values, kernel=design.SHIFT, dataset="letter", size=2):
    return rows_of(method, metric, *values, part=part, kernel=kernel, dataset=dataset, size=size)


def error(method, *values, **settings):
    return rows("error", method, "relative_error", *values, **settings)


def accuracy(method, *values, part="table 1", **settings):
    return rows(part, method, "accuracy", *values, **settings)


def masses(method, *seeds, size=2):
    return [
        row
        for name, *values in zip(design.MASS_NAMES, *seeds, strict=True)
        for row in rows("masses", method, name, *values, dataset="normal", size=size)
    ]


def seconds(kernel, *values):
    return [
        row
        for name, value in zip(("draw", "left", "both"), values, strict=True)
        for row in rows("speed", design.POLAR, f"{name}_seconds", value, kernel=kernel, size=16)
    ]


ERRORS = [
    *error(design.JORDAN_IID, 0.1, 0.9, 0.2),
    *error(design.JORDAN_SETS, 0.5),
    *error(design.POLAR_IID, 0.15),
    *error(design.POLAR, 0.05),
    *error(design.JORDAN_IID, 0.1, size=4),
    *error(design.JORDAN_SETS, 0.1, size=4),
    *error(design.POLAR_IID, 0.09, size=4),
    *error(design.POLAR, 0.06, size=4),
    *error(design.JORDAN_IID, 0.3, kernel=design.COSH),
    *error(design.POLAR_IID, 0.33, kernel=design.COSH),
]
MASSES = [
    *masses(design.SERIES, (0.65, 0.05, 0.3)),
    *masses(design.QUADRATURE, (0.65, 0.05, 0.3)),
    *masses(design.FITTED, (0.7, 0.1, 0.2), (0.7, 0.1, 0.6), size=2),
    *masses(design.FITTED, (0.7, 0.1, 0.2), (0.7, 0.1, 0.6), size=4),
]
SECONDS = [*seconds(design.GAUSSIAN, 0.01, 0.1, 0.1), *seconds(design.SINH, 0.02, 0.15, 0.25)]
TABLE = [
    *accuracy(design.ASY_JORDAN, 0.83, 0.85),
    *accuracy(design.SYM, 0.79),
    *accuracy(design.SYM_THRICE, 0.845),
    *accuracy(design.RBF, 0.78, kernel=design.GAUSSIAN),
    *accuracy(design.LINEAR, 0.72, kernel=design.LINEAR),
    *rows("table 1", design.SYM, "C", 32.0),
    *rows("table 1", design.SYM_THRICE, "C", 1.0),
]
DIRECTION = [
    *accuracy(LOGISTIC, 0.6, part="direction", kernel=design.NO_KERNEL, dataset="cora"),
    *accuracy(SYMMETRISED_ALONE, 0.5, part="direction", kernel=design.NO_KERNEL, dataset="cora"),
]


@pytest.fixture(scope="module")
def summary():
    return ASYMMETRIC.page([*ERRORS, *MASSES, *SECONDS, *TABLE, *DIRECTION])


def test_errors_are_medians_with_ratios_to_the_reference_and_over_sizes(summary):
    first, sets, shared = summary.split("Ratio of median errors")
    found = table_lines(first.split(f"**{design.COSH}**")[0])["letter, M = 2 d"]
    assert found == [["0.2", "0.5 (2.50)", "0.15 (0.75)", "0.05 (0.25)"]]
    # 0.3 and 0.9 of the equal sets, 0.75 and 0.9 of the others, their medians.
    for part, expected in ((sets, "0.60 (0.30–0.90)"), (shared, "0.82 (0.75–0.90)")):
        assert table_lines(part)[f"{design.SHIFT}, letter"][0][1] == expected


def test_masses_beside_the_exact_ones(summary):
    found = table_lines(summary)[f"{design.SHIFT}, imaginary"]
    assert found == [["0.3", "0e+00", "0.4 ± 0.2", "0.4 ± 0.2"]]


def test_seconds_over_those_of_a_gaussian(summary):
    lines = table_lines(summary)
    assert lines[f"{design.SINH}, polar"] == [["512", "0.02", "0.15 (1.50)", "0.25 (2.50)"]]
    assert lines[f"{design.GAUSSIAN}, closed form"][0][2:] == ["0.1 (1.00)", "–"]


def test_accuracies_beside_the_papers(summary):
    lines = table_lines(summary)
    assert [
        "84.00 ± 1.00", "–", "79.00 ± 0.00", "84.50 ± 0.00", "80.63", "77.97",
    ] in lines[f"letter, {design.SHIFT}"]  # fmt: skip
    assert ["78.00 ± 0.00", "–", "–", "77.55", "72.00 ± 0.00", "72.54"] in lines["letter"]
    assert "in 1 of 2 fits" in summary
    counts = (
        f"The mean of “{design.ASY_JORDAN}” is above “symmetrised, M” in 1 of 1 cases (+5.00 on "
        "average), “symmetrised, 3 M” in 0 of 1 cases (-0.50 on average), the paper's asymmetric "
        "figure in 1 of 1 cases (+3.37 on average)."
    )
    assert counts in summary
    assert design.ASY_POLAR not in "".join(summary.split("The mean of")[1:])


def test_direction_table(summary):
    lines = table_lines(summary)
    assert (lines[LOGISTIC], lines[SYMMETRISED_ALONE]) == ([["60.00 ± 0.00"]], [["50.00 ± 0.00"]])


def test_panels_go_by_kernel_and_then_by_data_set():
    rows = [
        row
        for name in ("spambase", "letter")
        for kernel in reversed(design.ASYMMETRIC)
        for row in error(design.POLAR, 0.1, kernel=kernel, dataset=name)
    ]
    view = next(view for view in pictures_of(ASYMMETRIC) if view.name == "error")
    panels = list(dict.fromkeys(key[0] for key in view.values(rows)))
    assert panels == [f"{k}, {name}" for k in design.ASYMMETRIC for name in ("spambase", "letter")]


def test_the_linear_classifier_is_a_flat_line():
    rows = [
        *TABLE,
        *accuracy(design.ASY_JORDAN, 0.7, part="accuracy", size=1),
        *accuracy(design.ASY_JORDAN, 0.9, part="accuracy", size=4),
    ]
    view = next(view for view in pictures_of(ASYMMETRIC) if view.name == "accuracy")
    panel = f"{design.SHIFT}, letter"
    assert view.values(rows) == pytest.approx({
        (panel, design.ASY_JORDAN, 1.0): 0.7,
        (panel, design.ASY_JORDAN, 2.0): 0.84,
        (panel, design.ASY_JORDAN, 4.0): 0.9,
        **{(panel, design.LINEAR, x): 0.72 for x in (1.0, 2.0, 4.0)},
    })  # fmt: skip
