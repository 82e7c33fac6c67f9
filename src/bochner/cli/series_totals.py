"""Series of a table together with their total: forecasts that add up, and their past errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bochner._base.progress import Progress
from bochner.cli.forecast_options import ForecastOptions
from bochner.cli.series_fits import SeriesFits, inputs_of, n_steps_of
from bochner.comparison.forecast_errors import SeriesForecast
from bochner.files.errors import InputError
from bochner.files.series_table import SeriesColumns, TableSeries
from bochner.series.forecaster import Forecaster

if TYPE_CHECKING:
    import pandas as pd


def with_total(
    all_series: Sequence[TableSeries], name: str, columns: SeriesColumns, is_wide: bool
) -> list[TableSeries]:
    """Return series that end at the same time, with their total last if it is not among them.

    The total of the columns of one table has their known inputs, which are those of all series.
    Raises InputError for less than two series besides the total.
    """
    parts = [one for one in all_series if one.name != name]
    if len(parts) < 2:
        raise InputError(
            f"--total {name} needs two or more series to add up, got {len(parts)}: "
            + ", ".join(repr(one.name) for one in parts)
        )
    aligned = _to_one_end(all_series, columns)
    if len(parts) < len(all_series):
        return aligned
    total = reduce(lambda left, right: left.add(right), (one.values for one in aligned))
    first = total.first_valid_index()
    if first is None:
        raise InputError(f"--total {name} needs times at which all series are known, found none.")
    inputs = aligned[0].inputs if is_wide else None
    if inputs is not None:
        inputs = max((one.inputs for one in aligned if one.inputs is not None), key=len)
        inputs = inputs.loc[first:]
    return [*aligned, TableSeries(name, total.loc[first:], inputs, aligned[0].later)]


def _to_one_end(all_series: Sequence[TableSeries], columns: SeriesColumns) -> list[TableSeries]:
    """Return the series with NaN until the last known value of all, at the times of any of them."""
    times = reduce(lambda left, right: left.union(right), (one.values.index for one in all_series))
    aligned = []
    for one in all_series:
        values = one.values.reindex(times[times >= one.values.index[0]])
        if one.inputs is not None:
            lacking = values.index.difference(one.inputs.index)
            if len(lacking):
                raise InputError(
                    f"The series {one.name!r} has no row at {lacking[0]}, where others have one: "
                    f"add it with the known inputs, and without {columns.target!r} if unknown."
                )
        later = one.later[one.later > times[-1]]
        inputs = None if one.inputs is None else one.inputs.loc[values.index.append(later)]
        aligned.append(replace(one, values=values, later=later, inputs=inputs))
    return aligned


def fit_total(
    all_series: Sequence[TableSeries],
    name: str,
    columns: SeriesColumns,
    options: ForecastOptions,
    level: float,
    progress: Progress,
) -> SeriesFits:
    """Fit series and their total together, and return forecasts that add up."""
    steps = {n_steps_of(one, columns, options) for one in all_series}
    if len(steps) > 1:
        raise InputError(
            f"--total {name} needs the same rows to forecast of every series, got between "
            f"{min(steps)} and {max(steps)}: add the missing rows, or give --horizon."
        )
    (count,) = steps
    inputs = {one.name: inputs_of(one, count, options) for one in all_series}
    past: dict[str, pd.DataFrame | None] = {}
    future: dict[str, pd.DataFrame | None] = {}
    for one in all_series:
        table = inputs[one.name]
        past[one.name] = None if table is None else table.iloc[: len(one.values)]
        future[one.name] = None if table is None else table.iloc[len(one.values) :]
    parts = [one.name for one in all_series if one.name != name]
    model = Forecaster(
        transformation=options.transformation,
        sums={name: parts},
        n_jobs=options.n_jobs,
        random_state=options.seed,
    ).fit({one.name: one.values for one in all_series}, past, callback=progress.relay)
    later = all_series[0].later
    horizon: Any = later[:count] if len(later) >= count else count
    mean = model.predict(horizon, future)
    lower, upper = model.predict_interval(horizon, level, future)
    forecasts = []
    for one in all_series:
        times = mean[one.name].index.rename(columns.time)
        means, lows, highs = (np.asarray(each[one.name]) for each in (mean, lower, upper))
        table = inputs[one.name]
        forecasts.append(SeriesForecast(one.name, one.values, times, means, lows, highs, table))
    return SeriesFits(model, forecasts, {})


def on_one_index(
    series: Sequence[SeriesForecast],
) -> tuple[dict[str, pd.Series], Mapping[str, pd.DataFrame | None]]:
    """Return values and known inputs of all series, from the time at which all have begun."""
    first = max(one.values.index[0] for one in series)
    values = {one.name: one.values.loc[first:] for one in series}
    times = reduce(lambda left, right: left.union(right), (each.index for each in values.values()))
    inputs = {one.name: None if one.inputs is None else one.inputs.loc[times] for one in series}
    return {name: each.reindex(times) for name, each in values.items()}, inputs
