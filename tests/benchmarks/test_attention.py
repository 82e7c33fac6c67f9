"""The benchmark of positive features: what they are compared with approximates attention."""

import numpy as np
import pytest

from benchmarks.attention import _NAMES, FAVOR, FITTED, favor, ratios, split, trigonometric
from bochner.features.positive_features import attention_error, exact_attention

X, Y = np.random.default_rng(0).normal(size=(2, 30, 4))


def test_both_peers_become_exact():
    found = favor(4, 40_000, 8.0, 0)
    assert attention_error(found, X, Y) < 0.03
    exact = exact_attention(found, X, Y)
    error = trigonometric(X, Y, 40_000, 8.0, 0) - exact
    assert np.linalg.norm(error) < 0.03 * np.linalg.norm(exact)


@pytest.mark.parametrize("name", _NAMES)
def test_new_rows_are_others(name):
    parts, size = split(name, 0)
    assert len({part.shape[1] for part in parts}) == 1
    assert size > 0.0
    rows = [tuple(row) for part in parts for row in part]
    # Some digits are in the data more than once, and so are short passages.
    assert len(set(rows)) > 0.95 * len(rows)


def test_ratios_are_medians_over_temperatures():
    rows = [
        {"dataset": "a", "features": 64, "method": method, "temperature": t, "seed": 0,
         "metric": "attention_error", "value": value}
        for t, ours in ((1.0, 0.2), (2.0, 0.6), (4.0, 1.0))
        for method, value in ((FAVOR, 2.0), (FITTED, ours))
    ]  # fmt: skip
    assert ratios(rows, "attention_error")["a", 64, FITTED] == pytest.approx(0.3)
