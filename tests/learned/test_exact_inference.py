"""The maximised bound: it never falls, its factors are laws, and it finds what is there."""

import numpy as np
import pytest
from learned.grouped_parameters import similarity_features
from learned.problems import component_law, problem

from bochner import SimilarityFeatures, kernels
from bochner.learned import exact_inference, mixture_bound
from bochner.learned.mixture_bound import N_LATENT, component_evidence

SEEDS = range(0, 60, 3)  # twenty problems, all twelve kinds of kernels
ERROR = 0.02

ONE = (
    kernels.SpectralMixture(
        [0.9, 0.6], [[0.0, 0.0], [1.0, 0.5]], [[0.7**2, 0.5**2], [0.3**2, 0.3**2]]
    ),
    kernels.SpectralMixture([0.7], [[3.0, -2.0]], [[0.3**2, 0.3**2]]),
)
TWO = (
    kernels.SpectralMixture([0.8], [[0.0, 2.0]], [[[0.30, 0.15], [0.15, 0.20]]]),
    kernels.SpectralMixture([0.6, 0.5], [[0.0, 0.0], [2.5, 0.5]], [[0.1, 0.1], [0.1, 0.3]]),
)


class Watched:
    """What a function returned when it was called by another."""

    def __init__(self, patch, module, name):
        self.calls = []
        function = getattr(module, name)

        def watched(*args):
            self.calls.append((args, function(*args)))
            return self.calls[-1][1]

        patch.setattr(module, name, watched)


def fitted(one, inference, seed):
    model = similarity_features(
        one.kernel,
        8,
        n_sketch=len(one.X),
        truncation=one.truncation,
        noise=one.noise,
        inference=inference,
        max_iter=5,
        n_starts=one.n_starts,
        random_state=seed,
    )
    return model.fit(one.X, similarity=one.similarity)


def assert_definite(matrices):
    assert np.isfinite(matrices).all()
    np.testing.assert_allclose(matrices, matrices.swapaxes(1, 2), rtol=1e-9, atol=1e-300)
    units = np.sqrt(np.diagonal(matrices, axis1=1, axis2=2))
    assert np.linalg.eigvalsh(matrices / (units[:, :, None] * units[:, None, :])).min() > 0.0


def assert_features(model, X):
    assert np.isfinite(model.frequencies_.omega).all()
    assert np.isfinite(model.frequencies_.weight).all()
    assert set(model.signature_.tolist()) <= {-1.0, 1.0}
    assert model.signature_.shape == (8,)
    gram = model.kernel_(X)
    assert np.isfinite(gram).all()
    for shares in model.responsibilities_:
        if shares is not None:
            assert shares.min(initial=0.0) >= 0.0
            np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-12)
    assert np.isfinite(model.elbo_).all()
    assert np.isfinite(model.changes_).all()
    assert np.isfinite(model.noise_)
    assert model.noise_ > 0.0


def assert_exact(patch, seed):
    one = problem(seed)
    watched = Watched(patch, exact_inference, "best_ascent")
    model = fitted(one, None, seed)
    (_, (ascent, bound)) = watched.calls[0]
    assert np.isfinite(ascent.history).all()
    assert (np.diff(ascent.history) >= 0.0).all()
    assert len(ascent.changes) == len(ascent.history) - 1
    assert bound.value == pytest.approx(ascent.history[-1], rel=1e-9)
    assert (bound.masses >= 0.0).all()
    prior = ascent.objective.prior
    for factor in ascent.factors:
        assert factor.weights.min() >= 0.0
        assert factor.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert_definite(factor.covariances)
        counts = N_LATENT * factor.weights
        assert (mixture_bound.stick_posterior(counts, 1.0) > 0.0).all()
        assert (prior.dof + counts > prior.dim - 1.0).all()
        scales = np.exp(factor.log_scales)
        laws = [component_law(prior, scale) for scale in scales]
        shrunk = (prior.strength / (prior.strength + counts))[:, None, None]
        outer = factor.means[:, :, None] * factor.means[:, None, :]
        scatter = counts[:, None, None] * (factor.covariances + shrunk * outer)
        assert_definite(np.stack([law.scale for law in laws]) + scatter)
        moments = counts, factor.means, factor.covariances, scales
        assert np.isfinite(component_evidence(prior, *moments).value).all()
    assert_features(model, one.X)


def rmse(learned, true, rows, others):
    known = 0.0 if learned is None else learned(rows, others)
    return float(np.sqrt(np.mean((known - true(rows, others)) ** 2)))


@pytest.mark.thorough_cases("30|33|36|39|42|45|48|51|54|57")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_never_falls_and_its_factors_are_laws(seed, monkeypatch):
    assert_exact(monkeypatch, seed)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("parts", "seed"),
    [
        (ONE, 0),
        (TWO, 0),
        *(
            pytest.param(parts, seed, marks=pytest.mark.slow)
            for parts in (ONE, TWO)
            for seed in range(1, 6)
        ),
    ],
)
def test_a_difference_of_mixtures_is_recovered(parts, seed):
    rng = np.random.default_rng(seed)
    X, rows, others = (1.5 * rng.normal(size=(n, 2)) for n in (500, 200, 200))
    positive, negative = parts
    kernel = positive - negative
    model = SimilarityFeatures(kernel, 64, n_sketch=500, random_state=seed).fit(X)
    assert rmse(model.kernel_, kernel, rows, others) <= ERROR
    assert rmse(model.positive_, positive, rows, others) <= ERROR
    assert rmse(model.negative_, negative, rows, others) <= ERROR
