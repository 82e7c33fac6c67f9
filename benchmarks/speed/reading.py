"""Seconds and memory of reading a large CSV file, next to Arrow's own parser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from pyarrow import csv

from benchmarks.results import Row
from benchmarks.speed.part import Place, by_method, seconds_and_peak, speed_part
from bochner.files.table_reading import read

OURS, ARROW = "bochner", "pyarrow"
_TOWNS = ("London", "Paris", "Berlin", "Rome", "New York")


def reading_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return seconds, and megabytes at the peak above those of the imported packages."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        csv.write_csv(_table(n, d, seed), path)
        seconds, peak = seconds_and_peak(_small, _read, str(path), method)
        size = path.stat().st_size / 1e6
    return {"reading_seconds": seconds, "reading_megabytes_of_each": peak / size}


def _table(n: int, d: int, seed: int) -> pa.Table:
    """Return a table of times, days, text and d columns of numbers."""
    rng, minutes = np.random.default_rng(seed), np.arange(n).astype("m8[m]")
    days = rng.integers(0, 3_000, n).astype("m8[D]")
    numbers = {f"x{i}": np.round(rng.normal(size=n), 3 + i % 7) for i in range(d)}
    return pa.table({
        "time": (np.datetime64("2015-01-01T00:00:00") + minutes).astype(str),
        "day": (np.datetime64("2015-01-01") + days).astype(str),
        "town": rng.choice(_TOWNS, n),
        **numbers,
    })  # fmt: skip


def _small(path: str, method: str) -> tuple[str, str]:
    with TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        small.write_text("a,b\n1,x\n2,y\n")
        read(small)  # What is imported once is no part of the reading
    return path, method


def _read(prepared: tuple[str, str]) -> None:
    path, method = prepared
    csv.read_csv(path) if method == ARROW else read(path)


def _places(quick: bool) -> Sequence[Place]:
    sizes = [(2_000, 5)] if quick else [(3_000_000, 8), (1_000, 200)]
    return [
        Place(method, n, d, 0, "csv", repetitions=3) for n, d in sizes for method in (OURS, ARROW)
    ]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**A CSV file** of n rows with a time, a day, a text and d numbers: seconds, and megabytes "
        "at the peak for each megabyte of the file.",
        by_method(rows, "reading_seconds", OURS),
        by_method(rows, "reading_megabytes_of_each"),
    )


READING = speed_part("reading", _places, reading_metrics, _page)
