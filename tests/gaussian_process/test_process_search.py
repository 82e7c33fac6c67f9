"""The search for a Gaussian kernel by the exact evidence."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process.kernels import RBF

from bochner.features.chunks import Chunk
from bochner.gaussian_process import process_base as search
from bochner.gaussian_process.process_base import learned_gaussian
from bochner.kernels import Cauchy, Exponential, Gaussian, Laplacian, Matern, RationalQuadratic
from bochner.linear.reparameterised import LengthScales
from bochner.linear.ridge_search import GramSearch

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(60, 3))
Y = np.column_stack((np.sin(2.0 * X[:, 0]) + X[:, 1], X[:, 2])) + 0.1 * RNG.normal(size=(60, 2))

FAMILIES = (Gaussian, Laplacian, Exponential, Cauchy, Matern, RationalQuadratic)


def test_slopes_of_length_scales():
    for family in FAMILIES:
        for is_shared in (False, True):
            check_slopes(LengthScales(family, np.array([0.5, 1.0, 3.0]), is_shared))


def check_slopes(family):
    search = GramSearch(family, Chunk(X, Y), None, False)
    point = np.append(np.linspace(-0.3, 0.4, len(family.origin)), -2.0)
    slope = search.loss(point)[1]
    for i, step in enumerate(1e-5 * np.eye(len(point))):
        change = (search.value(point + step) - search.value(point - step)) / 2e-5
        assert slope[i] == pytest.approx(change, rel=1e-4, abs=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("dim", [1, 2, 4, 8])
def test_the_noise_of_a_draw_is_recovered(dim):
    rng = np.random.default_rng(dim)
    rows = rng.uniform(-2.0, 2.0, size=(500, dim))
    gram = RBF(np.sqrt(dim))(rows) + 0.09 * np.eye(500)
    y = np.linalg.cholesky(gram) @ rng.normal(size=(500, 1))
    found = learned_gaussian(rows, y, rng)
    assert np.sqrt(found.noise) == pytest.approx(0.3, rel=0.15)
    assert (np.abs(np.log(found.length_scale / np.sqrt(dim))) < np.log(3.0)).all()


def test_noise_of_blocks_is_that_of_a_search_over_dense_densities():
    rng = np.random.default_rng(0)
    points = rng.uniform(-3.0, 3.0, size=(150, 2))
    y = np.linalg.cholesky(2.0 * Gaussian(1.0)(points) + 0.09 * np.eye(150))
    y = y @ rng.normal(size=(150, 2))
    found = search.noise_of_near_rows(
        lambda block: 2.0 * Gaussian(1.0)(points[block]), points, y, 1.0, np.random.default_rng(0)
    )
    # Each block has all rows.
    gram = 2.0 * Gaussian(1.0)(points)
    near = found * np.array([0.9, 1.0, 1.1])
    densities = [
        multivariate_normal(np.zeros(150), gram + noise * np.eye(150)).logpdf(y.T).sum()
        for noise in near
    ]
    assert np.argmax(densities) == 1
