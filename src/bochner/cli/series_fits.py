"""Models and forecasts of the series of a table, one series after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text
from sklearn.base import clone

from bochner._base.number_texts import counted
from bochner._base.progress import Progress
from bochner.cli.forecast_options import ForecastOptions
from bochner.cli.output import plain
from bochner.comparison.forecast_errors import SeriesForecast
from bochner.files.errors import InputError
from bochner.files.series_table import SeriesColumns, TableSeries
from bochner.series.forecaster import Forecaster
from bochner.series.holidays import holiday_inputs
from bochner.series.series_rows import read_series

if TYPE_CHECKING:
    import pandas as pd

IN_PART = 1
"""Exit code of a command that has forecast some series, and refused others."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesFits:
    """The model and the forecasts of all series that have one, and reasons why others have none."""

    model: Forecaster
    series: Sequence[SeriesForecast]
    refused: Mapping[str, str]


def fit_each(
    all_series: Sequence[TableSeries],
    columns: SeriesColumns,
    options: ForecastOptions,
    level: float,
    progress: Progress,
) -> SeriesFits:
    """Fit a model to every series and forecast it.

    A series that cannot be forecast is left out, with the reason. Raises the first error if no
    series can be.
    """
    unfitted = Forecaster(
        transformation=options.transformation, n_jobs=options.n_jobs, random_state=options.seed
    )
    models, series = {}, []
    errors: dict[str, TypeError | ValueError] = {}
    for one in all_series:
        try:
            model = _fitted(clone(unfitted), one, columns, options, progress)
            steps = n_steps_of(one, columns, options)
            X = inputs_of(one, steps, options)
            series.append(_one_forecast(model, one, columns, steps, X, level))
            models[one.name] = model
        except (TypeError, ValueError) as error:
            errors[one.name] = error
    if not models:
        raise next(iter(errors.values()))
    joined = next(iter(models.values()))
    for model in models.values():
        joined.series_ |= model.series_
    reasons = {
        name: str(error).removeprefix(f"Series {name!r}: ") for name, error in errors.items()
    }
    return SeriesFits(joined, series, reasons)


def report_refused(refused: Mapping[str, str], n_series: int) -> None:
    """Print the series that have no forecast, with the reasons, and exit."""
    console = Console(stderr=True, soft_wrap=True)
    head = f"bochner: {len(refused)} of {n_series + len(refused)} series have no forecast:"
    lines = [head, *(f"  {name!r}: {reason}" for name, reason in refused.items())]
    for line in lines:
        console.print(Text(plain(line), style="red"))
    raise typer.Exit(IN_PART)


def _fitted(
    model: Forecaster,
    one: TableSeries,
    columns: SeriesColumns,
    options: ForecastOptions,
    progress: Progress,
) -> Forecaster:
    """Return a model fitted to a series, by its name if there are several."""
    X = _part(inputs_of(one, n_steps_of(one, columns, options), options), len(one.values))
    if columns.series is None:
        return model.fit(one.values, X, callback=progress.relay)
    return model.fit({one.name: one.values}, {one.name: X}, callback=progress.relay)


def n_steps_of(one: TableSeries, columns: SeriesColumns, options: ForecastOptions) -> int:
    """Return the number of steps to forecast of one series."""
    of = "" if columns.series is None else f" of the series {one.name!r}"
    n_later = len(one.later)
    if options.horizon is None and not n_later:
        raise InputError(
            f"How far to forecast is not known: give --horizon, or add rows with the times to "
            f"forecast{of} and without {columns.target!r}."
        )
    steps = n_later if options.horizon is None else options.horizon
    if steps > n_later and read_series(one.values, None, None).timeline.step is None:
        raise InputError(
            f"The times{of} are irregular, so that --horizon {steps} has no unit: add rows with "
            f"the times to forecast and without {columns.target!r}, in FILE or by --future."
        )
    if columns.inputs and steps > n_later:
        raise InputError(
            f"The known inputs{of} reach {counted(n_later, 'row')} beyond the last known "
            f"{columns.target!r}, and {steps} are to be forecast: add rows with the known inputs, "
            "in FILE or by --future."
        )
    return steps


def inputs_of(one: TableSeries, steps: int, options: ForecastOptions) -> pd.DataFrame | None:
    """Return the known inputs at the times of a series and its forecast, holidays included."""
    import pandas as pd

    n_values = len(one.values)
    inputs = None if one.inputs is None else one.inputs.iloc[: n_values + steps]
    if options.holidays is None:
        return inputs
    future: Any = one.later[:steps]
    if len(future) < steps:
        future = read_series(one.values, None, None).timeline.future(steps).index
    if future is None:
        raise InputError("--holidays needs dates, and the times are numbers.")
    times = one.values.index.append(pd.Index(future))
    calendar = holiday_inputs(times, n_values, options.holidays).set_axis(times)
    return calendar if inputs is None else pd.concat([inputs, calendar], axis=1)


def _part(X: pd.DataFrame | None, n_values: int) -> pd.DataFrame | None:
    return None if X is None else X.iloc[:n_values]


def _one_forecast(
    model: Forecaster,
    one: TableSeries,
    columns: SeriesColumns,
    steps: int,
    X: pd.DataFrame | None,
    level: float,
) -> SeriesForecast:
    horizon: Any = one.later[:steps] if len(one.later) >= steps else steps
    later = None if X is None else X.iloc[len(one.values) :]
    fitted = model if columns.series is None else model.of(one.name)
    mean = fitted.predict(horizon, later)
    lower, upper = fitted.predict_interval(horizon, level, later)
    means, lows, highs = (np.asarray(values) for values in (mean, lower, upper))
    name = columns.target if columns.series is None else one.name
    times = mean.index.rename(columns.time)
    return SeriesForecast(name, one.values, times, means, lows, highs, X)
