"""Amounts of memory and of time, as users write and read them."""

import pytest

from bochner._base.number_texts import as_bytes, duration


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "0.25 s"), (90.0, "90 s"), (600.0, "10 min"), (1e4, "3 h"), (1e6, "12 days")],
)
def test_times_in_words(seconds, text):
    assert duration(seconds) == text
