"""Fits and forecasts the series of a table one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from bochner._base.number_texts import counted
from bochner._base.progress import Progress
from bochner.comparison.forecast_errors import (
    OriginScores,
    SeriesForecast,
    origin_scores,
)
from bochner.files.errors import InputError
from bochner.files.series_table import ONE, SeriesColumns, TableSeries
from bochner.series.calendars import holiday_inputs
from bochner.series.forecaster import Forecaster
from bochner.series.series_rows import read_series

if TYPE_CHECKING:
    import pandas as pd

_MOST_COMPARED = 20
"""Largest number of series that are also backtested, selected evenly from all series."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesFits:
    """A forecaster, the forecasts of the series of a table, and reasons why others have none."""

    model: Forecaster
    series: Sequence[SeriesForecast]
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Request:
    """Options of a forecast: columns, number of steps, country of holidays and interval level."""

    columns: SeriesColumns
    horizon: int | None = None
    holidays: str | None = None
    level: float = 0.9

    def steps(self, one: TableSeries) -> int:
        """Return the number of steps to forecast for one series."""
        target, n_later = self.columns.target, len(one.later)
        of = "" if self.columns.series is None else f" of the series {one.name!r}"
        if self.horizon is None and not n_later:
            raise InputError(
                f"How far to forecast is not known: give --horizon, or add rows with the times to "
                f"forecast{of} and without {target!r}."
            )
        steps = n_later if self.horizon is None else self.horizon
        if steps > n_later and read_series(one.values, None, None).timeline.step is None:
            raise InputError(
                f"The times{of} are irregular, so that --horizon {steps} has no unit: add rows "
                f"with the times to forecast and without {target!r}, in FILE or by --future."
            )
        if self.columns.inputs and steps > n_later:
            raise InputError(
                f"The known inputs{of} reach {counted(n_later, 'row')} beyond the last known "
                f"{target!r}, and {steps} are to be forecast: add rows with the known inputs, in "
                "FILE or by --future."
            )
        return steps

    def inputs(self, one: TableSeries, steps: int) -> pd.DataFrame | None:
        """Return the known inputs, with holidays, at the times of a series and of its forecast."""
        import pandas as pd

        n_values = len(one.values)
        inputs = None if one.inputs is None else one.inputs.iloc[: n_values + steps]
        if self.holidays is None:
            return inputs
        future: Any = one.later[:steps]
        if len(future) < steps:
            future = read_series(one.values, None, None).timeline.future(steps).index
        if future is None:
            raise InputError("--holidays needs dates, and the times are numbers.")
        times = one.values.index.append(pd.Index(future))
        calendar = holiday_inputs(times, n_values, self.holidays).set_axis(times)
        return calendar if inputs is None else pd.concat([inputs, calendar], axis=1)

    def forecast(
        self, one: TableSeries, parts: Sequence[Any], X: pd.DataFrame | None
    ) -> SeriesForecast:
        """Return a series with its forecast; ``parts`` are pandas series of means and both ends."""
        name = self.columns.target if self.columns.series is None else one.name
        times = parts[0].index.rename(self.columns.time)
        mean, lower, upper = (np.asarray(part) for part in parts)
        return SeriesForecast(name, one.values, times, mean, lower, upper, X)


def forecast_each(
    all_series: Sequence[TableSeries], unfitted: Forecaster, request: Request, progress: Progress
) -> SeriesFits:
    """Fit a model to every series and forecast it.

    A series that cannot be forecast is left out, with the reason. Raises the first error if no
    series can be.
    """
    models, series = {}, []
    errors: dict[str, TypeError | ValueError] = {}
    for one in all_series:
        try:
            steps = request.steps(one)
            X = request.inputs(one, steps)
            past, later = (None, None) if X is None else (
                X.iloc[: len(one.values)], X.iloc[len(one.values) :]
            )  # fmt: skip
            model = clone(unfitted)
            if request.columns.series is None:
                fitted = model.fit(one.values, past, callback=progress.relay)
            else:
                model.fit({one.name: one.values}, {one.name: past}, callback=progress.relay)
                fitted = model.of(one.name)
            horizon: Any = one.later[:steps] if len(one.later) >= steps else steps
            ends = fitted.predict_interval(horizon, request.level, later)
            parts = [fitted.predict(horizon, later), *ends]
            series.append(request.forecast(one, parts, X))
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


def past_scores(fits: SeriesFits, request: Request, progress: Progress) -> dict[str, OriginScores]:
    """Return, by name, the errors of past forecasts of at most twenty series."""
    scores = {}
    every = max(1, -(-len(fits.series) // _MOST_COMPARED))
    for place, one in enumerate(some := fits.series[::every]):
        # With a single series, "1 of 1" would not be useful as progress.
        places = (place + 1, len(some)) if len(some) > 1 else ()
        progress("forecasting from past origins", *places)
        past = None if one.inputs is None else one.inputs.iloc[: len(one.values)]
        result = origin_scores(fits.model, one.values, past, len(one.mean), request.level)
        if result is not None:
            scores[ONE if request.columns.series is None else one.name] = result
    return scores
