"""Errors, coverage and seconds of forecasts from several origins."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import perf_counter

import numpy as np

from benchmarks.forecasts import design
from benchmarks.forecasts.methods import forecast, installed
from benchmarks.forecasts.series import Record, read
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, group_table, grouped

_QUICK = "seattle, highest temperature"


def _cells(options: Options) -> Iterable[Cell]:
    if options.quick:
        return grid((_QUICK,), (design.OURS, design.NAIVE), 1)
    names = [
        name for name, series in design.SERIES.items() if options.from_folder or series.is_bundled
    ]
    methods = installed(design.METHODS, without=(design.OURS, design.NAIVE))
    return [cell for name in names for cell in grid((name,), methods, design.SERIES[name].origins)]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    series, record = design.SERIES[cell.dataset], read(cell.dataset, options.data)
    last = len(record.values) - series.horizon
    # Origins go back from the last one, evenly to the middle of the series.
    origin = last - cell.seed * ((last - len(record.values) // 2) // max(series.origins - 1, 1))
    first = max(0, origin - (series.most_rows or origin))
    past = Record(record.times[first:origin], record.values[first:origin])
    future = record.values[origin : origin + series.horizon]
    start = perf_counter()
    predicted = forecast(cell.method, past, series)
    seconds = perf_counter() - start
    is_known = np.isfinite(future)
    error = np.abs(predicted.mean - future)[is_known]
    differences = past.values[series.naive :] - past.values[: -series.naive]
    inside = (predicted.lower <= future) & (future <= predicted.upper)
    return {
        "mase": float(error.mean() / np.nanmean(np.abs(differences))),
        "rmse": float(np.sqrt(np.mean(error**2))),
        "coverage": float(inside[is_known].mean()),
        "fit_seconds": seconds,
    }


_TITLES = {
    "mase": "**Mean absolute error**, relative to that of repeating the last season among the rows "
    "before the origin (MASE): means over the origins.",
    "rmse": "**Root mean square error** in the units of the series: means over the origins.",
    "coverage": f"**Coverage** of {100 * design.INTERVAL:.0f} % intervals, mean over the origins.",
    "fit_seconds": "**Seconds** of a fit with its forecast, medians over the origins.",
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in _TITLES.items():
        yield title
        summary = np.median if metric == "fit_seconds" else np.mean
        yield group_table(
            grouped(rows, metric),
            list(design.METHODS),
            lambda values, summary=summary: f"{summary(values):.3g}",
        )


FORECASTS = Benchmark(
    name="forecasts",
    settings=(),
    introduction="Forecasts of eight series from up to five origins each, with the rows before an "
    "origin alone: bochner.Forecaster at its defaults, models of statsforecast that are told the "
    "season, and the last season repeated.",
    parts=(Part("origins", _cells, _run, _tables),),
)
