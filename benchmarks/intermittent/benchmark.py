"""Errors, quantile losses and coverage of forecasts of counts that are mostly zero."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.forecasts.methods import installed
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.intermittent import design
from benchmarks.intermittent.methods import forecast
from benchmarks.intermittent.series import counts
from benchmarks.results import Row, group_table, grouped

_ALONE = (design.OURS, design.GAUSSIAN, design.HISTORY)  # Methods that need no further package


def _cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid((design.SIMULATED,), _ALONE, design.N_SIMULATED)
    methods = installed(design.METHODS, without=_ALONE)
    return [cell for name, n in design.GROUPS.items() for cell in grid((name,), methods, n)]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    series = counts(cell.dataset, cell.seed, options.data)
    predicted, future = forecast(cell.method, series), series.future
    changes = np.diff(series.past)
    gaps = future[:, None] - predicted.quantiles
    levels = np.array(design.LEVELS)
    losses = 2.0 * np.maximum(levels * gaps, (levels - 1.0) * gaps) / np.abs(changes).mean()
    error = future - predicted.mean
    metrics = {
        "mase": float(np.abs(error).mean() / np.abs(changes).mean()),
        "rmsse": float(np.sqrt(np.mean(error**2) / np.mean(changes**2))),
        "pinball": float(losses.mean()),
        "pinball_50": float(losses[:, 0].mean()),
        "pinball_95": float(losses[:, 2].mean()),
        "coverage_80": float(np.mean(gaps[:, 1] <= 0.0)),
        "coverage_95": float(np.mean(gaps[:, 2] <= 0.0)),
        "zeros": float(np.mean(future == 0.0)),
        "fit_seconds": predicted.seconds,
    }
    if np.isfinite(predicted.zero).all():
        metrics["zeros_predicted"] = float(predicted.zero.mean())
        metrics["brier"] = float(np.mean((predicted.zero - (future == 0.0)) ** 2))
    return metrics


_TITLES = {
    "pinball": "**Quantile loss**: the mean over the quantiles of 50, 80 and 95 %, doubled, "
    "relative to the mean absolute change from one value to the next; means over the series.",
    "pinball_50": "**Quantile loss of the median**, which is the absolute error.",
    "pinball_95": "**Quantile loss of the 95 % quantile.**",
    "rmsse": "**Root mean square error of the expected count**, relative to the changes (RMSSE).",
    "mase": "**Mean absolute error of the expected count**, relative to the changes (MASE). It is "
    "lowest for forecasts near the median, which is mostly zero.",
    "coverage_80": "**Share of counts up to the 80 % quantile.** It is at least 80 %, because "
    "counts are whole numbers.",
    "coverage_95": "**Share of counts up to the 95 % quantile.**",
    "zeros": "**Share of zeros** that occurred.",
    "zeros_predicted": "**Share of zeros** that was predicted, by methods that have one.",
    "brier": "**Brier score of a zero.**",
    "fit_seconds": "**Seconds** on the CPU of a fit with its forecast, one thread.",
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in _TITLES.items():
        yield title
        methods = {row["method"] for row in rows if row["metric"] == metric}
        yield group_table(
            grouped(rows, metric),
            [name for name in design.METHODS if name in methods],
            lambda values: f"{np.mean(values):.3g}",
        )


INTERMITTENT = Benchmark(
    name="intermittent",
    settings=(),
    introduction="Series of whole numbers of which more than half are zero, forecast once from "
    "the values before the last ones: bochner.Forecaster at its defaults, the same with square "
    "roots of the values, methods for intermittent demand, and the quantiles of all past values.",
    parts=(Part("origins", _cells, _run, _tables),),
)
