"""Where the seconds of a fit to a table go, next to an earlier version and other methods."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.environment import with_packages
from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.real.reading import Rows, fold_of
from benchmarks.results import Row, grouped, markdown_table, median_groups

GENERATED: Mapping[str, tuple[int, int]] = {
    "600 rows": (600, 6),
    "1,500 rows": (1_500, 9),
    "10,000 rows": (10_000, 8),
}
"""Rows and columns of generated tables of numbers, of which eight matter."""

REAL = ("salaries", "births", "ames", "tate", "chicago", "titanic", "attrition", "birds", "churn")
"""Tables of the benchmark *real*, of which the first fold is fitted."""

OURS, BEFORE = "bochner", "bochner before"

METHODS = (OURS, BEFORE, "CatBoost", "LightGBM")

STAGES: Mapping[str, Sequence[str]] = {
    "encoding": ("encoder:TableEncoder.fit_training_rows",),
    "search": ("learner:Learner._searched",),
    "kernels": ("learner:Learner._kernels",),
    "trees": ("learner:Learner._trees", "learner:Learner._estimators"),
    "weights": (
        "weighted_sum:SumOfLaws.with_left_out",
        "weighted_sum:SoftmaxOfLaws.of",
    ),
}
"""Methods of :mod:`bochner.tables` whose seconds are added up, by what they do."""

SOURCE = "BOCHNER_BEFORE"
"""Environment variable with the ``src`` folder of an earlier version."""

_TEST_ROWS = 2_000  # Standard errors of errors are two per cent

_CHILD = """
import importlib, json, pickle, sys
from functools import wraps
from time import process_time
import numpy as np
sys.path.insert(0, sys.argv[4])
if sys.argv[2] == "bochner":  # An earlier version need not suit the benchmarks of this one
    from bochner import TableClassifier, TableRegressor
    class Model:
        def __init__(self, seed, is_number):
            kind = TableRegressor if is_number else TableClassifier
            self.model = kind(n_jobs=1, random_state=seed)
            self.predict = self.model.predict if is_number else self.model.predict_proba
        def fit(self, X, y):
            self.model.fit(X, y)
    maker = Model
else:
    sys.path.insert(0, sys.argv[3])
    from benchmarks.real.methods import METHODS
    maker = METHODS[sys.argv[2]]
rows, warm, stages = pickle.load(open(sys.argv[1], "rb"))
seconds = {}
def timed(stage, function):
    @wraps(function)
    def call(*args, **kwargs):
        began = process_time()
        try:
            return function(*args, **kwargs)
        finally:
            seconds[stage] = seconds.get(stage, 0.0) + process_time() - began
    return call
for X, y, X_test, y_test, is_number in (warm, rows):
    model = maker(0, is_number)
    if X is rows[0] and sys.argv[2] == "bochner":
        for stage, names in stages.items():
            for module, path in (name.split(":") for name in names):
                owner = importlib.import_module("bochner.tables." + module)
                *owners, name = path.split(".")
                for each in owners:
                    owner = getattr(owner, each)
                function = owner.__dict__.get(name)
                if isinstance(function, classmethod):
                    setattr(owner, name, classmethod(timed(stage, function.__func__)))
                elif function is not None:
                    setattr(owner, name, timed(stage, function))
    began = process_time()
    model.fit(X, y)
    fitted = process_time()
    model.predict(X_test[:9])
    again = process_time()
    predicted = model.predict(X_test)
    ended = process_time()
y = y_test
error = (np.sqrt(np.mean((predicted - y) ** 2)) if is_number
         else -np.mean(np.log(np.maximum(predicted[np.arange(len(y)), y.astype(int)], 1e-15))))
found = {"fit_cpu": fitted - began, "predict_microseconds": 1e6 * (ended - again) / len(y)}
print(json.dumps(found | {"error": float(error)} | {f"of_{k}": v for k, v in seconds.items()}))
"""


def generated(n: int, d: int) -> Rows:
    """Return rows of a smooth function of columns with noise, and new rows of it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + _TEST_ROWS, d))
    mean = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + X[:, 4:].sum(axis=1) / 4.0
    y = mean + 0.3 * rng.normal(size=len(X))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(d)])
    return Rows(frame[:n], y[:n], frame[n:].reset_index(drop=True), y[n:], True)


def _rows(name: str, folder: Path | None) -> Rows:
    return generated(*GENERATED[name]) if name in GENERATED else fold_of(name, 0, folder)


