"""Errors, coverage and seconds of forecasts of panels of short series."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from time import process_time

import numpy as np

from benchmarks.forecasts.methods import installed
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.panels import design
from benchmarks.panels.methods import forecast
from benchmarks.panels.series import case
from benchmarks.results import Row, group_table, grouped

_OFFLINE = (design.SHARED, design.ALONE, design.NAIVE)  # Methods that need no other package


def _cells(options: Options) -> Iterable[Cell]:
    if options.quick:
        return grid((design.QUICK,), _OFFLINE, 1)
    return grid(tuple(design.cases()), installed(design.METHODS, without=_OFFLINE), 1)


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    some = case(cell.dataset)
    start = process_time()
    forecasts = forecast(cell.method, some)
    seconds = process_time() - start
    errors = np.array(
        [
            np.abs(forecasts.means[name] - future).mean() / some.scales[name]
            for name, future in some.future.items()
        ]
    )
    metrics = {
        "mase": float(errors.mean()),
        "median": float(np.median(errors)),
        "worst": float(errors.max()),
        "seconds": seconds / len(some.past if cell.method != design.ALONE else some.future),
    }
    if forecasts.ends:
        inside = [
            (ends[:, 0] <= some.future[name]) & (some.future[name] <= ends[:, 1])
            for name, ends in forecasts.ends.items()
        ]
        metrics["coverage"] = float(np.mean(inside))
    return metrics


_TITLES = {
    "mase": "**Mean absolute error**, relative to the mean absolute seasonal difference of all "
    "past values of a series: means over the series.",
    "median": "**Median** of the same errors over the series.",
    "worst": "**Largest** of these errors.",
    "coverage": f"**Coverage** of {100 * design.INTERVAL:.0f} % intervals.",
    "seconds": "**Seconds** on the CPU of a fit with its forecast, per series.",
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in _TITLES.items():
        yield title
        names = [name for name in design.METHODS if any(row["method"] == name for row in rows)]
        yield group_table(grouped(rows, metric), names, lambda values: f"{np.mean(values):.3g}")


PANELS = Benchmark(
    name="panels",
    settings=("part",),
    introduction="Short series of six public panels, forecast once each: bochner.Forecaster fitted "
    "to all series together and to each by itself, a global LightGBM of mlforecast, AutoETS of "
    "statsforecast, and the last season. In the cases *all of n*, every series has n values; in "
    "the cases *new of n*, a quarter of the series have n values and are forecast, and the others "
    "are longer.",
    parts=(Part("errors", _cells, _run, _tables),),
)
