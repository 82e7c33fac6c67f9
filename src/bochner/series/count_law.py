r"""The law of a series of counts that are mostly zero: negative binomial, with a varying level.

A count has the mean :math:`\exp(l_t + x_t b)`. The log level l is a chain of `count_levels`; the
effects b of seasons and known inputs are constant. Size and memory of the changes of the level and
dispersion of the counts are averaged over a grid, weighted by their evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import logsumexp

from bochner._base.arrays import Array, Index, as_array
from bochner._base.descent import minimised
from bochner._base.registry import register
from bochner.series.count_levels import N_COINS, PRIOR, SCORES, LevelChains, filtered, smoothed
from bochner.series.count_mixture import CountMixture, log_probabilities, sizes
from bochner.series.series_law import Period
from bochner.series.series_model import TINY, ScaledSeries, SeriesUnits
from bochner.series.value_transformations import PredictiveMixture

Seasons = Sequence[tuple[float, str]]
"""Lengths of seasons, in ranges, and their names."""

_STDS = (0.25, 0.5, 1.0, 1.6, 2.4)  # Standard deviations of the log level
_MEMORIES = (2.0, 8.0, 30.0, 120.0, 500.0)  # Correlation times of the log level, in steps
_DISPERSIONS = ((0.0, 0.0), (0.25, 0.0), (0.67, 0.0), (1.67, 0.0), (4.0, 0.0),
                (0.0, 0.5), (0.0, 1.5), (0.0, 4.0), (0.0, 11.0), (0.0, 40.0))  # fmt: skip
"""Inverse sizes and excesses, see `sizes`: variances that grow with the square of the mean, or in
proportion to it. Finer grids and further zeros did not forecast the series of decision record 146
better."""

_KEPT = 0.99  # Share of the posterior of the grid that is stored
_HARMONICS = 6  # Largest number of harmonics of a season: those of a year of months
_SEASON_STDS = (0.4, 1.2)  # Prior standard deviations of first harmonics, of which one is chosen
_CONSTANT_STD = 1.0  # Prior standard deviation of the constant of the log mean
_INPUT_STD = 1.0  # Prior standard deviation of the effect of one standard deviation of an input
_FEWEST_PERIODS = 2.0  # Smallest number of periods of a season in the series
_WINDOW = 30.0  # Fewest rows of the moving means that replace the level while effects are fitted
_MOST_STEPS = 200  # Most steps of the search for effects, which takes about twenty
_LARGEST = 30.0  # Largest log mean, reached only by inputs far from those of the series
_MARGIN = 2_500  # Rows before the first requested time that are filtered, more than memories
_NEGLIGIBLE = 1e-7  # Weight below which a part of a predictive law is left out
_DIGITS = 6  # Decimals of log effects, so that equal seasons are equal after rounding
_ROUNDING = 1e-9  # Tolerance of sums of weights, and of numbers of steps: more than rounding


@register(shapes={"times": "n", "values": "n", "is_known": "n", "inputs": "nd", "clock": "n",
                  "frequencies": "k", "coef": "p", "cov": "pp", "weights": "c", "stds": "c",
                  "memories": "c", "inverse_sizes": "c", "excesses": "c"})  # fmt: skip
@dataclass(frozen=True, slots=True, eq=False)
class CountLaw:
    """A weighted mixture of laws of counts, with the rows of the series."""

    units: SeriesUnits
    times: Array  # (n,)
    values: Array  # (n,): Zero for unknown values
    is_known: NDArray[np.bool_]  # (n,)
    inputs: Array  # (n, d)
    names: list[str]  # (k,): Season of each harmonic
    frequencies: Array  # (k,): Angular frequencies of the harmonics
    coef: Array  # (2 k + d,): Log effects of cosines, sines and inputs
    cov: Array
    level: float  # Logarithm of the mean level
    weights: Array  # (c,)
    stds: Array  # (c,)
    memories: Array  # (c,): In ranges
    inverse_sizes: Array  # (c,)
    excesses: Array  # (c,)
    clock: Array | None = None

    transformation: ClassVar[str] = "counts"
    outliers: ClassVar[Array] = np.zeros(0)
    ignored: ClassVar[Array] = np.zeros(0)
    shifts: ClassVar[Array] = np.zeros(0)

    def __post_init__(self) -> None:
        """Raise ValueError for a damaged file."""
        if (self.weights < 0.0).any() or abs(self.weights.sum() - 1.0) > _ROUNDING:
            raise ValueError("the weights of all laws must be shares of one")
        least = min(self.stds.min(), self.memories.min(), np.min(self.frequencies, initial=1.0))
        if least <= 0.0 or min(self.inverse_sizes.min(), self.excesses.min()) < 0.0:
            raise ValueError("changes, memories, frequencies and dispersions must be positive")
        if not (np.diff(self.times) > 0.0).all() or not self.is_known.any():
            raise ValueError("a series must have known values, and its times must increase")
        if len(self.names) != len(self.frequencies) or len(self._owners) != len(self.coef):
            raise ValueError(f"{len(self.coef)} effects of {len(self._owners)} columns")

    @property
    def rows(self) -> ScaledSeries:
        """The rows of the series."""
        values = np.where(self.is_known, self.values, np.nan)
        return ScaledSeries(self.times, values, self.inputs, self.clock)

    @property
    def components(self) -> list[str]:
        """Names of the components, the level first."""
        return ["trend", *dict.fromkeys(self._owners)]

    def probability(self, component: str) -> float:
        """Return one, because effects are not averaged over choices of seasons."""
        return 1.0

    def trends(self) -> dict[str, float]:
        """Return the description of the level, with its probability."""
        return {"a level that returns to its mean": 1.0}

    def positions(self, times: Array) -> Index:
        """Return the indices (k,) of the rows at times (k,) of the series."""
        return np.searchsorted(self.times, times)

    def input_effects(self) -> tuple[Array, Array]:
        """Return means and standard deviations (d,) of the log effects of a unit of each input."""
        which = slice(2 * len(self.names), None)
        std = np.sqrt(np.diagonal(self.cov)[which])
        return self.coef[which] / self.units.scale, std / self.units.scale

    def periods(self) -> list[Period]:
        """Return the seasons, in decreasing order of the standard deviation of the log mean."""
        columns, found = columns_of(self.rows, self.frequencies), []
        for name in dict.fromkeys(self.names):
            which = np.flatnonzero(np.array(self._owners) == name)
            length = 2.0 * np.pi / float(self.frequencies[self.names.index(name)])
            std = float(np.std(columns[:, which] @ self.coef[which]))
            found.append(Period(name, length * self.units.span, std, np.inf))
        return sorted(found, key=lambda period: -period.std)

    def predict(self, rows: ScaledSeries) -> CountMixture:
        """Return the predictive laws of counts at rows in order of time."""
        parameters = np.stack(np.broadcast_arrays(*self.laws), axis=-1).reshape(-1, 3)
        # Laws that differ in memory alone have one mean and dispersion: their weights are added.
        laws, which = np.unique(parameters, axis=0, return_inverse=True)
        weights = np.zeros((len(laws), len(rows)))
        states = self._states(rows) * self.weights[:, None]
        np.add.at(weights, which, states.reshape(len(rows), -1).T)
        kept = weights.max(axis=1) > _NEGLIGIBLE
        log_levels, inverse_sizes, excesses = laws[kept].T[..., None]
        means = _means(log_levels, columns_of(rows, self.frequencies) @ self.coef)
        weights = weights[kept] / weights[kept].sum(axis=0)
        return CountMixture(weights, means, sizes(means, inverse_sizes, excesses))

    def components_at(self, rows: ScaledSeries) -> dict[str, PredictiveMixture]:
        """Return the laws of the components of the log mean, by name, at rows in order of time."""
        states, log_levels = self._states(rows), self.laws[0]
        means = np.sum(states * log_levels, axis=2).T
        variances = np.sum(states * log_levels**2, axis=2).T - means**2
        laws = {"trend": (means, variances, self.weights)}
        columns = columns_of(rows, self.frequencies)
        for name in self.components[1:]:
            part = np.where(np.array(self._owners) == name, columns, 0.0)
            spread = np.einsum("hp,pq,hq->h", part, self.cov, part)
            laws[name] = (part @ self.coef)[None], spread[None], np.ones(1)
        return {
            name: PredictiveMixture(means, np.maximum(variances, TINY), weights, "none")
            for name, (means, variances, weights) in laws.items()
        }

    def sample(self, rows: ScaledSeries, n_samples: int, rng: Generator) -> Array:
        """Return joint draws (n_samples, h) of counts at rows after the last row of the series."""
        last = self.rows.part(slice(-1, None))
        laws = rng.choice(len(self.weights), n_samples, p=self.weights)
        chances = np.cumsum(self._states(last)[0, laws], axis=1)
        heads = np.sum(rng.random(n_samples)[:, None] * chances[:, -1:] > chances, axis=1)
        effects = columns_of(rows, self.frequencies) @ self.coef
        draws, log_levels = np.empty((n_samples, len(rows))), self.laws[0]
        for time, length in enumerate(np.diff(rows.times, prepend=last.times)):
            kept = 0.5 + 0.5 * np.exp(-length / self.memories[laws])
            heads = rng.binomial(heads, kept) + rng.binomial(N_COINS - heads, 1.0 - kept)
            means = _means(log_levels[laws, heads], effects[time])
            size = sizes(means, self.inverse_sizes[laws], self.excesses[laws])
            draws[:, time] = rng.poisson(rng.gamma(size, means / size))
        return draws

    @property
    def _owners(self) -> list[str]:
        """Component of each effect."""
        return [*self.names, *self.names, *["inputs"] * self.inputs.shape[1]]

    @property
    def laws(self) -> tuple[Array, Array, Array]:
        """Log levels (c, s) of the states, inverse sizes (c, 1) and excesses (c, 1)."""
        log_levels = self.level + log_changes(self.stds)
        return log_levels, self.inverse_sizes[:, None], self.excesses[:, None]

    def _states(self, rows: ScaledSeries) -> Array:
        """Return the probabilities (h, c, s) of the states at rows in order of time."""
        start = max(0, int(np.searchsorted(self.times, rows.times[0])) - _MARGIN)
        past = self.rows.part(slice(start, None))
        joined = past.joined(rows.part(~np.isin(rows.times, past.times)))
        joined = joined.part(np.argsort(joined.times, kind="stable"))
        effects = columns_of(joined, self.frequencies) @ self.coef
        patterns, logs = likelihoods(joined.values, effects, *self.laws)
        chains = LevelChains(joined.times, self.memories, patterns, logs[:, :, None])
        # Forecasts need no pass back from later rows.
        is_later = rows.times[0] > self.times[-1]
        states = filtered(chains, keep=True)[1] if is_later else smoothed(chains)
        return states[np.searchsorted(joined.times, rows.times), :, 0]


def log_changes(stds: Array) -> Array:
    """Return log levels (m, s) by standard deviation (m,); their exponentials average one."""
    changes = stds[:, None] * SCORES
    return as_array(changes - np.log(np.exp(changes) @ PRIOR)[:, None])


def columns_of(rows: ScaledSeries, frequencies: Array) -> Array:
    """Return cosines and sines of angular frequencies (k,), and inputs, in columns."""
    times = rows.times if rows.clock is None else rows.times + rows.clock
    angles = np.outer(times, frequencies)
    return np.hstack((np.cos(angles), np.sin(angles), rows.inputs))


def _means(log_levels: Array, effects: Array) -> Array:
    return as_array(np.exp(np.minimum(log_levels + effects, _LARGEST)))


def likelihoods(
    values: Array, effects: Array, log_levels: Array, inverse_sizes: Array, excesses: Array
) -> tuple[Index, Array]:
    """Return the pattern (n,) of each value with its effect, and log likelihoods of patterns.

    Unknown values have the likelihood one.
    """
    pairs = np.column_stack((values, np.round(effects, _DIGITS)))
    distinct, patterns = np.unique(pairs, axis=0, return_inverse=True)
    logs = np.zeros((len(distinct), *log_levels.shape))
    for place, (value, effect) in enumerate(distinct.tolist()):
        if np.isfinite(value):
            means = _means(log_levels, effect)
            laws = means, sizes(means, inverse_sizes, excesses)
            logs[place] = log_probabilities(as_array(value), *laws)
    return patterns.ravel(), logs


def learn_counts(
    rows: ScaledSeries, n_learned: int, units: SeriesUnits, seasons: Seasons
) -> CountLaw:
    """Learn the law of counts from the last rows, with those of the seasons that they show."""
    learned = rows.part(slice(-n_learned, None))
    step, known = float(units.ranges(units.step)), learned.part(learned.known)
    effects = _effects(known, seasons, step)
    logs = columns_of(learned, effects.frequencies) @ effects.coef
    level = float(np.log(known.values.sum() / np.sum(np.exp(logs[learned.known]))))
    grid = [(std, *dispersion) for std in _STDS for dispersion in _DISPERSIONS]
    stds, inverse_sizes, excesses = np.array(grid).T
    memories = step * np.array(_MEMORIES)
    laws = level + log_changes(stds), inverse_sizes[:, None], excesses[:, None]
    chains = LevelChains(learned.times, memories, *likelihoods(learned.values, logs, *laws))
    evidence = filtered(chains)[0].ravel()
    weights = np.exp(evidence - logsumexp(evidence))
    order = np.argsort(-weights, kind="stable")
    kept = np.sort(order[: int(np.searchsorted(np.cumsum(weights[order]), _KEPT)) + 1])
    place, which = np.divmod(kept, len(stds))
    data = rows.times, np.where(rows.known, rows.values, 0.0), rows.known, rows.inputs
    mixture = weights[kept] / weights[kept].sum(), stds[which], memories[place]
    dispersions = inverse_sizes[which], excesses[which]
    return CountLaw(units, *data, *effects[:4], level, *mixture, *dispersions, rows.clock)


class _Effects(NamedTuple):
    """Seasons and angular frequencies (k,) of harmonics; effects, covariance and log evidence."""

    names: list[str]
    frequencies: Array
    coef: Array
    cov: Array
    evidence: float


def _effects(rows: ScaledSeries, seasons: Seasons, step: float) -> _Effects:
    """Return the effects of inputs, and of the seasons that raise the evidence."""
    span = float(rows.times[-1] - rows.times[0]) + step
    usable = [each for each in seasons if 2.0 * step <= each[0] * (1.0 + _ROUNDING)
              and _FEWEST_PERIODS * each[0] <= span * (1.0 + _ROUNDING)]  # fmt: skip
    longest = max((length for length, _ in usable), default=step)
    window = longest * np.ceil(_WINDOW * step / longest)
    offset = np.log(_moving_means(rows, min(window, 0.5 * span)))

    def fitted(chosen: Seasons, std: float) -> _Effects:
        harmonics = [
            (2.0 * np.pi * number / length, std / number, name)
            for length, name in chosen
            for number in range(1, 1 + min(_HARMONICS, int(0.5 * length / step + _ROUNDING)))
        ]
        frequencies, stds = np.array([each[:2] for each in harmonics]).reshape(-1, 2).T
        columns = columns_of(rows, frequencies)
        stds = np.concatenate((stds, stds, np.full(rows.inputs.shape[1], _INPUT_STD)))
        names = [name for *_, name in harmonics]
        return _Effects(names, frequencies, *_regression(rows.values, offset, columns, stds))

    chosen, best = list[tuple[float, str]](), fitted([], 1.0)
    while left := [each for each in usable if each not in chosen]:
        options = [([*chosen, each], std) for each in left for std in _SEASON_STDS]
        fits = [fitted(*option) for option in options]
        place = int(np.argmax([fit.evidence for fit in fits]))
        if fits[place].evidence <= best.evidence:
            break
        chosen, best = options[place][0], fits[place]
    return best


def _moving_means(rows: ScaledSeries, window: float) -> Array:
    """Return means (n,) over windows within the series, with the overall mean as one more row."""
    times, mean = rows.times, float(rows.values.mean())
    half = 0.5 * min(window, float(times[-1] - times[0]))
    centres = np.clip(times, times[0] + half, times[-1] - half)
    first = np.searchsorted(times, centres - half * (1.0 + _ROUNDING))
    end = np.searchsorted(times, centres + half * (1.0 - _ROUNDING))
    sums = np.concatenate(([0.0], np.cumsum(rows.values)))
    return as_array((sums[end] - sums[first] + mean) / (end - first + 1.0))


def _regression(
    values: Array, offset: Array, columns: Array, stds: Array
) -> tuple[Array, Array, float]:
    """Return effects on log means by a Poisson regression, their covariance, and its evidence.

    The log likelihood is divided by the ratio of the variance of the values to their mean.
    """
    # Effects with a mean of zero raise the mean count, which a constant balances.
    columns = np.column_stack((np.ones(len(values)), columns))
    rates, precisions = np.exp(offset), np.concatenate(([_CONSTANT_STD], stds)) ** -2.0
    ratio = max(1.0, float(np.mean((values - rates) ** 2 / rates)))

    def loss(coef: Array) -> tuple[float, Array]:
        logs = np.minimum(offset + columns @ coef, _LARGEST)
        slope = columns.T @ (np.exp(logs) - values) / ratio + precisions * coef
        penalty = 0.5 * float(np.sum(precisions * coef**2))
        return float(np.sum(np.exp(logs) - values * logs)) / ratio + penalty, slope

    coef, value, _ = minimised(loss, np.zeros(len(precisions)), n_steps=_MOST_STEPS)
    rates = np.exp(np.minimum(offset + columns @ coef, _LARGEST))
    precision = (columns.T * rates) @ columns / ratio + np.diag(precisions)
    log_ratio = float(np.linalg.slogdet(precision)[1] - np.sum(np.log(precisions)))
    return coef[1:], as_array(np.linalg.inv(precision)[1:, 1:]), -value - 0.5 * log_ratio
