"""Numbers as texts."""

import pytest

from bochner._base.number_texts import number, percent, with_error, with_errors


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (999.96, "1,000"), (0.00012345, "0.0001234"),
        (1.2346e-7, "1.235e-7"), (3e6, "3e6"), (-2.5e12, "-2.5e12"), (1e6, "1e6"),
        (12345.0, "12,345"), (float("nan"), "–"), (float("inf"), "–"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.0, 0.5, "1.0 ± 0.5"), (1234.5, 12.0, "1,234 ± 12"), (0.1, 0.0, "0.1"),
        (-0.04912, 0.0599, "-0.05 ± 0.06"), (5e7, 2e5, "(5.000 ± 0.020)e7"),
        (1.2e-9, 3.4e-10, "(1.20 ± 0.34)e-9"), (0.0, 1e-8, "(0.0 ± 1.0)e-8"),
    ],
)  # fmt: skip
def test_numbers_with_errors(value, error, text):
    assert with_error(value, error) == text


def test_numbers_of_a_column_have_the_decimals_of_the_least_error():
    assert with_errors([0.5, 32.0], [0.04, 5.0]) == ["0.50 ± 0.04", "32.00 ± 5.00"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"), (0.0001, "less than 0.1 %"), (0.05, "5.0 %"), (0.5, "50 %"), (0.99, "99.0 %"),
        (0.99999, "more than 99.9 %"), (1.0, "100 %"), (-0.25, "-25 %"), (3.5, "350 %"),
        (float("nan"), "–"),
    ],
)  # fmt: skip
def test_shares(share, text):
    assert percent(share) == text
