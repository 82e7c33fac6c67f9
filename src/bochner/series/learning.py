"""Learns a series: its transformation, its structure and draws of the parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner._base.progress import Progress, silent
from bochner._base.threads import single_threaded_blas
from bochner.series import breaks
from bochner.series.component_search import Fit, Searcher, Season, never
from bochner.series.law import SeriesLaw
from bochner.series.priors import GENERAL, SeriesPriors
from bochner.series.series_units import SeriesUnits
from bochner.series.value_transformations import TRANSFORMATIONS, candidates, positive


@dataclass(frozen=True, slots=True)
class Plan:
    """Options of the search: seasons by length in units of the times, and other structures.

    ``names`` returns the name of a period of some length. ``follows_clock`` returns whether a
    length repeats by the clock of a time zone. Without ``transformations``, all transformations
    that are defined for the values are compared.
    """

    seasons: Sequence[tuple[float, str]]
    names: Callable[[float], str]
    find_seasons: bool
    find_cycle: bool
    transformations: Sequence[str] | None = None
    n_threads: int = 1
    progress: Progress = silent
    follows_clock: Callable[[float], bool] = never
    priors: SeriesPriors = GENERAL
    find_breaks: bool = True


def learn(
    times: Array,
    values: Array,
    inputs: Array,
    plan: Plan,
    rng: Generator,
    clock: Array | None = None,
) -> SeriesLaw:
    """Return the law of a series: times (n,) in order, values (n,) with NaN, inputs (n, d).

    ``clock`` (n,) is the local time of a time zone minus the time; None without a time zone.
    """
    known_values = values[np.isfinite(values)]
    names = plan.transformations or candidates(known_values)
    compared_fits: list[tuple[str, SeriesUnits, Searcher, Fit, float]] = []
    with single_threaded_blas():
        for name in names:
            if compared_fits and plan.progress.is_stopped:
                break
            plan.progress(f"fitting a line and the seasons to values with transformation {name!r}")
            compared_fits.append((name, *_first(times, values, inputs, clock, name, plan)))
    name, units, searcher, fit, _ = max(compared_fits, key=lambda entry: entry[-1])
    rows = units.rows(times, TRANSFORMATIONS[name].forward(values), inputs, clock)
    outliers = np.zeros(0, dtype=np.intp)
    all_rows, unbroken = rows, fit
    if plan.find_breaks and not plan.progress.is_stopped:
        plan.progress("looking for outliers and shifts of the level")
        with single_threaded_blas():
            rows, fit, outliers = breaks.find_breaks(rows, fit, searcher.fit)
    fits = searcher.best(rows, fit, plan.find_seasons, plan.find_cycle)
    fits, log_weights = searcher.with_drift(rows, fits, searcher.log_weights(fits))
    rows_of_fits = [rows] * len(fits)
    if fit is not unbroken:
        fits, rows_of_fits = [*fits, unbroken], [*rows_of_fits, all_rows]
        log_weights = np.append(
            log_weights + np.log1p(-breaks.NEW_BREAKS), np.log(breaks.NEW_BREAKS)
        )
    plan.progress("drawing from the posterior of the parameters")
    return SeriesLaw.of(fits, log_weights, rows_of_fits, outliers, name, units, rng, plan.n_threads)


def _first(
    times: Array, values: Array, inputs: Array, clock: Array | None, name: str, plan: Plan
) -> tuple[SeriesUnits, Searcher, Fit, float]:
    """Return units, searcher and fit of a transformation, and the logarithm of its weight.

    The weight depends on the evidence of the values. The log slopes of the transformation make the
    evidence a density of the untransformed values, so that transformations can be compared.
    """
    function = TRANSFORMATIONS[name]
    # Units are those of transformed values.
    transformed = function.forward(values)
    units = SeriesUnits.of(times, transformed, inputs)
    searcher = Searcher(
        float(units.ranges(units.step)),
        inputs.shape[1],
        lambda period: plan.names(period * units.span),
        plan.n_threads,
        plan.progress,
        lambda period: plan.follows_clock(period * units.span),
        plan.priors,
    )
    seasons = [Season(float(units.ranges(length)), label) for length, label in plan.seasons]
    fit = searcher.first(units.rows(times, transformed, inputs, clock), seasons)
    known_values = values[np.isfinite(values)]
    slopes = function.log_slope(positive(known_values) if function.changes_scale else known_values)
    density = fit.score + float(np.sum(slopes)) - len(known_values) * np.log(units.deviation)
    return units, searcher, fit, plan.priors.log_weight_of_scale(density, name)
