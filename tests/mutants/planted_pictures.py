"""Bugs of the numbers in pictures, with the tests that must notice them."""

from mutants.registry import plant_edits
from plot import test_kernels

from bochner import plot
from bochner.plot import rankings

plant_edits(
    rankings,
    "interactions",
    test_kernels.assert_pairs,
    users=(plot,),
    pairs_have_one_entry_of_the_matrix=("2.0 * matrix[first", "matrix[first"),
)
