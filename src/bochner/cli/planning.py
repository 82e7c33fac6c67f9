"""`bochner plan`: what fits to a table, or to more rows like it, will take."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from bochner._numerics.arrays import Array
from bochner._numerics.memory import as_bytes, duration, in_words
from bochner.cli.activity import reporting
from bochner.cli.output import cells_table, counted, plain
from bochner.cli.records import plan_record
from bochner.distributed import FitCost, Machine, plan
from bochner.distributed.planning import count_steps, machine_here
from bochner.features.parameters import count_frequencies
from bochner.learning.ensemble.learner import EFFORTS
from bochner.tables.checks import check_table, drop_columns
from bochner.tables.columns import read_column
from bochner.tables.encoder import TableEncoder
from bochner.tables.reading import ReadOptions, read
from bochner.tables.refusals import InputError

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 1e18
"""Most rows: beyond, whole numbers are not exact as floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """Options of `bochner plan`."""

    target: Sequence[str] = ()
    drop: Sequence[str] = ()
    rows: float | None = None
    workers: int = 1
    features: int = 1024
    effort: str = "default"
    memory: str | None = None
    network: str = "100MB"
    table: str | None = None
    as_json: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Size:
    """What a plan depends on."""

    n_rows: int
    n_targets: int
    encoded: Array  # (n, d)
    y: Array  # (n,)


def plan_table(path: Path, options: PlanOptions, console: Console) -> None:
    """Read a table, measure this machine, and show or write what fits will take."""
    limit, network = _checked(options)
    left_out = [*options.target, *options.drop]
    with reporting(is_quiet=options.as_json) as progress:
        progress(f"reading {path}")
        found = read(path, ReadOptions(table=options.table), keep=left_out)
        rest = drop_columns(found.frame, options.drop)
        size = _size(rest, options)
        progress("measuring this machine")
        d = size.encoded.shape[1]
        machine = replace(
            machine_here(d, options.features, n_workers=options.workers), bytes_per_second=network
        )
        costs = list(_costs(size, options, machine))
    if options.as_json:
        record = plan_record(path, len(rest), size.n_rows, d, options.workers, machine, costs)
        sys.stdout.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
        return
    _print(path, size, options, costs, limit, console)


def _checked(options: PlanOptions) -> tuple[int | None, int]:
    """Return the memory of a worker and the rate of the network, or raise."""
    if options.rows is not None and not (
        1 <= options.rows <= _MOST_ROWS and options.rows == int(options.rows)
    ):
        raise InputError(
            f"--rows must be a positive whole number such as 1e9, got {options.rows:g}."
        )
    count_frequencies(options.features, "--features")
    if options.effort not in EFFORTS:
        raise InputError(f"--effort must be one of {', '.join(EFFORTS)}, got {options.effort!r}.")
    network = as_bytes(options.network, "--network")
    assert network is not None
    return as_bytes(options.memory, "--memory"), network


def _size(frame: "pd.DataFrame", options: PlanOptions) -> _Size:
    """Return the encoded table and its first target, for which noise stands in where it is none."""
    features = drop_columns(frame, options.target)
    if not features.shape[1]:
        raise InputError("No column is left to plan a fit on: leave fewer out.")
    if len(frame) < 2:
        raise InputError("The table has one row: expected at least two.")
    check_table(features)
    encoded: Array = TableEncoder().fit_transform(features)
    y = np.random.default_rng(0).normal(size=len(frame))
    if options.target:
        column = read_column(options.target[0], frame[options.target[0]])
        if column.kind == "numeric":
            values = np.asarray(column.values, dtype=np.float64)
            y = np.where(np.isfinite(values), values, np.nanmean(values))
    scale = float(np.std(y)) or 1.0
    n_rows = len(frame) if options.rows is None else int(options.rows)
    return _Size(n_rows, max(1, len(options.target)), encoded, (y - y.mean()) / scale)


def _costs(size: _Size, options: PlanOptions, machine: Machine) -> Iterator[FitCost]:
    """Yield the costs of the models that can be fitted where the rows are."""
    n, (n_table, d), p = size.n_rows, size.encoded.shape, options.features
    shared: dict[str, Any] = {"n_targets": size.n_targets, "n_components": p, "machine": machine}
    steps = count_steps(size.encoded, size.y, max(n, n_table), p)
    if options.workers > 1:
        for solver in ("cholesky", "cg"):
            yield plan(n, d, solver=solver, n_steps=steps, from_files=True,
                       n_workers=options.workers, **shared)  # fmt: skip
        return
    yield plan(n, d, "table", effort=options.effort, **shared)
    for from_files in (False, True):
        for solver in ("cholesky", "cg"):
            yield plan(n, d, solver=solver, n_steps=steps, from_files=from_files, **shared)


def _print(
    path: Path,
    size: _Size,
    options: PlanOptions,
    costs: Sequence[FitCost],
    limit: int | None,
    console: Console,
) -> None:
    n_table, d = size.encoded.shape
    known = f"{plain(str(path))}: {counted(n_table, 'row')}, {counted(d, 'encoded input')}."
    where = "this machine" if options.workers == 1 else f"{options.workers:,} workers"
    console.print(Text(f"{known} Planned for {counted(size.n_rows, 'row')} on {where}.\n"))
    headings = ["fit", "time", "memory", "moved", "passes"]
    rows = [
        [cost.method, duration(cost.seconds), in_words(cost.memory_bytes),
         in_words(cost.bytes_moved) if cost.bytes_moved else "–", str(cost.passes)]
        for cost in costs
    ]  # fmt: skip
    if limit is not None:
        headings.append("fits")
        for row, cost in zip(rows, costs, strict=True):
            row.append("yes" if cost.memory_bytes <= limit else "no")
    console.print(cells_table(headings, rows))
    console.print(
        "\nPredicted from the rates of this machine, for the fit alone. Memory is that of each "
        "worker, without the interpreter and the libraries; reading a table and comparing methods "
        "take more."
    )
