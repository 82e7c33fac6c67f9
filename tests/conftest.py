"""Settings for all tests."""

import re

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
        (
            # Planted bugs are for the laws, and those that they need run anyway.
            r"tests/mutants/test_mutants",
            # Laws of samples on the line and in many inputs: those of the plane see as much.
            r"tests/laws/test_\w+::test_(samples_are|dependent|independent|estimates|fitted_masses"
            r"|at_zero|kernel|measure|radius).*\b(1|5|20)d-",
        )
    )
)
"""Cases that ``make test`` leaves out and ``make test-all`` has."""


def pytest_collection_modifyitems(items):
    for item in items:
        if THOROUGH.search(item.nodeid):
            item.add_marker(pytest.mark.thorough)
