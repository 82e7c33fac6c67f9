"""Every law of measures, for every kernel's measure."""

import pytest
from laws import measure_laws
from laws.measure_laws import CHECKS, FAMILY_ALPHA
from laws.registry import CASES

from bochner import kernels

ISOTROPIC = [
    case
    for case in CASES
    if isinstance(
        case.kernel,
        kernels.Gaussian | kernels.Exponential | kernels.Matern | kernels.RationalQuadratic,
    )
]
PRODUCTS = [case for case in CASES if isinstance(case.kernel, kernels.Laplacian | kernels.Cauchy)]
SPARSE = [case for case in CASES if isinstance(case.kernel, kernels.Anova)]
ALPHA = FAMILY_ALPHA / (len(ISOTROPIC) + len(PRODUCTS) + len(SPARSE))


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_measure(case, check):
    check(case)


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize("case", ISOTROPIC, ids=str)
def test_radius(case):
    measure_laws.check_radius(case, ALPHA)


@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_coordinates(case):
    measure_laws.check_coordinates(case, ALPHA)


@pytest.mark.parametrize("case", SPARSE, ids=str)
def test_inclusion(case):
    measure_laws.check_inclusion(case, ALPHA)
