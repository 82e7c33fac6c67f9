"""Fields of the noise at rows whose weights are precisions: densities of single observations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bochner.learned.noise_field import part_field_likelihood, part_level, part_squares
from bochner.learned.training_data import ScaledData, TrainingData

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(12, 2)), RNG.normal(size=12)
COUNTS = np.array([1.0, 3.0] * 6)
PRECISIONS = RNG.uniform(0.2, 4.0, size=12)
EACH = np.repeat(np.arange(12), COUNTS.astype(int))
"""The row of every observation."""

KINDS = {"precisions": (PRECISIONS * COUNTS, COUNTS), "counts": (COUNTS, None)}


def rows(kind):
    """Rows, and the precision of each observation."""
    weight, repeats = KINDS[kind]
    data = TrainingData.of(X, Y, np.ones((12, 1)), weight, repeats=repeats)
    return data, (PRECISIONS if kind == "precisions" else np.ones(12))[EACH]


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_of_the_noise_has_the_density_of_observations(kind):
    data, precision = rows(kind)
    field, variance = RNG.normal(size=12), 0.3
    values = []
    for h in (field, np.zeros(12)):
        squares = part_squares(data, np.ones((1, 12)), None, np.zeros(1), variance)
        found = part_field_likelihood(data, h, squares)[0]
        scale = np.sqrt(variance * np.exp(h[EACH]) / precision)
        values.append(found - stats.norm(scale=scale).logpdf(Y[EACH]).sum())
    assert_allclose(values[0], values[1], atol=1e-10)
    assert_allclose(part_level(data, field)[0], field[EACH].sum())


def test_parts_of_chains_have_counts_of_their_own():
    data = ScaledData(X, Y, np.ones((12, 1)), PRECISIONS * COUNTS, False, repeats=COUNTS)
    index = np.array([1, 4])
    assert data.subset(index).rows().n_observations == 4.0
    part = data.weighted_subset(index, np.array([0.3, 0.7]), np.array([2.0, 1.0]))
    assert part.rows().n_observations == 3.0
    counted = ScaledData(X, Y, np.ones((12, 1)), COUNTS, False)
    assert counted.weighted_subset(index, np.ones(2), np.ones(2)).repeats is None