def _warm(rows: Rows) -> Rows:
    """Return few rows of the same kind of target, whose fit compiles and loads everything."""
    few = generated(450, 6)
    if rows.is_regression:
        return few
    labels: list[NDArray[np.int64]] = [(y > y.mean()).astype(np.int64) for y in (few.y, few.y_test)]
    return Rows(few.X, labels[0], few.X_test, labels[1], False)


def _plain(rows: Rows) -> tuple[object, ...]:
    """Return the fields of rows, which a process reads without this package."""
    return tuple(getattr(rows, each.name) for each in fields(rows))


def _cells(options: Options) -> Iterable[Cell]:
    methods = with_packages(METHODS, {"CatBoost": "catboost", "LightGBM": "lightgbm"}, "opponents")
    if SOURCE not in os.environ:
        methods.remove(BEFORE)
    names = ["600 rows"] if options.quick else [*GENERATED, *REAL]
    for name in names:
        for method in methods[:1] if options.quick else methods:
            yield Cell(name, method, 0)


def _measured(cell: Cell, options: Options) -> Mapping[str, float]:
    root = Path(__file__).parents[1]
    source = os.environ[SOURCE] if cell.method == BEFORE else str(root / "src")
    method = OURS if cell.method == BEFORE else cell.method
    rows = _rows(cell.dataset, options.data)
    with TemporaryDirectory() as folder:
        place = Path(folder, "rows.pickle")
        with place.open("wb") as file:
            pickle.dump((_plain(rows), _plain(_warm(rows)), STAGES), file)
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        ended = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _CHILD, str(place), method, str(root), source],
            env=os.environ | threads,
            capture_output=True,
            text=True,
            check=False,
        )
    if ended.returncode:
        raise RuntimeError(f"{cell.method} on {cell.dataset} failed: {ended.stderr}")
    metrics: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return metrics


def _tables(rows: Sequence[Row]) -> Iterable[str]:
    names = list(dict.fromkeys(str(row["dataset"]) for row in rows))
    methods = [m for m in METHODS if any(row["method"] == m for row in rows)]

    found: dict[str, dict[tuple[str, ...], dict[str, float]]] = {}

    def value(name: str, method: str, metric: str) -> float:
        lines = found.setdefault(metric, median_groups(grouped(rows, metric)))
        return lines.get((name,), {}).get(method, np.nan)

    def slower(name: str) -> float:
        rivals = [value(name, each, "fit_cpu") for each in methods if each not in (OURS, BEFORE)]
        return value(name, OURS, "fit_cpu") / min([r for r in rivals if r > 0.0], default=1.0)

    names.sort(key=slower, reverse=True)
    for metric, title, digits in (
        ("fit_cpu", "**CPU seconds of a fit**, those furthest behind first.", 2),
        (
            "predict_microseconds",
            "**CPU microseconds of a prediction**, of all test rows at once.",
            1,
        ),
        ("error", "**Errors of the test rows**: RMSE of numbers, log loss of classes.", 4),
    ):
        yield title
        cells = [
            [name, *(f"{value(name, m, metric):.{digits}f}" for m in methods)] for name in names
        ]
        yield markdown_table(["table", *methods], cells)
    if BEFORE in methods:
        yield "**Ratios to the earlier version**: geometric mean over tables, least and greatest."
        lines = []
        for metric in ("fit_cpu", "predict_microseconds", "error"):
            ratios = np.array([value(n, OURS, metric) / value(n, BEFORE, metric) for n in names])
            mean = float(np.exp(np.log(ratios).mean()))
            worst = names[int(ratios.argmax())]
            lines.append([metric.replace("_", " "), f"{mean:.3f}", f"{ratios.min():.3f}",
                          f"{ratios.max():.3f}", worst])  # fmt: skip
        yield markdown_table(["", "mean", "least", "greatest", "on"], lines)
    for method in (each for each in (OURS, BEFORE) if each in methods):
        yield f"**Where the seconds go**: CPU seconds of the parts of a fit, {method}."
        lines = []
        for name in names:
            parts = [value(name, method, f"of_{stage}") for stage in STAGES]
            parts = [0.0 if np.isnan(part) else part for part in parts]
            rest = value(name, method, "fit_cpu") - sum(parts)
            lines.append([name, *(f"{part:.2f}" for part in (*parts, rest))])
        yield markdown_table(["table", *STAGES, "rest"], lines)


SECONDS = Benchmark(
    name="seconds",
    settings=(),
    introduction="Each fit has a process of its own with one thread. A fit to 450 rows comes "
    "first, so that loops are compiled. All methods in turn, once.",
    parts=(Part("fits", _cells, _measured, _tables),),
)
