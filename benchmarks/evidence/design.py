"""Data sets, methods and sizes of the benchmark of learned length scales."""

SETS = ("concrete", "kin8nm", "power_plant")
"""Tables with published splits: of few rows, of a smooth function, and of a rough one."""

SPLITS = 3  # The first of the 20 that are published
SLOW_SPLITS = 1  # Of GPyTorch, which takes up to a quarter of an hour for a split
THREADS = 2  # As many as the machine of the published results has cores

EXACT, EXACT_MATERN, SPARSE = "exact GP", "exact GP, Matérn", "SVGP"
OURS = "bochner, {p} features"
FEATURES = (1_024, 4_096, 8_192)
QUICK_FEATURES = (64,)

GENERATED_ROWS = (10_000, 100_000, 1_000_000)
GENERATED_INPUTS = 8
GENERATED_FEATURES = 1_024

SCHEMES = ("orthogonal", "qmc")
APPROXIMATIONS = (256, 512, 1_024, 2_048, 4_096, 8_192)
QUICK_APPROXIMATIONS = (32, 64)
EXACT_ROWS = 4_000
"""Training rows of the comparison with the exact posterior, 128 MB for its matrix."""
