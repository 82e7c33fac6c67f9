"""Distributions of rows unlike the training rows, against fresh draws.

Coverage of each kind of rows is compared with the level, scores with those of the distribution of
the training targets, and widths with what is known.
"""

import warnings
from functools import cache
from time import process_time

import numpy as np
import pandas as pd
import pytest
from laws import unlike_laws as laws
from laws.unlike_laws import KINDS, LEVELS, UNLIKE, at_least
from numpy.testing import assert_allclose
from sklearn.base import clone

from bochner import TableRegressor
from bochner.tables.new_rows import Donors, FarRows

N_NEW = 250
thorough = pytest.mark.thorough


def some(names, quick):
    """Parameters of which only one is a quick test."""
    return [pytest.param(n, marks=() if n == quick else thorough) for n in names]


def numbers(kind="linear", seed=0, **options):
    """A fitted model with its training targets and new rows, from one fit for equal arguments."""
    return _numbers(kind, seed, tuple(options.items()))


@cache
def _numbers(kind, seed, options):
    options = dict(options)
    model, _, y, rng = laws.fitted(kind, seed, **options)
    X_new, y_new = KINDS[kind].draw(rng, N_NEW)
    return model, y, X_new, y_new


def check_coverage(kind="linear", unlike="gap in a", seed=0, slack=0.035, **options):
    """Intervals contain their share of rows with unknown entries, by kind of rows."""
    model, y, X, y_new = numbers(kind, seed, **options)
    changed = UNLIKE[unlike](np.random.default_rng(1), X)
    for level in LEVELS:
        # Thirty donors stand for all that an entry may be.
        assert at_least(laws.coverage_of(model, changed, y_new, level), level, N_NEW, slack), level
    assert laws.crps(model, changed, y_new) < 1.02 * laws.crps_of_marginal(y, y_new)
    lower, upper = model.predict_interval(changed)
    complete_lower, complete_upper = model.predict_interval(X)
    assert np.mean(upper - lower) > np.mean(complete_upper - complete_lower)


def cases():
    """Every kind of table with every kind of rows; two of them are quick tests."""
    quick = {("linear", "several gaps"), ("linear", "new level")}
    pairs = [(kind, unlike) for kind in KINDS for unlike in UNLIKE]
    return [pytest.param(*pair, marks=() if pair in quick else thorough) for pair in pairs]


@pytest.mark.thorough_cases(r"\bin\b|correlated|interaction")
@pytest.mark.parametrize(("kind", "unlike"), cases())
def test_intervals_contain_their_share(kind, unlike):
    check_coverage(kind, unlike)


def test_the_spread_of_a_gap_is_that_of_the_column():
    """The spread of a row without its main column is that of the column's effect."""
    model, _, X, _ = numbers("linear")
    _, std = model.predict(X.assign(a=np.nan), return_std=True)
    np.testing.assert_allclose(np.mean(std), 2.0, rtol=0.08)
    mean = model.predict(X.assign(a=np.nan))
    expected = X.b + 3.0 * (X.c == "x")
    assert np.sqrt(np.mean((mean - expected) ** 2)) < 0.35


def check_gaps_in_both(n=600, share=0.2, seed=0):
    """Where a column had gaps at the fit, rows with and without them have their own widths."""
    rng = np.random.default_rng(seed)
    X, y = KINDS["linear"].draw(rng, n)
    new, y_new = KINDS["linear"].draw(rng, 1000)
    gaps, new_gaps = (t.assign(a=t.a.mask(rng.random(len(t)) < share)) for t in (X, new))
    model = TableRegressor(effort="quick", random_state=0).fit(gaps, y)
    is_gap = new_gaps.a.isna().to_numpy()
    for rows in (is_gap, ~is_gap):
        coverage = laws.coverage_of(model, new_gaps[rows], y_new[rows], 0.9)
        assert at_least(coverage, 0.9, rows.sum(), 0.03)
        assert coverage < 0.97


