"""Data sets, methods and sizes of the benchmark of learned length scales."""

SETS = ("concrete", "kin8nm", "power_plant")
"""Tables with published splits: of few rows, of a smooth function, and of a rough one."""

SPLITS = (1,)  # One of the 20 published; on split 0 settings were tried
EXACT_SETS = ("concrete", "kin8nm")  # On power_plant GPyTorch takes more than ten minutes
THREADS = 2  # As many as the machine of the published results has cores

EXACT, SPARSE = "exact GP", "SVGP"
FEATURES = (1_024, 4_096)  # Twice the default, and as many as a fit in a minute has
LANDMARKS = 2_048  # Half as many as features: they are half of the cost again
QUICK_FEATURES = (64,)  # Under a second for 442 rows

GENERATED_ROWS = (10_000, 100_000, 1_000_000)  # Seconds should grow less than rows
GENERATED_INPUTS = 8  # As many as kin8nm has
GENERATED_FEATURES = 1_024  # Twice the default

SCHEMES = ("orthogonal", "energy")
APPROXIMATIONS = (256, 512, 1_024, 2_048, 4_096)  # Features, from half the default on
QUICK_APPROXIMATIONS = (32, 64)  # For a slope of the error
EXACT_ROWS = 4_000
"""Training rows of the comparison with the exact posterior, 128 MB for its matrix."""


def ours(quick: bool) -> dict[str, tuple[int, int | None]]:
    """Return features and landmarks by the names of methods."""
    counts = QUICK_FEATURES if quick else FEATURES
    methods: dict[str, tuple[int, int | None]] = {
        f"bochner, {p} features": (p, None) for p in counts
    }
    landmarks = counts[-1] // 2 if quick else LANDMARKS
    methods[f"bochner, {counts[-1]} features and {landmarks} landmarks"] = (counts[-1], landmarks)
    return methods
