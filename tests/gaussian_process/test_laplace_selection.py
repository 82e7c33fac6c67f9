"""Choosing parameters of kernels by Laplace's evidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, t

from bochner import KernelGLMClassifier
from bochner.features.chunks import Chunk
from bochner.gaussian_process import (
    GaussianLikelihood,
    NegativeBinomialLikelihood,
    PoissonLikelihood,
    SoftmaxLikelihood,
)
from bochner.gaussian_process.kernel_glm_head import _KernelLaplaceSearch, select_latent_kernel
from bochner.gaussian_process.laplace import CONSTANT_SPREAD
from bochner.gaussian_process.laplace_evidence import LaplaceProblem
from bochner.kernels import NTK, Gaussian, Linear, Matern, Periodic
from bochner.linear.kernel_families import parameterised

RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 2))
F = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
OFFSET = 0.1 * RNG.normal(size=N)
KERNELS = {
    "gaussian": Gaussian(1.3),
    "sum": Gaussian(1.3).on(0) + 0.5 * Matern(0.8).on([0, 1]),
    "product": Periodic(4.0).on(0) * Gaussian(2.0).on(1) + Linear(reach=3.0).on(1),
}
COUNTS = RNG.poisson(np.exp(1.0 + F)).astype(float)
LAWS = {
    "normal": (GaussianLikelihood(0.4), ("scale",), F + 0.4 * RNG.normal(size=N)),
    "counts": (NegativeBinomialLikelihood(0.3), NegativeBinomialLikelihood.learnable, COUNTS),
    "classes": (SoftmaxLikelihood(3), (), RNG.integers(3, size=N).astype(float)),
}


def search_of(law, kernel, alpha=None, q=12):
    likelihood, names, y = LAWS[law]
    rows = Chunk(X, y, np.random.default_rng(1).uniform(0.5, 2.0, size=N))
    problem = LaplaceProblem(rows, OFFSET, 0.2, likelihood, names, alpha, True)
    family = parameterised(
        KERNELS[kernel], rows, np.ones(rows.X.shape[1]), np.random.default_rng(0)
    )
    return _KernelLaplaceSearch(family, X[:q], problem)


@pytest.mark.parametrize("alpha", [None, 0.7])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_differences_of_the_loss(law, kernel, alpha):
    search = search_of(law, kernel, alpha)
    point = search.start(search.family.origin)
    point += 0.2 * np.random.default_rng(2).normal(size=len(point))
    value, gradient = search.loss(point)
    assert value == pytest.approx(search.value(point))
    step = 1e-5
    slopes = [
        (search.value(point + e) - search.value(point - e)) / (2 * step)
        for e in step * np.eye(len(point))
    ]
    assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_of_normal_targets_it_is_the_dense_density(kernel):
    search = search_of("normal", kernel, alpha=0.7)
    theta = search.family.origin + 0.3
    rows = Chunk(X, LAWS["normal"][2])
    law = GaussianLikelihood(0.4)
    problem = LaplaceProblem(rows, OFFSET, 0.2, law, (), 0.7, True)
    search = _KernelLaplaceSearch(search.family, X, problem)
    K = search.family.kernel(theta)(X) / 0.7
    K += (CONSTANT_SPREAD * law.unit) ** 2 + 0.4**2 * np.eye(N)
    dense = multivariate_normal(OFFSET + 0.2, K).logpdf(rows.y)
    penalty = np.sum(0.3**2 * np.ones(len(theta))) / (2.0 * np.log(10.0) ** 2)
    assert search.value(theta) * N == pytest.approx(penalty - dense, rel=1e-6)


def selected(kernel, rows, likelihood, names=(), seed=0, q=64):
    problem = LaplaceProblem(rows, np.zeros(len(rows)), 0.0, likelihood, names, None, True)
    return select_latent_kernel(kernel, problem, q, np.random.default_rng(seed))


@pytest.mark.thorough
def test_length_scales_of_a_known_process_of_counts_are_recovered():
    """The mean of the logarithms over draws, by its standard error."""
    true = np.array([0.7, 2.0])
    logs = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-3.0, 3.0, size=(400, 2))
        K = Gaussian(tuple(true))(points) + 1e-8 * np.eye(len(points))
        f = np.linalg.cholesky(K) @ rng.normal(size=len(points))
        rows = Chunk(points, rng.poisson(np.exp(1.5 + f)).astype(float))
        found = selected("gaussian", rows, PoissonLikelihood(), seed=seed, q=256)
        logs.append(np.log(found.length_scale))
    error = np.std(logs, axis=0, ddof=1) / np.sqrt(len(logs))
    assert error.max() < 0.2
    assert (np.abs(np.mean(logs, axis=0) - np.log(true)) < t.isf(5e-4, 5) * error).all()


def counts(n=200, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    return points, rng.poisson(np.exp(1.0 + np.sin(3.0 * points[:, 0]) + 0.5 * points[:, 1]))


@pytest.mark.thorough
def test_sums_are_learned_for_classes_and_other_kernels_stay():
    points, y = counts(120)
    labels = np.digitize(y, [2, 5])
    settings = {"length_scale": "evidence", "n_components": 32, "random_state": 0}
    kernel = Gaussian(3.0).on(0) + Gaussian(3.0).on([1, 2])
    model = KernelGLMClassifier("softmax", kernel, **settings).fit(points, labels)
    fast, slow = model.kernel_.terms
    assert fast.kernel.kernel.length_scale[0] < 1.5
    assert fast.factor + slow.factor == pytest.approx(2.0)
    same = KernelGLMClassifier("softmax", kernel, 32, random_state=0).fit(points, labels)
    assert same.kernel_ == kernel
    rows = Chunk(points, y.astype(float))
    assert selected(Gaussian() + NTK(), rows, PoissonLikelihood()) is None
    assert selected("ntk", rows, PoissonLikelihood()) is None
