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

WHOLE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.thorough\b", re.MULTILINE)
"""The line of files without a quick test."""


def pytest_ignore_collect(collection_path, config):
    """Do not import files without a quick test where only quick tests run."""
    is_quick = collection_path.suffix == ".py" and "not thorough" in config.option.markexpr
    return True if is_quick and WHOLE.search(collection_path.read_text("utf-8")) else None


def pytest_collection_modifyitems(items):
    """Mark cases as thorough by the expressions of ``thorough_cases``, or all but those."""
    for item in items:
        for mark in item.iter_markers("thorough_cases"):
            pattern = mark.kwargs.get("but", "|".join(mark.args))
            is_named = re.search(pattern, item.name.partition("[")[2][:-1]) is not None
            if is_named != ("but" in mark.kwargs):
                item.add_marker(pytest.mark.thorough)
