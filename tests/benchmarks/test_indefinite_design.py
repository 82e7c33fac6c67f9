"""The design of the benchmark of indefinite kernels, and its rows."""

import numpy as np
import pytest

from benchmarks.indefinite import design
from benchmarks.indefinite.design import rows_of

DELTA = design.MAIN[0]


def test_classifiers_are_trained_where_it_is_affordable():
    study, method = design.STUDIES[DELTA], design.METHODS[design.DESIGNED]
    for p, few in ((512, [0, 1]), (2048, [0]), (6912, [])):
        assert [seed for seed in range(10) if design.learns(study, method, p, seed)] == few
    assert not design.learns(study, design.METHODS[design.DESIGNED_IID], 512, 0)
    assert not design.learns(design.STUDIES["NTK"], method, 512, 0)


def test_letter_is_split_as_in_the_paper(tmp_path):
    """From rows all of whose values differ."""
    values = np.random.default_rng(1).permutation(60_000).astype(float)
    np.savez(tmp_path / "letter.npz", X=values.reshape(-1, 3), y=np.arange(20_000) % 26)
    rows = rows_of("letter", 3, tmp_path, on_sphere=False)
    assert (len(rows.train), len(rows.test)) == (8_000, 6_000)
    assert (len(rows.fit), len(rows.error)) == (5_000, 1_000)
    # Half of 26 letters, and no row in both parts: only clipped values can be in both.
    assert rows.y.mean() == pytest.approx(0.5, abs=0.02)
    assert not (set(rows.train[:, 0]) & set(rows.test[:, 0])) - {0.0, 1.0}
    other = rows_of("letter", 4, tmp_path, on_sphere=False)
    assert not np.array_equal(rows.train, other.train)
