"""Every law of measures of histograms, for every scheme."""

import numpy as np
import pytest
from laws import histogram_laws as laws
from laws.registry import HISTOGRAM_CASES

from bochner.experimental import ChiSquared, Intersection, JensenShannon

# The uniforms of structured draws are those of orthogonal ones.
PAIRS = [
    (case, scheme)
    for scheme in laws.SCHEMES
    for case in HISTOGRAM_CASES
    if scheme != "structured" or case.dim == 1
]


@pytest.mark.parametrize(("case", "scheme"), PAIRS, ids=str)
def test_unbiased(case, scheme):
    for m in (3, 24):
        laws.check_unbiased(case, scheme, m)


@pytest.mark.parametrize("kernel", [ChiSquared(), Intersection(), JensenShannon()], ids=repr)
def test_spectrum(kernel):
    laws.check_spectrum(kernel)


def test_the_variance_of_signs():
    rows = np.array([[3, 1, 0, 0.5], [1, 1, 2, 0], [2, 0, 0, 0.5], [3, 1, 1, 1], [0, 0, 1, 0]])
    laws.check_variance(rows)
