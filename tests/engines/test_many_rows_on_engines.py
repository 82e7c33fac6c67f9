"""Ten million rows on local engines, with a worker killed on the way."""

from functools import partial
from time import perf_counter

import numpy as np
import pytest
from engines.engines import Deadly, deadly, generated, visits
from engines.rows import relative_error

from bochner import KreinRidge
from bochner.engines import PartitionedRows

N_PARTS = 100
"""Partitions of 100,000 rows each."""

DEADLY = 37
"""The partition that kills its worker."""


def ridge():
    # The evidence is found from products in float64: those in float32 differ by more than 1e-10.
    return KreinRidge(n_components=256, length_scale=3.0, alpha="evidence", random_state=0)


def timed(rows):
    start = perf_counter()
    model = ridge().fit(*rows)
    return model, perf_counter() - start


@pytest.fixture(scope="module")
def here():
    parts = [generated(index) for index in range(N_PARTS)]
    rows = [np.concatenate(column) for column in zip(*parts, strict=True)]
    model, seconds = timed(rows)
    print(f"\nin memory: {seconds:.0f} s")
    return model


def check(name, parts, executor, here, log):
    model, seconds = timed((PartitionedRows(executor, parts),))
    error = max(
        relative_error(getattr(model.sums_, part), getattr(here.sums_, part))
        for part in ("gram", "cross", "square", "features")
    )
    print(f"\n{name}: {seconds:.0f} s, error of sums {error:.1e}")
    assert visits(log) == 4
    assert model.sums_.n_samples == 10**7
    assert error < 1e-10


@pytest.mark.slow
def test_ray_fits_ten_million_rows(ray_here, here, tmp_path):
    import ray

    log, generate = str(tmp_path / "visits"), ray.remote(generated)
    parts = [generate.remote(index) for index in range(N_PARTS)]
    parts[DEADLY] = ray.put(Deadly(generated(DEADLY), log))
    check("Ray", parts, ray_here.executor, here, log)


@pytest.mark.slow
def test_spark_fits_ten_million_rows(spark_here, here, tmp_path):
    log = str(tmp_path / "visits")
    context = spark_here.session.sparkContext
    parts = context.parallelize(range(N_PARTS), N_PARTS).map(partial(deadly, DEADLY, log))
    check("Spark", parts, spark_here.executor, here, log)
