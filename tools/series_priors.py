"""Learn the priors of series from M3 and M4: ``python tools/series_priors.py m3.npz``.

Writes `src/bochner/learning/series/priors.json`. Every second series of each kind is used, and of
it only the values before the part that the competition forecasts, but for the numbers of drifts.
The file has the names of the series. `bochner.series.priors` describes the method:

1. Priors of parameters maximise the product of the evidences (empirical Bayes, by expectation
   maximisation with Laplace approximations of the posteriors).
2. The odds of trends and transformations and the power of the evidence maximise the densities of
   the last values before that part, forecast from the values before them.

Monthly series keep the priors of their processes, with which the last values were forecast better,
and the transformation with the greatest evidence, whose forecasts were as good as those of the
weighted one.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from threadpoolctl import threadpool_limits

from bochner._base.arrays import Array
from bochner.series.parameter_posterior import (
    LaplaceApproximation,
    SeriesStructure,
    find_mode,
    season_waves,
)
from bochner.series.priors import ParameterPrior, SeriesPriors
from bochner.series.series_model import ScaledSeries, SeriesUnits
from bochner.series.trends import TRENDS
from bochner.series.value_transformations import TRANSFORMATIONS, candidates, positive

KINDS = {"year": (1, 6), "quarter": (4, 8), "month": (12, 18)}
"""Season and horizon of the kinds of series."""

LEARNED = ("year", "quarter")
"""Kinds whose priors of parameters are learned."""

N_ITERATIONS = 8
"""Iterations of expectation maximisation: the last ones change the evidence by 0.1 a series."""

FEWEST = 10
"""Fewest values from which the last ones are forecast."""

MOST = 125
"""Largest number of series of each kind."""

PSEUDO = 1.0
"""Weight, in series, of a parameter's own prior in its learned one."""

PSEUDO_SLOPE = 5.0
"""Weight, in series at a length of 30 e, of a prior that does not change with the length."""

LEAST_STD = 0.1  # Of a learned prior

LONG = {"week": (1, 13), "hour": (24, 48)}
"""Season and horizon of series of M4, for which the weight of a drift alone was chosen."""

DRIFT_OF_LONG = 0.3
"""Weight of a random walk with drift for long series, chosen by the errors of forecasts of the same
half of the series: they fell by three per cent for weeks and by two for hours, and a weight of 0.5
and shares of 0.25 and 1 were no better."""

DRIFT_WEIGHT, DRIFT_SHARE = 0.5, 0.75
"""Weight of a random walk with drift, and the share of its drift that goes on. Both were chosen by
the errors of forecasts of the part that the competition forecasts, of the same half of the series:
those of quarters fell from 0.99 to 0.90 in units of the MASE, and weights of 0.7 and shares of 0.5
and 1 gave errors within 0.02."""

FEWEST_FOR_SCALE = 55
"""Smallest number of values of a yearly series that tell its scale: one more than the longest of
those series of M1, M3, the tourism competition and packages of R that it was chosen by, for the
errors of forecasts. See docs/adr/0144 and docs/adr/0148."""

LEAST_DENSITY = (0.02, 6.0)
"""Share of a density that is added to the mixture of models, and how many nats it lies below the
greatest density of any model: a single value far from all forecasts then cannot decide."""

OUTPUT = Path(__file__).parent.parent / "src/bochner/series/priors.json"


class Example(NamedTuple):
    """A series: its name, season, past values (n,) and the values to forecast (h,)."""

    name: str
    season: int
    past: Array
    future: Array


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted model of a series after a transformation.

    ``log_evidence`` is of the untransformed values, and ``densities`` (h,) are the log predictive
    densities of the values to forecast.
    """

    trend: str
    transformation: str
    length: float
    log_evidence: float
    mode: LaplaceApproximation
    densities: Array


def examples(path: Path, season: int, horizon: int) -> list[Example]:
    """Return every second series of a kind, without the competition's part to forecast."""
    data = np.load(path, allow_pickle=False)
    ends = data["ends"]
    of_kind = np.flatnonzero((data["season"] == season) & (data["horizon"] == horizon))
    chosen = of_kind[::2][:MOST]
    return [
        Example(
            str(data["names"][place]),
            season,
            data["values"][ends[place - 1] if place else 0 : ends[place]][:-horizon],
            np.zeros(0),
        )
        for place in chosen
    ]


