"""Models of series, rows at irregular times, and laws with chosen parameters."""

import numpy as np
from series.dense import clock_at

from bochner.series.components import Inputs, LevelShifts, Remainder, Variation, Waves
from bochner.series.series_law import Member, SeriesLaw
from bochner.series.series_model import ScaledSeries, SeriesModel, SeriesUnits
from bochner.series.trends import ConstantLevel, Slope, WalkWithDrift

SEASON = Waves(0.2, 3, 5.0, 0.0, "season")
CYCLE = Waves(0.31, 1, 0.9, 0.3, "cycle")
BY_CLOCK = Waves(0.2, 3, 5.0, 0.0, "season", by_clock=True)
LEARNED = Waves(0.2, 2, 5.0, 0.1, "season")
MODELS = {
    "level": (ConstantLevel(), Variation(0.1), Remainder(0.03)),
    "damped": (Slope(has_line=False), Variation(0.1), SEASON, Remainder(0.03)),
    "line": (Slope(has_line=True), Variation(0.1), LEARNED, CYCLE, Inputs(2), Remainder(0.03)),
    "shifts": (Slope(has_line=True), LevelShifts((0.3, 0.72)), SEASON, Remainder(0.03)),
    "drift": (WalkWithDrift(0.75), SEASON, Remainder(0.03)),
    "clock": (Slope(has_line=False), Variation(0.1), BY_CLOCK, CYCLE, Remainder(0.03)),
}


def model_and_theta(name, seed=1):
    """Return a model and parameters drawn around the means of its priors."""
    model = SeriesModel(MODELS[name])
    mean, std = model.prior.mean, model.prior.std
    spread = 0.3 * np.random.default_rng(seed).normal(size=len(mean))
    return model, mean + std * spread


def rows_of(n=24, seed=0, *, irregular=True, gaps=(3, 4, 11), n_inputs=2):
    """Return rows in units of their range, some of them unknown."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0.0, 1.0, n)) if irregular else np.linspace(0.0, 1.0, n)
    times = (times - times[0]) / np.ptp(times)
    values = np.sin(9.0 * times) + 0.3 * rng.normal(size=n)
    values[list(gaps)] = np.nan
    return ScaledSeries(times, values, rng.normal(size=(n, n_inputs)), clock_at(times))


def law_of(name, rows, *, transformation="none", n_draws=3, factors=None, large=0.0):
    """Return the law of a few draws of a model, as if they were those of the posterior."""
    members = []
    for seed in range(n_draws):
        model, theta = model_and_theta(name, seed)
        _, states = model.filtered(theta, rows)
        members.append(
            Member(
                list(model.parts),
                theta[None],
                np.array([(seed + 1.0) / (0.5 * n_draws * (n_draws + 1.0))]),
                states.mean[None, -1],
                states.cov[None, -1],
            )
        )
    n_inputs = rows.inputs.shape[1]
    units = SeriesUnits(2.0, 10.0, 0.5, 3.0, 0.7, np.zeros(n_inputs), np.ones(n_inputs))
    known = rows.known
    horizons, of_horizons = factors if factors else (np.zeros(0), np.zeros(0))
    return SeriesLaw(
        members,
        transformation,
        units,
        rows.times,
        np.where(known, rows.values, 0.0),
        known,
        rows.inputs,
        horizons,
        of_horizons,
        1.0 * n_draws,
        rows.clock,
        large,
    )
