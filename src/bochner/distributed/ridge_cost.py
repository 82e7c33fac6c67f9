"""What a ridge regression on features costs: on one machine, on files, and on a cluster."""

from dataclasses import dataclass, replace
from math import ceil, log

import numpy as np

from bochner._numerics import limits
from bochner._numerics.memory import duration, in_words
from bochner.distributed.collected import SAMPLE_ROWS
from bochner.distributed.cost import Machine, PassCost
from bochner.learning.ridge_plan import EIGENVALUES, RidgePlan, RidgeProblem, plan_ridge

CHUNK_ROWS = 65_536
"""Rows of a chunk of a file: those of :class:`bochner.datasets.ParquetChunks`."""

PARTITION_ROWS = 500_000
"""Rows of a partition where nothing else is told: 84 MB of 20 float64 inputs and a target. Fewer
move more sums, more take more memory."""

_FAN_IN = 4
"""Sums that one task of Dask adds."""

_AROUND = 14e6
"""Bytes of libraries' buffers and small arrays in a fit: 6 to 26 MB from 512 to 4,096 features."""

_ROUNDING = 1e-9
"""Rounding of a logarithm: four partitions are added at once."""

_CHUNK_COPIES, _PART_COPIES = 11, 3
"""Copies that exist at a time: of a chunk of a Parquet file with the buffers of its reader, which
keeps them, and of a partition, as read, as an array, and the next one read ahead."""

_START_SECONDS = 0.2
"""Time for the length scale and the frequencies, which come from few rows, and for checks."""


