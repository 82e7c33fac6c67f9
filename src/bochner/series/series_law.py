"""The fitted mixture of models of a series: weighted posterior draws, and predictions."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, Index
from bochner._base.registry import register
from bochner._base.threads import in_order, single_threaded_blas
from bochner.series.breaks import LARGE, calibrated, paths
from bochner.series.components import SHORT_TERM, Inputs, LevelShifts, Waves
from bochner.series.parameter_posterior import Selection, draws, resampled
from bochner.series.series_model import (
    TINY,
    Member,
    ScaledSeries,
    SeriesEvidence,
    SeriesModel,
    SeriesUnits,
)
from bochner.series.value_transformations import TRANSFORMATIONS, PredictiveMixture

_N_DRAWS = 256
"""Number of importance samples of the model with the largest weight; other models have fewer."""

_FEWEST_DRAWS = 64  # Number of importance samples of a model of little weight
_KEPT_DRAWS = 64  # Number of stored draws of all models together, in proportion to their weights
_LEAST_MODEL = 0.01  # Model weight below which a model is dropped, because forecasts hardly change
_BLOCK = 5_000
"""Rows per block when rows before the training rows are smoothed: a few seconds, 100 megabytes."""

_MARGIN = 2_500
"""Rows added on both sides of a block before smoothing, longer than the correlations."""

_WEIGHTS_ERROR = 1e-6
"""Largest deviation of a sum of weights from one in a model file: more than rounding errors."""


LEAST_PROBABLE = 0.5  # Smallest probability of a season that is reported


class Period(NamedTuple):
    """A learned period: length and memory, in units of the times, and standard deviation."""

    name: str
    length: float
    std: float
    memory: float


@register(
    shapes={
        "times": "n",
        "values": "n",
        "is_known": "n",
        "inputs": "nd",
        "horizons": "h",
        "factors": "h",
        "clock": "n",
        "outliers": "k",
        "ignored": "k",
    }
)
@dataclass(frozen=True, slots=True, eq=False)
class SeriesLaw:
    """A weighted mixture of models of one series, with the scaled rows of the series."""

    members: list[Member]
    transformation: str
    units: SeriesUnits
    times: Array  # (n,)
    values: Array  # (n,): Zero for unknown values
    is_known: NDArray[np.bool_]  # (n,)
    inputs: Array  # (n, d)
    horizons: Array  # (q,): Calibrated horizons, in ranges
    factors: Array  # (q,): Factors of standard deviations at the horizons
    effective_draws: float
    clock: Array | None = None  # (n,): See `ScaledSeries`
    large: float = 0.0  # Share of forecasts with large errors: see `Calibration`
    outliers: Array = field(default_factory=lambda: np.zeros(0))  # (k,): Times of outliers
    ignored: Array = field(default_factory=lambda: np.zeros(0))  # (k,): Values of outliers
    n_earlier: int = 0

    def __post_init__(self) -> None:
        weights = np.concatenate([np.zeros(0), *(member.weights for member in self.members)])
        if (weights < 0.0).any() or abs(weights.sum() - 1.0) > _WEIGHTS_ERROR:
            raise ValueError("the weights of all members must be shares of one")
        dim = self.inputs.shape[1]
        n_inputs = {
            part.n_inputs
            for member in self.members
            for part in member.parts
            if isinstance(part, Inputs)
        }
        if n_inputs - {dim} or len(self.units.mean) != dim:
            raise ValueError(f"parts have {n_inputs} inputs, and the rows have {dim}")
        if not (np.diff(self.times) > 0.0).all():
            raise ValueError("the times of the rows must increase")
        steps = np.diff(self.horizons, prepend=0.0)
        if min(steps.min(initial=np.inf), self.factors.min(initial=np.inf)) <= 0.0:
            raise ValueError("horizons and their factors must be positive, and horizons increase")
        if not 0.0 <= self.large < 1.0:
            raise ValueError("the share of large errors must be one of forecasts")
        if not 0 <= self.n_earlier < len(self.times) or not self.is_known[self.n_earlier :].any():
            raise ValueError("a series must have known values among the rows of its fit")

    @classmethod
    def of(cls, selection: Selection, rng: Generator, n_threads: int) -> "SeriesLaw":
        """Return the mixture of selected models.

        Past errors of the first model calibrate the forecasts of all models.
        """
        fits, log_weights, rows_of_fits, outliers, ignored, transformation, units, _ = selection
        rows = rows_of_fits[0]
        shares = np.exp(log_weights - log_weights.max())
        chosen = np.flatnonzero(shares > _LEAST_MODEL * shares.sum())
        shares = shares[chosen] / shares[chosen].sum()
        # A stream per model, so that draws do not depend on the number of threads.
        seeds = rng.spawn(len(chosen) + 1)

        def drawn(place: int) -> tuple[Array, Array]:
            # The points of a Sobol sequence are balanced for powers of two.
            count = 2 ** int(np.log2(max(_FEWEST_DRAWS, shares[place] * _N_DRAWS)))
            theta, weights = draws(
                fits[chosen[place]].mode, rows_of_fits[chosen[place]], count, seeds[place]
            )
            return theta, shares[place] * weights

        def member(place: int) -> Member | None:
            model, counts = fits[chosen[place]].mode.model, numbers[place]
            some = counts > 0
            if not some.any():
                return None
            theta = drawn_thetas[place][0][some]
            trend = fits[chosen[place]].structure.trend
            last_states = zip(
                *SeriesEvidence(model, rows_of_fits[chosen[place]]).last_states(theta), strict=True
            )
            states = [trend.onward(*moments) for moments in last_states]
            mean, cov = (np.array(part) for part in zip(*states, strict=True))
            return Member(list(model.parts), theta, counts[some] / _KEPT_DRAWS, mean, cov)

        with single_threaded_blas():
            drawn_thetas = [pair for _, pair in in_order(drawn, range(len(chosen)), n_threads)]
            weights = [draw_weights for _, draw_weights in drawn_thetas]
            numbers = np.split(
                resampled(np.concatenate(weights), _KEPT_DRAWS, seeds[-1]),
                np.cumsum([len(draw_weights) for draw_weights in weights])[:-1],
            )
            members_or_none = [each for _, each in in_order(member, range(len(chosen)), n_threads)]
        members = [each for each in members_or_none if each is not None]
        mode, step = fits[0].mode, float(units.ranges(units.step))
        calibration = calibrated(mode.model, mode.theta, rows, step, len(outliers))
        return cls(
            members,
            transformation,
            units,
            rows.times,
            np.where(rows.known, rows.values, 0.0),
            rows.known,
            rows.inputs,
            calibration.horizons,
            calibration.factors,
            1.0 / float(np.sum(np.concatenate(weights) ** 2)),
            rows.clock,
            calibration.large,
            rows.times[outliers],
            ignored,
        )

    @property
    def rows(self) -> ScaledSeries:
        """The rows to which the models were fitted."""
        return self._all_rows.part(slice(self.n_earlier, None))

    @property
    def _all_rows(self) -> ScaledSeries:
        """All rows of the series, including rows before the training rows."""
        values = np.where(self.is_known, self.values, np.nan)
        return ScaledSeries(self.times, values, self.inputs, self.clock)

    def after(self, rows: ScaledSeries) -> "SeriesLaw":
        """Return the mixture with further rows in front of the training rows."""
        rows = rows.joined(self._all_rows)
        return replace(
            self,
            times=rows.times,
            values=np.where(rows.known, rows.values, 0.0),
            is_known=rows.known,
            inputs=rows.inputs,
            clock=rows.clock,
            n_earlier=len(rows) - len(self.times),
        )

    @property
    def shifts(self) -> Array:
        """Times (k,) of lasting level shifts, from the first model that has shifts."""
        parts = [part for member in self.members for part in member.parts]
        shifts = (part.times for part in parts if isinstance(part, LevelShifts))
        return np.array(next(shifts, ()), dtype=np.float64)

    def positions(self, times: Array) -> Index:
        """Return the indices (k,) of the rows at times (k,) of the series."""
        return np.searchsorted(self.times, times)

    @property
    def components(self) -> list[str]:
        """Names of the components of all models, the trend first and the remainder last."""
        names = {name for member in self.members for name in member.model.components}
        order = {"trend": 0, "inputs": 2, "remainder": 3}
        return sorted(names, key=lambda name: (order.get(name, 1), name))

    @property
    def probable(self) -> list[str]:
        """Names of the components that are reported; other seasons are part of the remainder."""
        return [name for name in self.components if self.probability(name) >= LEAST_PROBABLE]

    def input_effects(self) -> tuple[Array, Array]:
        """Return means and standard deviations (d,) of the effects of one unit of each input.

        They are on the scale of the transformed values.
        """
        draws = []
        for member in self.members:
            for part, (_, states) in zip(member.parts, member.model.places, strict=True):
                if isinstance(part, Inputs):
                    variances = np.diagonal(member.cov, axis1=1, axis2=2)[:, states]
                    means = member.mean[:, states] * part.units
                    draws.append((member.weights, means, variances * part.units**2))
        weights, means, variances = map(np.concatenate, zip(*draws, strict=True))
        mean = weights @ means
        std = np.sqrt(np.maximum(weights @ (variances + (means - mean) ** 2), 0.0))
        unit = self.units.deviation / self.units.scale
        return mean * unit, std * unit

    def probability(self, component: str) -> float:
        """Return the posterior weight of the models with a component."""
        members = (each for each in self.members if component in each.model.components)
        return sum(float(member.weights.sum()) for member in members)

    @property
    def noise(self) -> float:
        """Standard deviation of the noise, on the scale of the transformed values."""
        terms = (
            member.weights[i] * member.model.noise(member.theta[i]) for member, i in self._draws()
        )
        return float(self.units.deviation * np.sqrt(sum(terms)))

    def trends(self) -> dict[str, float]:
        """Return the posterior weights of trends by description, in decreasing order."""
        weight_of_trend: dict[str, float] = {}
        for member in self.members:
            words = member.trend.description
            weight_of_trend[words] = weight_of_trend.get(words, 0.0) + float(member.weights.sum())
        return dict(sorted(weight_of_trend.items(), key=lambda item: -item[1]))

    def predict(self, rows: ScaledSeries) -> PredictiveMixture:
        """Return the predictive law of noisy values at rows in order of time."""
        moments = [
            (mean[:, -1].copy(), variance[:, -1] + model.noise(theta), weight)  # Sum of components
            for model, theta, weight, mean, variance in self._moments(rows)
        ]
        means, variances, weights = (np.array(part) for part in zip(*moments, strict=True))
        deviation = self.units.deviation
        means = self.units.centre + deviation * means
        variances = (deviation * self._factors(rows.times)) ** 2 * np.maximum(variances, TINY)
        if self.large:
            means = np.concatenate((means, means))
            widened = np.where(rows.times > self._last_known, LARGE**2, 1.0)
            variances = np.concatenate((variances, widened * variances))
            weights = np.concatenate(((1.0 - self.large) * weights, self.large * weights))
        return PredictiveMixture(means, variances, weights, self.transformation)

    def components_at(self, rows: ScaledSeries) -> dict[str, PredictiveMixture]:
        """Return the predictive laws of the components, by name, at rows in order of time."""
        shown = self.probable
        means: dict[str, list[Array]] = {name: [] for name in shown}
        variances: dict[str, list[Array]] = {name: [] for name in shown}
        weights = []
        for model, _, weight, mean, variance in self._moments(rows):
            # Improbable seasons are part of the remainder.
            parts = [name if name in shown else SHORT_TERM for name in model.components]
            for name in shown:
                places = np.flatnonzero(np.array(parts) == name)
                means[name].append(mean[:, places].sum(axis=1))
                variances[name].append(variance[:, places].sum(axis=1))
            weights.append(weight)
        deviation = self.units.deviation
        return {
            name: PredictiveMixture(
                (self.units.centre if name == shown[0] else 0.0)
                + deviation * np.array(means[name]),
                deviation**2 * np.maximum(variances[name], TINY),
                np.array(weights),
                "none",
            )
            for name in shown
        }

    def sample(self, rows: ScaledSeries, n_samples: int, rng: Generator) -> Array:
        """Return joint draws (n_samples, h) of noisy values at rows after the last training row."""
        weights = np.concatenate([member.weights for member in self.members])
        counts = rng.multinomial(n_samples, weights / weights.sum())
        later, factors = self.rows.part(slice(-1, None)).joined(rows), self._factors(rows.times)
        all_paths = []
        for (member, number), count in zip(self._draws(), counts, strict=True):
            if count:
                path = paths(
                    member.model,
                    member.theta[number],
                    (member.mean[number], member.cov[number]),
                    later,
                    factors,
                    np.where(rng.random(int(count)) < self.large, LARGE, 1.0),
                    rng,
                )
                all_paths.append(path)
        values = np.concatenate(all_paths)[rng.permutation(n_samples)]
        transformed: Array = self.units.centre + self.units.deviation * values
        return TRANSFORMATIONS[self.transformation].back(transformed)

    def periods(self) -> list[Period]:
        """Return the probable periods, of the best model that has them, the largest first."""
        periods: dict[str, Period] = {}
        for member in sorted(self.members, key=lambda each: -each.weights.sum()):
            names = set(self.probable) - {SHORT_TERM, *periods}
            # A line may be a harmonic of a season, which has the same name and comes first.
            waves = [part for part in member.parts if isinstance(part, Waves)]
            named = {part.name: part for part in reversed(waves) if part.name in names}
            if not named:
                continue
            model, weights = member.model, member.weights / member.weights.sum()
            mean, _ = model.components_of(member.theta[int(np.argmax(weights))], self.rows)
            for name, part in named.items():
                theta, span = member.theta[:, model.place(part)], self.units.span
                length = weights @ np.exp(theta[:, -1]) if part.freedom else part.period
                memory = float(np.exp(weights @ theta[:, 1]))
                std = mean[:, model.components.index(name)].std() * self.units.deviation
                periods[name] = Period(name, float(length * span), float(std), memory * span)
        return sorted(periods.values(), key=lambda period: -period.std)

    @property
    def _last_known(self) -> float:
        """Time of the last known value, from which horizons are counted."""
        return float(self.times[self.is_known][-1])

    def _factors(self, times: Array) -> Array:
        """Return calibration factors (h,) of the standard deviations at times (h,)."""
        ahead = times - self._last_known
        if not len(self.horizons):
            return np.ones_like(ahead)
        # Interpolate over log horizons; times up to the last known value have the factor one.
        first = self.horizons[0]
        factors = np.interp(np.log(np.maximum(ahead, first)), np.log(self.horizons), self.factors)
        return np.where(ahead > 0.0, factors, 1.0)

    def _draws(self) -> Iterator[tuple[Member, int]]:
        for member in self.members:
            for number in range(len(member.weights)):
                yield member, number

    def _moments(
        self, rows: ScaledSeries
    ) -> Iterator[tuple[SeriesModel, Array, float, Array, Array]]:
        """Yield each draw's model, parameters, weight and moments (as `components_of`) at rows."""
        # Rows within the range of the series are smoothed, later rows are forecast.
        n_inside = int(np.sum(rows.times <= self.times[-1]))
        windows = self._windows(rows.part(slice(0, n_inside)))
        later = self.rows.part(slice(-1, None)).joined(rows.part(slice(n_inside, None)))
        for member in self.members:
            model, draws_of_member = member.model, (member.theta, later, member.mean, member.cov)
            all_ahead = model.each_ahead(*draws_of_member)
            for theta, weight in zip(member.theta, member.weights, strict=True):
                parts = []
                for joined, places in windows:
                    moments = model.components_of(theta, joined)
                    parts.append(tuple(moment[places] for moment in moments))
                if n_inside < len(rows):
                    parts.append(tuple(moment[1:] for moment in next(all_ahead)))
                mean, variance = (np.concatenate(moment) for moment in zip(*parts, strict=True))
                yield model, theta, float(weight), mean, variance

    def _windows(self, inside: ScaledSeries) -> list[tuple[ScaledSeries, Index]]:
        """Return windows of the series' rows merged with new rows, and places of the new rows."""
        all_rows, windows = self._all_rows, []
        latest = np.searchsorted(self.times, inside.times, side="right") - 1
        n_before = self.n_earlier - 1 - latest
        blocks = np.maximum(n_before, -1) // _BLOCK + 1  # Zero: in training rows
        for block in np.unique(blocks)[::-1].tolist():
            end = self.n_earlier - (block - 1) * _BLOCK
            window = slice(max(0, end - _BLOCK - _MARGIN), end + _MARGIN)
            given, new = (
                self.rows if not block else all_rows.part(window),
                inside.part(blocks == block),
            )
            times = np.concatenate((given.times, new.times))
            _, order, places = np.unique(times, return_index=True, return_inverse=True)
            windows.append((given.joined(new).part(order), places[len(given.times) :]))
        return windows
