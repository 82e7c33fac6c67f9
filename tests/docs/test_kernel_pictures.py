"""The pictures of kernels show what the library computes."""

import sys

import numpy as np
import pytest
from docs.test_pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import kernel_pictures

from bochner import kernels

FREQUENCIES = np.linspace(0.0, 6.0, 13)


@pytest.mark.parametrize(
    ("kernel", "closed_form", "tolerance"),
    [
        (kernels.Gaussian(1.0), lambda w: np.exp(-(w**2) / 2) / np.sqrt(2 * np.pi), 1e-7),
        (kernels.Matern(1.0, nu=0.5), lambda w: 1 / (np.pi * (1 + w**2)), 3e-6),
        (kernels.Cauchy(1.0), lambda w: np.exp(-w) / 2, 3e-3),  # The rest from lag 120 on
    ],
)
def test_densities_are_those_of_closed_forms(kernel, closed_form, tolerance):
    found = kernel_pictures.density(kernel, FREQUENCIES)
    np.testing.assert_allclose(found, closed_form(FREQUENCIES), rtol=0.0, atol=tolerance)


@pytest.mark.parametrize("drawn", kernel_pictures.STATIONARY, ids=lambda drawn: drawn.name)
def test_the_code_of_a_kernel_makes_it_and_the_page_shows_no_other_tail(drawn):
    ends = np.array([[kernel_pictures.LAGS[-1]]])
    periodic = isinstance(drawn.kernel, kernels.Periodic)
    assert periodic or abs(drawn.kernel(ends, [[0.0]])[0, 0]) < 2e-4


def test_functions_have_the_covariance_of_their_kernel():
    kernel = kernels.Matern(1.0, nu=1.5)
    functions = kernel_pictures.draws(kernel, 20_000)
    found = functions @ functions.T / 20_000
    np.testing.assert_allclose(found, kernel(kernel_pictures.PLACES), atol=0.06)  # Six deviations
