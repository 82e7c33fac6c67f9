"""Ridge regression on one and on two Dask workers: seconds, and the bytes that they send."""

from collections.abc import Mapping, Sequence
from functools import partial
from operator import add
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.results import Row
from benchmarks.speed.part import Place, by_method, speed_part
from bochner.features.chunks import Numbers
from bochner.features.row_sums import chunk_sums
from bochner.linear.krein_ridge import KreinRidge

ONE, TWO = "one worker", "two workers"

_PARTITIONS = 16  # Eight for each of two workers, so that both end at about the same time


def cluster_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return the seconds of one or two workers, each a process with one thread."""
    # An extra; only this part of the benchmarks needs it.
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2 if method == TWO else 1,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = _rows(n, d, client)
        model = KreinRidge("gaussian", p, 0.1, length_scale=float(np.sqrt(d)), random_state=seed)
        # Workers compile and import what they need.
        model.fit(*_rows(1000, d, client))
        start = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - start
        before = _sent(client)
        start = perf_counter()
        _sums(model, X, y)
        return {
            "cluster_seconds": seconds,
            "pass_seconds": perf_counter() - start,
            "pass_bytes": _sent(client) - before,
        }


def _rows(n: int, d: int, client: Any) -> tuple[Any, Any]:
    import dask.array as da
    from distributed import wait

    X = da.random.default_rng(0).normal(size=(n, d), chunks=(-(-n // _PARTITIONS), d))
    X, y = client.persist((X, da.sin(X[:, 0] + X[:, 1])))
    wait((X, y))
    return X, y


def _sums(model: KreinRidge, X: Any, y: Any) -> None:
    from bochner.engines.dask import DaskExecutor, partitions_of
    from bochner.engines.partition_rows import Check, PieceSplit

    executor, check = DaskExecutor(), Check(PieceSplit(), numeric=True)
    sums = partial(_sums_of, model.frequencies_, check)
    executor.tree_reduce(add, executor.map(sums, partitions_of(X, y)))


def _sums_of(frequencies: Any, check: Any, index: int, part: Any) -> Any:
    chunk, _ = check(part)
    return chunk_sums([chunk], frequencies, Numbers(np.zeros(1)))


def _sent(client: Any) -> float:
    """Return the bytes that workers have sent so far, to others and to the client."""
    return float(sum(client.run(_sent_by).values()))


def _sent_by(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def _places(quick: bool) -> Sequence[Place]:
    if quick:
        return [Place(method, 2_000, 3, 32, repetitions=1) for method in (ONE, TWO)]
    return [
        Place(method, n, 20, 1_024, repetitions=3)
        for n in (100_000, 200_000, 400_000)
        for method in (ONE, TWO)
    ]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**Ridge regression on Dask workers**, processes of one thread each, whose rows lie in 16 "
        "partitions: seconds of a fit, and their ratio to two workers'.",
        by_method(rows, "cluster_seconds", TWO),
        "The pass over the rows alone, in seconds,",
        by_method(rows, "pass_seconds"),
        "and the bytes that workers send in it.",
        by_method(rows, "pass_bytes"),
    )


DISTRIBUTED = speed_part("distributed", _places, cluster_metrics, _page)
