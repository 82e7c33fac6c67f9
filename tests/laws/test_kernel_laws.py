"""Every law of kernels, for every kernel."""

from itertools import product

import pytest
from laws import kernel_laws as laws
from laws.registry import (
    BILINEAR_CASES,
    CASES,
    FINITE_CASES,
    HARMONIZABLE_CASES,
    LOCAL_CASES,
    PROFILED_CASES,
    SKEWED_CASES,
    anywhere,
    concrete_kernels,
)

from bochner.kernels import Metric, Profiled, White

ALONE = [case for case in PROFILED_CASES if isinstance(case.kernel, Profiled)]


SYMMETRIC = [*product(CASES, laws.CHECKS), *product(PROFILED_CASES, laws.EVERY)]
OTHER = [
    *product(LOCAL_CASES, laws.EVERY),
    *product(SKEWED_CASES, [*laws.ASYMMETRIC, laws.check_stationary]),
]


def name(value):
    return getattr(value, "__name__", str(value))


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize(("case", "check"), SYMMETRIC, ids=name)
def test_kernel(case, check):
    check(case)


@pytest.mark.parametrize(("case", "check"), OTHER, ids=name)
def test_locally_stationary_or_asymmetric_kernel(case, check):
    check(case)


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize("case", BILINEAR_CASES, ids=str)
def test_kernel_of_mapped_inputs(case):
    for check in laws.EVERY if case.kernel.is_symmetric else laws.ASYMMETRIC:
        check(case)


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize("case", HARMONIZABLE_CASES, ids=str)
def test_kernel_of_correlated_frequencies(case):
    for check in laws.EVERY:
        check(case)


@pytest.mark.thorough_cases("1d")
@pytest.mark.parametrize("case", FINITE_CASES, ids=str)
def test_kernel_of_finitely_many_frequencies(case):
    for check in laws.EVERY:
        check(case)


@pytest.mark.parametrize("case", ALONE, ids=str)
def test_profile(case):
    laws.check_profile(case)
    if case.kernel.metric is not Metric.INNER_PRODUCT:
        laws.check_constant_diagonal(case)


@pytest.mark.parametrize(
    "case", [case for case in PROFILED_CASES if case.place is not anywhere], ids=str
)
def test_domain(case):
    laws.check_domain(case)


def test_no_kernel_is_left_out():
    symmetric = (*CASES, *PROFILED_CASES, *LOCAL_CASES, *FINITE_CASES)
    cases = (*symmetric, *HARMONIZABLE_CASES, *SKEWED_CASES, *BILINEAR_CASES)
    # What equal rows are to noise depends on whether they are the same; tests/kernels has it.
    assert {type(case.kernel) for case in cases} | {White} == concrete_kernels()
