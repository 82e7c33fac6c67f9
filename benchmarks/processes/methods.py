"""Names of the methods; those whose package is missing are left out."""

from importlib.util import find_spec

FEATURES, LANDMARKS, SPARSE = "features", "features and landmarks", "SVGP"
RANDOM, DRAWN = "random search", "sampled functions"
THOMPSON, IMPROVEMENT = "BoTorch, Thompson", "BoTorch, LogEI"

_PACKAGES = {SPARSE: "gpytorch", THOMPSON: "botorch", IMPROVEMENT: "botorch"}


def installed(method: str) -> bool:
    """Tell whether a method can be run."""
    package = _PACKAGES.get(method)
    return package is None or find_spec(package) is not None
