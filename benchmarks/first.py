"""Seconds until a new user sees a result: imports, help, and first fits after installation."""

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.environment import with_packages
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, markdown_table

IMPORTS: Mapping[str, str] = {
    "import sklearn": "sklearn",
    "import sklearn.gaussian_process": "sklearn.gaussian_process",
    "import catboost": "catboost",
    "import lightgbm": "lightgbm",
    "import bochner": "bochner",
    "from bochner import KreinRidge": "bochner.linear.krein_ridge",
    "from bochner import TableRegressor": "bochner.tables.table_regressor",
}
"""Modules by the statements that import them."""

COMMANDS: Mapping[str, Sequence[str]] = {
    "bochner --help": ("--help",),
    "bochner --version": ("--version",),
    "a wrong option": ("fit", "table.csv", "--targets", "y"),
}
"""Arguments of commands that fit nothing."""

FIT = "bochner fit"
"""The command that fits a model to a table, right after installation and later."""

_MAIN = "from _bochner_command import main; main()"

_FORECAST = """
import numpy as np
from bochner import Forecaster
t = np.arange(144)
rng = np.random.default_rng(0)
y = np.exp(0.01 * t) * (10 + 2 * np.sin(2 * np.pi * t / 12)) + 0.3 * rng.normal(size=144)
fit = lambda: Forecaster().fit(y)
"""

_ROWS = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, {d}))
y = np.sin(X[:, 0]) + 0.1 * rng.normal(size={n})
from {module} import {name}
fit = lambda: {call}
"""

_TABLE = """
import pandas as pd
from bochner import TableRegressor
table = pd.read_csv("table.csv")
X, y = table.drop(columns="y"), table["y"]
fit = lambda: TableRegressor(random_state=0).fit(X, y)
"""


def _of_rows(n: int, d: int, module: str, name: str, call: str) -> str:
    return _ROWS.format(n=n, d=d, module=module, name=name, call=call)


FITS: Mapping[str, str] = {
    "FourierFeatures, 1,000 rows of 8 columns": _of_rows(
        1000, 8, "bochner", "FourierFeatures", "FourierFeatures(random_state=0).fit_transform(X)"
    ),
    "KreinRidge, 1,000 rows of 8 columns": _of_rows(
        1000, 8, "bochner", "KreinRidge", "KreinRidge(random_state=0).fit(X, y)"
    ),
    "GaussianProcessRegressor, 200 rows of 3 columns": _of_rows(
        200, 3, "bochner", "GaussianProcessRegressor", "GaussianProcessRegressor().fit(X, y)"
    ),
    "Forecaster, 144 months": _FORECAST,
    "TableRegressor, 700 rows with words": _TABLE,
    "catboost": _of_rows(
        700, 6, "catboost", "CatBoostRegressor", "CatBoostRegressor(verbose=0).fit(X, y)"
    ),
    "lightgbm": _of_rows(
        700, 6, "lightgbm", "LGBMRegressor", "LGBMRegressor(verbose=-1).fit(X, y)"
    ),
    "scikit-learn's GaussianProcessRegressor": _of_rows(
        200, 3, "sklearn.gaussian_process", "GaussianProcessRegressor",
        "GaussianProcessRegressor().fit(X, y)",
    ),
}  # fmt: skip
"""Programs that define ``fit``, by what they fit."""

_QUICK = ("import bochner", "bochner --help", "FourierFeatures, 1,000 rows of 8 columns")
"""What is measured in the small design."""

_PACKAGES = {
    **dict.fromkeys(("import catboost", "catboost"), "catboost"),
    **dict.fromkeys(("import lightgbm", "lightgbm"), "lightgbm"),
}
"""Packages of other methods."""

_TIMED = """
from time import perf_counter, process_time
times = [(perf_counter(), process_time())]
{program}
times.append((perf_counter(), process_time()))
for _ in range({n_fits}):
    fit()
    times.append((perf_counter(), process_time()))
for before, after in zip(times, times[1:]):
    print(after[0] - before[0], after[1] - before[1])
"""

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Threads that wait for each other on a shared machine would add to the seconds on the CPU."""

