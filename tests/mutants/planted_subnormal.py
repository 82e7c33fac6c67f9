"""Bugs of kernel values that are too small, each with the test that must notice it."""

import numpy as np
from mutants.registry import planted, replaces
from tables import test_subnormal

from bochner.tables import kernel_columns, kernel_laws, leave_one_out
from bochner.tables import kernel_search as search


def as_they_are(values):
    return values


def of_doubles(values):
    return np.maximum(values, np.finfo(np.float64).eps ** 2, out=values)


for module, check in (
    (leave_one_out, test_subnormal.check_factors),
    (kernel_laws, test_subnormal.check_laws),
    (search, test_subnormal.check_noise),
):
    for wrong in (as_they_are, of_doubles):
        name = f"{wrong.__name__}_in_{module.__name__.rpartition('.')[2]}"
        replaces(module, "floored", check, name=name)(wrong)

planted(test_subnormal.check_loops, name="arguments_as_large_as_normal_numbers_allow")(
    lambda patch: patch.setattr(kernel_columns, "_LARGEST_ARGUMENTS", {4: 87.0, 8: 708.0})
)
