"""FourierFeatures as a scikit-learn transformer."""

import numpy as np
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from bochner import FourierFeatures, kernels

RNG = np.random.default_rng(0)
X = RNG.random(size=(300, 10)) / 4.0
Y = RNG.random(size=(1000, 10)) / 4.0
THIN = np.where(X > 0.15, X, 0.0)
SCHEMES = ("iid", "orthogonal", "structured")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_mean_error_is_within_its_standard_error(scheme):
    kernel = kernels.Gaussian(0.22)
    features = FourierFeatures(kernel, 2000, scheme=scheme, random_state=42).fit(X)
    approximate = features.transform(X) @ features.transform(Y).T
    exact = rbf_kernel(X, Y, gamma=0.5 / 0.22**2)
    variance = (1.0 + exact**4 - 2.0 * exact**2) / 2000.0
    error = approximate - exact
    # Pairs share their frequencies: the mean square is about its expectation, not near zero.
    assert np.mean(error**2) < 2.0 * np.mean(variance)
    assert np.abs(error).max() < 6.0 * np.sqrt(variance.max())
    assert_allclose(features.gram(X, Y), approximate, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kernel": "gausian"}, ValueError, "Did you mean 'gaussian'"),
        ({"kernel": 3}, TypeError, "kernel must be a Kernel, the name of one or a function"),
        ({"kernel": kernels.NTK}, TypeError, "kernel must be a Kernel"),
        ({"kernel": "nkt"}, ValueError, "Did you mean 'ntk'"),
        ({"decomposition": "krein"}, ValueError, "decomposition must be one of 'auto'"),
        ({"weights": "best"}, ValueError, "weights must be one of 'sampled'"),
        ({"length_scale": "mean"}, ValueError, "length_scale must be 'auto', 'median'"),
        ({"length_scale": -1.0}, ValueError, "length_scale must be positive"),
        ({"length_scale": (1.0, 2.0)}, ValueError, "2 entries, but the data have 10 inputs"),
        ({"scheme": "halton"}, ValueError, "scheme must be one of"),
        ({"scheme": "structured", "kernel": "cauchy"}, ValueError, "independent coordinates"),
        ({"dtype": "float16"}, ValueError, "dtype must be None"),
        ({"random_state": "seed"}, ValueError, "seed"),
        ({"masses": "best"}, ValueError, r"masses must be one of 'exact', 'least_squares', got"),
        ({"output": "right"}, ValueError, r"output must be one of 'left', 'concatenated', got"),
        ({"masses": "least_squares", "weights": "least_squares"}, ValueError, "masses='exact'"),
        ({"n_components": 3}, ValueError, "odd.*Use 4"),
        ({"n_components": 101}, ValueError, "odd.*Use 102"),
        ({"n_components": 0}, ValueError, "must be even and positive"),
        ({"n_components": -1}, ValueError, "must be even and positive"),
        ({"n_components": 2.0}, TypeError, "even positive integer"),
        ({"n_components": True}, TypeError, "even positive integer"),
        ({"n_components": "64"}, TypeError, "even positive integer"),
    ],
)
def test_wrong_parameters_are_refused(parameters, error, message):
    with pytest.raises(NotFittedError):
        FourierFeatures(**parameters).transform(X)
    with pytest.raises(error, match=message):
        FourierFeatures(**parameters).fit(X)


@pytest.mark.parametrize("method", ["transform", "transform_right", "gram"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_is_kept(method, dtype):
    features = FourierFeatures(n_components=32, random_state=0).fit(X.astype(dtype))
    assert getattr(features, method)(X.astype(dtype)).dtype == dtype
    assert features.frequencies_.omega.dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_dtype_can_be_chosen(dtype):
    features = FourierFeatures(dtype=dtype, random_state=0).fit(X)
    assert features.transform(X).dtype == dtype
    assert features.transform(X.astype(np.float32)).dtype == dtype


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_matrix])
def test_sparse_is_dense(container):
    dense = FourierFeatures(random_state=0).fit(THIN)
    thin = FourierFeatures(random_state=0).fit(container(THIN))
    assert_allclose(thin.kernel_.length_scale, dense.kernel_.length_scale, rtol=1e-6)
    same = FourierFeatures(dense.kernel_, random_state=0).fit(container(THIN))
    assert_allclose(same.transform(container(THIN)), dense.transform(THIN), atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_seeds_repeat_bit_for_bit(scheme):
    first, second, third = (
        FourierFeatures(scheme=scheme, random_state=seed).fit_transform(X) for seed in (1, 1, 2)
    )
    assert_array_equal(first, second)
    assert not np.allclose(first, third)


def test_the_median_distance_is_the_length_scale():
    features = FourierFeatures(kernel="matern52", random_state=0).fit(X)
    assert features.kernel_ == kernels.Matern(features.kernel_.length_scale, nu=2.5)
    assert_allclose(features.kernel_.length_scale, np.median(pdist(X)), rtol=1e-4)


def test_the_median_distance_is_that_of_the_rows_of_both_arguments():
    queries, keys = X[:40], 8.0 * X[40:100]
    expected = np.median(pdist(np.concatenate((queries, keys))))
    assert expected > 3.0 * np.median(pdist(queries))
    for container in (np.asarray, sparse.csr_array):
        features = FourierFeatures(n_components=4, random_state=0)
        features.fit(container(queries), right=container(keys))
        assert_allclose(features.kernel_.length_scale, expected, rtol=1e-3)


@pytest.mark.thorough_cases("loky")
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_give_what_one_process_gives(backend):
    model = make_pipeline(FourierFeatures(n_components=32, random_state=0), Ridge())
    serial = cross_val_score(model, X, X[:, 0], cv=3)
    with Parallel(n_jobs=2, backend=backend) as parallel:
        scores = parallel(delayed(cross_val_score)(model, X, X[:, 0], cv=3) for _ in range(2))
    for score in scores:
        assert_allclose(score, serial, rtol=1e-10)
