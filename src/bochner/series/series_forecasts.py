"""Forecasts of the fitted series of a forecaster at requested times, in the type of the series."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bochner._base.arrays import Array
from bochner.series.fitted_series import Ahead, FittedSeries, in_one_frame
from bochner.series.predictive_mixture import PredictiveMixture
from bochner.series.reconciliation import DrawnForecast, Reconciliation, ScoredLaw
from bochner.series.timelines import labelled

Predictive = PredictiveMixture | DrawnForecast
"""Laws of the values of a series at the requested times."""


@dataclass(frozen=True, slots=True, eq=False)
class SeriesForecasts:
    """Fitted series by name, with the rows to predict at, and the sums among them.

    ``is_single`` is true for a single series, whose results have no name.
    """

    fitted: Mapping[str, FittedSeries]
    ahead: Mapping[str, Ahead]
    is_single: bool
    sums: Reconciliation | None

    @classmethod
    def at(
        cls,
        fitted: Mapping[str, FittedSeries],
        is_single: bool,
        sums: Reconciliation | None,
        horizon: object,
        X: object,
    ) -> "SeriesForecasts":
        """Return the forecasts at times, or of a number of steps, with the known inputs there."""
        of_each = X if isinstance(X, dict) and not is_single else None
        ahead = {
            name: one.at(horizon, X if of_each is None else of_each.get(name))
            for name, one in fitted.items()
        }
        return cls(fitted, ahead, is_single, sums)

    def laws(self) -> dict[str, Predictive]:
        """Return the predictive law of each series."""
        laws: dict[str, Predictive] = {
            name: one.law.predict(self.ahead[name].rows) for name, one in self.fitted.items()
        }
        if self.sums is not None:
            scored = self._scored(self.sums, laws)
            laws |= zip(self.sums.names, self.sums.forecast(scored), strict=True)
        return laws

    def sample(self, count: int, rng: Generator) -> Any:
        """Return sample paths (h, count) of each series; ValueError before its last known value."""
        for name, one in self.fitted.items():
            if self.ahead[name].rows.times[0] <= one.law.times[-1]:
                raise ValueError(
                    "Times to sample at must lie after the last known value of the series."
                )
        sums, drawn = self.sums, {}
        for name, one in self.fitted.items():
            draw = one.law.sample if sums is None or name not in sums.names else one.law.paths
            drawn[name] = draw(self.ahead[name].rows, count, rng)
        if sums is not None:
            laws = {
                name: self.fitted[name].law.predict(self.ahead[name].rows) for name in sums.names
            }
            paths = sums.sample(self._scored(sums, laws), [drawn[name] for name in sums.names])
            drawn |= zip(sums.names, paths, strict=True)
        return self.each(lambda name: drawn[name].T, list(range(count)))

    def components(self, ends: Array) -> Any:
        """Return mean and quantiles ``ends`` of the components (h, 3) of each series alone."""

        def of_series(series: str, ahead: Ahead) -> Any:
            laws = self.fitted[series].law.components_at(ahead.rows)
            columns = {
                name: np.column_stack((law.centre(), law.quantiles(ends)))[ahead.places]
                for name, law in laws.items()
            }
            if ahead.future.index is None:
                return columns
            names = [(name, part) for name in columns for part in ("mean", "lower", "upper")]
            return labelled(np.hstack(list(columns.values())), ahead.future.index, names)

        return self.by_name(of_series)

    def log_densities(self, values: Array) -> Any:
        """Return log predictive densities (h,) of values in the order of the requested times."""

        def of_series(name: str, ahead: Ahead) -> Array:
            order = np.argsort(ahead.places, kind="stable")
            law = self.fitted[name].law.predict(ahead.rows)
            return law.log_density(values[order])[ahead.places]

        return self.by_name(of_series)

    def framed(self, laws: Mapping[str, Predictive], values: Callable[[Predictive], Array]) -> Any:
        """Return values (h,) of each law, in one data frame if all series have one index."""
        results = self.each(lambda name: values(laws[name]))
        return results if self.is_single else in_one_frame(results)

    def each(self, values: Callable[[str], Array], columns: Sequence[object] | None = None) -> Any:
        """Return values (h,) or (h, q) of each series, by its name, in order of the times."""
        return self.by_name(
            lambda name, ahead: labelled(values(name)[ahead.places], ahead.future.index, columns)
        )

    def by_name(self, evaluate: Callable[[str, Ahead], Any]) -> Any:
        """Return the result of a function for each series, by name, or that of a single series."""
        results = {name: evaluate(name, ahead) for name, ahead in self.ahead.items()}
        return next(iter(results.values())) if self.is_single else results

    def _scored(self, sums: Reconciliation, laws: Mapping[str, Any]) -> list[ScoredLaw]:
        """Return the laws of series that add up; ValueError if their times are not the same."""
        first = sums.names[0]
        for name in sums.names[1:]:
            kinds = [self.fitted[each].timeline.kind for each in (first, name)]
            times = [self.ahead[each].future.numbers.tolist() for each in (first, name)]
            if kinds[0] != kinds[1] or times[0] != times[1]:
                raise ValueError(
                    f"Forecasts of {first!r} and {name!r} are for different times, so that they "
                    "cannot add up: fit series that end at the same time, with NaN for unknown "
                    "values, or pass times to predict at instead of a number of steps."
                )
        return [ScoredLaw.of(laws[name]) for name in sums.names]
