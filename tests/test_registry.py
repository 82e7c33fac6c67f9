"""Kernels, values and estimators of other packages, by the public interface alone."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from persist.same import round_trip
from sklearn.base import BaseEstimator, RegressorMixin

import bochner
from bochner.kernels import Anova, Correlation, Kernel, Metric, Profiled
from bochner.persist import ModelFileError
from bochner.spectral import Isotropic, NoMeasureError, Student, closed_form

X = np.random.default_rng(0).normal(size=(60, 2))


def student_law(kernel, dim):
    return Isotropic(Student(kernel.dof), dim, kernel.length_scale)


@bochner.register(law=student_law, name="test_rough")
@dataclass(frozen=True, slots=True)
class Rough(Correlation):
    """The exponential kernel with a field of its own."""

    dof: float = 1.0

    def correlation(self, X, Y):
        return np.exp(-np.sqrt(((X[:, None] - Y[None]) ** 2).sum(axis=2)))


@bochner.register
@dataclass(frozen=True, slots=True)
class Ring(Profiled):
    """A function of the distance that is not positive definite."""

    width: float = 1.0

    metric = Metric.EUCLIDEAN

    def profile(self, t):
        return np.exp(-((t / self.width) ** 2)) * (1.0 - (t / self.width) ** 2 / 4.0)


class BrokenLaw(Rough):
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
        self.kernel_ = self.kernel or Rough()
        return self


@pytest.mark.parametrize("kernel", [Rough(0.7), Ring(2.0)])
def test_a_kernel_has_a_measure_features_a_diagnosis_and_is_saved(kernel, tmp_path):
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    assert bochner.spectral_measure(kernel, 2, distances).max_error < 0.05
    model = bochner.FourierFeatures(kernel, n_components=2000, random_state=0).fit(X)
    K = kernel(X)
    assert_allclose(model.gram(X), K, atol=0.2 * K.max())
    assert bochner.diagnose(kernel, X).features.errors[0].total_variation is not None
    assert round_trip(kernel, tmp_path) == kernel
    assert_array_equal(round_trip(model, tmp_path).transform(X), model.transform(X))


def test_a_law_gives_the_measure_of_the_kernel_it_equals():
    ours, theirs = closed_form(Rough(0.5), 3), closed_form(bochner.kernels.Exponential(0.5), 3)
    assert ours == theirs
    assert closed_form(Anova(Rough(), 0.5), 3) == closed_form(
        Anova(bochner.kernels.Exponential(), 0.5), 3
    )


def test_a_name_stands_for_the_kernel():
    model = bochner.FourierFeatures("test_rough", 64, length_scale=0.5, random_state=0).fit(X)
    assert model.kernel_ == Rough(0.5)
    with pytest.raises(ValueError, match="test_rough as a kernel's name is already"):
        bochner.register(Ring, name="test_rough")


def test_an_estimator_declares_its_fitted_attributes_by_annotations(tmp_path):
    model = Level().fit(X, np.arange(60.0))
    loaded = round_trip(model, tmp_path)
    assert (loaded.level_, loaded.kernel_, loaded.kernel) == (29.5, Rough(), None)
    assert not hasattr(round_trip(Level(), tmp_path), "level_")
    model.level_ = "high"
    with pytest.raises(ValueError, match=r"Level\.level_ should be float, found 'high'"):
        bochner.save(model, tmp_path / "model")
    del model.level_
    with pytest.raises(ValueError, match="fitted in part only"):
        bochner.save(model, tmp_path / "model")


def test_classes_that_are_not_registered_are_refused(tmp_path, monkeypatch):
    bochner.save(Rough(), tmp_path / "model")
    monkeypatch.setattr(bochner.registry, "_CLASSES", {})
    with pytest.raises(ModelFileError, match=r"no class 'Rough'.*bochner\.register"):
        bochner.load(tmp_path / "model")
    with pytest.raises(TypeError):
        bochner.save(Rough(), tmp_path / "model")


@pytest.mark.parametrize("error", [TypeError, NotImplementedError, AttributeError])
@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_a_mistake_in_a_law_is_not_taken_for_an_unknown_measure(error, weights):
    def law(kernel, dim):
        raise error("a mistake")

    bochner.register(BrokenLaw, law=law)
    features = bochner.FourierFeatures(BrokenLaw(), 64, weights=weights, random_state=0)
    with pytest.raises(error, match="a mistake") as found:
        features.fit(X)
    assert not isinstance(found.value, NoMeasureError)
    if error is TypeError:
        with pytest.raises(error, match="a mistake"):
            bochner.diagnose(BrokenLaw(), X)


def test_a_kernel_without_a_measure_has_fitted_weights():
    @dataclass(frozen=True)
    class Unknown(Rough):
        """A kernel that says that its measure is not known."""

    def law(kernel, dim):
        raise NoMeasureError("not known")

    bochner.register(Unknown, law=law)
    with pytest.raises(NoMeasureError, match="not known"):
        bochner.FourierFeatures(Unknown(), 64, random_state=0).fit(X)
    fitted = bochner.FourierFeatures(Unknown(), 64, weights="least_squares", random_state=0).fit(X)
    assert fitted.fit_error_ is not None
