"""Numeric limits that several parts of the package share: sizes of blocks, and rounding errors."""

import sys
from typing import Final

MOST_DIAGNOSED: Final = 1000
"""Rows on which a kernel is analysed; eigenvalues of their Gram matrix take cubic time."""

MEBIBYTE: Final = 2**20
"""Bytes, the unit of the sizes below."""

CACHE_BLOCK_BYTES: Final = 2 * MEBIBYTE
"""Features of one block that one thread writes and reads again at once: they should fit into its
share of the last-level cache. Half makes twice the calls from Python; twice may not fit."""

BLOCK_BYTES: Final = 8 * MEBIBYTE
"""Intermediate arrays of one block of rows where nothing else decides. Half makes twice the calls
from Python, twice takes twice the memory in each thread."""

SUMS_BLOCK_BYTES: Final = 32 * MEBIBYTE
"""Features of one block whose products with themselves are added up: 256 rows of 16,384 float64
features. Half halves the inner dimension of these products, twice takes twice the memory."""

CACHED_FEATURES_BYTES: Final = 256 * MEBIBYTE
"""Features of all rows that an iterative method computes once and keeps; more are computed again in
every pass. Twice lets twice the rows be kept, in memory that other processes may need."""

FLOAT64_EPS: Final = sys.float_info.epsilon
"""Spacing of float64 numbers at one, 2.2e-16."""

NEGLIGIBLE: Final = 1e-12
"""Relative size below which a number is a rounding error: 4,500 :data:`FLOAT64_EPS`, as much as so
many operations can leave of an exact zero. Less may report rounding, more hides small values."""

EIGENVALUE_ROUNDING: Final = 1e-10
"""Eigenvalues below this share of the greatest are rounding errors. The eigenvalues of a float64
matrix of order n have errors of about n :data:`FLOAT64_EPS`, and each entry may carry a hundred
roundings. A limit ten times smaller counts noise of large Gram matrices; a limit ten times larger
misses weak negative eigenvalues."""

FUNCTION_ROUNDING: Final = 1e-8
"""Error granted to values of a function that the user wrote: half of the digits of float64, as
differences of close numbers lose the other half. Ten times less refuses functions that lose
more digits; ten times more accepts an asymmetry of 1e-7."""

FLOAT32_ROUNDING: Final = 1e-6
"""Error of one feature in float32, 8 spacings of float32 at one: its angle, wave and weight are
rounded, and sums of features add to it."""

LARGEST_ENTRY: Final = 1e150
"""Size of the largest number in rows: squares of differences and their sums remain finite. A
thousand times more leaves no room for a sum of many."""

LARGEST_TARGET: Final = 1e100
"""Size of the largest target, and inverse of the smallest that the largest may have: its square
times a weight of `LARGEST_WEIGHT`, summed over rows, remains a normal float."""

LARGEST_WEIGHT: Final = 1e50
"""Largest weight of a row, and inverse of the smallest positive one: weights are squared."""
