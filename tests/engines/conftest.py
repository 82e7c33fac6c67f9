"""A cluster of two processes on this machine for the tests of this folder; other engines."""

import pytest
from engines.engines import InProcess, Threads


@pytest.fixture(scope="package")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


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
