"""The cost model says of a pass what can be counted, and roughly what can be timed."""

from dataclasses import replace
from time import perf_counter

import dask.array as da
import numpy as np
import pytest
from dask.sizeof import sizeof

from bochner.distributed import passes
from bochner.distributed.cost import Machine, PassCost
from bochner.features.chunks import Chunk
from bochner.features.stats import chunk_sums
from bochner.features.targets import Numbers
from bochner.frequencies import Frequencies

MACHINE = Machine(4e-11, 5e-9)
COST = PassCost(1_000_000, 20, 512, 4, 8, MACHINE)


def test_sums_have_the_size_that_is_told():
    p, t = 64, 2
    frequencies = Frequencies(np.ones((p // 2, 3)), np.ones(p // 2))
    chunk = Chunk(np.ones((5, 3)), np.ones((5, t)))
    sums = chunk_sums([chunk], frequencies, Numbers(np.zeros(t)))
    cost = replace(COST, p=p, t=t)
    assert passes.sizeof is sizeof
    assert abs(cost.sum_bytes - sizeof(sums)) <= 16 * t


def test_workers_move_no_more_than_is_predicted(client):
    from bochner import KreinRidge

    p, b = 256, 8
    X = da.random.default_rng(0).normal(size=(4000, 3), chunks=(500, 3)).persist()
    y = X[:, 0]
    model = KreinRidge(n_components=p, alpha="evidence", length_scale=1.0, random_state=0)
    model.fit(X, y)

    def sent(dask_worker):  # Inside, so that it is sent by value: workers know no tests.
        return dask_worker.transfer_outgoing_bytes_total

    before = sum(client.run(sent).values())
    model.fit(X, y)
    moved = sum(client.run(sent).values()) - before
    rows = 2 * 4000 * 4 * 8
    assert moved <= (b + 1) * PassCost(4000, 3, p, 2, b, MACHINE).sum_bytes + rows + 1e5


@pytest.mark.slow
def test_the_machine_is_measured():
    machine = Machine.measured(5, 256, n=5000)
    predicted = PassCost(20_000, 5, 256, 1, 1, machine).compute_seconds
    frequencies = Frequencies(np.random.default_rng(0).normal(size=(128, 5)), np.ones(128))
    rng = np.random.default_rng(1)
    chunk = Chunk(rng.normal(size=(20_000, 5)), rng.normal(size=20_000))
    start = perf_counter()
    chunk_sums([chunk], frequencies, Numbers(np.zeros(1)))
    assert 0.2 < predicted / (perf_counter() - start) < 5.0
