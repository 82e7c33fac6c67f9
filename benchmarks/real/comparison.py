"""Ratios of errors to other methods, the worst tables first, and wrong coverage."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from benchmarks.real import design
from benchmarks.real.measures import THIRDS
from benchmarks.results import Row, grouped, markdown_table

KINDS = {"rmse": "regressions", "log_loss": "classifications"}
"""The errors that are compared, and the tables that have them."""

Errors = Mapping[str, Mapping[str, float]]
"""Mean errors over folds by table and method: RMSE, or log loss of classes."""


def mean_errors(rows: Sequence[Row], metric: str, method: str) -> Errors:
    """Return mean errors of the tables that ``method`` has, on its folds for all methods."""
    folds: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["metric"] == metric:
            table = folds.setdefault(str(row["dataset"]), {})
            table.setdefault(str(row["method"]), {})[int(row["seed"])] = float(row["value"])
    return {
        name: {
            other: float(np.mean([values[fold] for fold in table[method]]))
            for other, values in table.items()
            if table[method].keys() <= values.keys()
        }
        for name, table in folds.items()
        if method in table
    }


def behind(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables on which bochner is behind the best boosted trees, the worst first."""
    ratios: dict[str, tuple[float, str]] = {}
    for metric in KINDS:
        for name, errors in mean_errors(rows, metric, design.OURS).items():
            tree_errors = {method: errors[method] for method in design.BOOSTED if method in errors}
            if tree_errors:
                best = min(tree_errors, key=tree_errors.__getitem__)
                ratios[name] = errors[design.OURS] / tree_errors[best], best
    if not ratios:
        return
    behind = sorted(
        ((ratio, name, best) for name, (ratio, best) in ratios.items() if ratio > design.BEHIND),
        reverse=True,
    )
    lowest = sum(ratio < 1.0 for ratio, _ in ratios.values())
    yield (
        f"{design.OURS} has a lower error than the best of {', '.join(design.BOOSTED)} on {lowest} "
        f"of {len(ratios)} tables. Its error is more than {design.BEHIND:g} times the lowest of "
        f"theirs on {len(behind)}{':' if behind else '.'}"
    )
    if behind:
        lines = [[name, f"{ratio:.3f}", best] for ratio, name, best in behind]
        yield markdown_table(("data set", "ratio", "to"), lines)


def coverages(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the tables whose intervals have too low or too high a coverage."""
    limits = {"coverage": design.COVERAGES} | {
        f"coverage_{name}": design.COVERAGES_OF_THIRDS for name in THIRDS
    }
    counted: set[str] = set()
    lines = []
    for metric, (least, greatest) in limits.items():
        for (name,), method_coverages in grouped(rows, metric).items():
            n_test = design.SHAPES[name][0] // design.FOLDS
            if design.OURS in method_coverages and n_test >= design.FEWEST_TEST_ROWS:
                counted.add(name)
                share = float(np.mean(method_coverages[design.OURS]))
                if not least <= share <= greatest:
                    where = metric.removeprefix("coverage").removeprefix("_") or "all"
                    lines.append([name, where, f"{share:.3f}"])
    if counted:
        (least, greatest), (low, high) = design.COVERAGES, design.COVERAGES_OF_THIRDS
        yield (
            f"The coverage of {100 * design.INTERVAL:.0f} % intervals should be between "
            f"{100 * least:.0f} and {100 * greatest:.0f} %, and between {100 * low:.0f} and "
            f"{100 * high:.0f} % in each third of the predictions. It is outside in {len(lines)} "
            f"of {len(limits) * len(counted)} cases, where tables with fewer than "
            f"{design.FEWEST_TEST_ROWS:,} test rows a fold do not count{':' if lines else '.'}"
        )
    if lines:
        yield markdown_table(("data set", "predictions", "coverage"), sorted(lines))


def ratios(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the ratios of every method to CatBoost, and of bochner to every method."""
    kinds = KINDS | {"fit_seconds": "seconds"}
    lines = [
        _line(rows, metric, f"{method}, {kind}", method, design.CATBOOST)
        for metric, kind in kinds.items()
        for method in design.METHODS
        if method != design.CATBOOST
    ]
    header = ("tables", "mean", "least", "greatest", "on")
    if used_lines := [line for line in lines if line]:
        yield (
            f"**Ratios to {design.CATBOOST}** of mean errors and seconds: geometric mean over the "
            "tables, the least and the greatest ratio, and the table of the greatest."
        )
        yield markdown_table(("method", *header), used_lines)
    lines = [
        _line(rows, metric, f"{method}, {kind}", design.OURS, method)
        for metric, kind in KINDS.items()
        for method in design.METHODS
        if method != design.OURS
    ]
    if used_lines := [line for line in lines if line]:
        yield f"**Ratios of {design.OURS}** to every other method, of mean errors on its folds."
        yield markdown_table(("to", *header), used_lines)


def _line(rows: Sequence[Row], metric: str, label: str, method: str, to: str) -> list[str]:
    """Return the line of the ratios of one method to another; empty if no table has both."""
    fewer = min(method, to, key=lambda name: name not in design.ONE_FOLD)
    ratios = {
        name: errors[method] / errors[to]
        for name, errors in mean_errors(rows, metric, fewer).items()
        if method in errors and to in errors
    }
    if not ratios:
        return []
    worst = max(ratios, key=ratios.__getitem__)
    mean = np.exp(np.mean(np.log(list(ratios.values()))))
    ends = (f"{ratio:.3g}" for ratio in (mean, min(ratios.values()), ratios[worst]))
    return [label, str(len(ratios)), *ends, worst]
