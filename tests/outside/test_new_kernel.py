"""Kernels of a user's own file get measures, features and diagnoses, are saved and loaded."""

from dataclasses import dataclass

import numpy as np
import pytest
from files.same import round_trip
from laws.registry import AnyDim
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin

import bochner
from bochner.files import ModelFileError
from bochner.kernels import Correlation, Gaussian, Kernel, Metric, Profiled
from bochner.spectral import Chi, Isotropic, NoMeasureError


def bell_law(kernel, dim):
    return Isotropic(Chi(), dim, kernel.length_scale)


@bochner.register(law=bell_law, name="bell")
@dataclass(frozen=True, slots=True)
class Bell(Correlation):
    """The Gaussian kernel, written by a user."""

    def correlation(self, X, Y):
        return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))


def two_bells(kernel, dim):
    one, other = (bochner.spectral_measure(Gaussian(s), dim) for s in (kernel.near, kernel.far))
    return kernel.share * one + (1.0 - kernel.share) * other


@bochner.register(closed_form=two_bells)
@dataclass(frozen=True, slots=True)
class TwoBells(AnyDim):
    """Its measure is made of those of kernels that the library has."""

    near: float = 0.5
    far: float = 2.0
    share: float = 0.4

    def evaluate(self, X, Y):
        near, far = Gaussian(self.near)(X, Y), Gaussian(self.far)(X, Y)
        return self.share * near + (1.0 - self.share) * far


@bochner.register
@dataclass(frozen=True, slots=True)
class NoBell(AnyDim):
    """A kernel without a measure."""

    def evaluate(self, X, Y):
        return np.minimum(1.0 + X, 1.0 + Y.T)


@bochner.register
@dataclass(frozen=True, slots=True)
class Ring(Profiled):
    """A function of the distance that is not positive definite."""

    width: float = 1.0

    metric = Metric.EUCLIDEAN

    def profile(self, t):
        return np.exp(-((t / self.width) ** 2)) * (1.0 - (t / self.width) ** 2 / 4.0)


class BrokenLaw(Bell):
    """A kernel whose law has a mistake in its code."""


@bochner.register
class Level(RegressorMixin, BaseEstimator):
    """An estimator with a registered kernel for a parameter and two fitted attributes."""

    level_: float
    kernel_: Kernel

    def __init__(self, kernel=None):
        self.kernel = kernel

    def fit(self, X, y):
        self.level_ = float(np.mean(y))
        self.kernel_ = self.kernel or Bell()
        return self


X = np.random.default_rng(0).normal(size=(40, 2))
KERNELS = [Bell(0.8), Bell((0.8, 1.5)), TwoBells(), 2.0 * Bell(1.2) + TwoBells(0.3, 1.0)]


@pytest.mark.thorough_cases(r"\b2\b")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_are_those_of_its_measure(kernel):
    mu = bochner.spectral_measure(kernel, 2)
    assert_allclose(mu.mass, kernel.diag(X)[0])
    features = bochner.FourierFeatures(kernel, 8192, random_state=0).fit(X)
    bound = 6.0 * mu.total_variation / np.sqrt(8192)
    assert np.abs(features.gram(X) - kernel(X)).max() < bound
    assert bochner.diagnose(kernel, X, n_components=64).spectrum.n_negative == 0


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_it_is_saved_and_loaded_inside_of_a_model(kernel, tmp_path):
    model = bochner.KreinRidge(kernel, 32, random_state=0).fit(X, np.sin(X[:, 0]))
    bochner.save(model, tmp_path / "m.bochner")
    loaded = bochner.load(tmp_path / "m.bochner")
    assert loaded.kernel_ == kernel
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_kernel_without_a_measure_says_so_and_has_fitted_weights():
    with pytest.raises(NoMeasureError, match=r"bochner\.register"):
        bochner.FourierFeatures(NoBell(), 32).fit(X[:, :1] ** 2)
    model = bochner.FourierFeatures(NoBell(), 256, weights="least_squares", random_state=0)
    assert model.fit(X[:, :1] ** 2).fit_error_ < 0.2


@pytest.mark.thorough
def test_a_function_of_the_distance_has_a_measure_features_a_diagnosis_and_is_saved(tmp_path):
    kernel = Ring(2.0)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert bochner.spectral_measure(kernel, 2, distances).max_error < 0.05
    model = bochner.FourierFeatures(kernel, n_components=2000, random_state=0).fit(X)
    K = kernel(X)
    assert_allclose(model.gram(X), K, atol=0.2 * K.max())
    assert bochner.diagnose(kernel, X).features.errors[0].total_variation is not None
    assert round_trip(kernel, tmp_path) == kernel
    assert_array_equal(round_trip(model, tmp_path).transform(X), model.transform(X))


def test_a_name_stands_for_the_kernel():
    model = bochner.FourierFeatures("bell", 64, length_scale=0.5, random_state=0).fit(X)
    assert model.kernel_ == Bell(0.5)
    with pytest.raises(ValueError, match="bell as a kernel's name is already"):
        bochner.register(Ring, name="bell")


def test_an_estimator_declares_its_fitted_attributes_by_annotations(tmp_path):
    model = Level().fit(X, np.arange(40.0))
    loaded = round_trip(model, tmp_path)
    assert (loaded.level_, loaded.kernel_, loaded.kernel) == (19.5, Bell(), None)
    assert not hasattr(round_trip(Level(), tmp_path), "level_")
    model.level_ = "high"
    with pytest.raises(ValueError, match=r"Level\.level_ should be float, found 'high'"):
        bochner.save(model, tmp_path / "model")
    del model.level_
    with pytest.raises(ValueError, match="fitted in part only"):
        bochner.save(model, tmp_path / "model")


def test_classes_that_are_not_registered_are_refused(tmp_path, monkeypatch):
    bochner.save(Bell(), tmp_path / "model")
    monkeypatch.setattr(bochner._base.registry, "_CLASSES", {})
    with pytest.raises(ModelFileError, match=r"no class 'Bell'.*bochner\.register"):
        bochner.load(tmp_path / "model")
    with pytest.raises(TypeError):
        bochner.save(Bell(), tmp_path / "model")


@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_a_mistake_is_not_taken_for_an_unknown_measure(weights):
    def broken(kernel, dim):
        raise TypeError("a mistake")

    bochner.register(BrokenLaw, law=broken)
    with pytest.raises(TypeError, match="a mistake"):
        bochner.FourierFeatures(BrokenLaw(), 64, weights=weights, random_state=0).fit(X)
