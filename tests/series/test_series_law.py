"""Predictions of a series: mixtures of dense processes, joint draws and components."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm
from series.dense import clock_at, conditioned, covariance
from series.models import MODELS, law_of, rows_of

from bochner.series.parameter_posterior import resampled
from bochner.series.series_model import ScaledSeries

LATER = np.array([1.02, 1.1, 1.35, 2.0])
INSIDE = np.array([0.05, 0.33, 0.5, 0.9])


def new_rows(times, seed=5):
    inputs = np.random.default_rng(seed).normal(size=(len(times), 2))
    return ScaledSeries(times, np.full(len(times), np.nan), inputs, clock_at(times))


def dense_prediction(law, rows):
    """Return means and covariances of noise-free values, and noise, of every draw."""
    known = law.is_known
    old, inputs = law.times[known], law.inputs[known]
    for member in law.members:
        model, theta = member.model, member.theta[0]
        noise = model.noise(theta)
        inner = covariance(model, theta, old, old, inputs, inputs) + noise * np.eye(len(old))
        cross = covariance(model, theta, rows.times, old, rows.inputs, inputs)
        prior = covariance(model, theta, rows.times, rows.times, rows.inputs, rows.inputs)
        yield (*conditioned(cross, prior, inner, law.values[known]), noise)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("times", [LATER, INSIDE, np.concatenate((INSIDE, LATER))])
def test_predictions_are_those_of_the_dense_processes(name, times):
    assert_predictions(name, times)


def assert_predictions(name, times):
    law, rows = law_of(name, rows_of()), new_rows(times)
    found = law.predict(rows)
    for number, (mean, cov, noise) in enumerate(dense_prediction(law, rows)):
        assert_allclose(found.means[number], 3.0 + 0.7 * mean, rtol=1e-6, atol=1e-8)
        assert_allclose(found.variances[number], 0.49 * (np.diagonal(cov) + noise), rtol=1e-5)


WINDOWS = {(0, 4): (0, 6), (4, 8): (2, 10), (8, 12): (6, 14), (12, 24): (12, 24)}


def assert_earlier(name="damped"):
    """Rows before the training rows have the law given the rows of a window around them."""
    whole = law_of(name, rows_of())
    later = replace(
        whole,
        times=whole.times[12:],
        values=whole.values[12:],
        is_known=whole.is_known[12:],
        inputs=whole.inputs[12:],
        clock=whole.clock[12:],
    )
    law = later.after(whole.rows.part(slice(0, 12)))
    assert law.n_earlier == 12
    assert law.positions(whole.times[[3, 20]]).tolist() == [3, 20]
    assert_allclose(law.rows.times, whole.times[12:])
    rows = new_rows(np.concatenate((whole.times[:-1] + 0.3 * np.diff(whole.times), LATER)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bochner.series.series_law._BLOCK", 4)
        patch.setattr("bochner.series.series_law._MARGIN", 2)
        found = law.predict(rows)
    for (first, end), (start, stop) in WINDOWS.items():
        given = np.isin(np.arange(24), np.arange(start, stop))
        part, some = replace(whole, is_known=whole.is_known & given), np.arange(first, min(end, 23))
        for number, (mean, cov, noise) in enumerate(dense_prediction(part, rows.part(some))):
            # The prior of the level begins at the first row of a window.
            assert_allclose(found.means[number][some], 3.0 + 0.7 * mean, rtol=1e-4)
            variances = 0.49 * (np.diagonal(cov) + noise)
            assert_allclose(found.variances[number][some], variances, rtol=1e-4)
    ahead = later.predict(new_rows(LATER))
    assert_allclose(found.variances[:, 23:], ahead.variances)


@pytest.mark.parametrize("name", ["damped", "clock"])
def test_rows_before_the_training_are_smoothed_in_windows(name):
    assert_earlier(name)


@pytest.mark.thorough_cases("line")
@pytest.mark.parametrize("name", ["line", "clock"])
def test_rows_of_the_training_are_smoothed_in_place(name):
    law = law_of(name, rows_of())
    again = ScaledSeries(law.times, np.full(len(law.times), np.nan), law.inputs, law.clock)
    found = law.predict(again)
    for number, (mean, _, _) in enumerate(dense_prediction(law, again)):
        assert_allclose(found.means[number], 3.0 + 0.7 * mean, rtol=1e-6, atol=1e-8)


def assert_components(times=np.concatenate((INSIDE, LATER))):  # noqa: B008 - never written to
    law, rows = law_of("line", rows_of()), new_rows(times)
    parts = law.components_at(rows)
    assert list(parts) == ["trend", "cycle", "season", "inputs", "remainder"]
    total = sum(one.centre() for one in parts.values())
    assert_allclose(total, law.predict(rows).centre(), rtol=1e-9)
    return law, rows, parts


def test_components_add_up():
    assert_components()


def test_a_component_is_that_of_its_own_kernel():
    law, rows, parts = assert_components()
    member = law.members[0]
    model, theta = member.model, member.theta[0]
    season = next(part for part in model.parts if part.name == "season")

    class Alone:
        parts = (season,)
        place = staticmethod(model.place)

    known = law.is_known
    old, inputs = law.times[known], law.inputs[known]
    noise = model.noise(theta)
    inner = covariance(model, theta, old, old, inputs, inputs) + noise * np.eye(len(old))
    cross = covariance(Alone, theta, rows.times, old)
    prior = covariance(Alone, theta, rows.times, rows.times)
    mean, cov = conditioned(cross, prior, inner, law.values[known])
    assert_allclose(parts["season"].means[0], 0.7 * mean, rtol=1e-6, atol=1e-8)
    assert_allclose(parts["season"].variances[0], 0.49 * np.diagonal(cov), rtol=1e-4, atol=1e-9)


def test_draws_have_the_means_and_covariances_of_the_mixture(count=20_000):
    law, rows = law_of("line", rows_of()), new_rows(LATER)
    drawn = law.sample(rows, count, np.random.default_rng(0))
    parts = list(dense_prediction(law, rows))
    weights = np.array([member.weights[0] for member in law.members])
    means = np.array([mean for mean, _, _ in parts])
    mean = weights @ means
    cov = sum(
        weight * (cov + noise * np.eye(len(LATER)) + np.outer(own - mean, own - mean))
        for weight, (own, cov, noise) in zip(weights, parts, strict=True)
    )
    scale = np.sqrt(np.diagonal(cov))
    errors = (drawn.mean(axis=0) - 3.0 - 0.7 * mean) / (0.7 * scale)
    # Standard errors of means and correlations are one over the root of the number of draws.
    assert np.abs(errors).max() < 4.5 / np.sqrt(count)
    found = np.cov(drawn.T) / 0.49 / np.outer(scale, scale)
    assert np.abs(found - cov / np.outer(scale, scale)).max() < 8.0 / np.sqrt(count)


FACTORS = np.array([0.05, 0.2, 0.8]), np.array([1.1, 1.5, 2.0])


def test_factors_widen_what_is_ahead():
    rows, times = rows_of(), np.concatenate((INSIDE, LATER))
    plain = law_of("damped", rows).predict(new_rows(times))
    wide = law_of("damped", rows, factors=FACTORS).predict(new_rows(times))
    ratio = np.sqrt(wide.variances[0] / plain.variances[0])
    assert_allclose(ratio[:4], 1.0)  # Rows inside
    assert_allclose(ratio[4], 1.1)  # A horizon below the first
    assert_allclose(ratio[5], 1.3)  # A horizon of 0.1 is halfway by ratio from 0.05 to 0.2
    assert_allclose(ratio[-1], 2.0)
    assert_allclose(wide.means, plain.means)


def assert_tails():
    """A share of what is ahead has three times the deviations, and rows inside stay."""
    rows, new = rows_of(), new_rows(np.concatenate((INSIDE, LATER)))
    plain, found = (
        law_of("damped", rows).predict(new),
        law_of("damped", rows, large=0.2).predict(new),
    )
    count = len(plain.weights)
    assert_allclose(found.weights[:count], 0.8 * plain.weights)
    assert_allclose(found.weights[count:], 0.2 * plain.weights)
    assert_allclose(found.means[count:], plain.means)
    assert_allclose(found.variances[:count], plain.variances)
    assert_allclose(found.variances[count:, :4], plain.variances[:, :4])
    assert_allclose(found.variances[count:, 4:], 9.0 * plain.variances[:, 4:])


def test_a_share_of_forecasts_has_large_errors():
    assert_tails()


@pytest.mark.parametrize("large", [0.0, 0.3])
def test_draws_are_widened_as_well(large):
    assert_widened_draws(large)


def assert_widened_draws(large=0.3):
    later, law = new_rows(LATER), law_of("damped", rows_of(), factors=FACTORS, large=large)
    drawn = law.sample(later, 20_000, np.random.default_rng(0))
    assert_allclose(drawn.std(axis=0), law.predict(later).std(), rtol=0.04)
    levels = np.array([0.005, 0.1, 0.9, 0.995])
    expected = law.predict(later).quantiles(levels)
    width = expected[:, 3] - expected[:, 0]
    found = np.quantile(drawn, levels, axis=0).T
    assert_allclose(found / width[:, None], expected / width[:, None], atol=0.03)


def test_transformed_values_have_transformed_laws():
    rows, later = rows_of(), new_rows(LATER)
    law = law_of("level", rows, transformation="log", n_draws=1)
    plain = law_of("level", rows, n_draws=1)
    (mean,), (variance,) = plain.predict(later).means, plain.predict(later).variances
    found = law.predict(later)
    assert_allclose(found.centre(), np.exp(mean))
    levels = np.array([0.05, 0.5, 0.9])
    expected = np.exp(norm.ppf(levels, mean[:, None], np.sqrt(variance)[:, None]))
    assert_allclose(found.quantiles(levels), expected, rtol=1e-9)
    drawn = law.sample(later, 4000, np.random.default_rng(0))
    assert_allclose(np.median(drawn, axis=0), np.exp(mean), rtol=0.1)


def test_resampling_keeps_expected_numbers():
    weights = np.array([0.5, 0.3, 0.2, 0.0])
    counts = np.mean(
        [resampled(weights, 64, np.random.default_rng(seed)) for seed in range(400)], axis=0
    )
    assert_allclose(counts, 64 * weights, atol=0.15)
    one = resampled(weights, 64, np.random.default_rng(0))
    assert one.sum() == 64
    assert np.abs(one - 64 * weights).max() <= 1.0
