"""What series of a panel share, against closed forms, dense regression and separate fits."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from series.dense import conditioned, covariance, log_normal_density
from series.models import rows_of

from bochner import Forecaster, load, save
from bochner.series.components import Inputs, Remainder, SharedSeason, Variation
from bochner.series.panel_priors import (
    CoefficientLikelihood,
    PanelLaw,
    SeasonLaw,
    first_law,
    population,
)
from bochner.series.parameter_posterior import Season
from bochner.series.series_model import SeriesEvidence, SeriesModel, SeriesUnits
from bochner.series.trends import ConstantLevel

FACTORS = (0.3, -0.1, 0.02, 0.0, 0.1, 0.2, -0.1, 0.05)  # Two columns of two harmonics
SHARED = SharedSeason(0.21, 0.4, (2.0, -1.0), FACTORS, "season", by_clock=True)
PLAIN = (ConstantLevel(), Variation(0.1), Remainder(0.03))
THETA = np.array([-1.0, -2.0, -1.5, 0.3, -3.0])


def waves(times, clock):
    """The columns of the shared season by its formula."""
    turns = 2.0 * np.pi * (0.4 + (times + clock) / 0.21)
    basis = np.stack([np.cos(turns), np.sin(turns), np.cos(2 * turns), np.sin(2 * turns)], axis=1)
    return basis @ np.reshape(FACTORS, (2, 4)).T


def test_coefficients_with_means_are_those_of_dense_regression():
    for irregular in (False, True):
        assert_regression(irregular)


def assert_regression(irregular):
    """Evidence, its gradient and the last states, by fast loops and by the filter."""
    rows = rows_of(irregular=irregular)
    model = SeriesModel((ConstantLevel(), Variation(0.1), SHARED, Inputs(2, means=(0.7,)),
                         Remainder(0.03)))  # fmt: skip
    theta = np.insert(THETA, 2, -0.5)
    columns = np.column_stack((waves(rows.times, rows.clock), rows.inputs))
    mean, std = np.array([2.0, -1.0, 0.7, 0.0]), np.array([3.0, 3.0, *[np.exp(-0.5)] * 2])

    def dense(theta):
        size = np.array([3.0, 3.0, *[np.exp(theta[2])] * 2])
        plain = SeriesModel(PLAIN)
        rest = np.delete(theta, 2)
        cov = covariance(plain, rest, rows.times, rows.times) + plain.noise(rest) * np.eye(24)
        return cov + (columns * size**2) @ columns.T

    known = rows.known
    gap, cov = (rows.values - columns @ mean)[known], dense(theta)[np.ix_(known, known)]
    evidence = SeriesEvidence(model, rows)
    assert (evidence.regular is None) is irregular
    value, slope = evidence(theta)
    assert_allclose(value, log_normal_density(gap, cov), rtol=1e-7)
    for place in range(len(theta)):
        step = 1e-5 * np.eye(len(theta))[place]
        above, below = (
            log_normal_density(gap, dense(moved)[np.ix_(known, known)])
            for moved in (theta + step, theta - step)
        )
        assert_allclose(slope[place], (above - below) / 2e-5, rtol=1e-4, atol=1e-5)
    states, covs = evidence.last_states(theta[None])
    cross = std[:, None] ** 2 * columns[known].T
    expected, spread = conditioned(cross, np.diag(std**2), cov, gap)
    assert_allclose(states[0, 2:6], mean + expected, rtol=1e-5, atol=1e-7)
    assert_allclose(covs[0][2:6, 2:6], spread, rtol=1e-5, atol=1e-7)


def test_exact_coefficients_have_their_own_mean_and_covariance():
    """With exact coefficients all steps are closed forms; one more series is at zero."""
    rng = np.random.default_rng(0)
    x = rng.normal([1.0, -2.0], [0.5, 2.0], size=(30, 2))
    some = [CoefficientLikelihood(1e9 * np.eye(2), 1e9 * each) for each in x]
    mean, cov, of_mean = population(some, np.eye(2))
    assert_allclose(mean, x.sum(axis=0) / 31, rtol=1e-6)
    gaps = x - mean
    assert_allclose(cov, (gaps.T @ gaps + 3.0 * np.eye(2)) / 33, rtol=1e-6)
    assert_allclose(of_mean, cov / 31, rtol=1e-6)
    # Noise of the estimates is no spread of the coefficients, and no information is no series.
    noise = rng.uniform(0.5, 2.0, size=2000)
    seen = 3.0 + rng.normal(size=2000) + noise * rng.normal(size=2000)
    some = [
        CoefficientLikelihood(np.array([[n**-2]]), np.array([y / n**2]))
        for n, y in zip(noise, seen, strict=True)
    ]
    empty = [CoefficientLikelihood(np.zeros((1, 1)), np.zeros(1))] * 9
    mean, cov, _ = population([*some, *empty], np.eye(1))
    assert abs(mean[0] - 3.0) < 4.0 * 1.6 / np.sqrt(2000)
    assert abs(cov[0, 0] - 1.0) < 0.2


def test_growth_has_the_mean_square_of_the_series():
    growths, span = np.random.default_rng(0).normal(0.5, 0.1, size=(30, 1)), 2.0
    selection = SimpleNamespace(units=SimpleNamespace(span=span), patterns=())
    empty = {"seasons": {}, "effects": {}, "unit": 1.0, "selection": selection}
    likelihoods = [CoefficientLikelihood(1e9 * np.eye(1), 1e9 * growth) for growth in growths]
    law = first_law([SimpleNamespace(**empty, growth=one) for one in likelihoods], PanelLaw(True))
    mean = growths.sum() / 31
    variance = (np.sum((growths - mean) ** 2) + 3.0 / span**2) / 33
    assert_allclose(law.growth, np.sqrt(mean**2 + variance), rtol=1e-6)


def test_a_shared_season_is_in_calendar_time_and_in_units_of_the_series():
    """Mean values of two series at the same dates differ as their levels do, on every scale."""
    law = PanelLaw(True, {"year": SeasonLaw(np.array([0.1, 0.2]), np.zeros((2, 1)))})
    dates = np.arange(40.0, 70.0)
    expected = 0.1 * np.cos(np.pi * dates / 6.0) + 0.2 * np.sin(np.pi * dates / 6.0)
    for start, level, scale in ((40.0, 5.0, "none"), (33.0, 80.0, "log"), (7.0, 9.0, "sqrt")):
        values = level * np.ones(50)
        times, nothing = start + np.arange(50.0), np.zeros((50, 0))
        units = SeriesUnits.of(times, np.arange(50.0), nothing)
        unit = law.unit(values, scale, units)
        seasons = [Season(12.0 / units.span, "year")]
        structure = law.structure(unit, units, seasons, lambda period: False, ())
        (part,) = structure.shared
        places = (dates - units.start) / units.span
        found = part.weights(places, nothing) @ part.mean * units.deviation
        slope = {"none": level, "log": 1.0, "sqrt": 0.5 * np.sqrt(level)}[scale]
        assert_allclose(found, slope * expected, rtol=1e-9)


def chain(n_series=10, n=60, seed=0, *, related=True):
    """Monthly series of stores with a common season, or with a season each."""
    rng = np.random.default_rng(seed)
    months, shape = pd.date_range("2015-01-01", periods=n, freq="MS"), rng.normal(size=12)
    panel = {}
    for number in range(n_series):
        season = shape + 0.2 * rng.normal(size=12) if related else rng.normal(size=12)
        noise = 0.03 * rng.normal(size=n) + 0.01 * rng.normal(size=n).cumsum()
        panel[f"store {number}"] = pd.Series(
            50.0 * 2.0**number * np.exp(0.2 * np.resize(season, n) + noise), months
        )
    return panel


def errors_of(panel, n_new=14):
    """Mean relative errors of a short series, in the panel and alone, and both models."""
    panel = dict(panel)
    future = panel["store 0"].iloc[-12:]
    past = {name: one.iloc[:-12] for name, one in panel.items()}
    past["store 0"] = past["store 0"].iloc[-n_new:]
    together = Forecaster(n_jobs=1, random_state=0).fit(past)
    alone = Forecaster(n_jobs=1, random_state=0).fit(past["store 0"])
    forecasts = together.predict(12)["store 0"], alone.predict(12)
    return [float(np.abs(each / future - 1.0).mean()) for each in forecasts], together


def test_a_new_series_has_the_season_of_its_chain(tmp_path):
    for n_new in (8, 14):
        (shared, alone), model = errors_of(chain(), n_new)
        assert shared < 0.5 * alone
    components = model.of("store 0").components(12)
    assert "year" in components
    total = sum(components[name]["mean"] for name in components.columns.levels[0])
    assert_allclose(np.exp(total), model.of("store 0").predict(12), rtol=1e-6)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model").predict(12)
    for name, expected in model.predict(12).items():
        assert_allclose(loaded[name], expected)


def test_effects_of_inputs_are_drawn_to_those_of_the_panel():
    """A promotion that a new series had once has the effect that others have."""
    rng = np.random.default_rng(1)
    weeks = pd.date_range("2022-01-03", periods=60, freq="W-MON")
    y, X = {}, {}
    for number in range(9):
        promotion = (rng.random(60) < 0.2).astype(float)
        values = 100.0 * 3.0**number * (1.0 + 0.5 * promotion + 0.05 * rng.normal(size=60))
        rows = slice(-10 if number == 0 else 0, None)
        y[f"s{number}"] = pd.Series(values, weeks)[rows]
        X[f"s{number}"] = pd.DataFrame({"promotion": promotion}, weeks)[rows]
    X["s0"]["promotion"] = 0.0
    X["s0"].iloc[4] = 1.0
    y["s0"].iloc[:] = 100.0 * (1.0 + 0.3 * rng.normal(size=10))
    y["s0"].iloc[4] = 250.0
    model = Forecaster(transformation="none", n_jobs=1, random_state=0)
    alone = model.fit(y["s0"], X["s0"]).effects()["promotion"]
    shared = model.fit(y, X).effects()["s0"]["promotion"]
    assert abs(shared[0] - 50.0) < 15.0 < abs(alone[0] - 50.0)
    assert shared[1] < 50.0 < shared[2]


def test_few_series_and_series_of_other_steps_share_nothing():
    panel = {name: one.iloc[:24] for name, one in chain(7).items()}
    years = {f"{name}, years": one.iloc[:24].set_axis(pd.date_range("1990", periods=24, freq="YS"))
             for name, one in chain(7, seed=1).items()}  # fmt: skip
    model = Forecaster(n_jobs=1, random_state=0).fit({**panel, **years})
    alone = Forecaster(n_jobs=1, random_state=0).fit(panel["store 3"])
    assert_allclose(model.predict(3)["store 3"], alone.predict(3), rtol=0.0)


@pytest.mark.thorough
def test_unrelated_series_are_forecast_as_one_by_one():
    """Differences of errors are within three standard errors of zero, or negative."""
    differences = []
    for seed in range(2):
        panel = chain(12, 42, seed, related=False)
        past = {name: one.iloc[:-12] for name, one in panel.items()}
        model = Forecaster(n_jobs=1, random_state=0)
        together = model.fit(past).predict(12)
        for name, one in panel.items():
            alone = Forecaster(n_jobs=1, random_state=0).fit(past[name]).predict(12)
            errors = [np.abs(f / one.iloc[-12:] - 1.0).mean() for f in (together[name], alone)]
            differences.append(errors[0] - errors[1])
    assert np.mean(differences) < 3.0 * np.std(differences) / np.sqrt(len(differences))
