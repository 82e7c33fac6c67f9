"""Settings for all tests."""

import re
from pathlib import Path

import pytest

# The batteries live beside their tests; their assertions should explain themselves as well.
pytest.register_assert_rewrite(
    "laws.atom_laws",
    "laws.design_laws",
    "laws.group_laws",
    "laws.head_laws",
    "laws.jordan_laws",
    "laws.kernel_laws",
    "laws.measure_laws",
    "laws.sampling_laws",
    "laws.weight_laws",
)

THOROUGH = re.compile(
    "|".join(
        line
        for line in Path(__file__).with_name("thorough.txt").read_text().splitlines()
        if line and not line.startswith("#")
    )
)
"""Cases that ``make test`` leaves out and ``make test-all`` has."""


def pytest_collection_modifyitems(items):
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)
