"""Models with kernels on columns: additive models, names, parameters by name."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner import (
    AsymmetricKernelRidge,
    FourierFeatures,
    KernelGLMClassifier,
    KernelGLMRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    SimilarityFeatures,
    load,
    save,
)
from bochner.features import KreinNystroem
from bochner.kernels import (
    Categorical,
    Constant,
    Gaussian,
    Linear,
    Matern,
    Ordinal,
    Periodic,
    Polynomial,
    ShiftGaussian,
)
from bochner.learned import ExactInference

RNG = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "hour": RNG.integers(0, 24, N),
        "weather": RNG.integers(0, 4, N),
        "temperature": RNG.normal(size=N),
        "year": RNG.integers(2010, 2013, N),
        "wind": RNG.normal(size=N),
    }
)
X = FRAME.to_numpy(dtype=float)
Y = (
    np.sin(2 * np.pi * FRAME.hour / 24) * np.array([1.0, -1.0, 0.5, 0.0])[FRAME.weather]
    + 0.4 * (FRAME.year - 2011)
    + np.tanh(FRAME.temperature)
    + 0.1 * RNG.normal(size=N)
)
FINITE = (
    Periodic(24.0, 1.2).on("hour") * Categorical(0.2).on("weather")
    + 0.5 * Linear(centre=2011.0).on("year")
    + Ordinal(2.0).on("weather")
    + Constant(0.3)
)
ADDITIVE = FINITE + Gaussian().on(["temperature", "wind"])


def test_an_additive_model_of_finite_kernels_is_the_exact_process():
    model = KreinRidge(FINITE, alpha=0.1, random_state=0).fit(FRAME[:80], Y[:80])
    gram, new = FINITE(FRAME[:80]), FINITE(FRAME[80:], FRAME[:80])
    inverse = np.linalg.inv(gram + 0.1 * np.eye(80))
    mean, std = model.predict(FRAME[80:], return_std=True)
    assert_allclose(mean, new @ inverse @ Y[:80], rtol=1e-6, atol=1e-8)
    noise = Y[:80] @ inverse @ Y[:80] / 80 * 0.1
    exact = np.diagonal(FINITE(FRAME[80:]))
    variance = noise / 0.1 * (exact - np.einsum("ij,jk,ik->i", new, inverse, new)) + noise
    assert_allclose(std**2, variance, rtol=1e-5)


def test_names_become_positions():
    model = KreinRidge(ADDITIVE, random_state=0).fit(FRAME, Y)
    by_position = ADDITIVE.resolved(list(FRAME))
    twin = KreinRidge(by_position, random_state=0).fit(X, Y)
    assert model.kernel_ == twin.kernel_
    assert model.kernel == ADDITIVE
    assert_array_equal(model.predict(FRAME), twin.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME[FRAME.columns[::-1]])


ESTIMATORS = [
    FourierFeatures(n_components=64),
    KreinRidge(n_components=64),
    KreinRidgeClassifier(n_components=64),
    AsymmetricKernelRidge(n_components=64),
    SimilarityFeatures(n_components=16, inference=ExactInference(max_iter=2, n_starts=1)),
    KreinNystroem(n_components=16),
    KernelGLMRegressor("poisson", n_components=64),
    KernelGLMClassifier(n_components=64),
]


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_model_takes_names_and_refuses_rows_without(model):
    model = clone(model).set_params(kernel=Gaussian().on("wind"), random_state=0)
    y = (Y > 0).astype(int)
    with np.errstate(all="ignore"):
        model.fit(FRAME, y)
    with pytest.raises(ValueError, match="'wind', but the data have no names"):
        clone(model).fit(X, y)
    assert_array_equal(pickle.loads(pickle.dumps(model)).kernel.columns, ["wind"])


def test_an_asymmetric_kernel_on_columns():
    k = ShiftGaussian(1.0, 0.4).on(["wind", "temperature"])
    model = FourierFeatures(k, 2048, random_state=0).fit(FRAME)
    assert np.abs(model.gram(FRAME) - k(FRAME)).max() < 0.15
    assert np.abs(k(FRAME) - k(FRAME).T).max() > 0.3


def test_streams_find_levels_in_the_first_chunk():
    k = Categorical().on(1) + Gaussian().on(2)
    model = KreinRidge(k, random_state=0)
    model.partial_fit(X[:60], Y[:60]).partial_fit(X[60:], Y[60:])
    assert_allclose(model.predict(X), KreinRidge(k, random_state=0).fit(X, Y).predict(X), atol=1e-7)
    more = np.where(np.arange(5) == 1, 4.0, X[:1])
    with pytest.raises(ValueError, match="n_levels=5 or more"):
        model.partial_fit(more, Y[:1])
    with pytest.raises(ValueError, match="n_levels=5 or more"):
        model.predict(more)


def test_names_go_through_a_pipeline_that_keeps_them():
    model = make_pipeline(StandardScaler(), KreinRidge(Gaussian().on("wind"), random_state=0))
    with pytest.raises(ValueError, match="set_output"):
        model.fit(FRAME, Y)
    model.set_output(transform="pandas").fit(FRAME, Y)
    assert model[-1].kernel_ == Gaussian().on(4)


def test_setting_a_parameter_replaces_the_kernel():
    kernel = 2.0 * Matern(0.5) + Gaussian()
    model = KreinRidge(kernel)
    assert model.get_params()["kernel__k1__kernel__nu"] == 1.5
    assert model.set_params(kernel__k1__kernel__nu=2.5, kernel__k2__length_scale=3.0) is model
    assert model.kernel == 2.0 * Matern(0.5, nu=2.5) + Gaussian(3.0)
    assert kernel == 2.0 * Matern(0.5) + Gaussian()
    model.set_params(kernel=Matern(), kernel__length_scale=7.0, alpha=0.3)
    assert (model.kernel, model.alpha) == (Matern(7.0), 0.3)
    assert clone(model).kernel is model.kernel


@pytest.mark.parametrize(
    ("kernel", "params", "message"),
    [
        (Gaussian(), {"kernel__length": 1.0}, "no parameter 'length'. Did you mean 'length_scale'"),
        (Gaussian(), {"kernel__length_scale__x": 1.0}, "no parameter 'length_scale__x'"),
        (Gaussian() + Matern(), {"kernel__k3__nu": 1.0}, "no parameter 'k3__nu'"),
        (Gaussian(), {"kernel__length_scale": -1.0}, "length_scale must be positive"),
        ("gaussian", {"kernel__length_scale": 1.0}, "kernel is 'gaussian'; give kernel a Kernel"),
        (Gaussian(), {"kernels__length_scale": 1.0}, "Invalid parameter 'kernels'"),
    ],
)
def test_parameters_that_are_not_there(kernel, params, message):
    model = KreinRidge(kernel)
    with pytest.raises(ValueError, match=message):
        model.set_params(**params)
    assert model.kernel == kernel


@pytest.mark.thorough
def test_inner_products_on_different_columns_add(tmp_path):
    near = FRAME * [0.05, 1, 0.2, 1, 0.2]
    k = Polynomial(2, 1.0).on(["temperature", "wind"]) + Polynomial(3, 0.5).on("hour")
    model = FourierFeatures(k, 4096, random_state=0).fit(near)
    exact = k(near)
    assert np.linalg.norm(model.gram(near) - exact) < 0.1 * np.linalg.norm(exact)
    save(model, tmp_path / "sum.bochner")
    assert_array_equal(load(tmp_path / "sum.bochner").transform(near), model.transform(near))
