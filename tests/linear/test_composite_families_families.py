"""Parameters of sums, products and kernels on columns, learned by the evidence of features."""

import numpy as np
import pytest
from linear.test_feature_evidence import assert_slopes
from numpy.testing import assert_allclose
from scipy.stats import norm, t

from bochner.features.chunks import Chunk, Numbers
from bochner.kernels import (
    NTK,
    Anova,
    Bilinear,
    Categorical,
    Cauchy,
    Constant,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Linear,
    LocallyStationary,
    Matern,
    Ordinal,
    Periodic,
    RationalQuadratic,
    SpectralMixture,
)
from bochner.linear.kernel_families import parameterised
from bochner.linear.kernel_selection import select_kernel

RNG = np.random.default_rng(0)
N = 30
X = np.column_stack((RNG.normal(size=(N, 3)), RNG.integers(0, 3, size=N)))
Y = np.stack([np.sin(X[:, 0]) + X[:, 3], X[:, 1] * X[:, 2]], axis=1) + 0.2 * RNG.normal(size=(N, 2))
TARGETS = Numbers(np.zeros(2))
LINE = Linear(0.7, centre=0.2, reach=3.0)
MIXTURE = SpectralMixture([0.7, 0.4], [[0.0, 1.0], [2.0, 0.3]], [[0.3, 0.2], [0.1, 0.6]])
KERNELS = {
    "sum": Gaussian(1.3) + 2.0 * Matern((0.7, 1.5, 3.0, 2.0)),
    "multiple": 2.0 * Gaussian(1.3),
    "columns": Gaussian((1.3, 0.8)).on([2, 0]) + Matern(1.5, nu=2.5).on(-3),
    "product": Gaussian(1.3).on(0) * Matern(0.9).on([1, 2]),
    "product of a sum": (Gaussian().on(0) + 2.0 * Laplacian(0.8).on(1)) * Matern(2.0).on(2),
    "sum of products": 0.5 * (Cauchy(1.2) * Gaussian(2.0)) + Anova(Gaussian(1.5), 0.5),
    "sum in a multiple": 2.0 * (Gaussian().on(0) + Cauchy().on(1)) + Matern().on(2),
    "mixture": MIXTURE.on([0, 1]) + Gaussian(1.4),
    "mixture in a product": MIXTURE.on([0, 1]) * Gaussian(1.4).on([0, 2]),
    "periodic": Periodic((2.0, 3.0), (1.0, 0.7)).on([0, 1]),
    "periodic that fades": Matern(1.5).on(0) * Periodic(2.0, 0.8).on(0),
    "periodic by category": Periodic(2.0, 1.1).on(0) * Categorical(n_levels=3).on(3),
    "categories": Gaussian(1.3).on(0) * Ordinal(2.0, n_levels=3).on(3) + Constant(0.5),
    "line": LINE.on(0) + Gaussian((1.3, 0.6)).on([1, 0]),
    "category": Categorical((0.3,), n_levels=3).on(3),
    "ordered": Ordinal(5.0, n_levels=3).on(3) * Gaussian(1.5).on(1),
    "quadratic": RationalQuadratic((1.2, 0.7, 2.0, 1.5), 0.8),
    "rotated": Bilinear(RationalQuadratic(1.2, 2.0), np.linspace(-1.0, 1.0, 8).reshape(4, 2)),
    "growing": (LINE + Constant(2.0)).on(0) * Gaussian(1.2).on([0, 1]),
}
EXACT = {"periodic", "periodic by category"}


def family_of(kernel, rows=X):
    family = parameterised(kernel, Chunk(rows, Y), np.ones(rows.shape[1]), np.random.default_rng(0))
    assert family is not None
    return family


def moved(family, seed=1, by=0.3):
    return family.origin + by * np.random.default_rng(seed).normal(size=family.origin.size)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_gradients_are_differences_of_the_dense_density(name, fit_intercept):
    assert_slopes(family_of(KERNELS[name]), Chunk(X, Y), fit_intercept)


@pytest.mark.parametrize("name", KERNELS)
def test_families_start_at_their_kernel(name):
    family = family_of(KERNELS[name])
    assert_allclose(family.kernel(family.origin)(X), KERNELS[name](X), rtol=1e-10)


@pytest.mark.thorough_cases("product of a sum|sum in a multiple-True")
@pytest.mark.parametrize("is_factor", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_draws_are_unbiased_for_the_moved_kernel(name, is_factor):
    """The mean of Gram matrices over seeds, by its standard error, at several pairs of rows."""
    family = family_of(KERNELS[name])
    theta, rows = moved(family, seed=2), X[:7]
    exact = family.kernel(theta)(rows)
    draw = family.draw_factor if is_factor else family.draw
    n_seeds, m = 150, 32
    if name in EXACT and not is_factor:
        m, n_seeds = family.n_atoms, 1
    grams = [family.frequencies(draw(m, seed, "iid"), theta).gram(rows) for seed in range(n_seeds)]
    if n_seeds == 1:
        assert_allclose(grams[0], exact, atol=1e-9)
        return
    pairs = np.triu_indices(7, k=1)
    values = np.array([gram[pairs] for gram in grams])
    # Equal features in every draw, such as those of a constant, have no error but rounding.
    error = values.std(axis=0, ddof=1) / np.sqrt(n_seeds) + 1e-9
    z = (values.mean(axis=0) - exact[pairs]) / error
    # A family-wise error of one in ten thousand, over pairs and kernels.
    assert np.abs(z).max() < t.isf(1e-4 / (2.0 * len(z) * 2 * len(KERNELS)), n_seeds - 1)


def selected(kernel, rows=X, y=Y, m=32, seed=0, alpha=None):
    y = y[:, None] if y.ndim == 1 else y
    return select_kernel(
        kernel, Chunk(rows, y), m, "orthogonal", alpha, np.random.default_rng(seed)
    )


def additive(n, seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-3.0, 3.0, size=(n, 2))
    true = 4.0 * Gaussian(2.0).on(0) + Gaussian(0.5).on(1)
    K = true(rows)
    f = np.linalg.cholesky(K + 1e-8 * np.eye(n)) @ rng.normal(size=n)
    return rows, f + 0.3 * rng.normal(size=n), K


def scores(y, mean, std):
    """Return the mean negative log density of values."""
    return -np.mean(norm.logpdf(y, mean, std))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian() - 0.5 * Gaussian(2.0),
        Gaussian() + 0.0 * Matern(),
        Gaussian() + DeltaGaussian(),
        Gaussian() * NTK(),
        Gaussian() + Constant(0.0),
        Matern() + LocallyStationary(Gaussian(3.0), Gaussian()),
        LINE.on(0) * LINE.on(1),
        2.0 * LINE.on(0),
        Categorical(1.0, n_levels=3).on(3),
        Anova(Gaussian(), 0.5) - Gaussian(),
    ],
    ids=repr,
)
def test_others_stay(kernel):
    """Signed and designed measures have no evidence, and some kernels nothing to learn."""
    assert selected(kernel) is None


def test_each_term_needs_two_frequencies():
    with pytest.raises(ValueError, match="n_components must be at least 8 to learn a sum of 2"):
        selected(Gaussian() + Matern(), m=3)
    with pytest.raises(ValueError, match="n_components must be at least 20"):
        selected(MIXTURE.on([0, 1]) + Matern(), m=9)
