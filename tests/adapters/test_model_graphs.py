"""Graphs of regressions and classifications next to their predictions, and what is refused."""

import numpy as np
import pytest
from adapters.runtime import evaluate, onnx
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import bochner
from bochner import (
    FourierFeatures,
    KreinRidge,
    KreinRidgeClassifier,
    LearnedKernelRegressor,
    LocallyStationaryRegressor,
    export_onnx,
    kernels,
)
from bochner.adapters import onnx as graphs
from bochner.learned import Chains

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = np.stack([np.sin(X[:, 0]) + 4.0, 3.0 * X[:, 1] * X[:, 2]], axis=1)
LABELS = (Y[:, 1] > 0).astype(int) + (Y[:, 1] > 2.0)
FRESH = RNG.normal(size=(50, 3))

RIDGES = {
    "one target": (KreinRidge(n_components=64, random_state=0), Y[:, 1]),
    "intercept": (KreinRidge("matern32", 64, 0.1, fit_intercept=True, random_state=0), Y),
    "associated": (
        KreinRidge(kernels.ShiftGaussian(2.0, 0.5), 64, associated=True, random_state=0),
        Y[:, 0],
    ),
    "blocks": (
        KreinRidge(
            features=FourierFeatures(n_components=64, scheme="structured", length_scale="auto"),
            random_state=0,
        ),
        Y,
    ),
}
INDEFINITE = KreinRidge(
    features=FourierFeatures(kernels.DeltaGaussian(), 64, decomposition="jordan"), random_state=0
)
CLASSIFIERS = {
    "two": (LABELS > 0).astype(np.int32),
    "texts": np.array(["low", "mid", "high"])[LABELS],
    "objects": np.array(["low", "high"], dtype=object)[(LABELS > 0).astype(int)],
    "booleans": LABELS > 0,
    "numbers": 2.0 * LABELS,
}


@pytest.mark.parametrize("name", RIDGES)
def test_means_and_deviations(name):
    model, y = RIDGES[name]
    model.fit(X, y)
    mean, std = model.predict(FRESH, return_std=True)
    found = evaluate(export_onnx(model, return_std=True), FRESH)
    assert list(found) == ["mean", "std"]
    assert found["mean"].shape == mean.shape
    assert_allclose(found["mean"], mean, rtol=1e-12, atol=1e-12)
    assert_allclose(found["std"], std, rtol=1e-12)
    assert list(evaluate(export_onnx(model), FRESH)) == ["mean"]
    single = evaluate(export_onnx(model, return_std=True, dtype="float32"), FRESH)
    assert single["mean"].dtype == np.float32
    assert_allclose(single["mean"], mean, atol=1e-5)
    assert_allclose(single["std"], std, rtol=1e-5)


def test_indefinite_kernels():
    model = INDEFINITE.fit(X, Y)
    assert_allclose(evaluate(export_onnx(model), FRESH)["mean"], model.predict(FRESH), atol=1e-11)
    with pytest.raises(ValueError, match="associated=True"):
        export_onnx(model, return_std=True)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_classes(name, fit_intercept):
    labels = CLASSIFIERS[name]
    model = KreinRidgeClassifier(n_components=64, fit_intercept=fit_intercept, random_state=0)
    model.fit(X, labels)
    found = evaluate(export_onnx(model), FRESH)
    assert list(found) == ["label", "probabilities"]
    assert_array_equal(found["label"].astype(labels.dtype), model.predict(FRESH))
    assert_allclose(found["probabilities"], model.predict_proba(FRESH), rtol=1e-11)
    single = evaluate(export_onnx(model, dtype="float32"), FRESH)
    assert_allclose(single["probabilities"], model.predict_proba(FRESH), atol=1e-5)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The chain has not converged")
@pytest.mark.parametrize(
    "model",
    [
        LearnedKernelRegressor(
            20, trend=2, random_state=0, chains=Chains(n_burn_in=3, n_samples=4)
        ),
        LearnedKernelRegressor(
            20, structure="dense", random_state=0, chains=Chains(n_burn_in=3, n_samples=4)
        ),
        LocallyStationaryRegressor(16, random_state=0, chains=Chains(n_burn_in=3, n_samples=4)),
    ],
    ids=["sparse", "dense", "locally stationary"],
)
def test_means_of_learned_kernels(model):
    scaled = X * [1.0, 20.0, 0.1] + [0.0, 5.0, 0.0]
    model.fit(scaled, Y[:, 0])
    fresh = FRESH * [1.0, 20.0, 0.1]
    found = evaluate(export_onnx(model), fresh)["mean"]
    assert_allclose(found, model.predict(fresh), atol=1e-11)
    with pytest.raises(ValueError, match="return_std=False"):
        export_onnx(model, return_std=True)


@pytest.mark.parametrize("head", [KreinRidge, KreinRidgeClassifier])
def test_pipelines(head):
    y = Y[:, 0] if head is KreinRidge else LABELS
    pipeline = make_pipeline(StandardScaler(), head(n_components=32, random_state=0)).fit(X, y)
    first = next(iter(evaluate(export_onnx(pipeline), FRESH).values()))
    assert_allclose(first, pipeline.predict(FRESH), atol=1e-12)


def test_files(tmp_path):
    model, y = RIDGES["one target"]
    path = tmp_path / "model.onnx"
    made = export_onnx(model.fit(X, y), path, dtype="float32")
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    read = onnx.load(path)
    assert read == made
    assert read.opset_import[0].version == graphs.OPSET
    assert read.producer_name == "bochner"
    assert read.producer_version == bochner.__version__


def test_refusals(monkeypatch, tmp_path):
    model, y = RIDGES["one target"]
    with pytest.raises(NotFittedError):
        export_onnx(KreinRidge())
    model.fit(X, y)
    with pytest.raises(TypeError, match="int cannot be exported"):
        export_onnx(3)
    for dtype in ("float16", None):
        with pytest.raises(ValueError, match="dtype must be 'float32' or 'float64', got "):
            export_onnx(model, dtype=dtype)
    with pytest.raises(TypeError, match="return_std must be True or False"):
        export_onnx(model, return_std="yes")
    with pytest.raises(TypeError, match="Ridge cannot be exported to ONNX"):
        export_onnx(Ridge())
    with pytest.raises(TypeError, match="Ridge cannot be exported to ONNX"):
        export_onnx(make_pipeline(FourierFeatures(n_components=8), Ridge()).fit(X, y))
    with pytest.raises(TypeError, match="MinMaxScaler cannot be exported to ONNX as a step"):
        export_onnx(make_pipeline(MinMaxScaler(), KreinRidge(n_components=8)).fit(X, y))
    with pytest.raises(ValueError, match="that of FourierFeatures is not exported"):
        export_onnx(FourierFeatures(n_components=8).fit(X), return_std=True)
    with pytest.raises(FileNotFoundError, match="new is no folder: create it"):
        export_onnx(model, tmp_path / "new" / "model.onnx")
    monkeypatch.setattr(graphs, "_LARGEST_FILE", 1000)
    with pytest.raises(ValueError, match="an ONNX file holds less than 2"):
        export_onnx(model)
