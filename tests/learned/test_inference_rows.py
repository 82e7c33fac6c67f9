"""The rows of a regression: their features, their parts and their blocks."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bochner._base import limits
from bochner.learned.chain_state import InverseGammaNoise, evidence_of
from bochner.learned.training_data import TrainingData


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_change_no_bit(n_threads, monkeypatch):
    rng = np.random.default_rng(3)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 1)
    X, y = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    omega, noise = rng.normal(size=(7, 2)), InverseGammaNoise(2.0, 1.0)
    alone, shared = (
        evidence_of(TrainingData.of(X, y, n_threads=threads), omega, 0.1, noise)
        for threads in (1, n_threads)
    )
    assert_array_equal(alone.gram, shared.gram)
    assert_array_equal(alone.mean, shared.mean)
    assert_array_equal(alone.features, shared.features)
