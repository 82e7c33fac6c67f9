"""The benchmark of predicted costs: its files, its chunks and its page."""

import numpy as np
import pytest
from pages import rows_of, table_lines

from benchmarks import find
from benchmarks import plan as design
from benchmarks.harness import Options


def test_files_hold_the_rows_of_their_chunks(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(design, "_STREAMED", 30)
    design._write(tmp_path / "rows.parquet", 70, 3)
    ((X, y),) = design._parquet(tmp_path / "rows.parquet")
    parts = [design._rows(size, 3, seed) for size, seed in ((30, 0), (30, 30), (10, 60))]
    np.testing.assert_array_equal(X, np.concatenate([part[0] for part in parts]))
    np.testing.assert_array_equal(y, np.concatenate([part[1] for part in parts]))
    assert design._read_rate(tmp_path / "rows.parquet") > 0.0


def test_every_fit_has_measured_and_predicted_costs():
    for method in (design.CHOLESKY, design.CG):
        (cell,) = (c for c in design._cells(Options(quick=True)) if c.method == method)
        found = design._run(cell, Options(quick=True))
        for what in ("seconds", "megabytes"):
            assert {f"fit_{what}", f"predicted_{what}"} <= set(found)
        assert found["predicted_seconds"] > 0.0
    assert found["steps"] == pytest.approx(found["predicted_steps"], abs=3)


def test_the_page_shows_ratios_of_predicted_to_measured():
    where = {"dataset": "normal", "part": "ridge", "n": 1000, "d": 3, "p": 64}
    rows = [
        *rows_of("cholesky", "fit_seconds", 2.0, **where),
        *rows_of("cholesky", "predicted_seconds", 3.0, **where),
        *rows_of("cholesky", "fit_megabytes", 50.0, **where),
        *rows_of("cholesky", "predicted_megabytes", 40.0, **where),
    ]
    lines = table_lines(find("plan").page(rows))["cholesky"]
    assert lines == [["1,000", "2", "3", "1.50"], ["1,000", "50", "40", "0.80"]]
