"""MultipleKernelFeatures: an unbiased bank of known variance, weighed as alignment says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import norm

from bochner.baselines import MultipleKernelFeatures

FAMILY_ALPHA = 1e-3
"""Chance that one test, over all of its pairs, rejects a right implementation."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 10.0, 0.1] + [0.0, 100.0, 5.0]
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] / 20.0
SCALES = (0.5, 1.0, 3.0)
DEVIATION = X.std(axis=0)
PROFILES = {
    "laplacian": lambda lag: np.exp(-np.abs(lag).sum(axis=-1)),
    "gaussian": lambda lag: np.exp(-0.5 * (lag**2).sum(axis=-1)),
    "cauchy": lambda lag: np.prod(1.0 / (1.0 + lag**2), axis=-1),
}


def bank(lag):
    """Return all kernels at lags in the units of the inputs, stacked first."""
    return np.array([k(lag / DEVIATION / scale) for k in PROFILES.values() for scale in SCALES])


def fitted(y=None, **parameters):
    return MultipleKernelFeatures(
        **{"n_components": 150, "length_scales": SCALES, "random_state": 0, **parameters}
    ).fit(X, y)


@pytest.mark.parametrize("aligned", [False, True], ids=["uniform", "aligned"])
def test_the_gram_matrix_is_unbiased_with_the_known_variance(aligned):
    lag = X[:8] - X[8:16]
    estimates = []
    for seed in range(200):
        map = fitted(Y if aligned else None, random_state=seed)
        estimates.append(np.sum(map.transform(X[:8]) * map.transform(X[8:16]), axis=1))
    # The seed plays no part in the weights: there are fewer rows than a subsample has.
    weights = map.weights_[:, None]
    one, two = bank(lag), bank(2.0 * lag)
    variance = np.sum(weights**2 * (1 + two - 2 * one**2) / (2 * map.counts_[:, None]), axis=0)
    error = np.array(estimates) - np.sum(weights * one, axis=0)
    bias = error.mean(axis=0) / np.sqrt(variance / len(error))
    # The fourth moments are not known: the spread of the squares is estimated.
    excess = np.mean(error**2 - variance, axis=0)
    excess /= np.std(error**2, axis=0, ddof=1) / np.sqrt(len(error))
    statistic = np.concatenate([bias, excess])
    assert np.abs(statistic).max() < norm.isf(FAMILY_ALPHA / (2 * len(statistic))), statistic


def alignment_loss(targets):
    """Return the loss of centred alignment, its gradient and the centred Gram matrices."""
    n = len(X)
    centring = np.eye(n) - 1.0 / n
    grams = np.array([centring @ K @ centring for K in bank(X[:, None] - X[None])])
    goal = centring @ targets @ targets.T @ centring

    def loss(w):
        rest = np.tensordot(w, grams, 1) - goal
        return np.sum(rest**2), 2.0 * np.tensordot(grams, rest, 2)

    return loss


@pytest.mark.parametrize("kind", ["numbers", "labels", "digits", "two columns"])
def test_weights_minimise_the_loss_of_centred_alignment(kind):
    labels = np.digitize(Y, [4.5, 5.5])
    y, targets = {
        "numbers": (7.0 * Y - 3.0, ((Y - Y.mean()) / Y.std())[:, None]),
        "labels": (np.array(["a", "b", "c"])[labels], np.eye(3)[labels]),
        "digits": (labels * 3, np.eye(3)[labels]),
        "two columns": (
            np.stack([Y, -X[:, 0]], axis=1),
            np.stack([(v - v.mean()) / v.std() for v in (Y, X[:, 0])], axis=1),
        ),
    }[kind]
    weights = fitted(y).weights_
    loss = alignment_loss(targets)
    found = minimize(
        loss,
        np.ones(9),
        jac=True,
        bounds=[(0.0, None)] * 9,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 20000, "ftol": 1e-16, "gtol": 1e-9},
    )
    total = found.x.sum()
    assert 0 < np.count_nonzero(weights) < 9
    # The minimum is flat along some directions: compare losses, and signs of the gradient.
    assert loss(weights * total)[0] <= found.fun * (1.0 + 1e-6)
    assert_allclose(weights.sum(), 1.0)
    assert weights.min() >= 0.0


def test_a_planted_kernel_is_found():
    sample = np.random.default_rng(1)
    lag = X[:, None] - X[None]
    for b in (4, 5):
        # Many targets of one kernel's covariance have its Gram matrix for a second moment.
        root = np.linalg.cholesky(bank(lag)[b] + 1e-9 * np.eye(len(X)))
        weights = fitted(root @ sample.normal(size=(len(X), 4000))).weights_
        assert weights.argmax() == b
        assert weights[b] > 0.5


def test_shares_are_equal_and_remainders_spread():
    assert_array_equal(fitted(n_components=18 * 4).counts_, 4)
    counts = fitted(n_components=2 * 41).counts_
    assert counts.sum() == 41
    assert set(counts) == {4, 5}


def test_frequencies_share_the_weight_of_their_kernel_equally():
    map = fitted(Y, n_components=2 * 41)
    assert_allclose(map.frequencies_.weight, np.repeat(map.weights_ / map.counts_, map.counts_))
    assert_allclose(np.sum(map.transform(X) ** 2, axis=1), 1.0)


def test_fewer_frequencies_than_kernels():
    map = fitted(Y, n_components=8)
    assert_array_equal(map.weights_[map.counts_ == 0], 0.0)
    assert map.counts_.sum() == 4
    assert map.transform(X).shape == (60, 8)


def test_without_targets_or_on_demand_weights_are_uniform():
    for map in (fitted(), fitted(Y, weights="uniform"), fitted(np.ones(60))):
        assert_allclose(map.weights_, 1.0 / 9.0)
        assert_allclose(np.sum(map.transform(X) ** 2, axis=1), 1.0)


def test_default_scales_are_multiples_of_the_median_distance():
    map = MultipleKernelFeatures(30, random_state=0).fit(X)
    standard = X / DEVIATION
    lags = standard[:, None] - standard[None]
    median = np.median(np.linalg.norm(lags, axis=2)[np.triu_indices(60, 1)])
    found = np.array([kernel.length_scale for kernel in map.bank_])
    expected = np.outer(np.tile([0.25, 0.5, 1.0, 2.0, 4.0], 3) * median, DEVIATION)
    # The median of an even number of distances is one of the middle two.
    assert_allclose(found, expected, rtol=1e-2)


def test_units_of_inputs_and_targets_do_not_matter():
    map = MultipleKernelFeatures(96, random_state=0).fit(X, Y)
    other = MultipleKernelFeatures(96, random_state=0).fit(X * 1e3 - 7.0, -2.0 * Y)
    assert_allclose(other.weights_, map.weights_, atol=1e-9)
    assert_allclose(other.transform(X * 1e3 - 7.0), map.transform(X), atol=1e-9)


def test_many_rows_are_weighed_on_a_subsample():
    rows = np.random.default_rng(2).normal(size=(3000, 2))
    y = np.sin(rows[:, 0])
    map = MultipleKernelFeatures(96, random_state=0).fit(rows, y)
    other = MultipleKernelFeatures(96, random_state=1).fit(rows, y)
    assert map.weights_.sum() == pytest.approx(1.0)
    assert not np.array_equal(map.weights_, other.weights_)


def test_targets_of_another_length_are_refused():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted(Y[:-1])
