"""Every law of kernels, for every kernel."""

import inspect

import pytest
from laws.kernel_laws import (
    ASYMMETRIC,
    CHECKS,
    EVERY,
    check_constant_diagonal,
    check_domain,
    check_profile,
    check_stationary,
    check_value_object,
)
from laws.registry import (
    BILINEAR_CASES,
    CASES,
    LOCAL_CASES,
    MODULATED_CASES,
    PROFILED_CASES,
    SKEWED_CASES,
    anywhere,
)

from bochner import kernels
from bochner.kernels import Metric, Profiled

ALONE = [case for case in PROFILED_CASES if isinstance(case.kernel, Profiled)]


def name(check):
    return check.__name__


@pytest.mark.parametrize("check", CHECKS, ids=name)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernel(case, check):
    check(case)


@pytest.mark.parametrize("check", EVERY, ids=name)
@pytest.mark.parametrize("case", PROFILED_CASES, ids=str)
def test_kernel_of_one_number(case, check):
    check(case)


@pytest.mark.parametrize("check", EVERY, ids=name)
@pytest.mark.parametrize("case", LOCAL_CASES, ids=str)
def test_locally_stationary_kernel(case, check):
    check(case)


@pytest.mark.parametrize("check", [*ASYMMETRIC, check_stationary], ids=name)
@pytest.mark.parametrize("case", SKEWED_CASES, ids=str)
def test_asymmetric_kernel(case, check):
    check(case)


@pytest.mark.parametrize("case", BILINEAR_CASES, ids=str)
def test_kernel_of_mapped_inputs(case):
    for check in EVERY if case.kernel.is_symmetric else ASYMMETRIC:
        check(case)


@pytest.mark.parametrize("case", MODULATED_CASES, ids=str)
def test_kernel_of_waves_with_amplitudes(case):
    # Of thousands of waves, the repr says no more than how many.
    for check in [check for check in EVERY if check is not check_value_object]:
        check(case)


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_profile(case):
    check_profile(case)
    if case.kernel.metric is not Metric.INNER_PRODUCT:
        check_constant_diagonal(case)


@pytest.mark.parametrize(
    "case", [case for case in PROFILED_CASES if case.place is not anywhere], ids=str
)
def test_domain(case):
    check_domain(case)


def test_no_kernel_is_left_out():
    concrete = {
        cls
        for cls in vars(kernels).values()
        if inspect.isclass(cls) and issubclass(cls, kernels.Kernel) and not inspect.isabstract(cls)
    }
    symmetric = (*CASES, *PROFILED_CASES, *LOCAL_CASES, *MODULATED_CASES)
    cases = (*symmetric, *SKEWED_CASES, *BILINEAR_CASES)
    assert {type(case.kernel) for case in cases} == concrete
