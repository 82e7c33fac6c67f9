"""Constructors of registered classes, given the parameters of other libraries."""

import inspect

import pytest

import bochner
from bochner import kernels

HINTS = [
    (bochner.FourierFeatures, "gamma", "write length_scale = 1 / sqrt(2 * gamma)"),
    (kernels.Gaussian, "gamma", "write length_scale = 1 / sqrt(2 * gamma)"),
    (kernels.Gaussian, "n_components", "write FourierFeatures(kernel, n_components)"),
    (kernels.Matern, "lengthscale", "did you mean 'length_scale'?"),
    (bochner.KreinRidge, "C", r"write alpha = 1 / (2 * C)."),
    (bochner.GaussianProcessRegressor, "gamma", "write kernel=kernels.Gaussian(length_scale)"),
    (kernels.ArcCosine, "depth", "its parameters are order."),
]


@pytest.mark.parametrize(("cls", "name", "hint"), HINTS, ids=lambda part: str(part)[-20:])
def test_an_unknown_parameter_is_answered_with_what_to_write(cls, name, hint):
    assert "values" not in inspect.signature(cls).parameters
    with pytest.raises(TypeError) as caught:
        cls(**{name: 1.0})
    assert f"{cls.__name__}() got an unexpected keyword argument {name!r}: {hint}" in str(
        caught.value
    )


def test_the_gamma_of_the_hint_gives_the_same_kernel():
    rows, gamma = [[0.0, 1.0], [2.0, 0.5]], 0.3
    ours = kernels.Gaussian(length_scale=1.0 / (2.0 * gamma) ** 0.5)(rows)
    assert ours == pytest.approx(
        pytest.importorskip("sklearn.metrics.pairwise").rbf_kernel(rows, gamma=gamma)
    )
