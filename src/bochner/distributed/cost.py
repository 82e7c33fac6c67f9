"""What a pass over rows on a cluster costs: seconds and bytes moved, for each worker."""

from dataclasses import dataclass
from math import ceil
from timeit import repeat

import numpy as np

from bochner._numerics.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.features.stats import chunk_sums
from bochner.features.targets import Numbers
from bochner.frequencies import Frequencies


@dataclass(frozen=True, slots=True)
class Machine:
    """Rates of the workers of a cluster, each with one thread.

    A product multiplies two features of a row and adds the result up. Workers send and receive at
    ``bytes_per_second``, by default over a network of one gigabit; the scheduler takes
    ``seconds_per_task``, and ``seconds_per_pass`` before the first task and after the last.
    """

    seconds_per_product: float
    seconds_per_feature: float
    bytes_per_second: float = 1e8
    seconds_per_task: float = 1e-3
    seconds_per_pass: float = 0.05

    @classmethod
    def measured(cls, d: int, p: int, n: int = 20_000) -> "Machine":
        """Return the rates of this machine, from the sums of ``n`` rows and ``p`` features."""
        rng = np.random.default_rng(0)
        frequencies = Frequencies(rng.normal(size=(p // 2, d)), np.full(p // 2, 2.0 / p))
        chunk = Chunk(rng.normal(size=(n, d)), rng.normal(size=n))
        with single_threaded_blas():
            frequencies.features(chunk.X[:100])
            features = min(repeat(lambda: frequencies.features(chunk.X), number=1, repeat=3))
            targets = Numbers(np.zeros(1))
            sums = repeat(lambda: chunk_sums([chunk], frequencies, targets), number=1, repeat=3)
            whole = min(sums)
        return cls(max(whole - features, 0.1 * whole) / (n * p**2), features / (n * p))


@dataclass(frozen=True, slots=True)
class PassCost:
    r"""The cost of one pass in which every partition returns the Gram matrix of its features.

    With ``n`` rows in ``b`` partitions on ``W`` workers, a worker makes the sums of
    :math:`\lceil b / W \rceil` partitions. Sums are added in an order that does not depend on the
    workers: one of two terms has to move with the probability :math:`1 - 1/W`; the last goes to
    the client,

    .. math:: T = T_0 + 2 b t_s + \lceil b / W \rceil \frac{n}{b} p (t_f + p\, t_p) +
              \Bigl(\frac{b - 1}{W} \Bigl(1 - \frac1W\Bigr) + 1\Bigr) \frac{8 p (p + t + 1)}{v}

    for ``d`` inputs, ``p`` features and ``t`` targets, up to terms that do not grow with ``p``.
    Each worker has one thread and receives the ``p/2`` frequencies, in ``4 p d`` bytes.
    """

    n: int
    d: int
    p: int
    n_workers: int
    n_partitions: int
    machine: Machine
    t: int = 1

    @property
    def compute_seconds(self) -> float:
        """Time of the busiest worker for features and their products."""
        rows = ceil(self.n_partitions / self.n_workers) * self.n / self.n_partitions
        rate = self.machine.seconds_per_feature + self.p * self.machine.seconds_per_product
        return rows * self.p * rate

    @property
    def sum_bytes(self) -> int:
        """Size of the sums of a partition, which one worker sends to another."""
        return 8 * (self.p * (self.p + self.t + 1) + 2 * self.t)

    @property
    def bytes_moved(self) -> float:
        """Bytes that workers send to each other and to the client, on average."""
        moves = (self.n_partitions - 1) * (1.0 - 1.0 / self.n_workers) + 1.0
        return moves * self.sum_bytes

    @property
    def bytes_per_worker(self) -> float:
        """Bytes that a worker receives: its share of the sums, and the frequencies."""
        return (self.bytes_moved - self.sum_bytes) / self.n_workers + 4.0 * self.p * self.d

    @property
    def seconds(self) -> float:
        """Time of the whole pass."""
        tasks = 2 * self.n_partitions * self.machine.seconds_per_task
        moved = (self.bytes_per_worker + self.sum_bytes) / self.machine.bytes_per_second
        return self.machine.seconds_per_pass + tasks + self.compute_seconds + moved
