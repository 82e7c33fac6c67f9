"""Predicted and measured costs of fits, and predictions for as many rows as a cluster holds."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.harness import Benchmark, Cell, Options, Part
from benchmarks.results import Row, markdown_table, medians
from benchmarks.speed.part import megabytes, start_again
from bochner import KreinRidge, TableRegressor
from bochner._numerics.arrays import Array
from bochner.distributed import FitCost, Machine, plan
from bochner.distributed.planning import count_steps

CHOLESKY, CG, FILES, DASK = "cholesky", "cg", "files", "two Dask workers"
TABLE = "auto"
HERE, CLUSTER = "this machine", "100 workers"

_ALPHA = 1.0  # The default of ridge models
_NOISE = 0.3  # Deviation, of targets of deviation about one: a tenth of their variance
_PARTITIONS = 8  # Four for each of two workers
_STREAMED = 65_536  # Rows of a chunk of the Parquet file, which are made and written at once
_PILOT = 5_000  # Rows from which the steps of conjugate gradients are predicted


def _rows(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    """Return normal rows and a noisy function of three inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + _NOISE * rng.normal(size=n)


def _ridge(p: int, solver: str) -> KreinRidge:
    return KreinRidge("gaussian", p, _ALPHA, solver=solver, random_state=0)


def _measured(method: str, n: int, d: int, p: int, path: Path) -> tuple[dict[str, float], int]:
    """Return the costs of one fit in this process, and the steps of "cg" that are predicted.

    Memory counts from before the rows are made.
    """
    warm, y = _rows(1000, d)
    solver = CHOLESKY if method == FILES else method
    model: Any
    if method == TABLE:
        options: dict[str, Any] = {"n_jobs": 1, "random_state": 0}
        TableRegressor(effort="quick", **options).fit(warm[:300], y[:300])
        model = TableRegressor(**options)
    else:
        _ridge(64, solver).fit(warm, y)
        model = _ridge(p, solver)
    steps = count_steps(*_rows(_PILOT, d), n, p, _ALPHA) if method == CG else 1
    base = start_again()
    rows = (_parquet(path),) if method == FILES else _rows(n, d)
    start, clock = process_time(), perf_counter()
    model.fit(*rows)
    found = {
        "fit_seconds": process_time() - start,
        "elapsed_seconds": perf_counter() - clock,
        "fit_megabytes": megabytes("VmHWM") - base,
    }
    if method == CG:
        found |= {"steps": float(model.n_iter_), "predicted_steps": float(steps)}
    return found, steps


def _cost(method: str, n: int, d: int, p: int, machine: Machine, steps: int = 1) -> FitCost:
    if method == TABLE:
        return plan(n, d, "table", machine=machine)
    options: dict[str, Any] = {"n_components": p, "machine": machine, "n_steps": steps}
    if method == FILES:
        return plan(n, d, solver=CHOLESKY, from_files=True, **options)
    if method == DASK:
        parts: dict[str, Any] = {"n_workers": 2, "n_partitions": _PARTITIONS}
        return plan(n, d, solver=CHOLESKY, **parts, **options)
    return plan(n, d, solver=method, **options)


def _write(path: Path, n: int, d: int) -> None:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    names = [f"x{i}" for i in range(d)]
    schema = pa.schema([(name, pa.float64()) for name in (*names, "y")])
    with ParquetWriter(path, schema) as writer:
        for start in range(0, n, _STREAMED):
            X, y = _rows(min(_STREAMED, n - start), d, start)
            writer.write_table(pa.table([*X.T, y], schema=schema))


def _parquet(path: Path) -> Any:
    from bochner.datasets import ParquetChunks

    return ParquetChunks(path, target="y")


def _read_rate(path: Path) -> float:
    """Return the bytes of float64 that are read in a second of the processor."""
    for _ in range(2):  # The first time, libraries are loaded
        size, start = 0, process_time()
        for X, y in _parquet(path):
            size += X.nbytes + y.nbytes
        seconds = process_time() - start
    return size / seconds


