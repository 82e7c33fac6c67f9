"""Settings for all tests."""

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
