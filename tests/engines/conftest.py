"""A cluster of two processes on this machine, one for all tests of a worker; other engines."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from engines.engines import InProcess, OnRay, OnSpark

TESTS = Path(__file__).parents[1]
PATHS = [str(TESTS), str(TESTS.parent / "src")]
"""Where workers find the functions of tests and the library."""

ENGINES = [
    "in process",
    pytest.param("ray", marks=pytest.mark.slow),
    pytest.param("spark", marks=pytest.mark.slow),
]


@pytest.fixture(scope="session")
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


@pytest.fixture(scope="session")
def ray_here():
    ray = pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(PATHS))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=3 * 10**9
        )
        yield OnRay()
        ray.shutdown()


@pytest.fixture(scope="session")
def spark_here():
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(PATHS))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        # Two cores; a task may fail three times.
        builder = sql.SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield OnSpark(session)
        session.stop()


@pytest.fixture(params=ENGINES)
def engine(request):
    """An executor, with a method that places parts where it takes them."""
    fixture = {"ray": "ray_here", "spark": "spark_here"}.get(request.param)
    return InProcess() if fixture is None else request.getfixturevalue(fixture)


@pytest.fixture(params=ENGINES[1:])
def real_engine(request):
    return request.getfixturevalue(f"{request.param}_here")
