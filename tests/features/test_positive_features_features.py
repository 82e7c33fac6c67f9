"""PositiveFeatures: the formula, averages without overflow, fitted weights and refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from scipy.special import logsumexp

from bochner import PositiveFeatures
from bochner.features import positive_features as positive
from bochner.features.positive_features import attention_error, exact_attention, fitted_weights
from bochner.spectral import Orthogonal
from bochner.spectral.positive_measure import PositiveFrequencies, PositiveMeasure

RNG = np.random.default_rng(0)
OMEGA, LOG_WEIGHT = RNG.normal(size=(7, 3)), RNG.normal(size=7)
LEFT, RIGHT = RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))
F = PositiveFrequencies(OMEGA, LOG_WEIGHT, LEFT, RIGHT, [0.1, 0.2, -0.3], [0.5, 0.0, 0.4])
X, Y = RNG.normal(size=(5, 3)), RNG.normal(size=(6, 4))
QUERIES, KEYS = RNG.normal(size=(2, 200, 4))


def formula(f, x, y):
    """Return the sum of the docstring for one pair of rows."""
    u, v = x @ f.left - f.centre_left, y @ f.right - f.centre_right
    front = x @ f.left @ f.centre_right + f.centre_left @ (y @ f.right)
    front -= f.centre_left @ f.centre_right
    waves = np.exp(f.log_weight + f.omega @ (u + v) - 0.5 * (u @ u + v @ v))
    return np.exp(front) * waves.sum()


def test_the_gram_matrix_is_that_of_the_formula():
    expected = [[formula(F, x, y) for y in Y] for x in X]
    assert_allclose(F.gram(X, Y), expected, rtol=1e-10)
    product = np.exp(F.log_features(X)) @ np.exp(F.log_features_right(Y)).T
    assert_allclose(product, expected, rtol=1e-10)


def test_averages_are_those_of_the_gram_matrix():
    values = RNG.normal(size=(6, 2))
    weights = F.gram(X, Y)
    weights /= weights.sum(axis=1, keepdims=True)
    assert_allclose(F.attention(X, Y, values), weights @ values, rtol=1e-10)


def test_fitted_weights_solve_the_least_squares_problem():
    """The weights are those of a dense problem with a column for each term."""
    measure = PositiveMeasure.adapted(QUERIES, KEYS, reshaped=False)
    candidates = measure.sample(24, np.random.default_rng(1))
    A, B = QUERIES[:40], KEYS[:30]
    found = fitted_weights(candidates, A, B, 24)
    kernel = np.exp(A @ B.T)
    sums = kernel.sum(axis=1)
    left = np.exp(candidates.log_features(A)) / sums[:, None]
    right = np.exp(candidates.log_features_right(B))
    columns = np.einsum("il,jl->ijl", left, right).reshape(-1, 24)
    size = np.linalg.norm(columns, axis=0)
    system = np.vstack([columns / size, 1e-2 * np.eye(24)])
    b, _ = nnls(system, np.r_[(kernel / sums[:, None]).ravel(), np.zeros(24)])
    expected = b / size * np.exp(candidates.log_weight)
    given = {tuple(w): a for w, a in zip(found.omega, np.exp(found.log_weight), strict=True)}
    actual = [given.get(tuple(w), 0.0) for w in candidates.omega]
    assert_allclose(actual, expected, rtol=1e-6, atol=1e-9 * expected.max())
    assert 0 < found.n_features < 24


def favor(m, temperature, seed):
    rng = np.random.default_rng(seed)
    omega = Orthogonal().directions(m, 16, rng) * np.sqrt(rng.chisquare(16, size=(m, 1)))
    unit, origin = np.eye(16) / np.sqrt(temperature), np.zeros(16)
    return PositiveFrequencies(omega, np.full(m, -np.log(m)), unit, unit, origin, origin)


def test_attention_is_more_accurate_than_that_of_favor():
    """Errors on new rows are at most 0.7 of FAVOR+'s, in median over four temperatures."""
    queries, keys = np.random.default_rng(6).normal(size=(2, 1000, 16))
    ratios = []
    for temperature in (16.0, 8.0, 4.0, 2.0):
        errors = []
        for seed in range(3):
            model = PositiveFeatures(64, temperature=temperature, random_state=seed)
            fitted = model.fit(queries[:600], right=keys[:600]).frequencies_
            both = fitted, favor(64, temperature, seed)
            errors.append([attention_error(f, queries[600:], keys[600:]) for f in both])
        ours, theirs = np.median(errors, axis=0)
        ratios.append(ours / theirs)
    assert np.median(ratios) <= 0.7


