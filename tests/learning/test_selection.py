"""Choosing length scales by the evidence of sampled features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal

from bochner import kernels, spectral_measure
from bochner.features import feature_sums
from bochner.features.chunks import Chunk
from bochner.features.length_scales import median_distance
from bochner.learning import selection
from bochner.learning.ridge import best_alpha, fit_ridge
from bochner.learning.selection import select_length_scale

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(25, 2)), RNG.normal(size=(25, 1))


@pytest.mark.parametrize("alpha", [None, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_the_selected_length_scale_has_the_greatest_dense_evidence(alpha, seed):
    chosen = select_length_scale(
        kernels.Matern, Chunk(X, Y), 12, "orthogonal", alpha, np.random.default_rng(seed)
    )
    rng = np.random.default_rng(seed)
    same_draw = int(rng.integers(2**32))

    def evidence(length_scale):
        measure = spectral_measure(kernels.Matern(length_scale), 2)
        frequencies = measure.sample(12, same_draw, "orthogonal")
        sums = feature_sums(frequencies, X, Y)
        best = best_alpha(sums)[0] if alpha is None else alpha
        noise = fit_ridge(sums, best).noise_variance[0]
        covariance = noise * (frequencies.gram(X) / best + np.eye(25))
        return multivariate_normal(cov=covariance).logpdf(Y[:, 0])

    grid = median_distance(X, rng, None) * np.sqrt(2.0) ** np.arange(-6, 7)
    assert chosen.length_scale == pytest.approx(max(grid, key=evidence))


def test_subsamples_are_rows_of_positive_weight():
    rows = np.arange(5000.0)[:, None]
    weight = (np.arange(5000) % 2).astype(float)
    few = selection._subsample(Chunk(rows, rows, weight), np.random.default_rng(0))
    assert few.X.shape == (2000, 1)
    assert (few.weight == 1.0).all()
    assert len(np.unique(few.X)) == 2000
    assert_allclose(few.X, few.y)


def test_the_evidence_has_at_most_256_frequencies(monkeypatch):
    seen = []
    monkeypatch.setattr(
        selection, "feature_sums", lambda f, *rows: seen.append(f) or feature_sums(f, *rows)
    )
    select_length_scale(kernels.Gaussian, Chunk(X, Y), 1000, "iid", 1.0, np.random.default_rng(0))
    assert {frequencies.n_frequencies for frequencies in seen} == {256}
