"""Measures that are designed in less time, for tests of what does not depend on their accuracy."""

from functools import lru_cache

from bochner.spectral import design


def design_roughly(patch):
    """Solve programs of three tolerances in place of sixteen, and keep no measure of theirs."""
    # The least is below that above which fine scales are tried.
    patch.setattr(design, "_TOLERANCES", (0.3, 0.05, 0.9 * design._ROUGH))
    patch.setattr(design, "_cached_search", lru_cache(design._search))
