"""The rows of a regression: their features, their parts and their blocks."""

import numpy as np
import pytest
from laws import inference_laws
from numpy.testing import assert_allclose, assert_array_equal

from bochner._base import limits
from bochner.learned.chain_state import InverseGammaNoise, evidence_of
from bochner.learned.training_data import TrainingData
from bochner.spectral.wave_formulas import MemoryLayout, wave_features


@pytest.mark.parametrize(("n", "d", "m"), [(30, 3, 4), (9, 3, 4), (1, 1, 1)])
@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-14), (np.float32, 1e-6)])
def test_features_are_cosines_and_sines_in_turn_where_they_are_asked_for(n, d, m, dtype, atol):
    case = inference_laws.problem(n=n, d=d, m=m)
    inputs, out = case.rows(dtype).inputs, np.full((2 * m + 1, n), -7.0, dtype)
    found = wave_features(inputs, case.omega, MemoryLayout.BY_WAVE, amplitude=1.0 / np.sqrt(m))
    assert found.dtype == dtype
    assert_allclose(found, case.design(case.omega).T, rtol=1e-12, atol=atol)
    same = wave_features(
        inputs, case.omega, MemoryLayout.BY_WAVE, amplitude=1.0 / np.sqrt(m), out=out[: 2 * m]
    )
    assert np.shares_memory(same, out)
    assert_array_equal(same, found)
    assert_array_equal(out[-1], -7.0)


@pytest.mark.parametrize(("block_bytes", "n_blocks"), [(1, 4), (8 * 10 * 300, 4), (2**24, 1)])
def test_blocks_cover_every_row_once(monkeypatch, block_bytes, n_blocks):
    monkeypatch.setattr(limits, "BLOCK_BYTES", block_bytes)
    rows = TrainingData.of(np.zeros((1000, 1)), np.zeros(1000))
    blocks = list(rows.blocks(10))
    assert len(blocks) == n_blocks
    assert_array_equal(np.concatenate([np.arange(1000)[block] for block in blocks]), range(1000))


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


@pytest.mark.parametrize("block_bytes", [1, 2**24])
def test_sums_over_blocks_are_those_over_all_rows(monkeypatch, block_bytes):
    monkeypatch.setattr(limits, "BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(0)
    X, y, column = rng.normal(size=(1000, 2)), rng.normal(size=1000), rng.normal(size=1000)
    rows = TrainingData.of(X, y, n_threads=2)

    def moments(part, values, absent, power):
        assert absent is None
        return part.inputs @ values**power, float(part.target @ values)

    vector, number = rows.total(moments, 2, along=(column, None), n_features=3)
    assert_allclose(vector, X.T @ column**2)
    assert_allclose(number, y @ column)
    assert vector.dtype == number.dtype == np.float64
