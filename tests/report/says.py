"""Whether a text states some numbers, to the last digit that it shows."""

import re

import numpy as np

NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?:e[−-]?\d+)?(?![\w:-])")
HALF = 0.5 + 1e-6


def says(text, *expected):
    """Assert that the numbers of a text are the expected ones, in order and as far as shown."""
    found = NUMBER.findall(text)
    assert len(found) == len(expected), (text, expected)
    for shown, value in zip(found, expected, strict=True):
        digits, _, power = shown.replace(",", "").replace("−", "-").partition("e")
        unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
        assert abs(float(digits) * 10.0 ** int(power or 0) - value) <= HALF * unit, (text, expected)


def mean_error(values, clusters=None):
    """Return the mean and its standard error, by sums of groups if there are some."""
    gaps = values - values.mean()
    if clusters is not None:
        gaps = np.array([gaps[clusters == name].sum() for name in np.unique(clusters)])
    k = len(gaps)
    return values.mean(), np.sqrt(k / (k - 1) * np.sum(gaps**2)) / len(values)
