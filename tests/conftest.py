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

TESTS = Path(__file__).parent


def lines_of(name):
    """Return the lines of a list of tests, without comments."""
    lines = (TESTS / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


THOROUGH = re.compile("|".join(lines_of("thorough.txt")))
"""Cases that ``make test`` leaves out and ``make test-all`` has, by regular expressions."""

LISTED = frozenset(lines_of("thorough_cases.txt"))
"""Files, functions and cases that take long, which ``make test`` leaves out as well."""


def pytest_ignore_collect(collection_path, config):
    """Do not import files without a quick test where only quick tests run."""
    name = f"tests/{collection_path.relative_to(TESTS)}" if collection_path != TESTS else "tests"
    return True if name in LISTED and "not thorough" in config.option.markexpr else None


def pytest_collection_modifyitems(items):
    for item in items:
        function = item.nodeid.partition("[")[0]
        names = (function.partition("::")[0], function, item.nodeid)
        if THOROUGH.search(item.nodeid) or not LISTED.isdisjoint(names):
            item.add_marker(pytest.mark.thorough)
