"""Tables of up to ten million rows: seconds, memory and errors of each method in a process."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeClassifierCV, RidgeCV, SGDClassifier, SGDRegressor
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import datasets
from benchmarks.environment import with_packages
from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.results import Row, markdown_table, medians
from bochner import KreinRidge, KreinRidgeClassifier, TableClassifier, TableRegressor
from bochner._base.number_texts import as_bytes

GENERATED = "generated"
VERY_MANY = 10_000_000
"""Rows of a generated table of 1.6 GB: only the quickest of the opponents is fitted to them, and
tables within a limit."""

SIZES = (10_000, 100_000, 1_000_000, VERY_MANY)
"""Training rows of the generated table."""

REAL = ("shuttle", "covtype_93k", "ijcnn1", "skin", "cod_rna")
"""Tables with classes, of 46,400 to 264,922 training rows."""

LARGE = {(GENERATED, 1_000_000)} | {(name, 0) for name in REAL if name != "shuttle"}
"""Tables of which ridge regression on 2,000 features needs six gigabytes or more."""

REPEATED = {(GENERATED, 10_000)}
"""Tables that are measured with several splits."""

LIMITS = (
    (3_000, "5 s"), (12_000, "15 s"), (30_000, "15 s"), (30_000, "40 s"), (200_000, "30 s"),
    (VERY_MANY, "900 s"),
)  # fmt: skip
"""Rows of the generated table, and seconds within which they are to be fitted."""

QUICK = (("wine", "bochner tables", 0), (GENERATED, "KreinRidge", 300))
"""Tables, methods and generated rows of the small design, some seconds each."""

QUICK_LIMITS = ((300, "2 s"),)
"""Rows and seconds of the small design."""

MEMORY = (
    (12_000, "500MB"),
    (30_000, "200MB"),
    (30_000, "500MB"),
    (200_000, "500MB"),
    (200_000, "1GB"),
    (1_000_000, "1.5GB"),
)
"""Rows of the generated table, and memory within which they are to be fitted."""

QUICK_MEMORY = ((1500, "100MB"),)
"""Rows and memory of the small design."""

_N_COLUMNS, _NOISE, _TEST_ROWS = 20, 0.1, 20_000
"""Columns and noise of the generated table, eight columns of which have an effect."""

_HELD_OUT, _WARM_ROWS = 0.2, 500
"""Share of the rows of a real table that are held out, and rows of a fit before the measured one,
in which loops are loaded or compiled."""

_FEATURES, _ITERATIONS, _EPOCHS = 2000, 500, 5
"""Features of linear models, as many as half of the landmarks of tables; iterations of boosting,
five times the defaults, which are for fewer rows; and the default number of epochs without gain
after which stochastic gradients stop."""

_ALPHAS = np.logspace(-3.0, 5.0, 9)
"""Penalties of ridge regression, from nearly none to more than the rows."""

_BLOCK = 20_000
"""Rows whose features stochastic gradients have in memory at a time."""

_REPETITIONS, _MEASURED_ONCE = 3, 1_000_000
"""Splits of a table, whose medians are shown, and rows from which limits are measured once."""

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

OURS, KREIN, HIST = "bochner tables", "KreinRidge", "HistGradientBoosting"
TWO_THREADS = "bochner tables, two threads"
LIGHT, CAT, RIDGE, SGD = "LightGBM", "CatBoost", "ridge on features", "SGD on features"
_PACKAGES = {LIGHT: "lightgbm", CAT: "catboost"}
METHODS = (OURS, TWO_THREADS, KREIN, HIST, LIGHT, CAT, RIDGE, SGD)
IN_TIME = {f"{OURS}, {limit}": float(limit.split()[0]) for _, limit in LIMITS + QUICK_LIMITS}
IN_MEMORY = {f"{OURS}, {limit}": limit for _, limit in MEMORY + QUICK_MEMORY}

Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]
"""Training rows and targets, test rows and targets."""


def smooth(n_rows: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows, and a smooth function of eight of their columns with noise."""
    X = rng.uniform(-1.5, 1.5, size=(n_rows, _N_COLUMNS))
    y = np.sin(X[:, 0] + np.sin(X[:, 1])) * np.cos(X[:, 2] + 0.5 * X[:, 3])
    y += 0.5 * np.sin(X[:, 4] * X[:, 5]) + 0.3 * X[:, 6] + 0.2 * np.abs(X[:, 7])
    return X, y + _NOISE * rng.normal(size=n_rows)


