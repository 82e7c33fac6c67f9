"""Errors, coverage and seconds of forecasts of the competitions' series."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from benchmarks.competitions import design
from benchmarks.competitions.methods import forecast
from benchmarks.competitions.series import contest, count
from benchmarks.forecasts.methods import installed
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, group_table, grouped, markdown_table

_N_RESAMPLES = 2000
"""Resamples of the series for a band: its ends then vary by a few per cent of its width."""


_MUCH = 3.0
"""Error relative to that of the best other method above which a series is forecast badly."""


def _cells(options: Options) -> Iterable[Cell]:
    if not options.from_folder:
        return grid((design.BUNDLED,), (design.OURS,), 1)
    methods = installed(design.METHODS, without=(design.OURS,))
    return [
        cell for name in design.KINDS for cell in grid((name,), methods, count(name, options.data))
    ]


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    some = contest(cell.dataset, cell.seed, options.data)
    predicted = forecast(cell.method, cell.dataset, cell.seed, options.data)
    quantiles, future = predicted.values, some.future
    error = np.abs(quantiles[:, 2] - future)
    gaps = future[:, None] - quantiles
    levels = np.array(design.LEVELS)
    pinball = np.maximum(levels * gaps, (levels - 1.0) * gaps)
    return {
        "mase": float(error.mean() / some.scale),
        "smape": float(200.0 * np.mean(error / (np.abs(future) + np.abs(quantiles[:, 2])))),
        "pinball": float(2.0 * pinball.mean() / some.scale),
        "coverage_80": float(np.mean((quantiles[:, 1] <= future) & (future <= quantiles[:, 3]))),
        "coverage_95": float(np.mean((quantiles[:, 0] <= future) & (future <= quantiles[:, 4]))),
        "fit_seconds": predicted.seconds,
    }


_TITLES = {
    "mase": "**Mean absolute error**, relative to the mean absolute seasonal difference of the "
    "values before the origin (MASE): means over the series.",
    "pinball": "**Quantile loss**: the mean over the median and the ends of 80 % and 95 % "
    "intervals, doubled, in the unit of the MASE.",
    "smape": "**sMAPE** in per cent, means over the series.",
    "coverage_95": "**Coverage** of 95 % intervals.",
    "coverage_80": "**Coverage** of 80 % intervals.",
    "fit_seconds": "**Seconds** on the CPU of a fit with its forecast, means over the series, one "
    "thread.",
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    errors = {
        name: {method: dict(_by_series(rows, name, method)) for method in design.METHODS}
        for name in design.KINDS
    }
    yield from _comparison(errors)
    yield from _failures(errors)
    for metric, title in _TITLES.items():
        yield title
        yield group_table(
            grouped(rows, metric),
            [name for name in design.METHODS if any(row["method"] == name for row in rows)],
            lambda values: f"{np.mean(values):.3g}",
        )


Errors = Mapping[str, Mapping[str, Mapping[int, float]]]
"""Errors of series by their number, by method and by kind of series."""


def _comparison(errors: Errors) -> Iterator[str]:
    """Yield a table of our mean error relative to others', with bands over the series."""
    lines = []
    for name, by_method in errors.items():
        ours, median = by_method[design.OURS], by_method[design.MEDIAN]
        singles = {method: by_method[method] for method in design.MODELS if by_method[method]}
        if not ours or not singles or not median:
            continue
        best = min(singles, key=lambda method: float(np.mean(list(singles[method].values()))))
        ranks = (
            np.array(
                [[by_method[method][seed] for method in design.METHODS] for seed in sorted(ours)]
            )
            .argsort(axis=1)
            .argsort(axis=1)
        )
        lines.append(
            [
                name,
                str(len(ours)),
                best,
                _ratio(ours, singles[best]),
                _ratio(ours, median),
                f"{1.0 + ranks[:, 0].mean():.2f}",
                f"{1.0 + ranks[:, 1:].mean(axis=0).min():.2f}",
            ]
        )
    if lines:
        yield (
            "**MASE of bochner relative to others'**: ratios of means over the series, with 95 % "
            "bands by resampling the series. The last columns are mean ranks of the errors among "
            "all methods, that of bochner and the best of the others."
        )
        yield markdown_table(
            ["series", "number", "best single", "ratio to it", "ratio to the median of four",
             "our rank", "best other rank"],
            lines,
        )  # fmt: skip


def _failures(errors: Errors) -> Iterator[str]:
    """Yield a table of the numbers of series that a method forecasts much worse than another."""
    methods = (design.OURS, *design.MODELS)
    lines = []
    for name, by_method in errors.items():
        if not all(by_method[method] for method in methods):
            continue
        each = np.array(
            [[by_method[m][seed] for m in methods] for seed in sorted(by_method[methods[0]])]
        )
        counts = [
            int(np.sum(each[:, place] > _MUCH * np.delete(each, place, axis=1).min(axis=1)))
            for place in range(len(methods))
        ]
        lines.append([name, str(len(each)), *map(str, counts)])
    if lines:
        yield (
            "**Series forecast badly**: numbers of series on which the error of a method is more "
            "than three times that of the best other one, which is chosen after the forecast."
        )
        yield markdown_table(["series", "number", *methods], lines)


def _by_series(rows: Sequence[Row], name: str, method: str) -> Iterator[tuple[int, float]]:
    for row in rows:
        if (row["dataset"], row["method"], row["metric"]) == (name, method, "mase"):
            yield int(row["seed"]), float(row["value"])


def _ratio(ours: Mapping[int, float], others: Mapping[int, float]) -> str:
    seeds = sorted(set(ours) & set(others))
    pairs = np.array([[ours[seed], others[seed]] for seed in seeds])
    resampled = pairs[
        np.random.default_rng(0).integers(len(pairs), size=(_N_RESAMPLES, len(pairs)))
    ]
    means = resampled.mean(axis=1)
    lower, upper = np.quantile(means[:, 0] / means[:, 1], [0.025, 0.975])
    mean = pairs.mean(axis=0)
    return f"{mean[0] / mean[1]:.3f} ({lower:.3f} to {upper:.3f})"


COMPETITIONS = Benchmark(
    name="competitions",
    settings=(),
    introduction="Series of the M3 and M4 competitions, forecast once each: bochner.Forecaster at "
    "its defaults, models of statsforecast that are told the season, and the median of their "
    "forecasts. The priors of bochner were learned from other series of M3.",
    parts=(Part("series", _cells, _run, _tables),),
)
