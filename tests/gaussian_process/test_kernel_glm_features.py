"""Features of generalised linear models: the kernel's at landmarks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from bochner import KernelGLMClassifier, KernelGLMRegressor, kernels
from bochner.gaussian_process import kernel_glm_head

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * (RNG.random((120, 3)) < 0.7)
Y = RNG.poisson(np.exp(1.0 + np.sin(2.0 * X[:, 0])))
NEW = RNG.normal(size=(20, 3))
KERNEL = kernels.Gaussian(1.0)


@pytest.mark.parametrize("n_landmarks", [31, 30])
def test_sparse_rows_are_as_dense_ones(monkeypatch, n_landmarks):
    """Wide rows have fewer landmarks, as many as memory holds."""
    monkeypatch.setattr(kernel_glm_head, "_LANDMARK_BYTES", 8 * 3 * n_landmarks)
    model = KernelGLMRegressor("poisson", KERNEL, 31, alpha=1.0, random_state=0)
    dense = model.fit(X, Y).predict(NEW, return_std=True)
    assert model.features_.n_features == n_landmarks
    sparse = model.fit(csr_array(X), Y).predict(csr_array(NEW), return_std=True)
    assert_allclose(sparse, dense, rtol=1e-7)


def test_kernels_of_no_process_are_refused():
    for kernel in (kernels.DeltaGaussian(1.0, 10.0), kernels.Gaussian(1.0) - kernels.Gaussian(2.0)):
        with pytest.raises(ValueError, match="not the covariance of a Gaussian process"):
            KernelGLMClassifier(kernel=kernel).fit(X, Y > 2)
    with pytest.raises(ValueError, match="has white noise, which a latent function has not"):
        KernelGLMClassifier(kernel=KERNEL + kernels.White(0.1)).fit(X, Y > 2)
