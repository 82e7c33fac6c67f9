"""Seconds and memory of reading files of delimited text, next to pyarrow and pandas."""

import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, markdown_table, medians

METHODS: Mapping[str, tuple[str, str]] = {
    "bochner": ("from bochner import read_table", "read_table(path)"),
    "pandas": ("import pandas", "pandas.read_csv(path)"),
    "pyarrow": ("from pyarrow import csv", "csv.read_csv(path)"),
}
"""Imports and calls that read the file at a path, by method."""

SHAPES: Mapping[str, tuple[int, int]] = {
    "3,000,000 rows of 13 columns": (3_000_000, 13),
    "1,000 rows of 200 columns": (1_000, 200),
}
"""Rows and columns of the files."""

_QUICK_ROWS = 2_000  # Some seconds
_PIECE = 100_000  # Rows that are written at once

_TIMED = """
import gc, resource, sys, warnings
from time import perf_counter
import numpy, pandas, pyarrow
{imports}
warnings.simplefilter("ignore")
path = {small!r}
{call}  # Modules that are imported when they are first needed
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
path, before, start = {path!r}, peak(), perf_counter()
table = {call}
print(perf_counter() - start, (peak() - before) * 1024)
"""


def columns(n: int, d: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return a table (n, d): a time, a place and a note, and numbers."""
    start = np.datetime64("2021-01-01T00:00:00")
    times = start + np.sort(rng.integers(0, 10**8, n)).astype("timedelta64[s]")
    places = np.array(["north", "south", "east", "west"])[rng.integers(0, 4, n)]
    notes = np.char.add("note ", rng.integers(0, 500, n).astype(str))
    numbers = np.round(rng.normal(size=(n, d - 3)) * 10.0 ** rng.integers(0, 4, d - 3), 3)
    named = {f"x{i}": column for i, column in enumerate(numbers.T)}
    return pd.DataFrame({"time": times, "place": places, "note": notes, **named})


def write(path: Path, n: int, d: int, seed: int) -> None:
    """Write a file of n rows and d columns."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, _PIECE):
        piece = columns(min(_PIECE, n - start), d, rng)
        piece.to_csv(path, index=False, mode="a", header=start == 0)


def _cells(options: Options) -> list[Cell]:
    return grid(SHAPES, METHODS, 1 if options.quick else 3)


def _measure(cell: Cell, options: Options) -> Mapping[str, float]:
    n, d = SHAPES[cell.dataset]
    imports, call = METHODS[cell.method]
    with TemporaryDirectory() as folder:
        path, small = Path(folder, "table.csv"), Path(folder, "small.csv")
        write(path, min(n, _QUICK_ROWS) if options.quick else n, d, cell.seed)
        write(small, 100, d, cell.seed)
        program = _TIMED.format(imports=imports, call=call, path=str(path), small=str(small))
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        seconds, memory = map(float, ended.stdout.split())
        size = path.stat().st_size
    return {"read_seconds": seconds, "megabytes": size / 1e6, "memory": memory / size}


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "Medians of three files. *Memory* is the largest memory of the process beyond what it had "
        "before, as a multiple of the file."
    )
    seconds, memory, sizes = (
        medians(rows, by=("dataset", "method"), metric=name)
        for name in ("read_seconds", "memory", "megabytes")
    )
    lines = [
        [str(dataset), f"{sizes[dataset, method]:,.1f}", str(method), f"{value:.2f}",
         f"{memory[dataset, method]:.1f}"]
        for (dataset, method), value in seconds.items()
    ]  # fmt: skip
    yield markdown_table(["file", "MB", "method", "seconds", "memory"], lines)


READING = Benchmark(name="reading", settings=(), parts=(Part("files", _cells, _measure, _tables),))
"""Files of numbers, times and words."""