def _on_dask(n: int, d: int, p: int) -> dict[str, float]:
    """Return the costs of a fit on two Dask workers that hold their rows."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        # Workers compile and import what they need.
        _ridge(64, CHOLESKY).fit(*_collections(1000, d, client))
        base = client.run(start_again)
        X, y = _collections(n, d, client)
        before, sent = client.run(process_time), client.run(_sent)
        start, clock = process_time(), perf_counter()
        _ridge(p, CHOLESKY).fit(X, y)
        own, elapsed = process_time() - start, perf_counter() - clock
        after, peak = client.run(process_time), client.run(megabytes, "VmHWM")
        moved = sum(client.run(_sent).values()) - sum(sent.values())
    return {
        "fit_seconds": own + max(after[name] - before[name] for name in after),
        "elapsed_seconds": elapsed,
        "fit_megabytes": max(peak[name] - base[name] for name in peak),
        "moved_megabytes": moved / 1e6,
    }


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def _collections(n: int, d: int, client: Any) -> tuple[Any, Any]:
    import dask.array as da
    from distributed import wait

    X = da.random.default_rng(0).normal(size=(n, d), chunks=(-(-n // _PARTITIONS), d))
    X, y = client.persist((X, da.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]))
    wait((X, y))
    return X, y


def _cells(options: Options) -> Iterable[Cell]:
    sizes = (1_000,) if options.quick else (10_000, 100_000, 1_000_000)
    d, p = (3, 64) if options.quick else (20, 512)
    for n in sizes:
        for method in (CHOLESKY, CG, FILES, DASK):
            yield Cell("normal", method, 0, {"n": n, "d": d, "p": p})


def _table_cells(options: Options) -> Iterable[Cell]:
    sizes = (300,) if options.quick else (10_000, 100_000)
    for n in sizes:
        yield Cell("normal", TABLE, 0, {"n": n, "d": 8, "p": 64 if options.quick else 1024})


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    """Return the costs of a fit, and those predicted from rates measured before and after it.

    Rates change with what else runs on the machine.
    """
    method, (n, d, p) = cell.method, (int(cell.settings[name]) for name in ("n", "d", "p"))
    # Each in a process of its own, as memory that was in use counts for less in the next fit.
    call = _here if options.quick else _alone
    with tempfile.TemporaryDirectory() as folder:
        path, rate = Path(folder) / "rows.parquet", 5e8
        if method == FILES:
            call(_write, path, n, d)
            rate = call(_read_rate, path)
        machines = [call(Machine.measured, d, p)]
        if method == DASK:
            found, steps = _on_dask(n, d, p), 1
        else:
            found, steps = call(_measured, method, n, d, p, path)
        machines.append(call(Machine.measured, d, p))
    costs = [
        _cost(method, n, d, p, replace(machine, read_bytes_per_second=rate), steps)
        for machine in machines
    ]
    predicted = {
        "predicted_seconds": float(np.mean([cost.seconds for cost in costs])),
        "predicted_megabytes": costs[0].memory_bytes / 1e6,
    }
    if method == DASK:
        predicted["predicted_moved_megabytes"] = costs[0].bytes_moved / 1e6
    return found | predicted


def _here(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


def _alone(function: Callable[..., Any], *args: Any) -> Any:
    """Return the value of a function that is called in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def _model_cells(options: Options) -> Iterable[Cell]:
    for n in [10**k for k in ((4, 9) if options.quick else range(4, 10))]:
        for where in (HERE, CLUSTER):
            for solver in (CHOLESKY, CG):
                settings = {"n": n, "d": 20, "p": 64 if options.quick else 1024}
                yield Cell("normal", f"{where}, {solver}", 0, settings)


def _predict(cell: Cell, options: Options) -> Mapping[str, float]:
    n, d, p = (int(cell.settings[name]) for name in ("n", "d", "p"))
    where, solver = cell.method.split(", ")
    machine, workers = _rates(d, p), 100 if where == CLUSTER else 1
    steps = count_steps(*_rows(_PILOT, d), n, p, _ALPHA) if solver == CG else 1
    cost = plan(
        n, d, n_components=p, solver=solver, n_workers=workers, from_files=True, n_steps=steps,
        machine=machine,
    )  # fmt: skip
    return {
        "predicted_seconds": cost.seconds,
        "predicted_megabytes": cost.memory_bytes / 1e6,
        "predicted_moved_megabytes": cost.bytes_moved / 1e6,
        "passes": float(cost.passes),
        **asdict(machine),
    }


@lru_cache(maxsize=1)
def _rates(d: int, p: int) -> Machine:
    return Machine.measured(d, p)


_MEASURES = {
    "seconds": "Seconds of the processor",
    "megabytes": "Memory at the peak, in megabytes, rows included",
    "moved_megabytes": "Megabytes that workers send",
    "steps": "Steps of conjugate gradients, predicted from 5,000 rows",
}


def _tables(title: str) -> Callable[[Sequence[Row]], Iterable[str]]:
    def tables(rows: Sequence[Row]) -> Iterable[str]:
        yield title
        for what, text in _MEASURES.items():
            name = what if what in ("steps", "moved_megabytes") else f"fit_{what}"
            if any(row["metric"] == name for row in rows):
                yield f"{text}: measured, predicted, and the ratio of predicted to measured."
                yield _compared(rows, name, f"predicted_{what}")

    return tables


def _compared(rows: Sequence[Row], measured: str, predicted: str) -> str:
    """Return a table of measured and predicted values with their ratio."""
    by = ("method", "n")
    fact, guess = (medians(rows, by=by, metric=name) for name in (measured, predicted))
    lines = [
        [str(method), f"{n:,}", *(f"{value:.3g}" for value in (found, guess[method, n])),
         f"{guess[method, n] / found:.2f}" if found else "–"]
        for (method, n), found in fact.items()
    ]  # fmt: skip
    return markdown_table(["fit", "rows", "measured", "predicted", "ratio"], lines)


def _model_tables(rows: Sequence[Row]) -> Iterable[str]:
    yield (
        "**Many rows**: ridge regression on 1,024 features of 20 inputs in files, on one thread of "
        "this machine and on 100 such workers with a network of one gigabit. All figures of this "
        "table are computed from the rates of this machine; no fit was made."
    )
    shown = {
        "predicted_seconds": "seconds",
        "predicted_megabytes": "megabytes of memory per worker",
        "predicted_moved_megabytes": "megabytes moved",
    }
    found = [medians(rows, by=("n", "method"), metric=name) for name in shown]
    lines = [
        [f"{int(n):,}", str(method), *(f"{values[n, method]:,.3g}" for values in found)]
        for n, method in found[0]
    ]
    yield markdown_table(["rows", "fit", *shown.values()], lines)


PLAN = Benchmark(
    name="plan",
    settings=("part", "n", "d", "p"),
    introduction="Each fit is made once, by one thread in a process of its own, and next to it the "
    "rates of the machine are measured, before and after, from which the cost model predicts.",
    parts=(
        Part("ridge", _cells, _run, _tables("**Ridge regression on 512 features** of 20 inputs.")),
        Part("tables", _table_cells, _run, _tables("**Models of tables** of 8 columns.")),
        Part("model", _model_cells, _predict, _model_tables),
    ),
)
