"""Data sets, methods and sizes of the benchmark of learned length scales."""

SETS = ("concrete", "kin8nm", "power_plant")
"""Tables with published splits: of few rows, of a smooth function, and of a rough one."""

SPLITS = (1, 2, 3)  # Of the 20 that are published; on split 0 settings were tried
SLOW_SPLITS = (1,)  # Of GPyTorch, which takes up to a quarter of an hour for a split
THREADS = 2  # As many as the machine of the published results has cores

EXACT, SPARSE = "exact GP", "SVGP"
OURS = "bochner, {p} features"
FEATURES = (1_024, 4_096, 8_192)  # The last as many as kin8nm has rows, in 2.7 GB
QUICK_FEATURES = (64,)  # Under a second for 442 rows

GENERATED_ROWS = (10_000, 100_000, 1_000_000)  # Seconds should grow less than rows
GENERATED_INPUTS = 8  # As many as kin8nm has
GENERATED_FEATURES = 1_024  # Twice the default

SCHEMES = ("orthogonal", "qmc")
APPROXIMATIONS = (256, 512, 1_024, 2_048, 4_096, 8_192)  # Features, from half the default on
QUICK_APPROXIMATIONS = (32, 64)  # For a slope of the error
EXACT_ROWS = 4_000
"""Training rows of the comparison with the exact posterior, 128 MB for its matrix."""
