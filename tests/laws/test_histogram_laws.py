"""Every law of measures of histograms, for every scheme."""

import numpy as np
import pytest
from laws import histogram_laws as laws
from laws.registry import HISTOGRAM_CASES

from bochner.kernels import ChiSquared, Intersection, JensenShannon


@pytest.mark.parametrize("scheme", laws.SCHEMES)
@pytest.mark.parametrize("case", HISTOGRAM_CASES, ids=str)
def test_unbiased(case, scheme):
    if scheme == "structured" and case.dim > 1:
        pytest.skip("the uniforms of structured draws are those of orthogonal ones")
    for m in (3, 24):
        laws.check_unbiased(case, scheme, m)


@pytest.mark.parametrize("kernel", [ChiSquared(), Intersection(), JensenShannon()], ids=repr)
def test_spectrum(kernel):
    laws.check_spectrum(kernel)


def test_the_variance_of_signs():
    rows = np.array([[3, 1, 0, 0.5], [1, 1, 2, 0], [2, 0, 0, 0.5], [3, 1, 1, 1], [0, 0, 1, 0]])
    laws.check_variance(rows)
