"""Settings for all tests."""

import pytest

# The batteries live beside their tests; their assertions should explain themselves as well.
pytest.register_assert_rewrite(
    "laws.head_laws", "laws.kernel_laws", "laws.measure_laws", "laws.sampling_laws"
)
