"""What a fit to partitions reads and moves, as the guide states it."""

import dask.array as da
import numpy as np
import pytest
from engines.engines import InProcess
from engines.rows import LABELS, X, Y

from bochner import KreinRidge, KreinRidgeClassifier
from bochner.engines import PartitionedRows


class Counting(InProcess):
    """Counts passes over the partitions."""

    n_passes = 0

    def map(self, function, parts):
        self.n_passes += 1
        return super().map(function, parts)


def fitted(model, y):
    engine = Counting()
    parts = list(zip(np.split(X, 4), np.split(y, 4), strict=True))
    return model.fit(PartitionedRows(engine, parts)), engine.n_passes


def test_rows_are_read_for_their_number_a_sample_and_the_sums():
    assert fitted(KreinRidge(n_components=32, solver="cholesky"), Y)[1] == 3
    assert fitted(KreinRidgeClassifier(n_components=32), LABELS)[1] == 3 + 2
    model, n_passes = fitted(KreinRidge(n_components=32, solver="cg"), Y)
    # The sums with the targets and each step, and once more for the preconditioner's rows.
    assert n_passes == 3 + model.n_iter_ + 1


@pytest.mark.thorough
def test_the_sums_of_every_partition_move_at_most_once(client):
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
    p += 256  # Check features
    assert moved <= (b + 1) * 8 * p * (p + 2) + rows + 1e5