def split_of(name: str, n_rows: int, seed: int, data: Path | None) -> Split:
    """Return training and test rows of a table; ``n_rows`` is the size of a generated one."""
    rng = np.random.default_rng(seed)
    if name == GENERATED:
        return *smooth(n_rows, rng), *smooth(_TEST_ROWS, rng)
    table = datasets.load(name, data)
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    if table.X_test is not None and table.y_test is not None:
        X, y = np.concatenate((X, table.X_test)), np.concatenate((y, table.y_test))
    order = rng.permutation(len(y))
    n_test = int(_HELD_OUT * len(y))
    test, train = order[:n_test], order[n_test:]
    return X[train], y[train], X[test], y[test]


class _InBlocks:
    """Stochastic gradients on random features that are computed in blocks of rows."""

    def __init__(self, model: Any, seed: int) -> None:
        self.model, self.rng = model, np.random.default_rng(seed)
        sampler = RBFSampler(gamma="scale", n_components=_FEATURES, random_state=seed)
        self.features = make_pipeline(StandardScaler(), sampler)

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> "_InBlocks":
        self.features.fit(X)
        options = {"classes": np.unique(y)} if isinstance(self.model, SGDClassifier) else {}
        for _ in range(_EPOCHS):
            order = self.rng.permutation(len(y))
            for start in range(0, len(y), _BLOCK):
                rows = order[start : start + _BLOCK]
                self.model.partial_fit(self.features.transform(X[rows]), y[rows], **options)
        return self

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.model.predict(self.features.transform(X)))

    def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.model.predict_proba(self.features.transform(X)))


def model_of(method: str, seed: int, *, has_classes: bool) -> Any:
    """Return a method's model for numbers or for classes."""
    if method in (OURS, TWO_THREADS, *IN_TIME, *IN_MEMORY):
        limits: dict[str, Any] = {"time_limit": IN_TIME.get(method)}
        limits["memory_limit"] = IN_MEMORY.get(method)
        tables = TableClassifier if has_classes else TableRegressor
        return tables(random_state=seed, **limits)
    if method == KREIN:
        options: dict[str, Any] = {"length_scale": "evidence", "alpha": "evidence"}
        options |= {"n_components": _FEATURES, "fit_intercept": True, "random_state": seed}
        krein = (KreinRidgeClassifier if has_classes else KreinRidge)(**options)
        return make_pipeline(StandardScaler(), krein)
    if method == HIST:
        trees = HistGradientBoostingClassifier if has_classes else HistGradientBoostingRegressor
        return trees(max_iter=_ITERATIONS, random_state=seed)
    if method == LIGHT:
        import lightgbm

        light = lightgbm.LGBMClassifier if has_classes else lightgbm.LGBMRegressor
        return light(n_estimators=_ITERATIONS, n_jobs=1, verbose=-1, random_state=seed)
    if method == CAT:
        import catboost

        cat = catboost.CatBoostClassifier if has_classes else catboost.CatBoostRegressor
        options = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
        return cat(iterations=_ITERATIONS, random_seed=seed, **options)
    if method == RIDGE:
        ridge = (RidgeClassifierCV if has_classes else RidgeCV)(_ALPHAS)
        sampler = RBFSampler(gamma="scale", n_components=_FEATURES, random_state=seed)
        return make_pipeline(StandardScaler(), sampler, ridge)
    if method != SGD:
        raise ValueError(f"There is no method {method!r}.")
    if has_classes:
        return _InBlocks(SGDClassifier(loss="log_loss", average=True, random_state=seed), seed)
    return _InBlocks(SGDRegressor(average=True, random_state=seed), seed)


