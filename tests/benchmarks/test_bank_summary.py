"""What the benchmark of learned kernels makes of its rows: tables and pictures."""

import pytest
from pages import pictures_of, rows_of, table_lines

from benchmarks.bank import design
from benchmarks.bank.benchmark import BANK
from benchmarks.bank.kernel import TRUE
from benchmarks.bank.speed import GRADIENT, SWEEP


def rows(part, method, metric, *values, dataset="synthetic", n="all", m=384, threads=1):
    settings = {"part": part, "dataset": dataset, "n": n, "m": m, "threads": threads}
    return rows_of(method, metric, *values, **settings)


def accuracy(method, metric, *values, dataset="concrete"):
    return rows("accuracy", method, metric, *values, dataset=dataset)


def speed(method, threads, **seconds):
    return [
        row
        for name, value in seconds.items()
        for row in rows("speed", method, f"{name}_seconds", value, 0.5 * value, 7.0 * value,
                        dataset="bike_hourly", n=17_379, threads=threads)
    ]  # fmt: skip


ACCURACY = [
    *accuracy(design.OURS, "mse", 0.04, 0.06),
    *accuracy(design.MH, "mse", 0.1, 0.08),
    *accuracy(design.RKS, "mse", 0.2, 0.3),
    *accuracy(design.RANKS, "mse", 0.05, 0.07),
    *accuracy(design.OURS, "error", 0.24, 0.27, dataset="pima"),
]
KERNEL = [
    *rows("kernel", TRUE, "rms_up_to_constant", 0.03),
    *rows("kernel", design.OURS, "rms_up_to_constant", 0.03),
    *rows("kernel", TRUE, "rms_error", 0.0),
    *rows("kernel", design.OURS, "rms_error", 0.07),
]
SCALING = [
    row
    for n, m in ((1000, 384), (2000, 384), (8000, 384), (8000, 24), (8000, 96))
    for metric, value in (("sweep_seconds", 1e-9), ("mse", 1e-10))
    for row in rows("scaling", design.OURS, metric, value * n * m**2, dataset="bike", n=n, m=m)
]
SPEED = [
    *speed(SWEEP, 1, work=2.0, product=1.0, single=10.0, recomputed=200.0),
    *speed(GRADIENT, "all", work=3.2, product=1.0),
]


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


def test_scaling_holds_the_other_number_fixed():
    views = {view.name: view.values(SCALING) for view in pictures_of(BANK)}
    assert views["seconds-n"] == {
        ("m = 384", "bike", n): pytest.approx(1e-9 * n * 384**2) for n in (1000.0, 2000.0, 8000.0)
    }
    assert list(views["error-m"]) == [("n = 8,000", "bike", m) for m in (24.0, 96.0, 384.0)]
