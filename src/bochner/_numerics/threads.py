"""Blocks of rows shared by threads, one thread each for the linear algebra inside."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from bochner._numerics.arrays import Array

Block = TypeVar("Block")
Part = TypeVar("Part")


class _OneThread:
    """Keeps linear algebra to one thread as long as anyone asks for it.

    The limit belongs to the process. With a count of who holds it, two threads of the user that
    come and go in any order leave things as they were.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = 0
        self._n_threads = 1
        self._limiter: Any = None

    def acquire(self) -> int:
        """Return how many threads linear algebra had, and leave it one."""
        with self._lock:
            if not self._holders:
                blas = _blas()
                self._n_threads = max((pool["num_threads"] for pool in blas.info()), default=1)
                self._limiter = blas.limit(limits=1)
            self._holders += 1
            return self._n_threads

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limiter.restore_original_limits()


_ONE_THREAD = _OneThread()


class _Worker(local):
    """What belongs to one thread: whether it shares blocks, and memory that blocks reuse."""

    is_one = False
    memory = np.empty(0)

    def start(self) -> None:
        self.is_one = True


_WORKER = _Worker()


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Give linear algebra one thread inside, and yield how many threads it had outside.

    So many may share blocks of rows instead. It is what environment variables such as
    ``OPENBLAS_NUM_THREADS`` and :func:`threadpoolctl.threadpool_limits` say, or the number of
    cores. Inside a thread that shares blocks already it is one.
    """
    n_threads = _ONE_THREAD.acquire()
    try:
        yield 1 if _WORKER.is_one else n_threads
    finally:
        _ONE_THREAD.release()


def scratch(n_rows: int, n_columns: int) -> Array:
    """Return memory for a block, of shape (n_rows, n_columns), that this thread uses again.

    What is in it is lost at the next call in the same thread. Memory that is new for every block
    is met page by page, which may take longer than to compute what is written there.
    """
    if _WORKER.memory.size < n_rows * n_columns:
        _WORKER.memory = np.empty(n_rows * n_columns)
    block: Array = _WORKER.memory[: n_rows * n_columns].reshape(n_rows, n_columns)
    return block


def in_order(
    function: Callable[[Block], Part], blocks: Sequence[Block], n_threads: int
) -> Iterator[tuple[Block, Part]]:
    """Yield the blocks with what ``function`` makes of each, in order.

    Blocks are shared by threads, few of them ahead of what has been asked for, and sums in order
    are the same for any number of threads. Linear algebra inside should have one thread.
    """
    if n_threads == 1 or len(blocks) == 1:
        for block in blocks:
            yield block, function(block)
        return
    with ThreadPoolExecutor(n_threads, initializer=_WORKER.start) as pool:
        ahead: deque[tuple[Block, Future[Part]]] = deque()
        for block in blocks:
            ahead.append((block, pool.submit(function, block)))
            if len(ahead) > 2 * n_threads:
                first, made = ahead.popleft()
                yield first, made.result()
        for block, made in ahead:
            yield block, made.result()


@cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes milliseconds, and NumPy's and SciPy's are there by now.
    return ThreadpoolController().select(user_api="blas")