def measured(name: str, method: str, n_rows: int, seed: int, data: Path | None) -> dict[str, float]:
    """Return CPU seconds, memory and errors of one fit, in the process that calls it."""
    X, y, X_test, y_test = split_of(name, n_rows, seed, data)
    has_classes = name != GENERATED
    warm = np.random.default_rng(0).permutation(len(y))[:_WARM_ROWS]
    if len(np.unique(y[warm])) > 1:
        model_of(method, seed, has_classes=has_classes).fit(X[warm], y[warm])
    before = _resident_bytes()
    model, began = model_of(method, seed, has_classes=has_classes), process_time()
    started = perf_counter()
    model.fit(X, y)
    fitted, seconds = process_time(), perf_counter() - started
    peak = _peak_bytes()
    predictions = np.ravel(model.predict(X_test))
    metrics = {
        "fit_cpu": fitted - began,
        "fit_seconds": seconds,
        "predict_cpu": (process_time() - fitted) * 10_000 / len(y_test),
        "memory": max(peak - before, 0) / 1e6,
    }
    if not has_classes:
        rmse = float(np.sqrt(np.mean((predictions - y_test) ** 2)))
        return metrics | {"error": rmse / _NOISE}
    metrics["error"] = float(np.mean(predictions != y_test))
    if hasattr(model, "predict_proba"):
        probabilities = np.clip(model.predict_proba(X_test), 1e-15, 1.0)  # scikit-learn's bound
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        metrics["log_loss"] = float(log_loss(y_test, probabilities, labels=np.unique(y)))
    return metrics


def _peak_bytes() -> int:
    # Kilobytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return _peak_bytes()
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def _cells(options: Options) -> list[Cell]:
    if options.quick:
        return [Cell(name, method, 0, {"part": "fits", "n": n}) for name, method, n in QUICK]
    methods = with_packages(METHODS, _PACKAGES, "opponents")
    tables = [(GENERATED, n) for n in SIZES]
    tables += [(name, 0) for name in REAL if options.from_folder]
    return [
        Cell(name, method, seed, {"part": "fits", "n": n})
        for name, n in tables
        for seed in range(_REPETITIONS if (name, n) in REPEATED else 1)
        for method in methods
        if _is_measured(method, name, n)
    ]


def _is_measured(method: str, name: str, n: int) -> bool:
    """Return whether a method is measured on a table."""
    if method == TWO_THREADS:
        return (name, n) == (GENERATED, 1_000_000)
    if n == VERY_MANY:
        return method == LIGHT
    return method != RIDGE or (name, n) not in LARGE


def _limit_cells(
    part: str, limits: Sequence[tuple[int, str]], quick_limits: Sequence[tuple[int, str]]
) -> Callable[[Options], list[Cell]]:
    """Return the function that lists the fits of a part within limits."""

    def cells(options: Options) -> list[Cell]:
        return [
            Cell(GENERATED, f"{OURS}, {limit}", seed, {"part": part, "n": n})
            for n, limit in (quick_limits if options.quick else limits)
            for seed in range(1 if options.quick or n >= _MEASURED_ONCE else _REPETITIONS)
        ]

    return cells