@dataclass(frozen=True, slots=True)
class FitCost:
    """What a fit is predicted to take.

    Parameters
    ----------
    method : str
        What is fitted, and how.
    seconds : float
        Time of the fit.
    bytes_moved : float
        Bytes that workers and the client send to each other; zero on one machine.
    memory_bytes : float
        Greatest amount of memory of a worker: the rows that it holds and what the fit adds, without
        the interpreter and the libraries.
    passes : int
        Times that all rows are read.
    """

    method: str
    seconds: float
    bytes_moved: float
    memory_bytes: float
    passes: int

    def __repr__(self) -> str:
        """Return the amounts with their units."""
        passes = "1 pass" if self.passes == 1 else f"{self.passes} passes"
        return (
            f"FitCost({self.method}: {duration(self.seconds)}, {passes}, "
            f"{in_words(self.memory_bytes)} of memory per worker, "
            f"{in_words(self.bytes_moved)} moved)"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RidgeFit:
    """A ridge regression to ``n`` rows of ``d`` inputs on ``p`` features, for ``t`` targets.

    Parameters
    ----------
    n, d, p, t : int
        Numbers of rows, inputs, features and targets.
    alpha : float or None
        Penalty, ``None`` where the evidence chooses it.
    solver : {"auto", "cholesky", "cg"}
        How the system is solved; see :class:`bochner.KreinRidge`.
    memory_limit : int or None
        Bytes that the fit may take in addition to the rows.
    steps : int
        Steps of conjugate gradients.
    from_files : bool
        Whether rows are read from files in every pass, or are in memory.
    machine : Machine
        Rates of the machine, or of each worker.
    """

    n: int
    d: int
    p: int
    t: int
    alpha: float | None
    solver: str
    memory_limit: int | None
    steps: int
    from_files: bool
    machine: Machine

    def on_one_machine(self) -> FitCost:
        """Return the cost where one process reads all rows, from memory or in chunks of a file."""
        rows = min(self.n, CHUNK_ROWS) if self.from_files else self.n
        plan, one = self._planned(None if self.from_files else self.n, rows, 1, 1)
        passes = 2 + self.steps if plan.solver == "cg" else 1
        seconds = _START_SECONDS + passes * one.read_seconds + self._solution(plan, one)
        if plan.solver == "cg":
            seconds += (1 + self.steps) * one.compute_seconds
            if plan.keep:  # Features are made once
                made = one.compute_seconds / (1.0 + self.machine.visit * self.t)
                seconds -= self.steps * made
            memory = self._visit_bytes(plan, one)
        else:
            seconds += one.compute_seconds
            factors = 5 if self.alpha is None else 2
            solved = 8.0 * factors * self.p**2
            memory = max(self._sums_bytes(plan, one, rows), solved)
        held = 8.0 * rows * (self.d + self.t) * (_CHUNK_COPIES if self.from_files else 1)
        name = f"ridge, {plan.solver}, rows in {'files' if self.from_files else 'memory'}"
        return FitCost(name, seconds, 0.0, held + memory + _AROUND, passes)

    def on_cluster(self, n_workers: int, n_partitions: int | None) -> FitCost:
        """Return the cost where workers read partitions and return sums.

        Passes for the number of rows and for a sample come before the sums; with "cg", also one
        for the preconditioner's rows.
        """
        b = n_partitions or partitions_for(self.n, n_workers)
        rows = ceil(self.n / b)
        plan, one = self._planned(None, rows, n_workers, b)
        samples = [min(self.n, SAMPLE_ROWS)]
        n_sums, memory = 1, self._sums_bytes(plan, one, rows) + (_FAN_IN - 1) * one.sum_bytes
        if plan.solver == "cg":
            samples.append(min(self.n, plan.n_landmarks))
            n_sums = 1 + self.steps
            memory = self._visit_bytes(replace(plan, keep=False, n_landmarks=0), one)
        size = 8.0 * (self.d + self.t)
        sampled = size * (samples[0] * self._levels(one) + sum(samples[1:]) * one.moved_sums)
        passes = 1 + len(samples) + n_sums
        machine = self.machine
        idle = machine.seconds_per_pass + 2 * b * machine.seconds_per_task + one.read_seconds
        moving = sampled / n_workers + size * sum(samples)
        seconds = _START_SECONDS + (1 + len(samples)) * idle + moving / machine.bytes_per_second
        seconds += n_sums * one.seconds + self._solution(plan, one)
        moved = sampled + n_sums * (one.bytes_moved + n_workers * one.sent_bytes)
        held = size * (_PART_COPIES * rows if self.from_files else one.rows_per_worker)
        name = f"ridge, {plan.solver}, {n_workers} workers"
        return FitCost(name, seconds, moved, held + memory + _AROUND, passes)

    def _planned(
        self, n_known: int | None, rows: int, n_workers: int, n_partitions: int
    ) -> tuple[RidgePlan, PassCost]:
        """Return how the fit is made that knows so many rows, and a pass over parts of ``rows``."""
        problem = RidgeProblem(self.p, self.t, n_known, self.alpha, scale=1.0)
        plan = plan_ridge(problem, self.solver, self.memory_limit)
        dtype = problem.pass_dtype(1.0) if plan.solver == "cg" else problem.gram_dtype(rows)
        sizes = self.n, self.d, self.p, n_workers, n_partitions, self.machine, self.t
        return plan, PassCost(*sizes, plan.solver, dtype is np.float32, self.from_files)

    def _solution(self, plan: RidgePlan, one: PassCost) -> float:
        """Return the seconds for solving the system, or for the preconditioner and its use."""
        machine, p = self.machine, self.p
        cube = machine.factor * machine.seconds_per_product
        if plan.solver == "cholesky":
            return cube * p**3 * (EIGENVALUES if self.alpha is None else 1.0)
        s = min(plan.n_landmarks, self.n)
        visit = machine.seconds_per_feature * machine.visit
        made = s**2 * (machine.seconds_per_product * p + cube * s)
        used = self.steps * self.t * visit * s * (p + s)
        return (made + used) * (machine.single if one.is_single else 1.0)

    def _sums_bytes(self, plan: RidgePlan, one: PassCost, rows: int) -> float:
        """Return the memory of a block of features and of the sums of their products."""
        itemsize = 4 if one.is_single else 8
        block = min(plan.block_bytes, itemsize * rows * self.p)
        return block + one.sum_bytes * (1.5 if one.is_single else 1.0)

    def _visit_bytes(self, plan: RidgePlan, one: PassCost) -> float:
        """Return the memory of features, of the preconditioner and of vectors."""
        itemsize, s = (4 if one.is_single else 8), plan.n_landmarks
        block = self.n * self.p * itemsize if plan.keep else limits.CACHE_BLOCK_BYTES
        return block + itemsize * s * (self.p + s) + 64.0 * self.p * (self.t + 1)

    def _levels(self, one: PassCost) -> float:
        """Return how often a sampled row moves: in additions of four terms, three may move."""
        depth = ceil(log(one.n_partitions) / log(_FAN_IN) - _ROUNDING)
        return 1.0 + depth * (1.0 - 1.0 / _FAN_IN) * (1.0 - 1.0 / one.n_workers)


def partitions_for(n: int, n_workers: int) -> int:
    """Return a number of partitions: two for each worker, and more where these were too large."""
    return min(n, max(2 * n_workers, ceil(n / PARTITION_ROWS)))
