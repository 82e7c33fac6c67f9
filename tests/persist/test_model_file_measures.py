"""Designed, split and fitted features come back as they were saved."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import bochner
from bochner import FourierFeatures, Frequencies, KreinRidge, kernels
from bochner.features.region import Region
from bochner.frequencies import Envelope
from bochner.spectral import DECOMPOSITIONS, Auto, Designed, Jordan, Polar

RNG = np.random.default_rng(0)
X = RNG.random(size=(60, 5))
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
NEW = RNG.random(size=(20, 5))


def round_trip(model, folder):
    path = folder / "model.bochner"
    bochner.save(model, path)
    return bochner.load(path)


def test_envelopes_come_back(tmp_path):
    envelope = Envelope(rate=[0.0, 0.5, 2.0], radius=[0.0, 1.0, 3.0])
    loaded = round_trip(envelope, tmp_path)
    assert isinstance(loaded, Envelope)
    assert loaded.factors(X).tobytes() == envelope.factors(X).tobytes()
    assert not loaded.rate.flags.writeable


@pytest.mark.parametrize("envelope", [None, Envelope([0.1] * 4, [2.0] * 4)], ids=["none", "some"])
def test_frequencies_come_back_with_their_envelope(envelope, tmp_path):
    f = Frequencies(RNG.normal(size=(4, 5)), [1.0, -1.0, 0.5, 2.0], envelope=envelope)
    loaded = round_trip(f, tmp_path)
    assert (loaded.envelope is None) == (envelope is None)
    assert loaded.gram(X, NEW).tobytes() == f.gram(X, NEW).tobytes()


def test_regions_come_back(tmp_path):
    region = Region(np.array([1.0, -2.0]), 0.5, 1.5)
    loaded = round_trip(region, tmp_path)
    assert_array_equal(loaded.centre, region.centre)
    assert (loaded.least, loaded.greatest) == (0.5, 1.5)


@pytest.mark.parametrize(
    "decomposition", [Auto(), Designed(), Polar(), Jordan(), Jordan(7.5)], ids=repr
)
def test_decompositions_come_back_equal(decomposition, tmp_path):
    assert {type(value) for value in DECOMPOSITIONS.values()} == {Auto, Designed, Jordan, Polar}
    assert round_trip(decomposition, tmp_path) == decomposition
    model = FourierFeatures(kernels.NTK(), decomposition=decomposition)
    assert round_trip(model, tmp_path).decomposition == decomposition


FITTED = [
    (FourierFeatures(kernels.Tanh(), 32, random_state=0), X),
    (FourierFeatures(kernels.Tanh(), 32, weights="least_squares", random_state=0), X),
    (FourierFeatures("ntk", 32, random_state=0), UNIT),
    (FourierFeatures(kernels.DeltaGaussian(), 32, decomposition="jordan", random_state=0), X),
    (FourierFeatures(kernels.TL1(3.0) * kernels.Gaussian(), 32, random_state=0), X),
    (KreinRidge(kernels.Tanh(), n_components=32, random_state=0), X),
]


@pytest.mark.parametrize(("model", "rows"), FITTED, ids=lambda v: str(v)[:60] * hasattr(v, "fit"))
def test_fitted_features_come_back(model, rows, tmp_path):
    model.fit(rows, rows[:, 0])
    loaded = round_trip(model, tmp_path)
    for method in ("transform", "gram", "predict"):
        if hasattr(model, method):
            expected = getattr(model, method)(rows)
            assert getattr(loaded, method)(rows).tobytes() == expected.tobytes()
    for name in ("max_error_", "predicted_error_", "fit_error_"):
        assert getattr(loaded, name, None) == getattr(model, name, None)


def test_loaded_features_still_warn_of_far_rows(tmp_path):
    loaded = round_trip(FourierFeatures(kernels.TL1(3.0), 32, random_state=0).fit(X), tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.transform(X)
    with pytest.warns(UserWarning, match="60 of 60 rows lie outside the region"):
        loaded.transform(X + 50.0)


def gram(X, Y):
    return X @ Y.T


@pytest.mark.parametrize("kernel", [kernels.Radial(np.cos), gram], ids=["Radial", "function"])
def test_features_of_functions_are_not_saved(kernel, tmp_path):
    model = FourierFeatures(kernel, 64, weights="least_squares", random_state=0).fit(X)
    with pytest.raises(ValueError, match="kernel"):
        bochner.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
