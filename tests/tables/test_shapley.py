"""Contributions to single predictions, against all orders of the columns and closed forms."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tables.test_sensitivity import of_function

from bochner.tables.contributions import Game, contributions

SINGLE = {name: [number] for number, name in enumerate("abcd")}


def additive(X):
    return np.sin(X[:, 0]) + X[:, 1] ** 2 - 2.0 * X[:, 2] + 0.5 * X[:, 3]


def product(X):
    return np.prod(1.0 + X[:, :3], axis=1)


def mixed(X):
    both = X[:, 0] * X[:, 1] + np.maximum(X[:, 1], X[:, 3]) * X[:, 0] + X[:, 0] * X[:, 2] * X[:, 3]
    return np.column_stack([both, np.exp(0.3 * X.sum(axis=1))])


def dependence(function, groups=SINGLE, n_background=25, width=4, seed=0):
    X = np.random.default_rng(seed).normal(size=(n_background, width))
    return of_function(function, X, groups)


def rows(count, width=4):
    return np.random.default_rng(1).normal(size=(count, width))


def explained(one, X, n_evaluations=10**6, seed=0):
    k = one.predict(X).shape[1]
    classes = np.arange(k) if k > 1 else None
    return contributions(one, X, np.random.default_rng(seed), n_evaluations, classes)


def over_all_orders(one, x):
    """Shapley values (g, k) by definition: columns join a copy of the background in every order."""
    orders = list(permutations(one.groups))
    found = dict.fromkeys(one.groups, 0.0)
    for order in orders:
        X = one.X.copy()
        before = one.predict(X).mean(axis=0)
        for name in order:
            X[:, one.groups[name]] = x[one.groups[name]]
            after = one.predict(X).mean(axis=0)
            found[name] = found[name] + (after - before) / len(orders)
            before = after
    return np.array([found[name] for name in one.groups])


@pytest.mark.parametrize("function", [additive, product, mixed])
@pytest.mark.parametrize("groups", [SINGLE, {"a": [0], "none": [], "bd": [3, 1], "c": [2]}])
def test_exact_values_are_averages_over_all_orders(function, groups):
    one, X = dependence(function, groups), rows(3)
    found = explained(one, X)
    expected = np.stack([over_all_orders(one, x) for x in X])
    np.testing.assert_allclose(found.values, expected.reshape(found.values.shape), atol=1e-12)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction)
    np.testing.assert_allclose(found.prediction, function(X))
    np.testing.assert_allclose(found.base, function(one.X).mean(axis=0))
    assert not found.std_error.any()
    assert found.columns == tuple(groups)


def pairs(X):
    """Twelve columns that interact in pairs."""
    return np.sum(X[:, :-1] * X[:, 1:], axis=1) + np.sum(np.abs(X), axis=1)


def test_a_permutation_and_its_reverse_are_exact_for_pairs_of_columns():
    groups = {f"x{j}": [j] for j in range(12)}
    one, X = dependence(pairs, groups, 30, 12), rows(2, 12)
    found = explained(one, X, n_evaluations=2 * 62 * 22)
    moved = np.abs(X) - np.abs(one.X).mean(axis=0)
    for i, x in enumerate(X):
        # In x y, either gets half of what it changes before and after the other.
        own, other = x - one.X, 0.5 * (x + one.X)
        moved[i, 1:] += np.mean(own[:, 1:] * other[:, :-1], axis=0)
        moved[i, :-1] += np.mean(own[:, :-1] * other[:, 1:], axis=0)
    np.testing.assert_allclose(found.values, moved, atol=1e-12)
    assert found.std_error.max() < 1e-12


def wavy(X):
    """Six columns with interactions of two and three, and one column without effect."""
    first = np.sin(2.0 * X[:, 0]) * X[:, 1] * X[:, 2] + 2.0 * X[:, 3]
    return np.column_stack([first + X[:, 3] * X[:, 4], np.tanh(X[:, :5].sum(axis=1))])


SIZES = {
    "some background rows": (1, 800),
    "all background rows": (1, 2100),
    "all background rows thrice": (1, 5000),
    "several rows": (16, 4000),
}


@pytest.mark.parametrize("name", SIZES)
def test_standard_errors_are_those_of_repeated_estimates(name):
    """Estimates are as far from exact values as standard errors say, and have the exact sum."""
    n_rows, n_evaluations = SIZES[name]
    groups = {f"x{j}": [j] for j in range(6)}
    one, X = dependence(wavy, groups, 150, 6), rows(n_rows, 6)
    truth = explained(one, X, n_evaluations=10**7).values
    scores = []
    for seed in range(60):
        found = explained(one, X, n_evaluations, seed)
        error = found.std_error[:, :5]
        assert (error > 0.0).all()
        # Columns that interact in pairs have errors of rounding, if no background row is left out.
        scores.append((found.values - truth)[:, :5] / np.where(error < 1e-12, np.inf, error))
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction)
        assert np.abs(found.values[:, 5]).max() < 1e-12
    scores = np.array(scores)
    size = np.sqrt(np.mean(scores[scores != 0.0] ** 2))
    assert 0.8 < size < 1.25
    assert np.abs(scores.mean(axis=0)).max() < 4.5 * size / np.sqrt(60.0)
    return np.abs(found.values - truth).max()


def test_the_sum_is_exact_if_all_sampled_background_rows_are_equal():
    background = np.zeros((400, 12))
    background[-1] = 1.0
    one = of_function(
        lambda X: X.sum(axis=1), background, {f"x{j}": np.array([j]) for j in range(12)}
    )
    for seed in range(5):
        found = explained(one, rows(30, 12), 100, seed)
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), found.prediction)


def test_as_many_evaluations_as_coalitions_are_enough():
    """Values are exact as soon as all coalitions of all rows can be evaluated."""
    calls = []

    def exchanged(X, from_players):
        calls.append(len(from_players))
        return np.take_along_axis(X, from_players, axis=0).prod(axis=1)[:, None]

    rng = np.random.default_rng(0)
    background, X = rng.normal(size=(6, 3)), rng.normal(size=(2, 3))
    game = Game(exchanged, 3, background, background.prod(axis=1)[:, None])
    needed = 2 * 6 * (2**3 - 2)
    for n_evaluations, is_exact in ((needed - 1, False), (needed, True), (needed + 1, True)):
        values, errors = game.shapley_values(
            X, X.prod(axis=1)[:, None], n_evaluations, np.random.default_rng(1)
        )
        assert (not errors.any()) == is_exact
        assert_allclose(values.sum(axis=1), X.prod(axis=1)[:, None] - game.base)
