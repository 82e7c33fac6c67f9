"""AsymmetricKernelPCA against singular value and eigenvalue decompositions of Gram matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import NotFittedError

from bochner import AsymmetricKernelPCA, kernels
from bochner._base import limits

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(20, 2))
RIGHT, NEW_RIGHT = RNG.normal(size=(45, 2)), RNG.normal(size=(15, 2))
KERNEL = kernels.ShiftGaussian(1.5, shift=(0.7, -0.4))


def components(**parameters):
    defaults = {"n_components": 4, "kernel": KERNEL, "n_features": 128, "random_state": 0}
    return AsymmetricKernelPCA(**(defaults | parameters))


@pytest.mark.parametrize("right", [None, RIGHT], ids=["one-sided", "two-sided"])
def test_scores_are_singular_vectors(right):
    model = components().fit(X, right=right)
    other = X if right is None else right
    K = model.frequencies_.gram(X, other)
    U, values, Vt = np.linalg.svd(K)
    left, right_scores = model.transform(X), model.transform_right(other)
    assert_allclose(model.singular_values_, values[:4], rtol=1e-9)
    assert_allclose(np.abs(left), np.abs(U[:, :4]) * np.sqrt(values[:4]), atol=1e-7)
    assert_allclose(np.abs(right_scores), np.abs(Vt[:4].T) * np.sqrt(values[:4]), atol=1e-7)
    assert_allclose(left @ right_scores.T, (U[:, :4] * values[:4]) @ Vt[:4], atol=1e-9)
    # Neither side has the scores of the other.
    if right is None:
        assert np.abs(np.abs(left) - np.abs(right_scores)).max() > 0.1


def test_all_components_give_the_gram_matrix():
    model = components(n_components=1000).fit(X, right=RIGHT)
    assert model.transform(X).shape == (60, 45)
    assert len(model.get_feature_names_out()) == 45
    gram = model.transform(NEW) @ model.transform_right(RIGHT).T
    assert_allclose(gram, model.frequencies_.gram(NEW, RIGHT), atol=1e-5)


def test_two_widths():
    matrix = RNG.normal(size=(5, 2))
    kernel = kernels.Bilinear(kernels.Gaussian(1.0), np.eye(2), matrix)
    wide = RNG.normal(size=(30, 5))
    model = components(kernel=kernel).fit(X, right=wide)
    values = np.linalg.svd(model.frequencies_.gram(X, wide), compute_uv=False)
    assert_allclose(model.singular_values_, values[:4], rtol=1e-9)
    with pytest.raises(ValueError, match=r"Y has 2 columns; .* had 5 in fit"):
        model.transform_right(X)


def test_sparse_is_dense_and_chunked_is_whole(monkeypatch):
    thin = np.where(np.abs(X) > 0.5, X, 0.0)
    model = components().fit(thin, right=RIGHT)
    scores = model.transform(thin)
    other = components().fit(sparse.csr_array(thin), right=sparse.csr_array(RIGHT))
    assert_allclose(other.transform(sparse.csr_array(thin)), scores, atol=1e-9)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 16 * 64 * 7)
    assert_allclose(model.transform(thin), scores, atol=1e-12)


def test_the_dtype_is_kept():
    model = components().fit(X, right=RIGHT)
    narrow = model.transform(NEW.astype(np.float32))
    assert narrow.dtype == model.transform_right(NEW_RIGHT.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow, model.transform(NEW), atol=1e-4)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1"),
        ({"n_components": 2.0}, TypeError, "n_components must be a positive integer"),
        ({"n_components": True}, TypeError, "n_components must be a positive integer"),
        ({"n_features": 41}, ValueError, "n_features must be even"),
        ({"n_features": 2.0}, TypeError, "n_features must be an even positive integer"),
        ({"kernel": "gauss"}, ValueError, "Did you mean 'gaussian'"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        components(**parameters).fit(X)


def test_wrong_data_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        components().fit(X, right=np.full((5, 2), np.nan))
    with pytest.raises(NotFittedError):
        components().transform_right(X)
    with pytest.raises(NotFittedError):
        _ = components().singular_values_
