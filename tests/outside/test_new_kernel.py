"""A kernel of a user's own file gets its measure, features and diagnosis, is saved and loaded."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bochner
from bochner.kernels import Correlation, Gaussian, Kernel
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


class AnyDim(Kernel):
    """A kernel of any number of inputs, whose diagonal is that of small matrices."""

    __slots__ = ()

    def check_dim(self, dim):
        pass

    def diag(self, X):
        return np.array([self.evaluate(x[None], x[None])[0, 0] for x in np.asarray(X)])


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


def broken(kernel, dim):
    return {}["a mistake in the user's function"]


@bochner.register(closed_form=broken)
@dataclass(frozen=True, slots=True)
class Broken(AnyDim):
    """Its measure cannot be made."""

    def evaluate(self, X, Y):
        return Gaussian()(X, Y)


X = np.random.default_rng(0).normal(size=(40, 2))
KERNELS = [Bell(0.8), Bell((0.8, 1.5)), TwoBells(), 2.0 * Bell(1.2) + TwoBells(0.3, 1.0)]


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


@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_a_mistake_in_a_measure_is_not_hidden(weights):
    with pytest.raises(KeyError, match="a mistake"):
        bochner.FourierFeatures(Broken(), 32, weights=weights).fit(X)
