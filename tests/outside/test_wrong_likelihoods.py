"""Likelihoods of a user's own file that break a promise are refused with what is wrong."""

from dataclasses import dataclass

import numpy as np
import pytest

from bochner import KernelGLMRegressor
from bochner.gaussian_process import PoissonLikelihood

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, size=(60, 1))
Y = RNG.poisson(np.exp(1.0 + np.sin(2.0 * X[:, 0])))


def fit(method, wrong):
    """Fit with a likelihood one of whose methods is wrong."""
    kind = dataclass(frozen=True)(type("Wrong", (PoissonLikelihood,), {method: wrong}))
    KernelGLMRegressor(kind(), n_components=16, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("method", "wrong"),
    [("slope", lambda s, y, f: np.exp(f) - y), ("curvature", lambda s, y, f: -np.exp(f))],
)
def test_wrong_derivatives_find_no_mode(method, wrong):
    with pytest.raises(np.linalg.LinAlgError, match="Compare slope and curvature"):
        fit(method, wrong)


@pytest.mark.parametrize("method", ["log_density", "slope", "curvature"])
@pytest.mark.parametrize(("change", "got"), [(np.sum, r"\(\)")])
def test_values_of_another_shape_are_refused(method, change, got):
    right = getattr(PoissonLikelihood(), method)
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


@pytest.mark.parametrize("wrong", [None, "1.0", np.log(1.0 + Y)])
def test_an_origin_that_is_no_number_is_refused(wrong):
    with pytest.raises(TypeError, match=r"Wrong\.origin must return a number, got "):
        fit("origin", lambda self, y, exposure, weight: wrong)


def test_an_origin_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match=r"Wrong\.origin must return a finite number, got -inf"):
        fit("origin", lambda self, y, exposure, weight: -np.inf)
