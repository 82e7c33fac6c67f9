"""Laplace's approximation for many latent functions, next to sums over pairs of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.features.chunks import Chunk
from bochner.gaussian_process import SoftmaxLikelihood
from bochner.gaussian_process import laplace as laplace
from bochner.gaussian_process import laplace_evidence as laplace_slopes
from bochner.gaussian_process.laplace import LatentCovariances, LatentPoint
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.spectral.frequencies import Frequencies

N, L = 30, 6
RNG = np.random.default_rng(0)
X, LABELS, WEIGHTS = RNG.normal(size=(N, 2)), RNG.integers(0, L, N), RNG.uniform(0.5, 2.0, N)
SOFTMAX = SoftmaxLikelihood(L)
LATENT = RNG.normal(size=(N, L))


def latent_rows():
    frequencies = Frequencies(RNG.normal(size=(4, 2)), RNG.uniform(0.5, 1.0, 4))
    chunk = Chunk(X, LABELS.astype(float), WEIGHTS)
    return LatentRows.of(chunk, np.zeros(N), 0.0, frequencies, True)


@pytest.mark.parametrize("n_latent", [2, 4, 5, 9])
def test_covariances_are_those_of_products_of_features(n_latent):
    Z, root = RNG.normal(size=(N, 3)), RNG.normal(size=(3 * n_latent, 3 * n_latent))
    blocks = (root @ root.T).reshape(n_latent, 3, n_latent, 3)
    expected = np.einsum("np,ipjq,nq->nij", Z, blocks, Z)
    assert_allclose(LatentCovariances.of(root, n_latent)(Z), expected, rtol=1e-12, atol=1e-12)


def test_the_hessian_is_a_sum_over_rows():
    rows, precision = latent_rows(), RNG.uniform(1.0, 2.0, 9)
    curvature = rows.curvatures(SOFTMAX, LATENT)
    ((_, Z),) = rows.blocks()
    expected = np.einsum("np,nij,nq->ipjq", Z, curvature, Z).reshape(9 * L, 9 * L)
    expected += np.diag(np.tile(precision, L))
    slope = RNG.normal(size=(N, L))
    found, gradient = laplace._derivatives(rows, curvature, slope, precision)
    assert_allclose(np.tril(found), np.tril(expected), atol=1e-12)
    assert_allclose(gradient, Z.T @ slope, atol=1e-12)


def test_slopes_of_the_log_determinant_are_differences():
    rows, root = latent_rows(), RNG.normal(size=(N, L, L))
    spread = root @ root.swapaxes(1, 2)
    point = LatentPoint(np.zeros((9, L)), np.zeros((N, L)))
    mode = laplace.Mode(SOFTMAX, np.ones(9), np.zeros(N), point, LATENT, None, None, 0.0, 1)
    bend, step = laplace_slopes._bend(rows, mode, spread), 1e-5

    def value(latent):
        return -0.5 * np.einsum("nij,nij->n", spread, rows.curvatures(SOFTMAX, latent))

    for c in range(L):
        shift = step * np.eye(L)[c]
        difference = (value(LATENT + shift) - value(LATENT - shift)) / (2.0 * step)
        assert_allclose(bend[:, c], difference, rtol=1e-6, atol=1e-7)