@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_features_are_positive_and_make_the_gram_matrix(weights):
    model = PositiveFeatures(65, temperature=2.0, weights=weights, random_state=0)
    model.fit(QUERIES, right=KEYS)
    left, right = model.transform(QUERIES), model.transform_right(KEYS)
    assert left.shape == (200, len(model.get_feature_names_out()))
    assert left.shape[1] <= 65
    assert min(left.min(), right.min()) > 0.0
    scale = np.exp(model.log_scale_)
    assert_allclose(scale * left @ right.T, model.gram(QUERIES, KEYS), rtol=1e-9)
    assert max(left.max(), right.max()) <= 1.0 + 1e-12
    exact = exact_attention(model.frequencies_, QUERIES, KEYS)
    direct = np.exp(QUERIES @ KEYS.T / 2.0)
    assert_allclose(exact, direct / direct.sum(axis=1, keepdims=True), rtol=1e-9)
    assert model.transform(QUERIES.astype(np.float32)).dtype == np.float32


def test_the_error_is_that_on_rows_held_out():
    model = PositiveFeatures(16, temperature=8.0, random_state=0).fit(QUERIES, right=KEYS)
    new = np.random.default_rng(7).normal(size=(2, 400, 4))
    assert_allclose(model.fit_error_, attention_error(model.frequencies_, *new), rtol=0.35)
    assert PositiveFeatures(8).fit(QUERIES[:5]).fit_error_ is None
    assert_held_out()


def assert_held_out():
    """The error is that on the last quarter of queries and keys, which the weights do not use."""
    measure = PositiveMeasure.adapted(QUERIES, KEYS, 2.0, reshaped=False)
    few, many = (measure.sample(m, np.random.default_rng(1), Orthogonal()) for m in (16, 64))
    chosen, error = positive._fitted(few, many, QUERIES, KEYS)
    last_queries, last_keys = (rows[3 * len(rows) // 4 :] for rows in (QUERIES, KEYS))
    assert_allclose(error, attention_error(chosen, last_queries, last_keys))
    assert abs(error / attention_error(chosen, QUERIES, KEYS) - 1.0) > 0.01


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"temperature": 0.0}, ValueError, "temperature must be positive"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number"),
        ({"weights": "exact"}, ValueError, "weights must be one of"),
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"scheme": "sobol"}, ValueError, "scheme"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        PositiveFeatures(**parameters).fit(QUERIES)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"right has 3 columns, but queries have 4"):
        PositiveFeatures(8).fit(QUERIES, right=KEYS[:, :3])
    model = PositiveFeatures(8, random_state=0).fit(QUERIES)
    with pytest.raises(ValueError, match="values has 3 rows and keys 200"):
        model.attention(QUERIES, KEYS, np.ones((3, 1)))
    with pytest.raises(ValueError, match="at most"):
        PositiveFeatures(8).fit(1e90 * QUERIES)
    far = PositiveFeatures(8, random_state=0).fit(QUERIES, right=KEYS + 30.0)
    with pytest.raises(ValueError, match=r"Features overflow float32.*use attention\(\)"):
        far.transform(np.full((1, 4), 20.0, dtype=np.float32))


def test_gram_matrices_of_far_rows_are_numbers():
    """Products of features that overflow times others that underflow are no NaN."""
    model = PositiveFeatures(64, random_state=0).fit(QUERIES)
    gram = model.gram(15.0 * QUERIES, 15.0 * KEYS)
    assert not np.isnan(gram).any()
    left = model.frequencies_.log_features(15.0 * QUERIES)
    right = model.frequencies_.log_features_right(15.0 * KEYS)
    for i in range(0, len(QUERIES), 7):
        logs = logsumexp(left[i] + right, axis=1)
        with np.errstate(over="ignore"):
            assert_allclose(gram[i], np.exp(logs), rtol=1e-6)
