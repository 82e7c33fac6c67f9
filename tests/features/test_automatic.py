"""scheme="auto": structured blocks where they are faster and as accurate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from bochner import FourierFeatures, spectral_measure
from bochner.features import approximation as automatic
from bochner.kernels import Gaussian, Laplacian, Matern, RationalQuadratic
from bochner.spectral import Orthogonal
from bochner.spectral.hadamard import HadamardRows

DIM, P = 256, 1024
X = np.random.default_rng(0).normal(size=(150, DIM))
KERNEL = Gaussian(16.0)


def fitted(kernel=KERNEL, rows=X, p=P, **parameters):
    return FourierFeatures(kernel, p, **{"random_state": 0, **parameters}).fit(rows)


def is_held(features):
    return isinstance(features.frequencies_.omega_blocks, HadamardRows)


@pytest.mark.parametrize(
    "kernel", [KERNEL, 3.0 * Gaussian(tuple(np.linspace(8.0, 24.0, DIM))), Matern(16.0, nu=1.5)]
)
def test_blocks_are_taken_in_many_inputs(kernel):
    features = fitted(kernel)
    assert is_held(features)
    assert np.abs(features.gram(X) - kernel(X)).max() < 0.15 * kernel(X).max()


@pytest.mark.parametrize(
    "given",
    [
        {"rows": X[:, :255]},
        {"p": 128},
        {"rows": sparse.csr_array(np.where(X > 2.0, X, 0.0))},
        {"kernel": KERNEL + Matern(16.0)},
        {"kernel": Laplacian(200.0)},
        {"rows": X[:1]},
        {"weights": "least_squares"},
    ],
    ids=["few inputs", "few features", "thin", "sum", "product law", "one row", "least squares"],
)
def test_elsewhere_blocks_are_not_taken(given):
    assert not is_held(fitted(**given))


@pytest.mark.parametrize(
    ("dim", "scheme"), [(3, "energy"), (64, "energy"), (65, "orthogonal"), (255, "orthogonal")]
)
def test_draws_in_fewer_inputs_are_spread_or_in_orthogonal_blocks(dim, scheme):
    drawn = [
        fitted(rows=X[:, :dim], p=256, scheme=name).frequencies_.omega for name in ("auto", scheme)
    ]
    assert_array_equal(*drawn)


def test_inaccurate_blocks_are_not_taken(monkeypatch):
    # Half the frequencies twice: one and a half times the error, or so.
    unit = HadamardRows.unit

    def twice(signs, m, dim):
        return unit(np.repeat(signs[:1], len(signs), axis=0), m, dim)

    monkeypatch.setattr(HadamardRows, "unit", twice)
    assert not is_held(fitted(Gaussian(10.0), p=2 * P))
    assert is_held(fitted(Gaussian(10.0), p=2 * P, scheme="structured"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel", [Gaussian(1.0), Matern(1.0, nu=1.5), RationalQuadratic(1.0, alpha=1.0)], ids=str
)
@pytest.mark.parametrize("m", [40, 64, 150])
def test_the_expected_error_is_that_of_orthogonal_draws(kernel, m):
    dim = 64
    rng = np.random.default_rng(m)
    lags = np.array([0.5, 1.0, 1.5, 2.5])
    directions = rng.normal(size=(20, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = np.multiply.outer(lags, directions).reshape(-1, dim)
    measure = spectral_measure(kernel, dim)
    law = measure.parts[0].law
    uniforms = Orthogonal().uniforms(1024, law.radial.n_uniforms, rng)
    expected = automatic.orthogonal_variance(law.radial.radius(uniforms, dim), lags, dim, m)
    exact = kernel(np.zeros((1, dim)), points)
    errors = [
        measure.sample(m, stream, "orthogonal").gram(np.zeros((1, dim)), points) - exact
        for stream in rng.spawn(300)
    ]
    found = np.mean(np.square(errors), axis=(0, 1)).reshape(len(lags), -1).mean(axis=1)
    assert_allclose(found, expected, rtol=0.15)
