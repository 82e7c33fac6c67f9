"""Learned priors, against draws of their definition and fresh series."""

import json
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bochner import Forecaster
from bochner.series import fitted_series
from bochner.series.component_search import Searcher
from bochner.series.components import Prior, Remainder, Variation
from bochner.series.parameter_posterior import Fit, SeriesStructure
from bochner.series.priors import PRIORS, ParameterPrior, PriorTable, SeriesPriors
from bochner.series.trends import ConstantLevel, Slope

OWN = [Prior(1.0, 2.0, "a", 1), Prior(-1.0, 0.5, "b", 2), Prior(0.3, 0.7, "c"), Prior(2.0, 3.0)]
TABLE = PriorTable(
    {"a": ParameterPrior(0.5, 2.0, 0.4), "b": ParameterPrior(-2.0, -1.0, 0.3)}, 0.6, 1.5
)


def test_priors_are_those_of_the_definition():
    """Parameters are drawn one by one, with their common term."""
    rng = np.random.default_rng(0)
    common = 0.6 * rng.normal(size=200_000)
    a = 0.5 + 2.0 * 1.5 + common + 0.4 * rng.normal(size=len(common))
    b = -2.0 - 1.5 + 2.0 * common + 0.3 * rng.normal(size=len(common))
    prior = TABLE.prior(OWN)
    assert_allclose(prior.mean[:2], [a.mean(), b.mean()], atol=0.02)
    cov = prior.factor @ prior.factor.T
    assert_allclose(cov[:2, :2], np.cov(a, b), rtol=0.02)
    # Parameters that the table lacks have their own priors, apart from the common term.
    assert_allclose(prior.mean[2:], [0.3, 2.0])
    assert_allclose(cov[2:, 2:], np.diag([0.49, 9.0]))
    assert_allclose(cov[2:, :2], 0.0)
    assert_allclose(prior.std, np.sqrt(np.diag(cov)))


def test_the_file_has_the_names_of_the_series_and_of_all_parameters():
    text = files("bochner.series").joinpath("priors.json").read_text(encoding="utf-8")
    content = json.loads(text)
    assert set(content["priors"]) == {*content["series"], "other"}
    counts = {name: len(some) for name, some in content["series"].items()}
    assert counts == {"year": 125, "quarter": 125, "month": 125, "week": 40, "hour": 20}
    for entry in content["priors"].values():
        assert json.loads(json.dumps(SeriesPriors.of(entry).entry())) == entry
    names = {prior.name for part in (Slope(True), Slope(False), Variation(0.1), Remainder(0.1))
             for prior in part.priors}  # fmt: skip
    assert names == set(PRIORS["year"].parameters)


def test_weights_are_powers_of_the_evidence_with_odds():
    priors = SeriesPriors(
        power=0.25,
        transformation_power=0.5,
        trends={"level": 0.1, "slope": -1.0, "line": 2.0},
        transformations={"none": 0.0, "sqrt": 1.0, "log": -3.0},
    )
    searcher = Searcher(0.1, str, priors=priors)

    class Mode:
        def __init__(self, log_evidence):
            self.log_evidence = log_evidence

    trends = ConstantLevel(), Slope(has_line=False), Slope(has_line=True)
    fits = [
        Fit(SeriesStructure(trend), Mode(evidence))
        for trend, evidence in zip(trends, (4.0, -8.0, 2.0), strict=True)
    ]
    weights = searcher.log_weights(fits)
    assert_allclose(weights - weights[0], [0.0, -4.1, 1.4])
    assert_allclose(np.exp(weights).sum(), 1.0)
    assert_allclose(priors.log_weight_of_scale(10.0, "log"), 2.0)


def test_lengths_are_logarithms_of_thirtieths():
    """Of a range of 60 steps, each of which is a sixtieth of it."""
    assert_allclose(PRIORS["year"].table(1.0 / 60.0).length, np.log(2.0))


def chosen(index, n=30, **parameters):
    """Return the name of the priors that a series is fitted with."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=n).cumsum() + 10.0
    series = values if index is None else pd.Series(values, index=index)
    used = []
    original = fitted_series.learn

    def noted(times, values, inputs, plan, *rest):
        used.append(plan.priors)
        return original(times, values, inputs, plan, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitted_series, "learn", noted)
        Forecaster(random_state=0, find_cycle=False, **parameters).fit(series)
    (name,) = (name for name, priors in PRIORS.items() if priors is used[0])
    return name


@pytest.mark.parametrize(
    ("frequency", "name"),
    [("YS", "year"), ("YE", "year"), ("QS", "quarter"), ("MS", "month"), ("D", "other"),
     ("W", "week"), ("h", "hour"), ("12h", "other")],
)  # fmt: skip
def test_the_calendar_chooses_the_priors(frequency, name):
    assert chosen(pd.date_range("1990-01-01", periods=30, freq=frequency)) == name


@pytest.mark.thorough
def test_series_without_dates():
    """A season of four steps stands for quarters, and short series without one for years."""
    assert chosen(None) == "year"
    assert chosen(None, periods=[4]) == "quarter"
    assert chosen(None, periods=[12]) == "month"
    assert chosen(None, n=60) == "other"
    assert chosen(None, periods=[7]) == "other"
    irregular = np.cumsum(np.random.default_rng(1).uniform(0.2, 3.0, 30))
    assert chosen(irregular) == "other"


def test_few_years_have_no_scale():
    """At most 54 yearly values are square roots; more of them are compared, and so are months."""
    for n, name in ((54, "YS"), (55, "YS"), (54, "MS")):
        candidates = ["none", "sqrt", "log"]
        kind = "year" if name == "YS" else "month"
        expected = ["sqrt"] if (n, name) == (54, "YS") else candidates
        assert PRIORS[kind].scales(candidates, n) == expected
    assert PRIORS["year"].scales(["none"], 10) == ["none"]  # Values below zero