def shortened(some: Sequence[Example], horizon: int) -> list[Example]:
    """Return the examples that are long enough, with their last values to forecast."""
    return [
        one._replace(past=one.past[:-horizon], future=one.past[-horizon:])
        for one in some
        if len(one.past) - horizon >= FEWEST
    ]


def fitted(one: Example, priors: SeriesPriors) -> list[Candidate]:
    """Return the fits of all trends and transformations."""
    with threadpool_limits(1):
        return [fit for name in candidates(one.past) for fit in _of(one, priors, name)]


def _of(one: Example, priors: SeriesPriors, name: str) -> Iterator[Candidate]:
    function, n = TRANSFORMATIONS[name], len(one.past)
    times, nothing = np.arange(float(n)), np.zeros((n, 0))
    transformed = function.forward(one.past)
    units = SeriesUnits.of(times, transformed, nothing)
    rows = units.rows(times, transformed, nothing)
    values = positive(one.past) if function.changes_scale else one.past
    density = float(function.log_slope(values).sum()) - n * np.log(units.deviation)
    step = units.step / units.span
    waves = season_waves(one.season / units.span, step, "season")
    seasons = (waves,) if one.season > 1 and 1.5 * one.season <= units.span else ()
    for trend in TRENDS:
        model = SeriesStructure(trend, seasons).model(step, 0, priors)
        mode = find_mode(model, rows)
        evidence = mode.log_evidence + density
        if np.isfinite(evidence):
            forecast = _log_densities(one, mode, rows, units, name)
            length = priors.table(step).length
            yield Candidate(trend.key, name, length, evidence, mode, forecast)


def _log_densities(
    one: Example, mode: LaplaceApproximation, rows: ScaledSeries, units: SeriesUnits, name: str
) -> Array:
    """Return log predictive densities (h,) of the values to forecast, at the mode."""
    if not len(one.future):
        return np.zeros(0)
    times = len(one.past) + np.arange(-1.0, len(one.future))
    unknown, nothing = np.full(len(times), np.nan), np.zeros((len(times), 0))
    _, states = mode.model.filtered(mode.theta, rows)
    later = units.rows(times, unknown, nothing)
    mean, variance = mode.model.ahead(mode.theta, later, states.mean[-1], states.cov[-1])
    means = units.centre + units.deviation * mean[1:, -1]
    variances = units.deviation**2 * (variance[1:, -1] + mode.model.noise(mode.theta))
    function = TRANSFORMATIONS[name]
    values = positive(one.future) if function.changes_scale else one.future
    gaps = (function.forward(values) - means) ** 2 / variances
    densities: Array = -0.5 * (gaps + np.log(2.0 * np.pi * variances)) + function.log_slope(values)
    return densities


def weights(some: Sequence[Candidate], priors: SeriesPriors) -> Array:
    """Return the posterior probabilities of candidates, by their evidence and odds."""
    scores = np.array(
        [
            one.log_evidence + priors.trends[one.trend] + priors.transformations[one.transformation]
            for one in some
        ]
    )
    probabilities: Array = np.exp(scores - logsumexp(scores))
    return probabilities


