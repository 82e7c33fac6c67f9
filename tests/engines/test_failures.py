"""Workers that pause, run out of memory, or are restarted: the same result, or an error."""

import numpy as np
import pytest
from engines.engines import visits
from engines.tables import NEW, TABLE, Y, deadly_rows, few_rows, on_dask, parts, regressor

from bochner import KreinRidge

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
from dask import delayed
from distributed import Client, KilledWorker, LocalCluster


@pytest.fixture
def client():
    """A cluster of its own, which a test may break; workers have a gigabyte."""
    options = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB"}
    with (
        LocalCluster(**options, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as made,
    ):
        yield made


def ridge():
    return KreinRidge(n_components=128, length_scale=1.0, random_state=0)


def rows(n=60_000):
    X = da.random.default_rng(0).normal(size=(n, 5), chunks=(3_000, 5))
    return X, X[:, 0] ** 2


def assert_same(found, expected):
    """Sums of partitions may be added in another order."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


# Whether a worker ends depends on how fast the system fills its memory, and on other processes.
@pytest.mark.slow
def test_workers_without_memory_end_in_an_error_that_says_so(client):
    X, y = rows()
    model = ridge().fit(X, y)
    expected = model.coef_
    hungry = X.map_blocks(lambda block: np.ones((len(block), 200_000)).cumsum(axis=1)[:, :5])
    with pytest.raises((KilledWorker, MemoryError), match=r"memory|died|restart|worker"):
        model.fit(hungry, y)
    np.testing.assert_array_equal(model.coef_, expected)
    assert_same(ridge().fit(X, y).coef_, expected)


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
