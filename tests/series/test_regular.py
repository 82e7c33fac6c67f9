"""Evidence of regular series, against dense Gaussian processes by the kernels' formulas."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from series.dense import conditioned, covariance, log_normal_density
from series.models import BY_CLOCK, CYCLE, LEARNED, MODELS, SEASON, rows_of

from bochner.series.components import Remainder, Variation, Waves
from bochner.series.series_model import SeriesEvidence, SeriesModel
from bochner.series.trends import ConstantLevel, Slope, WalkWithDrift

REGULAR = {
    "level": MODELS["level"],
    "inputs": MODELS["line"],
    "damped": (*MODELS["damped"][:2], LEARNED, Remainder(0.03)),
    "line": (Slope(has_line=True), Variation(0.1), SEASON, CYCLE, Remainder(0.03)),
    "drift": MODELS["drift"],
    "shifts": MODELS["shifts"],
}


def series(n=30, gaps=()):
    return rows_of(n, irregular=False, gaps=gaps)


def with_gaps(n=30):
    """Rows with unknown values, and without the rows of two regular times."""
    rows = series(n, gaps=(0, 7, n - 1))
    return rows.part(np.delete(np.arange(n), (12, 13)))


def drawn(model, count=3, seed=1):
    """Return parameters drawn around the means of their priors."""
    mean, std = model.prior.mean, model.prior.std
    return mean + 0.3 * std * np.random.default_rng(seed).normal(size=(count, len(mean)))


def dense_covariance(model, theta, rows):
    """Return the covariance of the known values, without noise."""
    known = rows.part(rows.known)
    return covariance(model, theta, known.times, known.times, known.inputs, known.inputs)


def dense_evidence(model, theta, rows):
    cov, known = dense_covariance(model, theta, rows), rows.values[rows.known]
    return log_normal_density(known, cov + model.noise(theta) * np.eye(len(known)))


ROWS = {"known": series, "gaps": with_gaps}


def assert_evidence(name, kind):
    model, rows = SeriesModel(REGULAR[name]), ROWS[kind]()
    evidence, thetas = SeriesEvidence(model, rows), drawn(model)
    assert evidence.regular is not None
    expected = [dense_evidence(model, theta, rows) for theta in thetas]
    assert_allclose(evidence.values(thetas), expected, rtol=1e-7)


def assert_slopes(name, kind):
    """Gradients are differences of the dense evidence."""
    model, rows = SeriesModel(REGULAR[name]), ROWS[kind](20)
    thetas = drawn(model, 2)
    values, slopes = SeriesEvidence(model, rows).values_and_slopes(thetas)
    for theta, value, slope in zip(thetas, values, slopes, strict=True):
        assert_allclose(value, dense_evidence(model, theta, rows), rtol=1e-7)
        for i, unit in enumerate(1e-4 * np.eye(len(theta))):
            above, below = (dense_evidence(model, theta + step, rows) for step in (unit, -unit))
            assert_allclose(slope[i], (above - below) / 2e-4, rtol=2e-4, atol=2e-5)


def assert_all():
    for name in REGULAR:
        for kind in ROWS:
            assert_evidence(name, kind)
            assert_slopes(name, kind)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", REGULAR)
def test_the_evidence_is_that_of_the_kernels(name, kind):
    assert_evidence(name, kind)


@pytest.mark.thorough_cases(but="level|drift")
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", REGULAR)
def test_slopes_are_differences(name, kind):
    assert_slopes(name, kind)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", [*REGULAR, "a constant offset of the clock"])
def test_long_series_have_the_evidence_of_the_filter(name, kind):
    """Sums of changes of the covariance lose no digits that matter, with little noise either."""
    model = SeriesModel(REGULAR.get(name, (ConstantLevel(), BY_CLOCK, Remainder(0.03))))
    rows = ROWS[kind](1500)
    rows, thetas = replace(rows, clock=np.full(len(rows), 0.03)), drawn(model, 4)
    thetas[2:, model.place(model.parts[-1]).start] -= 6.0
    found = SeriesEvidence(model, rows).values(thetas)
    expected = [model.filtered(theta, rows)[0] for theta in thetas]
    assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.thorough
def test_last_states_are_those_of_the_dense_law():
    """States at the last time are those of the filter, and values from them the dense ones."""
    for (name, parts), kind in itertools.product(REGULAR.items(), ROWS):
        model, rows = SeriesModel(parts), ROWS[kind]()
        thetas = drawn(model)
        mean, cov = SeriesEvidence(model, rows).last_states(thetas)
        weight = model.weights(rows)[-1]
        for theta, of_states, of_errors in zip(thetas, mean, cov, strict=True):
            _, states = model.filtered(theta, rows)
            assert_allclose(of_states, states.mean[-1], rtol=1e-7, atol=2e-8, err_msg=name)
            assert_allclose(of_errors, states.cov[-1], rtol=1e-7, atol=1e-9, err_msg=name)
            known, last = rows.part(rows.known), rows.part(slice(-1, None))
            cross = covariance(model, theta, last.times, known.times, last.inputs, known.inputs)
            prior = covariance(model, theta, last.times, last.times, last.inputs, last.inputs)
            noisy = dense_covariance(model, theta, rows) + model.noise(theta) * np.eye(len(known))
            expected, spread = conditioned(cross, prior, noisy, known.values)
            assert_allclose(weight @ of_states, expected[0], rtol=1e-6, atol=1e-8)
            assert_allclose(weight @ of_errors @ weight, spread[0, 0], rtol=1e-5)


@pytest.mark.parametrize("name", REGULAR)
def test_gains_that_have_settled_change_nothing(name):
    assert_settled(name)


def assert_settled(name="damped"):
    """Series of short memory, whose gain settles within the rows."""
    model, rows = SeriesModel(REGULAR[name]), series(400)
    theta = drawn(model, 1)[0]
    for part in model.parts:
        place = model.place(part)
        if isinstance(part, Waves):
            theta[place][1] = np.log(0.02)
        elif isinstance(part, Slope | WalkWithDrift):
            theta[place][0] = 5.0
    evidence = SeriesEvidence(model, rows)
    value, slope = evidence(theta)
    assert_allclose(value, model.filtered(theta, rows)[0], rtol=1e-9)
    assert_allclose(slope, evidence._value_and_slope(theta)[1], rtol=1e-6, atol=1e-6)


def without_form(parts, rows):
    return SeriesEvidence(SeriesModel(parts), rows).regular is None


def test_other_series_have_the_filter():
    regular, parts = series(), REGULAR["line"]
    assert without_form(parts, rows_of(30, irregular=True, gaps=()))
    assert without_form((ConstantLevel(), BY_CLOCK, Remainder(0.03)), regular)
    assert without_form((Remainder(0.03), Slope(has_line=True)), regular)


def test_series_with_many_unknown_values_have_the_filter():
    parts = REGULAR["level"]  # Three states
    assert not without_form(parts, series(40, gaps=tuple(range(3, 18))))
    assert without_form(parts, series(40, gaps=tuple(range(3, 19))))


def test_sizes_are_checked():
    evidence = SeriesEvidence(SeriesModel(REGULAR["level"]), series())
    form = evidence.regular.form
    with pytest.raises(ValueError, match="do not fit"):
        replace(evidence.regular, form=form).log_evidence(np.zeros((1, 2)))
