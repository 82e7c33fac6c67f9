"""Learn a series: transformation, structure and draws of the parameters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner._numerics.threads import single_threaded_blas
from bochner.learning.series.law import SeriesLaw, SeriesUnits
from bochner.learning.series.search import Fit, Searcher, Season, never
from bochner.learning.series.transformations import TRANSFORMATIONS, candidates, positive


@dataclass(frozen=True, slots=True)
class Plan:
    """What to compare: seasons by length in units of the times, and what else to look for.

    ``names`` turns the length of a period into its name, and ``follows_clock`` tells which lengths
    repeat by the clock of a zone. Without transformations named, those that the values allow are
    compared.
    """

    seasons: Sequence[tuple[float, str]]
    names: Callable[[float], str]
    find_seasons: bool
    find_cycle: bool
    transformations: Sequence[str] | None = None
    n_threads: int = 1
    progress: Progress = silent
    follows_clock: Callable[[float], bool] = never


def learn(
    times: Array,
    values: Array,
    inputs: Array,
    plan: Plan,
    rng: Generator,
    clock: Array | None = None,
) -> SeriesLaw:
    """Return the law of a series: times (n,) in order, values (n,) with NaN, inputs (n, d).

    ``clock`` (n,) is the time by the clock of a zone minus the time, None without a zone.
    """
    known = values[np.isfinite(values)]
    compared = plan.transformations or candidates(known)
    found: list[tuple[str, SeriesUnits, Searcher, Fit, float]] = []
    with single_threaded_blas():
        for name in compared:
            if found and plan.progress.is_stopped:
                break
            plan.progress(f"fitting a line and the seasons to values with transformation {name!r}")
            found.append((name, *_first(times, values, inputs, clock, name, plan)))
    name, units, searcher, fit, _ = max(found, key=lambda one: one[-1])
    rows = units.rows(times, TRANSFORMATIONS[name].forward(values), inputs, clock)
    fits = searcher.best(rows, fit, plan.find_seasons, plan.find_cycle)
    plan.progress("drawing from the posterior of the parameters")
    return SeriesLaw.of(fits, rows, name, units, rng, plan.n_threads)


def _first(
    times: Array, values: Array, inputs: Array, clock: Array | None, name: str, plan: Plan
) -> tuple[SeriesUnits, Searcher, Fit, float]:
    """Return units, searcher and fit with a transformation, and the log evidence of the values."""
    function = TRANSFORMATIONS[name]
    transformed = function.forward(values)
    units = SeriesUnits.of(times, transformed, inputs)
    searcher = Searcher(
        units.step / units.span,
        inputs.shape[1],
        lambda period: plan.names(period * units.span),
        plan.n_threads,
        plan.progress,
        lambda period: plan.follows_clock(period * units.span),
    )
    seasons = [Season(length / units.span, label) for length, label in plan.seasons]
    fit = searcher.first(units.rows(times, transformed, inputs, clock), seasons)
    known = values[np.isfinite(values)]
    slopes = function.log_slope(positive(known) if name != "none" else known)
    density = fit.score + float(np.sum(slopes)) - len(known) * np.log(units.deviation)
    return units, searcher, fit, density
