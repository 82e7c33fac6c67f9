"""What the benchmark of asymmetric kernels makes of its rows: tables and figures."""

import pytest
from pages import pictures_of

from benchmarks.asymmetric import design
from benchmarks.asymmetric.benchmark import ASYMMETRIC
from benchmarks.asymmetric.direction import LOGISTIC, SYMMETRISED_ALONE


def row(part, method, value, metric, *, kernel=design.SHIFT, dataset="letter", size=2, seed=0):
    return {
        "dataset": dataset,
        "method": method,
        "part": part,
        "kernel": kernel,
        "size": size,
        "seed": seed,
        "metric": metric,
        "value": value,
    }


def error(method, value, **options):
    return row("error", method, value, "relative_error", **options)


def accuracy(method, value, **options):
    return row(options.pop("part", "table 1"), method, value, "accuracy", **options)


def masses(method, values, **options):
    return [
        row("masses", method, value, name, dataset="normal", **options)
        for name, value in zip(design.MASS_NAMES, values, strict=True)
    ]


def seconds(kernel, method, draw, left, both):
    named = zip(("draw", "left", "both"), (draw, left, both), strict=True)
    return [
        row("speed", method, value, f"{name}_seconds", kernel=kernel, size=16)
        for name, value in named
    ]


ERRORS = [
    *(error(design.JORDAN_IID, value, seed=seed) for seed, value in enumerate((0.1, 0.9, 0.2))),
    error(design.JORDAN_SETS, 0.5),
    error(design.POLAR_IID, 0.15),
    error(design.POLAR, 0.05),
    error(design.JORDAN_IID, 0.1, size=4),
    error(design.JORDAN_SETS, 0.1, size=4),
    error(design.POLAR_IID, 0.09, size=4),
    error(design.POLAR, 0.06, size=4),
    error(design.JORDAN_IID, 0.3, kernel=design.COSH),
    error(design.POLAR_IID, 0.33, kernel=design.COSH),
]
MASSES = [
    *masses(design.SERIES, (0.65, 0.05, 0.3)),
    *masses(design.QUADRATURE, (0.65, 0.05, 0.3)),
    *(item for seed, mass in enumerate((0.2, 0.6)) for size in (2, 4)
      for item in masses(design.FITTED, (0.7, 0.1, mass), size=size, seed=seed)),
]  # fmt: skip
SECONDS = [
    *seconds(design.GAUSSIAN, design.POLAR, 0.01, 0.1, 0.1),
    *seconds(design.SINH, design.POLAR, 0.02, 0.15, 0.25),
]
TABLE = [
    *(accuracy(design.ASY_JORDAN, value, seed=seed) for seed, value in enumerate((0.83, 0.85))),
    accuracy(design.SYM, 0.79),
    accuracy(design.SYM_THRICE, 0.845),
    accuracy(design.RBF, 0.78, kernel=design.GAUSSIAN),
    accuracy(design.LINEAR, 0.72, kernel=design.LINEAR),
    row("table 1", design.SYM, 32.0, "C"),
    row("table 1", design.SYM_THRICE, 1.0, "C"),
]
DIRECTION = [
    accuracy(method, value, part="direction", kernel=design.NO_KERNEL, dataset="cora")
    for method, value in ((LOGISTIC, 0.6), (SYMMETRISED_ALONE, 0.5))
]
ROWS = [*ERRORS, *MASSES, *SECONDS, *TABLE, *DIRECTION]


@pytest.fixture(scope="module")
def summary():
    return ASYMMETRIC.page(ROWS)


def line(text, *starts):
    """Return the cells of the one line of a table whose cells start so."""
    beginning = "| " + " | ".join(starts) + " |"
    (found,) = [line for line in text.splitlines() if line.startswith(beginning)]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_errors_are_medians_with_ratios_to_the_reference(summary):
    first = summary.split("Ratio of median errors")[0]
    found = line(first.split(f"**{design.COSH}**")[0], "letter, M = 2 d")
    assert found[1:] == ["0.2", "0.5 (2.50)", "0.15 (0.75)", "0.05 (0.25)"]


