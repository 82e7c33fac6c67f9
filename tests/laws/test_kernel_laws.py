"""Every law of kernels, for every kernel."""

import pytest
from laws.kernel_laws import CHECKS
from laws.registry import CASES


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_kernel(case, check):
    check(case)