def _measure(cell: Cell, options: Options) -> Mapping[str, float]:
    arguments = [cell.dataset, cell.method, str(cell.settings["n"]), str(cell.seed)]
    if options.from_folder:
        arguments.append(str(options.data))
    root = Path(__file__).parents[1]
    path = os.pathsep.join(
        filter(None, (str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")))
    )
    threads = dict.fromkeys(_THREAD_VARIABLES, "2" if cell.method == TWO_THREADS else "1")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.many", *arguments],
        env=os.environ | threads | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: {ended.stderr}")
    metrics: dict[str, float] = json.loads(ended.stdout.strip().splitlines()[-1])
    return metrics


_COLUMNS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "error": ("{}", "{:.4f}".format),
    "log_loss": ("log loss", "{:.4f}".format),
    "fit_cpu": ("fit, CPU s", "{:.1f}".format),
    "predict_cpu": ("10,000 predictions, CPU s", "{:.2f}".format),
    "memory": ("memory, MB", "{:.0f}".format),
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for name in dict.fromkeys(str(row["dataset"]) for row in rows):
        of_table = [row for row in rows if row["dataset"] == name]
        yield from _sized(name, of_table)


def _sized(name: str, rows: Sequence[Row]) -> Iterable[str]:
    is_generated = name == GENERATED
    for n in sorted({int(row["n"]) for row in rows}):
        some = [row for row in rows if row["n"] == n]
        n_seeds = len({row["seed"] for row in some})
        title = f"{name}, {n:,} rows" if is_generated else name
        repetitions = "one repetition" if n_seeds == 1 else f"medians of {n_seeds} repetitions"
        yield f"**{title}**, {repetitions}."
        present = {str(row["metric"]) for row in some}
        chosen = {metric: column for metric, column in _COLUMNS.items() if metric in present}
        error = "error / noise" if is_generated else "error rate"
        lines = []
        for method in (method for method in METHODS if any(r["method"] == method for r in some)):
            cells = [method]
            for metric, (_, show) in chosen.items():
                values = [
                    float(row["value"])
                    for row in some
                    if row["method"] == method and row["metric"] == metric
                ]
                cells.append(show(np.median(values)) if values else "")
            lines.append(cells)
        yield markdown_table(
            ["method", *(title.format(error) for title, _ in chosen.values())], lines
        )


def _time_tables(rows: Sequence[Row]) -> Iterator[str]:
    heads = ["rows", "limit", "fit, s", "of the limit", "error / noise", "memory, MB"]
    lines = []
    for n, method, of_fit in _medians(rows):
        seconds, error, memory = (of_fit[name] for name in ("fit_seconds", "error", "memory"))
        shown = f"{seconds:.1f}", f"{seconds / IN_TIME[method]:.2f}", f"{error:.4f}"
        lines.append([f"{n:,}", method.removeprefix(f"{OURS}, "), *shown, f"{memory:.0f}"])
    yield _LIMITED.format("time")
    yield markdown_table(heads, lines)


def _memory_tables(rows: Sequence[Row]) -> Iterator[str]:
    heads = ["rows", "limit", "memory, MB", "of the limit", "error / noise", "fit, CPU s"]
    lines = []
    for n, method, of_fit in _medians(rows):
        memory, error, seconds = (of_fit[name] for name in ("memory", "error", "fit_cpu"))
        share = 1e6 * memory / (as_bytes(IN_MEMORY[method]) or 1)
        shown = f"{memory:.0f}", f"{share:.2f}", f"{error:.4f}"
        lines.append([f"{n:,}", IN_MEMORY[method], *shown, f"{seconds:.1f}"])
    yield _LIMITED.format("memory")
    yield markdown_table(heads, lines)


_LIMITED = (
    f"**Fits of {OURS} to generated rows within a {{}} limit**, medians of {_REPETITIONS} "
    "repetitions, of which a million rows and more have one."
)


def _medians(rows: Sequence[Row]) -> Iterator[tuple[int, str, dict[str, float]]]:
    """Yield the rows and the method of each fit within a limit, with medians of its metrics."""
    names = dict.fromkeys(str(row["metric"]) for row in rows)
    by_name = {name: medians(rows, by=("n", "method"), metric=name) for name in names}
    for n, method in by_name["memory"]:
        yield int(n), str(method), {name: of_fit[n, method] for name, of_fit in by_name.items()}


MANY = Benchmark(
    name="many",
    settings=("part", "n"),
    introduction=(
        "Each fit has a process of its own with one thread, unless two are named. Memory is the "
        "peak of the process above its start, after it has read the table. A fit to 500 rows comes "
        "first, so that loops are compiled. The generated table has 20 columns and a smooth "
        "function of eight of them; its error is that of 20,000 new rows, in units of the noise, "
        "which no method can fall below. Of real tables, 20 % of the rows are held out."
    ),
    parts=(
        Part("fits", _cells, _measure, _tables),
        Part("limits", _limit_cells("limits", LIMITS, QUICK_LIMITS), _measure, _time_tables),
        Part("memory", _limit_cells("memory", MEMORY, QUICK_MEMORY), _measure, _memory_tables),
    ),
)


if __name__ == "__main__":
    dataset, chosen_method, count, trial, *folder = sys.argv[1:]
    place = Path(folder[0]) if folder else None
    print(json.dumps(measured(dataset, chosen_method, int(count), int(trial), place)))
