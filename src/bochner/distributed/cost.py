"""What fits cost: the rates of a machine, and a pass over rows on the workers of a cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from time import perf_counter, process_time
from timeit import repeat
from typing import Any

import numpy as np

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.threads import single_threaded_blas, threads_of_blas
from bochner.features.chunks import Chunk
from bochner.features.stats import FeatureSums, chunk_sums
from bochner.features.targets import Numbers
from bochner.frequencies import Frequencies
from bochner.kernels import Matern
from bochner.learning.ridge import fit_ridge
from bochner.learning.row_products import normal_products

_PRODUCTS = 2e9
"""Products of which the rate is measured: a tenth of a second on one core, three times."""

_KERNEL_ROWS = 800
"""Rows of the measured kernel matrix: those that choose a table model's kernels."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of one machine, or of the workers of a cluster, each with one thread.

    A product multiplies two features of a row and adds the result up, in float64. Workers send and
    receive at ``bytes_per_second``, by default over a network of one gigabit; the scheduler takes
    ``seconds_per_task``, and ``seconds_per_pass`` before the first task and after the last.

    Parameters
    ----------
    seconds_per_product, seconds_per_feature : float
        Time of a product, and of a feature of one row.
    bytes_per_second, seconds_per_task, seconds_per_pass : float
        Rates of the network and of the scheduler.
    read_bytes_per_second : float
        Rate at which rows are read from files; the default is that of a solid-state drive.
    single : float
        Time in float32 over that in float64.
    visit : float
        Time that conjugate gradients take for a feature of one row, over that of making it.
    factor : float
        Time in which a matrix of the features' products is factorised and inverted, over that of
        as many products as it has entries times features.
    kernel_value : float
        Time of a value of a kernel of two rows, over that of a feature.
    """

    seconds_per_product: float
    seconds_per_feature: float
    bytes_per_second: float = 1e8
    seconds_per_task: float = 1e-3
    seconds_per_pass: float = 0.05
    read_bytes_per_second: float = 5e8
    single: float = 0.5
    visit: float = 0.5
    factor: float = 2.0
    kernel_value: float = 4.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0.0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)!r}.")

    @classmethod
    def measured(cls, d: int, p: int, n: int | None = None, n_threads: int = 1) -> "Machine":
        """Return the rates of this machine for ``d`` inputs and ``p`` features.

        Passes over ``n`` rows are timed, by default as many as take about a second in all.
        """
        n = n or int(np.clip(_PRODUCTS / p**2, 2000, 50_000))
        rng = np.random.default_rng(0)
        frequencies = Frequencies(rng.normal(size=(p // 2, d)), np.full(p // 2, 2.0 / p))
        chunk = Chunk(rng.normal(size=(n, d)), rng.normal(size=n))
        few, V, shift = chunk.X[:_KERNEL_ROWS], np.ones((p, 1)), np.zeros(1)

        def sums(dtype: type[np.floating[Any]] = np.float64) -> FeatureSums:
            return chunk_sums([chunk], frequencies, Numbers(shift), lambda _: dtype)

        kernel = Matern(float(np.sqrt(d)), nu=2.5)
        # Other processes do not count for one thread; the times of several would add up.
        timer = process_time if n_threads == 1 else perf_counter

        def least(function: Callable[[], Any]) -> float:
            return min(repeat(function, timer=timer, number=1, repeat=3))

        with threads_of_blas(n_threads):
            made = sums()
            feature = least(lambda: _make(frequencies, chunk.X)) / (n * p)
            whole, single = least(sums), least(lambda: sums(np.float32))
            pass_ = least(lambda: normal_products([chunk], frequencies, np.float64, V, shift))
            solved = least(lambda: fit_ridge(made, 1.0))
        with single_threaded_blas():
            value = least(lambda: kernel(few, few)) / (n_threads * len(few) ** 2)
        # At least a tenth of a difference of two times remains: their noise may be as large.
        product = max(whole - n * p * feature, 0.1 * whole) / (n * p**2)
        return cls(
            product,
            feature,
            single=single / whole,
            visit=max(pass_ / (n * p * feature) - 1.0, 0.1),
            factor=solved / (product * p**3),
            kernel_value=value / feature,
        )


def _make(frequencies: Frequencies, X: Array) -> None:
    """Make features of rows, block by block in the same memory, as sums over rows do."""
    p = frequencies.n_features
    rows = list(row_blocks(len(X), 8 * p, block_bytes=limits.CACHE_BLOCK_BYTES))
    out = np.empty((rows[0].stop, p))
    for block in rows:
        frequencies.features(X[block], np.float64, out[: block.stop - block.start])


@dataclass(frozen=True, slots=True)
class PassCost:
    r"""The cost of one pass in which every partition returns a sum over its rows.

    With ``n`` rows in ``b`` partitions on ``W`` workers, a worker makes the sums of
    :math:`\lceil b / W \rceil` partitions. Sums are added in an order that does not depend on the
    workers: one of two terms has to move with the probability :math:`1 - 1/W`; the last goes to
    the client,

    .. math:: T = T_0 + 2 b t_s + \lceil b / W \rceil \frac{n}{b}
              \Bigl(p (t_f + p\, t_p) + \frac{8 (d + t)}{v_r}\Bigr) +
              \Bigl(\frac{b - 1}{W} \Bigl(1 - \frac1W\Bigr) + 1\Bigr) \frac{8 p (p + t + 1)}{v}

    for ``d`` inputs, ``p`` features and ``t`` targets, up to terms that do not grow with ``p``.
    Each worker has one thread and receives the ``p/2`` frequencies, in ``4 p d`` bytes. In a pass
    of conjugate gradients (``solver="cg"``) it also receives ``p`` by ``t`` weights, sums have
    their size, and features are multiplied by these weights in place of each other.

    Parameters
    ----------
    n, d, p : int
        Numbers of rows, inputs and features.
    n_workers, n_partitions : int
        ``W`` and ``b``.
    machine : Machine
        Rates of a worker.
    t : int
        Number of targets.
    solver : {"cholesky", "cg"}
        Whether sums are those of the features' products, or of their products with weights.
    is_single : bool
        Whether features and products are float32.
    reads : bool
        Whether partitions are read from files in the pass, or are in memory.
    """

    n: int
    d: int
    p: int
    n_workers: int
    n_partitions: int
    machine: Machine
    t: int = 1
    solver: str = "cholesky"
    is_single: bool = False
    reads: bool = False

    @property
    def rows_per_worker(self) -> float:
        """Rows of the busiest worker."""
        return ceil(self.n_partitions / self.n_workers) * self.n / self.n_partitions

    @property
    def compute_seconds(self) -> float:
        """Time of the busiest worker for features and their products."""
        machine = self.machine
        if self.solver == "cg":
            rate = machine.seconds_per_feature * (1.0 + machine.visit * self.t)
        else:
            rate = machine.seconds_per_feature + self.p * machine.seconds_per_product
        return self.rows_per_worker * self.p * rate * (machine.single if self.is_single else 1.0)

    @property
    def read_seconds(self) -> float:
        """Time of the busiest worker for reading its partitions; zero where they are in memory."""
        size = 8.0 * (self.d + self.t) * self.rows_per_worker
        return size / self.machine.read_bytes_per_second if self.reads else 0.0

    @property
    def sum_bytes(self) -> int:
        """Size of the sums of a partition, which one worker sends to another."""
        if self.solver == "cg":
            return 8 * self.p * self.t
        return 8 * (self.p * (self.p + self.t + 1) + 2 * self.t)

    @property
    def moved_sums(self) -> float:
        """Number of sums that move, on average, the last one to the client included."""
        return (self.n_partitions - 1) * (1.0 - 1.0 / self.n_workers) + 1.0

    @property
    def bytes_moved(self) -> float:
        """Bytes that workers send to each other and to the client, on average."""
        return self.moved_sums * self.sum_bytes

    @property
    def sent_bytes(self) -> float:
        """Bytes that every worker receives from the client: frequencies, and weights of "cg"."""
        weights = 8.0 * self.p * self.t if self.solver == "cg" else 0.0
        return 4.0 * self.p * self.d + weights

    @property
    def bytes_per_worker(self) -> float:
        """Bytes that a worker receives: its share of the sums, and what the client sends."""
        return (self.bytes_moved - self.sum_bytes) / self.n_workers + self.sent_bytes

    @property
    def seconds(self) -> float:
        """Time of the whole pass."""
        tasks = 2 * self.n_partitions * self.machine.seconds_per_task
        moved = (self.bytes_per_worker + self.sum_bytes) / self.machine.bytes_per_second
        busy = self.compute_seconds + self.read_seconds
        return self.machine.seconds_per_pass + tasks + busy + moved
