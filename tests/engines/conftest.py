"""A cluster of two processes on this machine for the tests of this folder; other engines."""

from contextlib import ExitStack
from functools import cache

import pytest
from engines.engines import InProcess, Threads

RUNNING = ExitStack()


@cache
def started():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "silence_logs": 50}
    return RUNNING.enter_context(distributed.LocalCluster(**options, dashboard_address=None))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem):
    """Stop the cluster after the last test of this folder: an idle one takes a tenth of a core."""
    if nextitem is None or "engines" not in nextitem.path.parts:
        RUNNING.close()
        started.cache_clear()


@pytest.fixture
def cluster():
    return started()


@pytest.fixture(params=["no cluster", "two workers"])
def dask_place(request):
    """Where Dask computes: in threads of this process, or on the cluster."""
    if request.param == "no cluster":
        yield None
        return
    from distributed import Client

    with Client(request.getfixturevalue("cluster")) as client:
        yield client


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster) as made:
        yield made


@pytest.fixture(params=[InProcess, Threads], ids=["in process", "threads"])
def engine(request):
    """An executor, with a method that places parts where it takes them."""
    return request.param()
