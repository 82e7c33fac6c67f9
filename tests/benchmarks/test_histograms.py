"""The benchmark of histograms: new rows are others, and the sampler has the features it says."""

import numpy as np
import pytest

from benchmarks.harness import Cell, Options
from benchmarks.histograms import _NAMES, HISTOGRAMS, SAMPLED, SAMPLER, split


@pytest.mark.parametrize("name", _NAMES)
def test_new_rows_are_others(name):
    first, second = split(name, 0)
    assert first.shape == second.shape
    assert min(first.min(), second.min()) >= 0.0
    both = np.unique(np.vstack((first, second)), axis=0)
    # Short passages are in the data more than once.
    assert len(both) > 0.95 * 2 * len(first)


def test_the_sampler_of_one_step_has_larger_errors():
    (part,) = HISTOGRAMS.parts
    settings = {"kernel": "chi_squared", "features": 64}
    errors = [
        part.measure(Cell("digits", method, 0, settings), Options())["error"]
        for method in (SAMPLED, SAMPLER)
    ]
    assert errors[0] < errors[1] < 0.2