def improved(fits: Sequence[list[Candidate]], priors: SeriesPriors) -> SeriesPriors:
    """Return the priors after one step of expectation maximisation."""
    moments: dict[str, list[tuple[float, float, float, float]]] = {}
    own: dict[str, tuple[float, float]] = {}
    trends = dict.fromkeys(priors.trends, 1.0)
    transformations = dict.fromkeys(priors.transformations, 1.0)
    squares, total = 0.5, 1.0
    for some in fits:
        for one, weight in zip(some, weights(some, priors), strict=True):
            trends[one.trend] += weight
            transformations[one.transformation] += weight
            entries = [prior for part in one.mode.model.parts for prior in part.priors]
            own.update({entry.name: (entry.mean, entry.std) for entry in entries})
            common, rest = _decomposed(one, priors, [entry.power for entry in entries])
            squares, total = squares + weight * common, total + weight
            for entry, (mean, variance) in zip(entries, rest, strict=True):
                moments.setdefault(entry.name, []).append((weight, one.length, mean, variance))
    parameters = {
        name: _law(np.array(rows).T, *own[name]) for name, rows in moments.items() if name
    }
    return replace(
        priors,
        parameters={**priors.parameters, **parameters},
        common_std=float(np.sqrt(squares / total)),
        trends=_log_shares(trends),
        transformations=_log_shares(transformations),
    )


def _decomposed(
    one: Candidate, priors: SeriesPriors, powers: Sequence[int]
) -> tuple[float, list[tuple[float, float]]]:
    """Return the second moment of the common term, and moments of parameters without it."""
    prior, mode = one.mode.model.prior, one.mode
    loadings = priors.common_std * np.array(powers, dtype=np.float64)
    variances = np.maximum(prior.std**2 - loadings**2, 1e-6)  # Rounding may make them negative
    # The common term given the parameters is normal, with a mean that is linear in them.
    spread = 1.0 / (1.0 + np.sum(loadings**2 / variances))
    gain = spread * loadings / variances
    cov = mode.factor @ mode.factor.T
    term, joint = float(gain @ (mode.theta - prior.mean)), cov @ gain
    variance = float(spread + gain @ joint)
    rest_means = mode.theta - loadings * term
    rest_variances = np.diag(cov) + loadings**2 * variance - 2.0 * loadings * joint
    rest = list(zip(rest_means.tolist(), np.maximum(rest_variances, 0.0).tolist(), strict=True))
    return priors.common_std**2 * (variance + term**2), rest


def _law(rows: Array, own_mean: float, own_std: float) -> ParameterPrior:
    weight, length, mean, variance = rows
    total, by_length = weight.sum(), weight @ length
    matrix = np.array([[total + PSEUDO, by_length], [by_length, weight @ length**2 + PSEUDO_SLOPE]])
    level, slope = np.linalg.solve(
        matrix, [weight @ mean + PSEUDO * own_mean, weight @ (length * mean)]
    )
    squares = weight @ ((mean - level - slope * length) ** 2 + variance)
    std = np.sqrt((squares + 0.5 * PSEUDO * own_std**2) / (total + 2.0 * PSEUDO))
    return ParameterPrior(
        round(float(level), 3), round(float(slope), 3), round(max(float(std), LEAST_STD), 3)
    )


