"""What the benchmark of learned kernels makes of its rows: tables and what was asked."""

import pytest
from pages import table_lines

from benchmarks.bank import design
from benchmarks.bank.benchmark import BANK, VIEWS
from benchmarks.bank.kernel import LAGS, TRUE, TRUE_SPECTRUM, lag_name
from benchmarks.bank.speed import GRADIENT, SWEEP
from benchmarks.figures import FIGURES


def row(part, method, metric, value, *, dataset="concrete", seed=0, n="all", m=384, threads=1):
    return {
        "dataset": dataset,
        "method": method,
        "part": part,
        "n": n,
        "m": m,
        "threads": threads,
        "seed": seed,
        "metric": metric,
        "value": value,
    }


def accuracy(method, metric, *values, dataset="concrete"):
    return [
        row(design.ACCURACY, method, metric, value, dataset=dataset, seed=seed)
        for seed, value in enumerate(values)
    ]


def speed(method, threads, **seconds):
    return [
        row(design.SPEED, method, f"{name}_seconds", value * factor, dataset="bike_hourly",
            n=17_379, threads=threads, seed=seed)
        for name, value in seconds.items()
        for seed, factor in enumerate((1.0, 0.5, 7.0))
    ]  # fmt: skip


ACCURACY = [
    *accuracy(design.OURS, "mse", 0.04, 0.06),
    *accuracy(design.MH, "mse", 0.1, 0.08),
    *accuracy(design.RKS, "mse", 0.2, 0.3),
    *accuracy(design.RANKS, "mse", 0.05, 0.07),
    *accuracy(design.RANKS, "mse", 0.03, dataset="airfoil"),
    *accuracy(design.OURS, "fit_seconds", 60.0),
    *accuracy(design.OURS, "mse", 0.02, dataset="airfoil"),
    *accuracy(design.OURS, "coverage", 0.92, 0.98, dataset="airfoil"),
    *accuracy(design.OURS, "nlpd", -0.5, dataset="airfoil"),
    *accuracy(design.OURS, "error", 0.24, 0.27, dataset="pima"),
    *accuracy(design.OURS, "nlpd", 0.5, dataset="pima"),
]
KERNEL = [
    *(
        row(design.KERNEL, method, "rms_up_to_constant", 0.03, dataset="synthetic")
        for method in (TRUE, TRUE_SPECTRUM, design.OURS)
    ),
    row(design.KERNEL, TRUE, "rms_error", 0.0, dataset="synthetic"),
    row(design.KERNEL, TRUE_SPECTRUM, "rms_error", 0.05, dataset="synthetic"),
    row(design.KERNEL, design.OURS, "rms_error", 0.07, dataset="synthetic"),
    row(design.KERNEL, design.OURS, "share_in_band", 0.85, dataset="synthetic"),
    *(
        row(design.KERNEL, method, lag_name(what, lag), 1.0 - 0.1 * lag, dataset="synthetic")
        for lag in LAGS
        for method, what in ((TRUE, "mean"), (design.OURS, "mean"), (design.OURS, "low"))
    ),
]
SCALING = [
    row(design.SCALING, design.OURS, metric, value * n * m**2, dataset="bike_hourly", n=n, m=m)
    for n, m in ((1000, 384), (2000, 384), (8000, 384), (8000, 24), (8000, 96))
    for metric, value in (("sweep_seconds", 1e-9), ("mse", 1e-10))
]
SPEED = [
    *speed(SWEEP, 1, work=2.0, product=1.0, single=10.0, recomputed=200.0),
    *speed(GRADIENT, "all", work=3.2, product=1.0),
]
EVERYTHING = [*ACCURACY, *KERNEL, *SCALING, *SPEED]


def lines(rows):
    return table_lines(BANK.summarise(rows))


@pytest.mark.parametrize(
    ("what", "reached", "met"),
    [
        ("concrete: mean square error", "0.05", "yes"),
        ("airfoil: mean square error", "0.02", "yes"),
        ("pima: error rate", "0.255", "no"),
        ("airfoil: coverage of 90 % intervals", "95.0 %", "no"),
        ("concrete: error over that of “mh” in the same time", "0.57", "yes"),
        ("concrete: mean square error, BaNK + ranks", "0.06", "no"),
        ("airfoil: mean square error, BaNK + ranks", "0.03", "yes"),
        ("sweep, threads: 1: time over that of its matrix products", "2.00", "yes"),
        ("sweep, threads: 1: faster than one at a time", "5.0", "no"),
        ("sweep, threads: 1: faster than with sums afresh", "100.0", "yes"),
        ("gradient, threads: all: time over that of its matrix products", "3.20", "no"),
    ],
)  # fmt: skip
def test_asked_and_reached(what, reached, met):
    """Means of errors over folds, medians of ratios fold by fold, ratios of median seconds."""
    assert lines(EVERYTHING)[what][0][1:] == [reached, met]


def test_how_many_are_met():
    """Those of ranks are counted by themselves."""
    text = BANK.summarise(EVERYTHING)
    assert "**Asked and reached**: 5 of 9; of the errors with ranks beside" in text
    assert "the inputs, 1 of 2." in text
    plain = [item for item in EVERYTHING if item["method"] != design.RANKS]
    assert "**Asked and reached**: 5 of 9.\n" in BANK.summarise(plain)


def test_only_the_size_that_was_asked_for_counts():
    other = [{**item, "n": 400} for item in SPEED]
    assert "Asked" not in BANK.summarise(other)
    assert "sweep, threads: 1" in lines(other)


def test_means_and_standard_errors_with_the_papers_figures_below():
    found = lines(ACCURACY)
    columns = ["0.05 ± 0.01", "0.06 ± 0.01", "0.09 ± 0.01", "0.25 ± 0.05"]
    assert columns in found["concrete"]
    assert found["paper, “concrete”"] == [["0.119", "–", "–", "0.131"]]
    assert found["paper, “pima”"] == [["0.263"]]


def test_speed_shows_medians():
    assert lines(SPEED)["gradient, threads: all"] == [["3.2", "1", "–", "–"]]


def test_the_truth_has_no_line_of_its_own():
    found = lines(KERNEL)
    assert found["BaNK"] == [["0.070", "0.030"]]
    assert TRUE not in found


@pytest.mark.parametrize(
    "rows", [ACCURACY, KERNEL, SCALING, SPEED, EVERYTHING],
    ids=["accuracy", "kernel", "scaling", "speed", "everything"],
)  # fmt: skip
def test_any_part_can_be_shown_alone(rows):
    figures = FIGURES["bank"](rows)
    text = BANK.summarise(rows)
    assert [name for name in figures if f"(bank-{name}.svg)" not in text] == []
    assert text.count("![") == len(figures)


def test_scaling_holds_the_other_number_fixed():
    views = {view.name: view.values(SCALING) for view in VIEWS}
    assert views["seconds-n"] == {
        ("m = 384", "bike_hourly", n): pytest.approx(1e-9 * n * 384**2)
        for n in (1000.0, 2000.0, 8000.0)
    }
    assert list(views["error-m"]) == [("n = 8,000", "bike_hourly", m) for m in (24.0, 96.0, 384.0)]
