"""Workers that pause, run out of memory, or are restarted: the same result, or an error."""

import numpy as np
import pytest
from engines.engines import visits
from engines.tables import NEW, TABLE, Y, deadly_rows, few_rows, on_dask, parts, regressor

pytest.importorskip("distributed")
import dask.dataframe as dd
from dask import delayed
from distributed import Client, LocalCluster


@pytest.fixture
def client():
    """A cluster of its own, which a test may break; workers have a gigabyte."""
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB"}
    with (
        LocalCluster(**options, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.mark.slow
def test_a_worker_killed_in_a_pass_changes_no_table(client, tmp_path, monkeypatch):
    few_rows(monkeypatch, 400)
    X, y, _ = on_dask(Y)
    expected = regressor().fit(X, y).predict(NEW)
    log = str(tmp_path / "visits")
    cut = dd.from_delayed(
        [delayed(deadly_rows)(part, place == 1, log) for place, part in enumerate(parts(TABLE))],
        meta=X._meta,
        verify_meta=False,
    )
    found = regressor().fit(cut, y).predict(NEW)
    assert visits(log) > 3
    np.testing.assert_array_equal(found, expected)
