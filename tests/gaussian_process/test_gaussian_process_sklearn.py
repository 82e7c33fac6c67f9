"""scikit-learn's own tests of Gaussian processes, run with this package's classes."""

from types import FunctionType

import pytest
from sklearn.gaussian_process.tests import test_gpc, test_gpr

import bochner

pytestmark = pytest.mark.slow

# Tests that look inside, and the reason. Empty: all of them run.
LEFT_OUT: dict[str, str] = {}


@pytest.fixture
def global_random_seed():
    return 42  # The seed of scikit-learn's tests unless another one is set


def adopted(module, **classes):
    """Return the module's tests as functions in which names mean other classes."""
    names = {**vars(module), **classes}
    for name, function in vars(module).items():
        if not name.startswith("test_") or name in LEFT_OUT:
            continue
        made = FunctionType(
            function.__code__, names, name, function.__defaults__, function.__closure__
        )
        made.__dict__.update(function.__dict__)
        # scikit-learn expects some gradients to fail on some machines, and says so of all of them.
        made.pytestmark = [
            pytest.mark.xfail(strict=False, **mark.kwargs).mark if mark.name == "xfail" else mark
            for mark in getattr(function, "pytestmark", [])
        ]
        yield f"{name}_{module.__name__.rpartition('_')[2]}", made


globals().update(adopted(test_gpc, GaussianProcessClassifier=bochner.GaussianProcessClassifier))
globals().update(adopted(test_gpr, GaussianProcessRegressor=bochner.GaussianProcessRegressor))
