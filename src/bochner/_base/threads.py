"""Blocks of rows shared by threads, one thread each for the linear algebra inside."""

from _thread import start_new_thread
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from numbers import Integral
from queue import Empty, SimpleQueue
from threading import Lock, get_ident, local
from typing import Any, ParamSpec, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

Block = TypeVar("Block")
Piece = TypeVar("Piece")
P = ParamSpec("P")

_Answer = tuple[Any, BaseException | None]
"""Result of a function, or the exception that it raised."""


class _OneThread:
    """Limits linear algebra of the process to one thread while any thread of the user holds it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._holders = Counter[int]()  # How often each thread holds it; 0 for sharing threads
        self._n_threads = 1
        self._limiter: Any = None

    def acquire(self, holder: int) -> int:
        """Return the threads of a holder, and leave linear algebra one.

        Threads of the user that hold it at the same time divide those of linear algebra.
        """
        with self._lock:
            if not self._holders:
                blas = _blas()
                self._n_threads = _least_threads(blas.info())
                _take_over()
                self._limiter = blas.limit(limits=1)
            self._holders[holder] += 1
            n_users = len(self._holders.keys() - {_SHARING})
            return max(1, self._n_threads // max(1, n_users))

    def release(self, holder: int) -> None:
        """Leave linear algebra its threads again after the last holder, in any thread."""
        with self._lock:
            self._holders[holder] -= 1
            if not self._holders[holder]:
                del self._holders[holder]
            if not self._holders:
                # Perhaps by another thread than the one that set the limit.
                _take_over()
                self._limiter.restore_original_limits()
                _take_over()


_ONE_THREAD = _OneThread()

_THREAD = local()
"""Has the attribute ``shares_blocks`` in threads that share blocks of rows."""

_SHARING = 0
"""In place of the identifiers of these threads, which are not zero."""


def _holder() -> int:
    """Return the thread's identifier, one for all threads that share blocks."""
    return _SHARING if hasattr(_THREAD, "shares_blocks") else get_ident()


def _least_threads(pools: Sequence[Mapping[str, Any]]) -> int:
    """Return the least number of threads of libraries that have threads.

    Dask limits the threads of its workers after they have loaded NumPy, whose library then has a
    thread for each core; SciPy's has as many as the worker.
    """
    counts = (p["num_threads"] for p in pools if p.get("threading_layer") != "disabled")
    return min(counts, default=1)


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Give linear algebra one thread inside, and yield how many it had: to share blocks of rows.

    Environment variables such as ``OPENBLAS_NUM_THREADS``, :func:`threadpoolctl.threadpool_limits`
    or the number of cores determine it. Threads of the user that are inside at the same time divide
    it. Inside a thread that shares blocks already it is one.
    """
    holder = _holder()
    n_threads = _ONE_THREAD.acquire(holder)
    try:
        yield 1 if hasattr(_THREAD, "shares_blocks") else n_threads
    finally:
        _ONE_THREAD.release(holder)


def checked_n_jobs(n_jobs: Any) -> int | None:
    """Return the number of processes or threads; raise ``TypeError`` or ``ValueError``."""
    if n_jobs is None:
        return None
    is_integer = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_integer or not n_jobs:
        kind = ValueError if is_integer else TypeError
        raise kind(
            f"n_jobs must be a nonzero integer or None, got {n_jobs!r}. Minus one means all cores."
        )
    return int(n_jobs)


def threads_for(n_jobs: int | None, n_threads: int) -> int:
    """Return the number of threads of ``n_jobs``, at most one per core; None: ``n_threads``."""
    return n_threads if n_jobs is None else min(effective_n_jobs(n_jobs), cpu_count())


@contextmanager
def threads_of_blas(n_threads: int) -> Iterator[None]:
    """Set the number of BLAS threads within the context."""
    _take_over()
    with _blas().limit(limits=n_threads):
        yield


def in_order(
    function: Callable[[Block], Piece], blocks: Sequence[Block], n_threads: int
) -> Iterator[tuple[Block, Piece]]:
    """Yield each block with the result of ``function`` for it, in order.

    Threads share the blocks and work at most two blocks each ahead of the caller. Sums over the
    results do not depend on the number of threads. Linear algebra inside should have one thread.
    """
    if n_threads == 1 or len(blocks) == 1:
        for block in blocks:
            yield block, function(block)
        return
    with _sharing(function, blocks, n_threads) as (tasks, answers):
        n_asked, finished = 0, dict[int, _Answer]()
        for number, block in enumerate(blocks):
            while n_asked < min(len(blocks), number + 2 * n_threads + 1):
                tasks.put(n_asked)
                n_asked += 1
            while number not in finished:
                answered, answer = answers.get()
                finished[answered] = answer
            part, error = finished.pop(number)
            if error is not None:
                raise error
            yield block, part


@contextmanager
def _sharing(
    function: Callable[[Block], Piece], blocks: Sequence[Block], n_threads: int
) -> Iterator[tuple["SimpleQueue[int | None]", "SimpleQueue[tuple[int, _Answer]]"]]:
    """Give queues of numbers of blocks and of their answers to threads, and wait for their end.

    Only queues are shared with these threads, because an interrupt may leave locks of pools and
    futures locked.
    """
    tasks: SimpleQueue[int | None] = SimpleQueue()
    answers: SimpleQueue[tuple[int, _Answer]] = SimpleQueue()
    ends: SimpleQueue[None] = SimpleQueue()

    def work() -> None:
        _THREAD.shares_blocks = True
        while (number := tasks.get()) is not None:
            answers.put((number, _answer(function, blocks[number])))
        ends.put(None)

    n_begun = 0
    try:
        for _ in range(n_threads):
            start_new_thread(work, ())
            n_begun += 1
        yield tasks, answers
    finally:
        with suppress(Empty):
            while True:  # Nobody waits for these any more
                tasks.get_nowait()
        for _ in range(n_threads):
            tasks.put(None)
        for _ in range(n_begun):
            ends.get()


def _answer(function: Callable[P, Piece], *args: P.args, **named: P.kwargs) -> _Answer:
    """Return the result of a function and ``None``, or no result and the exception."""
    try:
        return function(*args, **named), None
    except BaseException as error:
        return None, error


def in_a_thread(function: Callable[P, Piece], *args: P.args, **named: P.kwargs) -> Piece:
    """Run a function in a separate thread, for code that ignores exceptions.

    Python raises KeyboardInterrupt in the main thread only. If it were raised while SciPy reads the
    direction numbers of Sobol sequences, it would be lost, and the numbers would stay incomplete
    without an error. It could also leave locks of pools and futures locked, so the main thread
    waits for a queue.
    """
    answers: SimpleQueue[_Answer] = SimpleQueue()
    start_new_thread(lambda: answers.put(_answer(function, *args, **named)), ())
    result: Piece
    result, error = answers.get()
    if error is not None:
        raise error
    return result


def _take_over() -> None:
    """Let this thread set limits, and after it any other.

    From version 3.8 on, threadpoolctl accepts limits of OpenBLAS from one thread only, until this
    thread has lifted its limit. Here the last holder lifts the limit, from any thread.
    """
    clear = getattr(OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


@cache
def _blas() -> ThreadpoolController:
    # Finding the libraries takes milliseconds; those of NumPy and SciPy are loaded by now.
    return ThreadpoolController().select(user_api="blas")