_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""Without bytecode, an import parses all files of the package: 0.4 seconds that no user waits."""

CACHES: Mapping[str, Sequence[str]] = {
    "installed": ("import", "first"),
    "later": ("import", "first", "second"),
}
"""What is timed in a process right after installation, which compiles loops, and in a later one."""


def _process(code: str, *arguments: str, folder: str) -> tuple[str, float, float]:
    """Return what a program prints, and its wall and CPU seconds, in a new process.

    Compiled loops are kept in a folder, in which the process runs. Bytecode is kept as after an
    installation: pip compiles the files that it installs.
    """
    source = str(Path(__file__).parents[1] / "src")
    path = os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH", ""))))
    changes = {"NUMBA_CACHE_DIR": f"{folder}/loops", "PYTHONPATH": path, **_BYTECODE, **_ONE_THREAD}
    before, start = os.times(), perf_counter()
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | changes,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, after = perf_counter() - start, os.times()
    if ended.returncode and "--targets" not in arguments:
        raise RuntimeError(f"{code} {' '.join(arguments)} failed: {ended.stderr}")
    cpu = after.children_user + after.children_system
    return ended.stdout, seconds, cpu - before.children_user - before.children_system


def write_table(path: Path, n: int = 700) -> None:
    """Write a table with columns of words and of numbers."""
    rng = np.random.default_rng(0)
    area, distance = rng.gamma(4.0, 30.0, n), rng.exponential(5.0, n)
    region = rng.choice(["north", "south", "east", "west"], n)
    heating, year = rng.choice(["gas", "oil", "electric"], n), rng.integers(1900, 2020, n)
    y = 1e3 * area + 2e4 * (region == "north") + 300.0 * year + 5e3 * rng.normal(size=n)
    lines = ["area,distance,region,heating,year,y"]
    columns = zip(area, distance, region, heating, year, y, strict=True)
    lines += [f"{a:.1f},{b:.2f},{c},{d},{e},{z:.0f}" for a, b, c, d, e, z in columns]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _repeated(dataset: str, methods: Iterable[str], options: Options) -> list[Cell]:
    return grid((dataset,), methods, 1 if options.quick else 3)


def _chosen(methods: Iterable[str], options: Options) -> list[str]:
    """Return the methods whose packages are installed, few of them in the small design."""
    named = [name for name in methods if not options.quick or name in _QUICK]
    return with_packages(named, _PACKAGES, "opponents")


def _import_cells(options: Options) -> list[Cell]:
    return _repeated("none", _chosen(IMPORTS, options), options)


def _import(cell: Cell, options: Options) -> Mapping[str, float]:
    with TemporaryDirectory() as folder:
        _, seconds, cpu = _process(f"import {IMPORTS[cell.method]}", folder=folder)
    return {"process_seconds": seconds, "process_cpu": cpu}


def _command_cells(options: Options) -> list[Cell]:
    return _repeated("table", _chosen([*COMMANDS, FIT], options), options)


def _command(cell: Cell, options: Options) -> Mapping[str, float]:
    with TemporaryDirectory() as folder:
        if cell.method != FIT:
            _, seconds, cpu = _process(_MAIN, *COMMANDS[cell.method], folder=folder)
            return {"process_seconds": seconds, "process_cpu": cpu}
        write_table(Path(folder, "table.csv"))
        metrics: dict[str, float] = {}
        for cache in CACHES:
            _, seconds, cpu = _process(_MAIN, "fit", "table.csv", "--target", "y", folder=folder)
            metrics |= {f"{cache}_process_seconds": seconds, f"{cache}_process_cpu": cpu}
        return metrics


def _fit_cells(options: Options) -> list[Cell]:
    return _repeated("rows", _chosen(FITS, options), options)


def _fit(cell: Cell, options: Options) -> Mapping[str, float]:
    metrics: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        write_table(Path(folder, "table.csv"))
        for cache, steps in CACHES.items():
            program = _TIMED.format(program=FITS[cell.method], n_fits=len(steps) - 1)
            printed, _, _ = _process(program, folder=folder)
            lines = printed.strip().splitlines()[-len(steps) :]  # Methods may print lines before
            for step, line in zip(steps, lines, strict=True):
                seconds, cpu = map(float, line.split())
                metrics |= {f"{cache}_{step}_seconds": seconds, f"{cache}_{step}_cpu": cpu}
    return metrics


def least(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Return the least value over repetitions, by method and metric."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        values = found.setdefault(str(row["method"]), {})
        name, value = str(row["metric"]), float(row["value"])
        values[name] = min(value, values.get(name, value))
    return found


def _process_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield "Seconds of a process, and its seconds on the CPU."
    lines = []
    for method, values in least(rows).items():
        for prefix, text in {
            "": "",
            "installed_": " after installation",
            "later_": " later",
        }.items():
            if f"{prefix}process_seconds" in values:
                of_process = (values[f"{prefix}process_{unit}"] for unit in ("seconds", "cpu"))
                lines.append(
                    [f"{method}{text and ','}{text}", *(f"{value:.2f}" for value in of_process)]
                )
    yield markdown_table(["process", "seconds", "CPU"], lines)


def _fit_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "**First fits**: seconds of the imports and of the first fit of a process right after "
        "installation, when loops are compiled, and of the imports and two fits of a later "
        "process. Seconds on the CPU are in brackets. The first column has the CPU seconds of the "
        "first fit after installation, less those of the second fit of a later process."
    )
    steps = [(cache, step) for cache, timed in CACHES.items() for step in timed]
    lines = []
    for method, values in least(rows).items():
        excess = values["installed_first_cpu"] - values["later_second_cpu"]
        cells = [
            f"{values[f'{cache}_{step}_seconds']:.2f} ({values[f'{cache}_{step}_cpu']:.2f})"
            for cache, step in steps
        ]
        lines.append([method, f"{excess:.2f}", *cells])
    yield markdown_table(["fit", "excess", *(f"{step}, {cache}" for cache, step in steps)], lines)


FIRST_MINUTE = Benchmark(
    name="first",
    settings=("part",),
    introduction="The least of three repetitions, each in new processes.",
    parts=(
        Part("imports", _import_cells, _import, _process_tables),
        Part("commands", _command_cells, _command, _process_tables),
        Part("fits", _fit_cells, _fit, _fit_tables),
    ),
)
