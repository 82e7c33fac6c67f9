"""Threads that share blocks of rows, while linear algebra uses one thread per block."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import islice
from numbers import Integral
from threading import Lock, get_ident, local
from typing import Any, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController, threadpool_limits

Block = TypeVar("Block")
Piece = TypeVar("Piece")

_THREAD = local()  # Has the attribute ``shares_blocks`` in threads that share blocks of rows


class _BlasThreads:
    """Number of BLAS threads, which is one while several threads of the process set it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked: list[tuple[int, int | None]] = []  # Thread and number; None for one, shared
        self._before = 1
        self._limiter: Any = None

    @contextmanager
    def limit(self, n_threads: int | None) -> Iterator[int]:
        """Set a number in the context, or one for ``None``; yield the number of this thread."""
        asked = (get_ident(), n_threads)
        with self._lock:
            if not self._asked:
                counts: list[int] = []
                for pool in _blas().info():  # Dask limits only some libraries on its workers
                    counts += [pool["num_threads"]] * (pool["threading_layer"] != "disabled")
                # BLAS counts the cores of the machine, also where a container has fewer.
                self._before = min(*counts, cpu_count()) if counts else 1
            own = [number for thread, number in self._asked if thread == asked[0] and number]
            self._asked.append(asked)
            self._set()
        try:
            yield own[-1] if own else self._before
        finally:
            with self._lock:
                # The last equal entry: those of one thread end in reverse order.
                del self._asked[len(self._asked) - 1 - self._asked[::-1].index(asked)]
                self._set()

    def _set(self) -> None:
        _take_over()
        if self._asked:
            threads, numbers = zip(*self._asked, strict=True)
            is_one = len({*threads}) > 1 or None in numbers
            limiter = _blas().limit(limits=1 if is_one else numbers[-1])
            self._limiter = self._limiter or limiter
        else:
            self._limiter.restore_original_limits()
            self._limiter = None
            _take_over()


_BLAS_THREADS = _BlasThreads()


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Limit BLAS to one thread in the context; yield how many threads may share blocks."""
    with _BLAS_THREADS.limit(None) as n_threads:
        yield 1 if hasattr(_THREAD, "shares_blocks") else n_threads


threads_of_blas = _BLAS_THREADS.limit


def checked_n_jobs(n_jobs: Any) -> int | None:
    """Return the number of processes or threads; raise ``TypeError`` or ``ValueError``."""
    if n_jobs is None:
        return None
    is_integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_integer or not n_jobs:
        kind = ValueError if is_integer else TypeError
        raise kind(
            f"n_jobs must be a nonzero integer or None, got {n_jobs!r:.60}. -1 means all cores."
        )
    return int(n_jobs)


def threads_for(n_jobs: int | None, n_threads: int) -> int:
    """Return the number of threads for ``n_jobs``; ``None`` means ``n_threads``."""
    return n_threads if n_jobs is None else min(effective_n_jobs(n_jobs), cpu_count())


_MOST_BYTES = 1.4e9
"""Bytes of a matrix above which one thread factorises it: two threads of OpenBLAS 0.3.31 write
outside a matrix of 16,300 rows in double precision, but not of 13,500."""


def threads_of_factor(n_bytes: int) -> AbstractContextManager[int | None]:
    """Set one thread of BLAS in the context if a matrix to be factorised is large."""
    return threads_of_blas(1) if n_bytes > _MOST_BYTES else nullcontext()


def threads_of_trees(n_threads: int = 1) -> threadpool_limits:
    """Limit OpenMP threads in the context, for this thread; on busy cores they wait at full load.

    Libraries are looked up each time, because base models may load another OpenMP.
    """
    return threadpool_limits(min(n_threads, cpu_count()), user_api="openmp")


def in_order(
    function: Callable[[Block], Piece], blocks: Sequence[Block], n_threads: int
) -> Iterator[tuple[Block, Piece]]:
    """Yield each block with the result of ``function``, in order, from threads that share them."""
    if n_threads == 1 or len(blocks) == 1:
        for block in blocks:
            yield block, function(block)
        return
    with ThreadPoolExecutor(
        n_threads, initializer=setattr, initargs=(_THREAD, "shares_blocks", True)
    ) as pool:
        waiting = iter(blocks)
        asked = deque(pool.submit(function, b) for b in islice(waiting, 2 * n_threads + 1))
        try:
            for block in blocks:
                piece = asked.popleft().result()
                asked.extend(pool.submit(function, b) for b in islice(waiting, 1))
                yield block, piece
        finally:
            for future in asked:
                future.cancel()


def _take_over() -> None:
    """Let the current thread set BLAS limits, which threadpoolctl accepts from one thread only."""
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@cache
def _blas() -> ThreadpoolController:
    # Cached, because finding the loaded libraries takes milliseconds.
    return ThreadpoolController().select(user_api="blas")
