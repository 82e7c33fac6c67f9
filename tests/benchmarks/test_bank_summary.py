"""What the benchmark of learned kernels makes of its rows: tables and pictures."""

import pytest
from pages import pictures_of, table_lines

from benchmarks.bank import design
from benchmarks.bank.benchmark import BANK
from benchmarks.bank.kernel import LAGS, TRUE, TRUE_SPECTRUM, lag_name
from benchmarks.bank.speed import GRADIENT, SWEEP


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
        row("accuracy", method, metric, value, dataset=dataset, seed=seed)
        for seed, value in enumerate(values)
    ]


def speed(method, threads, **seconds):
    return [
        row("speed", method, f"{name}_seconds", value * factor, dataset="bike_hourly",
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
        row("kernel", method, "rms_up_to_constant", 0.03, dataset="synthetic")
        for method in (TRUE, TRUE_SPECTRUM, design.OURS)
    ),
    row("kernel", TRUE, "rms_error", 0.0, dataset="synthetic"),
    row("kernel", TRUE_SPECTRUM, "rms_error", 0.05, dataset="synthetic"),
    row("kernel", design.OURS, "rms_error", 0.07, dataset="synthetic"),
    row("kernel", design.OURS, "share_in_band", 0.85, dataset="synthetic"),
    *(
        row("kernel", method, lag_name(what, lag), 1.0 - 0.1 * lag, dataset="synthetic")
        for lag in LAGS
        for method, what in ((TRUE, "mean"), (design.OURS, "mean"), (design.OURS, "low"))
    ),
]
SCALING = [
    row("scaling", design.OURS, metric, value * n * m**2, dataset="bike_hourly", n=n, m=m)
    for n, m in ((1000, 384), (2000, 384), (8000, 384), (8000, 24), (8000, 96))
    for metric, value in (("sweep_seconds", 1e-9), ("mse", 1e-10))
]
SPEED = [
    *speed(SWEEP, 1, work=2.0, product=1.0, single=10.0, recomputed=200.0),
    *speed(GRADIENT, "all", work=3.2, product=1.0),
]
EVERYTHING = [*ACCURACY, *KERNEL, *SCALING, *SPEED]


def lines(rows):
    return table_lines(BANK.page(rows))


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
    figures = BANK.figures(rows)
    text = BANK.page(rows)
    assert "asked" not in text
    assert [name for name in figures if f"(bank-{name}.svg)" not in text] == []
    assert text.count("![") == len(figures)


def test_scaling_holds_the_other_number_fixed():
    views = {view.name: view.values(SCALING) for view in pictures_of(BANK)}
    assert views["seconds-n"] == {
        ("m = 384", "bike_hourly", n): pytest.approx(1e-9 * n * 384**2)
        for n in (1000.0, 2000.0, 8000.0)
    }
    assert list(views["error-m"]) == [("n = 8,000", "bike_hourly", m) for m in (24.0, 96.0, 384.0)]
