"""Blocks of rows shared by threads, one thread each for the linear algebra inside."""

from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from threading import Lock, local
from typing import Any, ParamSpec, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

Block = TypeVar("Block")
Part = TypeVar("Part")
P = ParamSpec("P")


class _OneThread:
    """Limits linear algebra of the process to one thread while any thread of the user holds it."""

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

_THREAD = local()
"""Has the attribute ``shares_blocks`` in threads that share blocks of rows."""


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Give linear algebra one thread inside, and yield how many it had: to share blocks of rows.

    Environment variables such as ``OPENBLAS_NUM_THREADS``, :func:`threadpoolctl.threadpool_limits`
    or the number of cores determine it. Inside a thread that shares blocks already it is one.
    """
    n_threads = _ONE_THREAD.acquire()
    try:
        yield 1 if hasattr(_THREAD, "shares_blocks") else n_threads
    finally:
        _ONE_THREAD.release()


def threads_for(n_jobs: int | None, n_threads: int) -> int:
    """Return how many threads ``n_jobs`` stands for, at most one per core; None: ``n_threads``."""
    return n_threads if n_jobs is None else min(effective_n_jobs(n_jobs), cpu_count())


@contextmanager
def threads_of_blas(n_threads: int) -> Iterator[None]:
    """Give linear algebra so many threads inside."""
    with _blas().limit(limits=n_threads):
        yield


def in_order(
    function: Callable[[Block], Part], blocks: Sequence[Block], n_threads: int
) -> Iterator[tuple[Block, Part]]:
    """Yield each block with the result of ``function`` for it, in order.

    Threads share the blocks and work at most two blocks each ahead of the caller. Sums over the
    results do not depend on the number of threads. Linear algebra inside should have one thread.
    """
    if n_threads == 1 or len(blocks) == 1:
        for block in blocks:
            yield block, function(block)
        return
    with ThreadPoolExecutor(
        n_threads, initializer=setattr, initargs=(_THREAD, "shares_blocks", True)
    ) as pool:
        ahead: deque[tuple[Block, Future[Part]]] = deque()
        for block in blocks:
            ahead.append((block, pool.submit(function, block)))
            if len(ahead) > 2 * n_threads:
                first, made = ahead.popleft()
                yield first, made.result()
        for block, made in ahead:
            yield block, made.result()


def in_a_thread(function: Callable[P, Part], *args: P.args, **named: P.kwargs) -> Part:
    """Return what a function returns in a thread of its own, for code that ignores exceptions.

    Python raises KeyboardInterrupt in the main thread alone. Raised while SciPy reads the numbers
    of its Sobol sequences, it would be lost, and the numbers stay incomplete without an error.
    It may leave locks of pools and futures locked for ever: the main thread waits for a queue.
    """
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def answer() -> None:
        try:
            answers.put((function(*args, **named), None))
        except BaseException as error:
            answers.put((None, error))

    start_new_thread(answer, ())
    result: Part
    result, error = answers.get()
    if error is not None:
        raise error
    return result


@cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; those of NumPy and SciPy are loaded by now.
    return ThreadpoolController().select(user_api="blas")
