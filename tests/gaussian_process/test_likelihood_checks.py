"""Where Newton's method fails, derivatives of a likelihood are compared with its log density."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from gaussian_process.test_laplace import cases, every

from bochner.gaussian_process import PoissonLikelihood, SoftmaxLikelihood
from bochner.gaussian_process.likelihood import check_derivatives

N_LATENT = {"SoftmaxLikelihood": 3}


def blame(likelihood, y, f=0.3):
    """Return the message, which is empty if no derivative is blamed."""
    n_latent = N_LATENT.get(type(likelihood).__name__.removeprefix("Wrong"), 1)
    try:
        check_derivatives(likelihood, y, np.full((len(y), n_latent), f))
    except ValueError as error:
        return str(error)
    return ""


def wrong(likelihood, method, change):
    """Return a copy of a likelihood one of whose methods is changed."""
    right = getattr(type(likelihood), method)
    changed = {method: lambda self, y, f: change(right(self, y, f))}
    made = type(f"Wrong{type(likelihood).__name__}", (type(likelihood),), changed)
    copy = object.__new__(made)
    for name in getattr(likelihood, "__dataclass_fields__", ()):
        object.__setattr__(copy, name, getattr(likelihood, name))
    return copy


@every
def test_the_derivative_that_is_wrong_is_named(likelihood, y):
    assert blame(likelihood, y) == ""
    for method in ("slope", "curvature"):
        for change in (np.negative, lambda values: 1.05 * values, np.zeros_like):
            message = blame(wrong(likelihood, method, change), y)
            assert message.startswith(f"{method} of Wrong"), message
        assert blame(wrong(likelihood, method, lambda values: 1.001 * values), y) == ""


@pytest.mark.parametrize("method", ["slope", "curvature"])
def test_one_latent_function_of_several_is_enough(method):
    likelihood, y = next(case for case in cases() if isinstance(case[0], SoftmaxLikelihood))

    def last_doubled(values):
        values = values.copy()
        values[..., -1] *= 2.0
        return values

    assert blame(wrong(likelihood, method, last_doubled), y).startswith(f"{method} of Wrong")


@dataclass(frozen=True, slots=True)
class DoubleSlope(PoissonLikelihood):
    """Counts whose slope is twice too large."""

    def slope(self, y, f):
        return 2.0 * (y - np.exp(f))


@dataclass(frozen=True, slots=True)
class NoCurvature(PoissonLikelihood):
    """Counts whose curvature is missing."""

    def curvature(self, y, f):
        return np.zeros(np.broadcast(y, f).shape)


def test_the_numbers_are_those_of_the_formula():
    """Slope and curvature of counts of mean ``exp(f)`` are ``y - exp(f)`` and ``exp(f)``."""
    y = np.array([0.0, 2.0, 7.0])
    for likelihood, expected in (
        (DoubleSlope(), lambda y, f: y - np.exp(f)),
        (NoCurvature(), lambda y, f: np.exp(f)),
    ):
        numbers = re.search(
            r"at f = (\S+), y = (\S+): got (\S+), expected (\S+)\.$", blame(likelihood, y)
        )
        assert numbers is not None
        f, target, got, difference = map(float, numbers.groups())
        np.testing.assert_allclose(difference, expected(target, f), rtol=1e-3)
        method = likelihood.slope if isinstance(likelihood, DoubleSlope) else likelihood.curvature
        np.testing.assert_allclose(got, method(target, f), rtol=1e-3, atol=1e-12)


def test_values_that_overflow_are_not_blamed():
    assert blame(PoissonLikelihood(), np.array([1.0, 3.0]), f=1e3) == ""