@thorough
@pytest.mark.parametrize("share", [0.2, 0.05])
def test_gaps_in_both_tables(share):
    check_gaps_in_both(share=share)


def beyond(kind, seed, factor):
    """New rows with ``a`` from the end of its range to ``factor`` times its end."""
    model, X, y, rng = laws.fitted(kind, seed)
    new, _ = KINDS[kind].draw(rng, N_NEW)
    side, end = np.sign(new.a), np.abs(X.a).max()
    a = side * end * (1.0 + (factor - 1.0) * rng.random(N_NEW))
    if kind == "correlated":
        new["b"] += a - new.a
    new["a"] = a
    y_new = KINDS[kind].mean(new).to_numpy() + KINDS[kind].noise * rng.normal(size=N_NEW)
    return model, y, new, y_new


def check_beyond(kind="linear", factor=2.0, seed=0):
    """Intervals reach functions that go on beyond the range, and are wider farther out."""
    model, y, new, y_new = beyond(kind, seed, factor)
    assert laws.coverage_of(model, new, y_new, 0.9) >= 0.85
    assert laws.crps(model, new, y_new) < laws.crps_of_marginal(y, y_new)
    lower, upper = model.predict_interval(new)
    far = np.abs(new.a) > np.quantile(np.abs(new.a), 0.5)
    assert np.mean((upper - lower)[far]) > 1.2 * np.mean((upper - lower)[~far])


@pytest.mark.thorough_cases(but=r"2\.0-linear")
@pytest.mark.parametrize("kind", some(KINDS, "linear"))
@pytest.mark.parametrize("factor", some([1.5, 2.0, 3.0], 2.0))
def test_intervals_beyond_the_range(kind, factor):
    check_beyond(kind, factor)


def test_a_far_entry_is_no_prediction_far_out():
    """An entry a hundred ranges out moves the prediction by no more than half a range does."""
    model, _, X, _ = numbers("linear")
    base, far = X[:20].assign(a=3.0), X[:20].assign(a=600.0)
    assert np.abs(model.predict(far) - model.predict(base)).max() < 8.0
    assert (np.diff(model.predict_interval(far), axis=0) > 500.0).all()


def test_nor_far_out_in_logarithms():
    _, _, X, y = numbers("linear")
    model = TableRegressor(effort="quick", transformation="log", random_state=0)
    model.fit(X, np.exp(y / y.std()))
    base, far = (model.predict(X[:20].assign(a=a)) for a in (3.0, 600.0))
    assert np.abs(np.log(far / base)).max() < 8.0 / y.std()


def check_classes(kind="linear", unlike="gap in a", seed=0):
    """Probabilities of rows with unknown entries are calibrated, and no worse than base rates."""
    model, X, y, _ = classes_of(kind, seed)
    p = model.predict_proba(UNLIKE[unlike](np.random.default_rng(1), X))[:, 1]
    loss = -np.log(np.where(y, p, 1.0 - p)).mean()
    share = y.mean()
    assert loss < -share * np.log(share) - (1.0 - share) * np.log(1.0 - share) + 0.01
    bins = np.minimum((p * 5).astype(int), 4)
    gaps = [abs(np.sum(y[bins == b]) - np.sum(p[bins == b])) for b in range(5)]
    assert np.sum(gaps) / len(y) < 0.04 + 1.5 * np.sqrt(0.25 * 5 / len(y))


@cache
def classes_of(kind, seed):
    return laws.classes(kind, seed)


@pytest.mark.thorough_cases(r"\bin\b|correlated|interaction")
@pytest.mark.parametrize(("kind", "unlike"), cases())
def test_probabilities_of_unknown_entries(kind, unlike):
    check_classes(kind, unlike)


