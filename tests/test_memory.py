"""What is allocated at the peak, as traced by Python, against what is returned."""

import tracemalloc

import numpy as np
import pytest

from bochner import FourierFeatures, KreinRidge
from bochner.kernels import Anova, Cauchy, Gaussian, Laplacian, Matern, SpectralMixture

pytestmark = pytest.mark.thorough


def peak_bytes(function, *args, **kwargs):
    tracemalloc.start()
    try:
        function(*args, **kwargs)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(30_000, 5))


@pytest.fixture(autouse=True, scope="module")
def compiled_loops(rows):
    """Compile before memory is traced, which makes compilation many times as long."""
    few = rows[:50]
    for kernel in (Gaussian(), Laplacian(), Cauchy()):
        kernel(few)
    model = KreinRidge(n_components=512, random_state=0).fit(few, few[:, 0])
    model.predict(few, return_std=True)
    FourierFeatures(n_components=512, random_state=0).fit_transform(few)


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        Cauchy(),
        Anova(Matern(), 0.3),
        SpectralMixture([1.0], [[0.0] * 5], [1.0]),
        2.0 * Gaussian() * Laplacian() + Matern(nu=0.8),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_a_gram_matrix_needs_no_second_of_its_size(kernel, rows):
    n = 3000
    assert peak_bytes(kernel, rows[:n]) < 1.8 * 8 * n**2


def test_features_need_little_beyond_themselves(rows):
    features = FourierFeatures(n_components=512, random_state=0).fit(rows)
    assert peak_bytes(features.transform, rows) < 1.25 * 8 * 512 * len(rows)


def test_heads_never_hold_all_features(rows):
    model = KreinRidge(n_components=512, random_state=0)
    all_features = 8 * 512 * len(rows)
    assert peak_bytes(model.fit, rows, rows[:, 0]) < 0.4 * all_features
    assert peak_bytes(model.predict, rows, return_std=True) < 0.4 * all_features
