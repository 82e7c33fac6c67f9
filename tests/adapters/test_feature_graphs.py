"""Graphs of features next to those of NumPy, for every kernel and every part of the sum."""

import numpy as np
import pytest
from adapters.runtime import evaluate
from laws.registry import PLANE_CASES
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from spectral.few_designs import design_roughly
from spectral.parts import PARTS

from bochner import FourierFeatures, export_onnx, kernels
from bochner.spectral import NoMeasureError

UNIT_ROUNDOFF = 2.0**-24  # float32


@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
@pytest.mark.thorough_cases(r"ArcC.* \+ |DotProduct\(odd|Tanh|Hellinger")
@pytest.mark.parametrize("case", PLANE_CASES, ids=str)
def test_every_kernel(case, monkeypatch):
    design_roughly(monkeypatch)
    X = case.points(40)
    try:
        features = FourierFeatures(case.kernel, 64, random_state=0).fit(X)
    except NoMeasureError:
        pytest.skip("no measure in so many inputs")
    found = evaluate(export_onnx(features), X)
    assert list(found) == ["features"]
    # Lines are sines of small angles, next to a quarter turn.
    tolerance = 1e-9 if "Polynomial(degree=1," in str(case) else 1e-12
    assert_allclose(found["features"], features.transform(X), rtol=0.0, atol=tolerance)
    concatenated = FourierFeatures.of(features.frequencies_, case.kernel)
    if features.frequencies_.dim == features.frequencies_.dim_right:
        concatenated.set_params(output="concatenated")
        concatenated._n_features_out += len(concatenated._others())
        both = evaluate(export_onnx(concatenated), X)["features"]
        assert_allclose(both, concatenated.transform(X), rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("name", PARTS)
def test_every_part_at_any_number_of_rows(name, n):
    X = 1.5 * np.random.default_rng(n).normal(size=(n, 3))
    found = evaluate(export_onnx(PARTS[name]), X)["features"]
    assert found.dtype == np.float64
    # NumPy has no features of no rows to compare with.
    known = PARTS[name].features(X) if n else np.empty((0, 12))
    assert_allclose(found, known, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("centre", [0.0, 10.0])
def test_lines_in_single_precision(centre):
    """Values of the kernel from features, to rounding of the inputs: lines are sines of 1e-5."""
    X = centre + np.random.default_rng(0).normal(size=(50, 2))
    kernel = kernels.Linear(2.0, centre=centre)
    features = FourierFeatures(kernel, 64, random_state=0).fit(X)
    Z = evaluate(export_onnx(features, dtype="float32"), X)["features"].astype(float)
    rounding = 20.0 * UNIT_ROUNDOFF * np.abs(X).max() * np.abs(X - centre).max()
    assert_allclose((Z * features.signature_) @ Z.T, kernel(X), rtol=0.0, atol=4.0 * rounding)


@pytest.mark.parametrize("name", ["phases", "blocks"])
def test_single_precision_is_within_the_rounding_of_angles(name):
    f, rng = PARTS[name], np.random.default_rng(0)
    X = (10.0 ** rng.uniform(-1.0, 3.0, size=(200, 1)) * rng.normal(size=(200, 3))).astype("f4")
    found = evaluate(export_onnx(f, dtype="float32"), X)["features"]
    assert found.dtype == np.float32
    terms = np.abs(X.astype(float)) @ np.abs(f.omega.T) + np.abs(f.phase)
    # Frequencies and phases are rounded, products of them, and four sums.
    bound = np.sqrt(np.abs(f.weight)) * UNIT_ROUNDOFF * (6.0 * terms + 4.0)
    error = np.abs(found - f.features(X.astype(float)))
    assert (error <= np.tile(bound, 2)).all()
    assert error.max() > 1e-5  # What the documentation warns of


def test_pipelines():
    X = np.random.default_rng(0).normal(3.0, [1.0, 40.0, 0.1], size=(50, 3))
    for scaler in (StandardScaler(), StandardScaler(with_mean=False), "passthrough"):
        features = FourierFeatures(n_components=16, length_scale=2.0, random_state=0)
        pipeline = make_pipeline(scaler, features, FourierFeatures(n_components=8, random_state=1))
        found = evaluate(export_onnx(pipeline.fit(X)), X)["features"]
        assert_allclose(found, pipeline.transform(X), atol=1e-12)
