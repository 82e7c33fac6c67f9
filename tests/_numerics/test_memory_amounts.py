"""Amounts of memory as users write them."""

import pytest

from bochner._numerics.memory import as_bytes


@pytest.mark.parametrize(
    ("given", "n_bytes"),
    [
        (None, None),
        (5, 5),
        ("7", 7),
        ("7B", 7),
        ("2kB", 2000),
        ("2 KiB", 2048),
        ("1GB", 10**9),
        (" 0.5gib ", 2**29),
        ("3T", 3 * 10**12),
    ],
)
def test_amounts(given, n_bytes):
    assert as_bytes(given) == n_bytes


@pytest.mark.parametrize("given", ["much", "1XB", "1.2.3GB", ".", "", "-1GB", 0, -1, True, 1.5, []])
def test_other_things_are_refused(given):
    with pytest.raises(ValueError, match="memory_limit must be"):
        as_bytes(given)
