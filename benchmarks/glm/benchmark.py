"""Laws of targets that are not normal numbers, next to linear models, processes and trees."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from time import process_time

import numpy as np

from benchmarks.environment import with_packages
from benchmarks.glm.data import CENSORED, KINDS, TABLES, problem
from benchmarks.glm.methods import METHODS, PACKAGES
from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.results import Row, median_table

_SPLITS = 2  # Random splits of a table, and draws
_QUICK = ("fishing", "wine ratings", "Affairs", "Pima", "Hitters")  # The smallest of each kind
_CLOSE = 0.01  # Nats per row that two laws may differ by within chance


def _cells(kind: str, options: Options) -> Iterator[Cell]:
    methods = with_packages(METHODS[kind], PACKAGES, "glm")
    names = _QUICK if options.quick else TABLES
    for seed in range(1 if options.quick else _SPLITS):
        for name in names:
            if TABLES[name].kind == kind:
                yield from (Cell(name, method, seed) for method in methods)


def _run(kind: str, cell: Cell, options: Options) -> Mapping[str, float]:
    rows = problem(cell.dataset, cell.seed, quick=options.quick)
    start = process_time()
    prediction = METHODS[kind][cell.method](rows, cell.seed)
    seconds = process_time() - start
    metrics = {"nlpd": -float(prediction.log_density.mean()), "cpu_seconds": seconds}
    lower, upper = prediction.lower, prediction.upper
    if lower is not None and upper is not None:
        if kind == CENSORED:  # Targets at the limit zero are at the end of clipped intervals
            lower, upper = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
        metrics["coverage"] = float(np.mean((lower <= rows.y_test) & (rows.y_test <= upper)))
    return metrics


def is_ours(method: str) -> bool:
    """Return whether a method is a law of targets of ``KernelGLM*``."""
    return method.startswith("bochner ") and "GaussianProcess" not in method


def verdicts(rows: Sequence[Row]) -> list[tuple[float, str, str, str]]:
    """Return (difference of densities, table, best of ours, best other), worst first.

    Densities are medians over the splits.
    """
    values: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row["metric"] == "nlpd":
            values.setdefault((str(row["dataset"]), str(row["method"])), []).append(
                float(row["value"])
            )
    medians = {key: float(np.median(found)) for key, found in values.items()}
    lines = []
    for name in dict.fromkeys(name for name, _ in medians):
        measured = [(value, method) for (table, method), value in medians.items() if table == name]
        ours = min((pair for pair in measured if is_ours(pair[1])), default=None)
        other = min((pair for pair in measured if not is_ours(pair[1])), default=None)
        if ours and other:
            lines.append((ours[0] - other[0], name, ours[1], other[1]))
    return sorted(lines, reverse=True)


def _tables(kind: str, rows: Sequence[Row]) -> Iterable[str]:
    lines = verdicts(rows)
    worse = sum(difference > _CLOSE for difference, *_ in lines)
    better = sum(difference < -_CLOSE for difference, *_ in lines)
    yield (
        f"## {kind.capitalize()}\n\nThe best law of bochner has a higher negative log density than "
        f"the best other method by more than {_CLOSE} on {worse} of {len(lines)} tables, and a "
        f"lower one on {better}. Worst first: "
        + "; ".join(
            f"*{name}* {difference:+.3f} ({ours}, {other})"
            for difference, name, ours, other in lines
        )
        + "."
    )
    title = "log loss" if not any(row["metric"] == "coverage" for row in rows) else "NLPD"
    yield f"**Median {title} of test rows.**"
    yield median_table(rows, index=["dataset"], metric="nlpd")
    if title == "NLPD":
        yield "**Median coverage of 90 % intervals.**"
        yield median_table(rows, index=["dataset"], metric="coverage")
    yield "**Median CPU seconds of a fit and its predictions.**"
    yield median_table(rows, index=["dataset"], metric="cpu_seconds", digits=2)


GLM = Benchmark(
    name="glm",
    settings=("part",),
    parts=tuple(
        Part(kind, partial(_cells, kind), partial(_run, kind), partial(_tables, kind))
        for kind in KINDS
    ),
)
