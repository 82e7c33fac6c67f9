"""Likelihoods of a user's own file that break a promise are refused with what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from bochner import KernelGLMRegressor
from bochner.likelihoods import NumberLikelihood

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(60, 1))
Y = RNG.exponential(np.exp(1.0 + np.sin(2.0 * X[:, 0])))


@dataclass(frozen=True, slots=True)
class Waits(NumberLikelihood):
    """Exponential durations of mean ``exp(f)``."""

    def checked(self, y):
        return y

    def origin(self, y, exposure, weight):
        return float(np.log(np.average(y, weights=weight)))

    def log_density(self, y, f):
        return -f - y * np.exp(-f)

    def slope(self, y, f):
        return y * np.exp(-f) - 1.0

    def curvature(self, y, f):
        return y * np.exp(-f)

    def sample(self, rng, f):
        return rng.exponential(np.exp(f))

    def moments(self, mean, variance):
        first = np.exp(mean + 0.5 * variance)
        return first, first**2 * (2.0 * np.exp(variance) - 1.0)

    def distribution(self, y, mean, variance):
        return -np.expm1(-np.maximum(y, 0.0) * np.exp(-mean))

    def log_predictive(self, y, mean, variance):
        return self.log_density(y, mean)


def fit(method, wrong):
    """Fit with a likelihood one of whose methods is wrong."""
    kind = dataclass(frozen=True)(type("Wrong", (Waits,), {method: wrong}))
    KernelGLMRegressor(kind(), n_components=16, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [
        ("slope", lambda s, y, f: 1.0 - y * np.exp(-f), "slope of Wrong differs from the deriv"),
        ("slope", lambda s, y, f: 2.0 * y * np.exp(-f), "slope of Wrong differs from the deriv"),
        ("curvature", lambda s, y, f: -y * np.exp(-f), "curvature of Wrong differs from minus"),
        ("curvature", lambda s, y, f: 0.0 * f, "curvature of Wrong differs from minus the second"),
    ],
)
def test_wrong_derivatives_are_blamed(method, wrong, message):
    with pytest.raises(ValueError, match=rf"{message}.*f = .*, y = .*: got .*, expected"):
        fit(method, wrong)


@pytest.mark.parametrize("method", ["log_density", "slope", "curvature"])
@pytest.mark.parametrize(
    ("change", "got"),
    [
        (np.sum, r"\(\)"),
        (lambda values: values[:, None], r"\(60, 1\)"),
        (lambda values: None, r"\(\)"),
    ],
)
def test_values_of_another_shape_are_refused(method, change, got):
    right = getattr(Waits(), method)
    message = rf"Wrong\.{method} must return an array of shape \(60,\).*, got {got}"
    with pytest.raises(ValueError, match=message):
        fit(method, lambda self, y, f: change(right(y, f)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda self, y: None,
            r"Wrong\.checked must return the targets, .* \(60,\), got NoneType\.",
        ),
        (lambda self, y: y[:, None], r"got ndarray of shape \(60, 1\)"),
    ],
)
def test_checked_has_to_return_the_targets(wrong, message):
    with pytest.raises(TypeError, match=message):
        fit("checked", wrong)


@pytest.mark.parametrize("wrong", [None, "1.0", np.log(Y)])
def test_an_origin_that_is_no_number_is_refused(wrong):
    with pytest.raises(TypeError, match=r"Wrong\.origin must return a number, got "):
        fit("origin", lambda self, y, exposure, weight: wrong)


def test_an_origin_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match=r"Wrong\.origin must return a finite number, got -inf"):
        fit("origin", lambda self, y, exposure, weight: -np.inf)
