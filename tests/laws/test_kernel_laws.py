"""Every law of kernels, for every kernel."""

import inspect

import pytest
from laws.kernel_laws import (
    CHECKS,
    EVERY,
    check_constant_diagonal,
    check_domain,
    check_profile,
)
from laws.registry import CASES, PROFILED_CASES, anywhere

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
    assert {type(case.kernel) for case in (*CASES, *PROFILED_CASES)} == concrete