def _log_shares(counts: dict[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: float(np.log(count / total)) for name, count in counts.items()}


def on_one_scale(some: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with the transformation of the greatest evidence."""
    best = max(some, key=lambda one: one.log_evidence).transformation
    return [one for one in some if one.transformation == best]


def stacked(fits: Sequence[list[Candidate]], priors: SeriesPriors) -> SeriesPriors:
    """Return the priors with the odds and the power that forecast the last values best."""
    trends, transformations = list(priors.trends), list(priors.transformations)
    arrays = [
        (
            np.array([one.log_evidence for one in some]),
            [trends.index(one.trend) for one in some],
            [transformations.index(one.transformation) for one in some],
            np.array([one.densities for one in some]),
        )
        for some in fits
    ]

    def odds(point: Array) -> tuple[float, Array, Array]:
        # The last trend and the last transformation have odds of one.
        ends = np.split(point[1:], [len(trends) - 1])
        of_trends, of_transformations = (np.append(end, 0.0) for end in ends)
        return float(np.exp(point[0])), of_trends, of_transformations

    def loss(point: Array) -> float:
        power, of_trends, of_transformations = odds(point)
        share, nats = LEAST_DENSITY
        score = 0.0
        for evidences, trend, transformation, densities in arrays:
            scores = power * evidences + of_trends[trend] + of_transformations[transformation]
            mixed = logsumexp((scores - logsumexp(scores))[:, None] + densities, axis=0)
            floor = np.log(share) + densities.max() - nats
            score += float(np.mean(np.logaddexp(mixed, floor)))
        # Odds are e^2 or less, and the power is one within a factor of e, with probability 0.68.
        penalty = 0.5 * (point[0] ** 2 + float(np.sum((point[1:] / 2.0) ** 2)))
        return float(penalty - score) / len(arrays)

    start = np.zeros(len(trends) + len(transformations) - 1)
    power, of_trends, of_transformations = odds(minimize(loss, start, method="BFGS").x)
    return replace(
        priors,
        power=round(power, 2),
        trends=dict(zip(trends, of_trends.round(2).tolist(), strict=True)),
        transformations=dict(
            zip(transformations, of_transformations.round(2).tolist(), strict=True)
        ),
    )


def learned(path: Path, kind: str) -> tuple[SeriesPriors, list[str]]:
    """Return the priors of a kind of series, and the names of the series."""
    some, priors = examples(path, *KINDS[kind]), SeriesPriors()
    ends = shortened(some, KINDS[kind][1])
    with ProcessPoolExecutor(initializer=threadpool_limits, initargs=(1,)) as pool:
        if kind in LEARNED:
            # A common term of zero would stay at zero.
            priors = _maximised(pool, ends, replace(priors, common_std=0.7))
        fits = list(pool.map(partial(fitted, priors=priors), ends))
        weighted = stacked(fits if kind in LEARNED else list(map(on_one_scale, fits)), priors)
        print(kind, weighted.power, weighted.trends, weighted.transformations, flush=True)
        if kind in LEARNED:
            priors = _maximised(pool, some, priors)
    final = replace(
        priors,
        drift_weight=DRIFT_WEIGHT,
        drift_share=DRIFT_SHARE,
        drift_steps=float(max(len(one.past) for one in some)),
        power=weighted.power,
        transformation_power=weighted.power if kind in LEARNED else 1.0,
        trends=weighted.trends,
        transformations=weighted.transformations,
        common_std=round(priors.common_std, 3),
    )
    fewest = FEWEST_FOR_SCALE if kind == "year" else 0
    return replace(final, fewest_for_scale=fewest), [one.name for one in some]


def _maximised(
    pool: ProcessPoolExecutor, some: Sequence[Example], priors: SeriesPriors
) -> SeriesPriors:
    for number in range(N_ITERATIONS):
        fits = list(pool.map(partial(fitted, priors=priors), some, chunksize=4))
        evidence = [logsumexp([one.log_evidence for one in each]) for each in fits]
        print(f"iteration {number + 1}: log evidence {np.mean(evidence):.3f} a series", flush=True)
        priors = improved(fits, priors)
    return priors


def main(path: str) -> None:
    """Learn the priors of all kinds from a file, and write them."""
    results = {kind: learned(Path(path), kind) for kind in KINDS}
    entries = {kind: priors.entry() for kind, (priors, _) in results.items()}
    names = {kind: names for kind, (_, names) in results.items()}
    for kind, size in LONG.items():
        some = examples(Path(path), *size)
        longest = float(max(len(one.past) for one in some))
        entries[kind] = SeriesPriors(
            drift_weight=DRIFT_OF_LONG, drift_share=DRIFT_SHARE, drift_steps=longest
        ).entry()
        names[kind] = [one.name for one in some]
    entries["other"] = SeriesPriors().entry()
    text = json.dumps({"priors": entries, "series": names}, indent=1)
    OUTPUT.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
