"""Recursions over the rows of a series, against dense matrices."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from series.dense import conditioned, joint_covariance, log_normal_density, weight_rows

from bochner.series.state_loops import Steps, component_moments, filtered, moments_ahead, slopes

PARTNER = np.array([1, 0, 3, 2, 4, 5])
UNKNOWN = [0, 3, 4, 12, 19]


def problem(n=20, seed=0):
    """Two pairs of states, one alone and one that stays, steps of three lengths, and gaps."""
    rng = np.random.default_rng(seed)
    s = len(PARTNER)
    own, other = rng.uniform(0.5, 1.0, (3, s)), 0.3 * rng.normal(size=(3, s))
    other[:, 4:] = 0.0
    variance, covariance = rng.uniform(0.5, 1.0, (3, s)), np.zeros((3, s))
    covariance[:, :4] = np.repeat(0.2 * rng.normal(size=(3, 2)), 2, axis=1)
    own[:, 5], variance[:, 5] = 1.0, 0.0
    steps = Steps(rng.integers(0, 3, n), own, other, variance, covariance, PARTNER)
    weights = np.tile([1.0, 0.0, 1.0, 0.3, 1.0, 0.0], (n, 1))
    weights[:, 5] = rng.normal(size=n)
    root = rng.normal(size=(s, s))
    y = rng.normal(size=n)
    y[UNKNOWN] = np.nan
    return y, weights, steps, root @ root.T / 3.0


def evidence(y, weights, steps, initial, noise):
    rows = weight_rows(weights)
    known = np.isfinite(y)
    cov = rows @ joint_covariance(steps, initial, len(y)) @ rows.T + noise * np.eye(len(y))
    return log_normal_density(y[known], cov[np.ix_(known, known)])


@pytest.mark.thorough
def test_the_evidence_is_that_of_the_dense_law():
    y, weights, steps, initial = problem()
    found, _ = filtered(y, weights, steps, np.zeros(len(initial)), initial, 0.3)
    assert_allclose(found, evidence(y, weights, steps, initial, 0.3), rtol=1e-11)


@pytest.mark.thorough
def test_states_are_those_given_the_values_before():
    y, weights, steps, initial = problem()
    _, states = filtered(y, weights, steps, np.zeros(len(initial)), initial, 0.3)
    rows, joint = weight_rows(weights), joint_covariance(steps, initial, len(y))
    s = len(initial)
    for t in (0, 2, 4, 11, 19):
        known = np.flatnonzero(np.isfinite(y[: t + 1]))
        at = slice(t * s, (t + 1) * s)
        if not len(known):
            assert_allclose(states.cov[t], initial)
            continue
        cross = joint[at] @ rows[known].T
        inner = rows[known] @ joint @ rows[known].T + 0.3 * np.eye(len(known))
        mean, cov = conditioned(cross, joint[at, at], inner, y[known])
        assert_allclose(states.mean[t], mean, atol=1e-11)
        assert_allclose(states.cov[t], cov, atol=1e-11)


@pytest.mark.thorough_cases("own|other")
@pytest.mark.parametrize("name", ["own", "other", "variance", "covariance", "initial", "noise"])
def test_slopes_are_differences_of_the_evidence(name):
    y, weights, steps, initial = problem()
    zero, noise, increment = np.zeros(len(initial)), 0.3, 1e-6
    _, states = filtered(y, weights, steps, zero, initial, noise)
    found = getattr(slopes(weights, steps, states), name)

    def changed(place, change):
        arrays = {key: value.copy() for key, value in steps._asdict().items()}
        start, r = initial.copy(), noise
        if name == "noise":
            r += change
        else:
            target = start if name == "initial" else arrays[name]
            target[place] += change
            if name == "covariance":  # Both entries of a pair are one number
                target[place[0], PARTNER[place[1]]] += change
        return evidence(y, weights, Steps(**arrays), start, r)

    places = {"noise": [()], "initial": [(2, 2), (0, 0)], "covariance": [(1, 0), (2, 2)]}
    for place in places.get(name, [(0, 0), (1, 2), (2, 3)]):
        expected = (changed(place, increment) - changed(place, -increment)) / (2.0 * increment)
        got = found if name == "noise" else found[place]
        if name == "covariance":
            got = got + found[place[0], PARTNER[place[1]]]
        assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


GROUPS = np.array([0, 0, 1, 1, 2, 2])


@pytest.mark.thorough
def test_components_are_those_given_all_values():
    y, weights, steps, initial = problem()
    _, states = filtered(y, weights, steps, np.zeros(len(initial)), initial, 0.3)
    mean, variance = component_moments(weights, steps, states, GROUPS, 3)
    joint, rows = joint_covariance(steps, initial, len(y)), weight_rows(weights)
    known = np.isfinite(y)
    inner = (rows @ joint @ rows.T + 0.3 * np.eye(len(y)))[np.ix_(known, known)]
    for group in range(4):
        keep = None if group == 3 else (group == GROUPS).astype(float)
        own = weight_rows(weights, keep)
        cross = own @ joint @ rows[known].T
        expected, cov = conditioned(cross, own @ joint @ own.T, inner, y[known])
        assert_allclose(mean[:, group], expected, atol=1e-11)
        assert_allclose(variance[:, group], np.diagonal(cov), atol=1e-11)
    assert_allclose(mean[:, :3].sum(axis=1), mean[:, 3], atol=1e-12)


@pytest.mark.thorough
def test_what_is_ahead_is_that_of_unknown_values_in_less_memory():
    _, weights, steps, initial = problem()
    first, n = np.arange(1.0, 7.0), 4000
    which = np.resize(steps.which, n)
    more, steps = np.resize(weights, (n, weights.shape[1])), steps._replace(which=which)
    _, states = filtered(np.full(n, np.nan), more, steps, first, initial, 0.3)
    expected = component_moments(more, steps, states, GROUPS, 3)
    moments_ahead(more[:2], steps, first, initial, GROUPS, 3)  # Compiled
    tracemalloc.start()
    found = moments_ahead(more, steps, first, initial, GROUPS, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(found, expected, rtol=1e-10, atol=1e-100)
    assert peak < 0.5 * states.cov.nbytes


def test_a_run_goes_on_from_its_states():
    y, weights, steps, initial = problem()
    zero = np.zeros(len(initial))
    whole, states = filtered(y, weights, steps, zero, initial, 0.3)
    first, before = filtered(y[:8], weights[:8], steps, zero, initial, 0.3)
    # The row at which the states are known has no value any more.
    later = Steps(steps.which[7:], *steps[1:])
    rest = np.concatenate(([np.nan], y[8:]))
    second, after = filtered(rest, weights[7:], later, before.mean[-1], before.cov[-1], 0.3)
    assert_allclose(first + second, whole, rtol=1e-12)
    assert_allclose(after.cov[-1], states.cov[-1], atol=1e-13)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda steps: steps._replace(partner=steps.partner[:-1]), "do not fit their transitions"),
        (lambda steps: steps._replace(partner=steps.partner + 1), "do not fit their transitions"),
        (lambda steps: steps._replace(partner=steps.partner - 1), "do not fit their transitions"),
        (lambda steps: steps._replace(which=steps.which + 1), "do not fit their transitions"),
        (lambda steps: steps._replace(which=steps.which[:-1]), "do not fit their transitions"),
        (lambda steps: steps._replace(covariance=steps.own[:, 1:]), "do not fit their transitions"),
    ],
)
def test_arrays_of_other_sizes_are_refused_before_loops_read_them(change, words):
    y, weights, steps, initial = problem()
    zero = np.zeros(len(initial))
    _, states = filtered(y, weights, steps, zero, initial, 0.3)
    changed = change(steps)
    for call in (
        lambda: filtered(y, weights, changed, zero, initial, 0.3),
        lambda: moments_ahead(weights, changed, zero, initial, GROUPS, 3),
        lambda: component_moments(weights, changed, states, GROUPS, 3),
        lambda: slopes(weights, changed, states),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(ValueError, match="do not fit their transitions"):
        filtered(y, weights, steps, zero[1:], initial, 0.3)
    with pytest.raises(ValueError, match="values do not fit"):
        filtered(y[1:], weights, steps, zero, initial, 0.3)
    for groups in (GROUPS[1:], GROUPS + 1, GROUPS - 1):
        with pytest.raises(ValueError, match="groups do not fit"):
            component_moments(weights, steps, states, groups, 3)