def test_ratios_over_sizes(summary):
    sets, shared = summary.split("Ratio of median errors")[1:]
    # 0.3 and 0.9 of the equal sets, 0.75 and 0.9 of the others, their medians.
    assert line(sets, f"{design.SHIFT}, letter")[2] == "0.60 (0.30–0.90)"
    assert line(shared, f"{design.SHIFT}, letter")[2] == "0.82 (0.75–0.90)"


def test_masses_beside_the_exact_ones(summary):
    found = line(summary, f"{design.SHIFT}, imaginary")
    assert found[1:] == ["0.3", "0e+00", "0.4 ± 0.2", "0.4 ± 0.2"]


def test_seconds_over_those_of_a_gaussian(summary):
    found = line(summary, f"{design.SINH}, polar")
    assert found[1:] == ["512", "0.02", "0.15 (1.50)", "0.25 (2.50)"]
    assert line(summary, f"{design.GAUSSIAN}, closed form")[3:] == ["0.1 (1.00)", "–"]


def test_accuracies_beside_the_papers(summary):
    found = line(summary, f"letter, {design.SHIFT}")
    assert found[1] == "84.00 ± 1.00"
    assert found[2:] == ["–", "79.00 ± 0.00", "84.50 ± 0.00", "80.63", "77.97"]
    assert line(summary, "letter")[1:] == [
        "78.00 ± 0.00", "–", "–", "77.55", "72.00 ± 0.00", "72.54",
    ]  # fmt: skip
    assert "in 1 of 2 fits" in summary
    counts = (
        f"The mean of “{design.ASY_JORDAN}” is above “symmetrised, M” in 1 of 1 cases (+5.00 on "
        "average), “symmetrised, 3 M” in 0 of 1 cases (-0.50 on average), the paper's asymmetric "
        "figure in 1 of 1 cases (+3.37 on average)."
    )
    assert counts in summary
    assert design.ASY_POLAR not in "".join(summary.split("The mean of")[1:])


def test_direction_table(summary):
    assert line(summary, LOGISTIC)[1:] == ["60.00 ± 0.00"]
    assert line(summary, SYMMETRISED_ALONE)[1:] == ["50.00 ± 0.00"]


def test_what_was_not_measured_has_no_table():
    text = ASYMMETRIC.page(ERRORS)
    for word in ("**Masses**", "**Seconds**", "**Test accuracy**", "**Direction of edges**"):
        assert word in ASYMMETRIC.page(ROWS)
        assert word not in text
    assert "asymmetric-error.svg" in text
    assert "asymmetric-accuracy.svg" not in text


def test_panels_go_by_kernel_and_then_by_data_set():
    rows = [
        error(design.POLAR, 0.1, kernel=kernel, dataset=name)
        for name in ("spambase", "letter")
        for kernel in reversed(design.ASYMMETRIC)
    ]
    view = next(view for view in pictures_of(ASYMMETRIC) if view.name == "error")
    panels = list(dict.fromkeys(key[0] for key in view.values(rows)))
    assert panels == [f"{k}, {name}" for k in design.ASYMMETRIC for name in ("spambase", "letter")]


def test_the_linear_classifier_is_a_flat_line():
    rows = [
        *TABLE,
        accuracy(design.ASY_JORDAN, 0.7, part="accuracy", size=1),
        accuracy(design.ASY_JORDAN, 0.9, part="accuracy", size=4),
    ]
    view = next(view for view in pictures_of(ASYMMETRIC) if view.name == "accuracy")
    panel = f"{design.SHIFT}, letter"
    assert view.values(rows) == pytest.approx({
        (panel, design.ASY_JORDAN, 1.0): 0.7,
        (panel, design.ASY_JORDAN, 2.0): 0.84,
        (panel, design.ASY_JORDAN, 4.0): 0.9,
        **{(panel, design.LINEAR, x): 0.72 for x in (1.0, 2.0, 4.0)},
    })  # fmt: skip
