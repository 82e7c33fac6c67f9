"""Test errors on tables, next to what a user would otherwise pick."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, markdown_table, median_table
from bochner import datasets
from bochner.comparison.contenders import (
    MORE_CONTENDERS,
    OURS,
    RBF_SAMPLER,
    RBF_SAMPLER_DEFAULT,
    measure,
)
from bochner.comparison.split import Split

_FOLDER_SETS = ("concrete", "airfoil", "california_housing", "bike_hourly", "letter", "spambase")
_BUNDLED_SETS = ("diabetes", "breast_cancer")


def _cells(options: Options) -> Iterable[Cell]:
    names = _FOLDER_SETS if options.from_folder else _BUNDLED_SETS
    n_components = 128 if options.quick else 1024
    seeds = 1 if options.quick else 5
    return grid(names, MORE_CONTENDERS, seeds, n_components=(n_components,))


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    split = _split(cell.dataset, cell.seed, options)
    n_components = int(cell.settings["n_components"])
    return measure(MORE_CONTENDERS[cell.method](split.task, n_components, cell.seed), split)


def _split(name: str, seed: int, options: Options) -> Split:
    dataset = datasets.load(name, folder=options.data)
    frame = dataset.to_frame()
    y = frame.pop(dataset.target_name).to_numpy()
    stratify = y if dataset.task == "classification" else None
    X, X_test, y, y_test = train_test_split(
        frame, y, test_size=0.2, random_state=seed, stratify=stratify
    )
    return Split(X, y, X_test, y_test, dataset.task)


def _page(rows: Sequence[Row]) -> Iterable[str]:
    table = partial(median_table, rows, index=["dataset"], columns="method")
    yield table(metric="error")
    yield "Seconds to fit, on one core."
    yield table(metric="fit_seconds")
    for other in (RBF_SAMPLER, RBF_SAMPLER_DEFAULT):
        yield from _against(rows, other)


def _against(rows: Sequence[Row], other: str) -> tuple[str, str]:
    lines = []
    for name in dict.fromkeys(str(row["dataset"]) for row in rows):
        ours, theirs = (
            {
                (row["metric"], row["seed"]): float(row["value"])
                for row in rows
                if row["dataset"] == name and row["method"] == method
            }
            for method in (OURS, other)
        )
        cells = [name]
        for metric in ("error", "rmse"):
            ratios = [ours[k] / theirs[k] for k in ours if k[0] == metric and theirs.get(k)]
            cells.append(_spread(ratios))
        coverage = [value for key, value in ours.items() if key[0] == "coverage"]
        cells.append(f"{np.median(coverage):.3f}" if coverage else "")
        lines.append(cells)
    return (
        f"{OURS} and {other} at the same number of features: ratios of the errors of each "
        f"split, median (least to greatest), and coverage of the 90 % intervals.",
        markdown_table(("dataset", "ratio of error", "ratio of RMSE", "coverage"), lines),
    )


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{np.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


TABLES = Benchmark(
    name="tables",
    settings=("n_components",),
    introduction="Test error, median over seeds of five splits 80/20: mean square error over the "
    "variance of the target, or share of wrong classes.",
    parts=(Part("error", _cells, _run, _page),),
)
