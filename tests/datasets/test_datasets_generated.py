"""Generated data have the covariance that their spectrum says."""

import numpy as np
import pytest
from scipy import stats

from bochner.datasets import make_gp_draw, make_spectral_mixture

N_DRAWS = 3000
ALPHA = 1e-4

MIXTURES = {
    1: ([1.5], [[3.0]], [2.0]),
    2: (
        [0.7, 0.5],
        [[0.0, 1.0], [2.0, -3.0]],
        [[[2.0, 0.8], [0.8, 1.0]], [[0.5, 0.0], [0.0, 3.0]]],
    ),
    5: (
        [0.4, 0.9],
        [[0.0] * 5, [1.0, -1.0, 0.5, 2.0, 0.0]],
        [[1.0, 0.2, 0.5, 2.0, 0.1], [0.3] * 5],
    ),
}


def closed_form(delta, weights, means, covariances):
    return sum(
        w * np.exp(-0.5 * delta @ np.atleast_2d(s) @ delta) * np.cos(m @ delta)
        for w, m, s in zip(weights, means, covariances, strict=True)
    )


def lag_products(dim):
    """Return rows of inputs off the axes, and products f(x_i) f(x_j) over independent draws."""
    weights, means, covariances = MIXTURES[dim]
    rng = np.random.default_rng(20240 + dim)
    directions = rng.standard_normal((5, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X = np.array([[0.0], [0.3], [0.6], [0.9], [1.3]]) * directions
    draws = (
        make_spectral_mixture(
            weights=weights,
            means=means,
            covariances=covariances,
            n_frequencies=40,
            X=X,
            random_state=rng,
        )
        for _ in range(N_DRAWS)
    )
    f = np.array([draw.f for draw in draws])
    i, j = np.triu_indices(len(X))
    return X[i] - X[j], f[:, i] * f[:, j]


@pytest.fixture(scope="module", params=sorted(MIXTURES))
def observed(request):
    return request.param, *lag_products(request.param)


def rejected(products, expected):
    """Return whether Hotelling's test rejects the expected means, all the lags at once."""
    error = products.mean(axis=0) - expected
    statistic = error @ np.linalg.solve(np.cov(products.T) / len(products), error)
    return statistic > stats.chi2(len(error)).isf(ALPHA)


def truth(dim, scale=1.0, shift=1.0):
    weights, means, covariances = MIXTURES[dim]
    full = [
        np.asarray(s) if np.ndim(s) == 2 else np.diag(np.broadcast_to(s, dim)) for s in covariances
    ]
    return weights, shift * np.asarray(means), scale * np.asarray(full)


def test_covariance_is_the_closed_form(observed):
    dim, lags, products = observed
    assert not rejected(products, [closed_form(lag, *truth(dim)) for lag in lags])


@pytest.mark.parametrize(
    "wrong", [{"scale": 2.0}, {"scale": 0.5}, {"scale": 1.1**2}, {"shift": 2.0}, {"shift": 0.5}]
)
def test_a_wrong_factor_in_the_spectrum_is_noticed(observed, wrong):
    dim, lags, products = observed
    assert rejected(products, [closed_form(lag, *truth(dim, **wrong)) for lag in lags])


@pytest.mark.parametrize("dim", sorted(MIXTURES))
def test_the_spectrum_returned_is_the_one_asked_for(dim):
    weights, means, covariances = MIXTURES[dim]
    draw = make_spectral_mixture(
        5, weights=weights, means=means, covariances=covariances, random_state=0
    )
    for found, expected in zip(
        (draw.weights, draw.means, draw.covariances), truth(dim), strict=True
    ):
        np.testing.assert_allclose(found, expected)


def test_noise_has_the_stated_deviation_and_does_not_follow_f():
    draw = make_gp_draw(4000, noise=0.3, random_state=1)
    noise = draw.dataset.y - draw.f
    low, high = np.sqrt(stats.chi2(4000).ppf([1e-4, 1 - 1e-4]) / 4000)
    assert low < noise.std() / 0.3 < high
    assert abs(np.corrcoef(noise, draw.f)[0, 1]) < stats.norm.isf(1e-4) / np.sqrt(4000)


def test_without_noise_the_target_is_f():
    draw = make_gp_draw(30, noise=0.0, random_state=2)
    np.testing.assert_array_equal(draw.dataset.y, draw.f)


def test_length_scales_become_inverse_variances():
    draw = make_gp_draw(5, dim=2, length_scale=[0.5, 0.1], random_state=0)
    np.testing.assert_allclose(draw.covariances, [np.diag([4.0, 100.0])])
    np.testing.assert_array_equal(draw.means, 0.0)


def test_inputs_fill_the_unit_cube_and_seeds_repeat():
    first, again, other = (make_gp_draw(500, dim=3, random_state=seed) for seed in (5, 5, 6))
    assert first.dataset.X.shape == (500, 3)
    assert 0 <= first.dataset.X.min() < 0.02
    assert 0.98 < first.dataset.X.max() < 1
    np.testing.assert_array_equal(first.dataset.y, again.dataset.y)
    assert not np.array_equal(first.dataset.y, other.dataset.y)


def test_inputs_given_are_kept_and_not_shared():
    X = np.array([[0.1], [0.2]])
    draw = make_spectral_mixture(weights=[1], means=[[0]], covariances=[1], X=X, random_state=0)
    np.testing.assert_array_equal(draw.dataset.X, X)
    assert not np.shares_memory(draw.dataset.X, X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": [0.5]}, "weights must have shape"),
        ({"weights": [0.5, -0.1]}, "weights must be positive"),
        ({"covariances": [[1.0, 1.0, 1.0]] * 2}, "covariances must have shape"),
        ({"covariances": [[[1.0, 2.0], [2.0, 1.0]]] * 2}, "positive semi-definite"),
        ({"covariances": [[[1.0, 0.5], [0.0, 1.0]]] * 2}, "symmetric"),
        ({"means": [[np.inf, 0.0], [0.0, 0.0]]}, "finite"),
        ({"noise": -0.1}, "noise"),
        ({"n_samples": 0}, "n_samples"),
        ({"X": [[1.0, 2.0, 3.0]]}, r"X must have shape \(n, 2\)"),
    ],
)
def test_a_wrong_argument_is_named(change, message):
    arguments = {"weights": [0.5, 0.5], "means": np.zeros((2, 2)), "covariances": [1.0, 2.0]}
    with pytest.raises(ValueError, match=message):
        make_spectral_mixture(**(arguments | change))


@pytest.mark.parametrize("length_scale", [0.0, -1.0, np.nan, [0.1, 0.2, 0.3]])
def test_a_wrong_length_scale_is_named(length_scale):
    with pytest.raises(ValueError, match="length_scale"):
        make_gp_draw(5, dim=2, length_scale=length_scale)