def test_all_methods_agree():
    """Contributions, covariances, samples and functions agree with predictions."""
    model, _, X, _ = numbers("linear")
    rows = pd.concat([X[:2], X[2:4].assign(a=np.nan), X[4:6].assign(c="new"), X[6:8].assign(a=9.0)])
    mean, std = model.predict(rows, return_std=True)
    found = model.contributions(rows, n_evaluations=500, random_state=0)
    np.testing.assert_allclose(found.prediction, mean, rtol=1e-9)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), mean, rtol=1e-9)
    _, cov = model.predict(rows, return_cov=True)
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), std, rtol=1e-2)
    draws = model.sample(rows, 4000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5.0 * std.max() / np.sqrt(4000))
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.08)
    quantiles = model.predict_quantiles(rows, [0.05, 0.95])
    np.testing.assert_allclose(quantiles.T, model.predict_interval(rows, 0.9))


def test_which_rows_are_unlike():
    model, _, X, _ = numbers("linear")
    rows = X[:4].reset_index(drop=True)
    rows.loc[0, "a"], rows.loc[1, "c"], rows.loc[2, "b"] = np.nan, "new", 50.0
    found = {why: mask.tolist() for why, mask in model.unlike_rows(rows).items()}
    assert found == {
        "missing": [True, False, False, False],
        "new level": [False, True, False, False],
        "beyond the range": [False, False, True, False],
        "later": [False] * 4,
    }


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "most"),
    [("nothing", 1.03), ("levels", 1.03), ("walk", 1.4), ("season", 1.03), ("drift", 1.15)],
)
def test_intervals_of_later_rows(change, most):
    """With time= intervals contain later rows, and errors are at most those without it.

    Where a level walks at random, six tables decide neither way.

    A steady drift is continued beyond the range without time= only, as left-out stretches decide
    with it.
    """
    coverage, errors = [], []
    for seed in range(6):
        X, y, X_new, y_new = laws.over_time(change, seed)
        model = TableRegressor(effort="quick", random_state=0)
        timed = clone(model).fit(X, y, time="day")
        coverage.append(laws.coverage_of(timed, X_new, y_new, 0.9))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain = model.fit(X, y)
        errors.append([np.mean((each.predict(X_new) - y_new) ** 2) for each in (timed, plain)])
    # Rows of one table share their level: the standard error is that over tables.
    assert np.mean(coverage) > 0.85 - 2.0 * np.std(coverage) / np.sqrt(6)
    with_time, without = np.sqrt(np.mean(errors, axis=0))
    assert with_time < most * without


def test_rows_of_wide_tables_are_continued_only_where_they_are_far():
    """A row that is out of one range takes no copy of the rows that are out of other ranges."""
    size = 800
    state = {"points": np.array([-1.0, 1.0]), "scores": np.array([-1.0, 1.0]), "ends": (-1.0, 1.0)}
    features = {j: [(j, state)] for j in range(size)}
    far = FarRows(np.arange(size), np.zeros((size, size)), 0.5 * np.eye(size), features)
    began = process_time()
    changes, rest = far.continued(lambda X: X.sum(axis=1))
    assert process_time() - began < 4.0  # Copies take 20 seconds
    assert_allclose(changes, 0.25 * np.eye(size))
    assert_allclose(rest, 0.25)


@pytest.mark.parametrize("units", [(1e-12, 0.0), (1e12, 0.0), (1.0, 1.7e9)])
def test_donors_are_the_same_in_other_units(units):
    rng, is_known = np.random.default_rng(0), np.ones((120, 3), dtype=bool)
    numbers, n_levels = rng.normal(size=(120, 2)), np.array([0, 0, 2])
    is_unknown = np.zeros((40, 3), dtype=bool)
    is_unknown[:, 2] = is_unknown[::2, 1] = True

    def donors(factor, shift):
        values = np.column_stack((factor * numbers + shift, numbers[:, 0] > 0.0))
        drawn = Donors(values, is_known, n_levels)
        return drawn.draws(values[:40], is_unknown, np.zeros_like(is_unknown))

    np.testing.assert_array_equal(donors(*units), donors(1.0, 0.0))
