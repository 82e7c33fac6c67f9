"""Blocks of rows on threads, and the limit on those of linear algebra."""

from threading import Barrier, Thread

import numpy as np
import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

from bochner._base import arrays, threads
from bochner._base.threads import in_order, single_threaded_blas, threads_for


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_blocks_come_in_order(n_threads):
    found = list(in_order(lambda block: block**2, range(40), n_threads))
    assert found == [(block, block**2) for block in range(40)]


def test_there_are_no_more_threads_than_cores():
    assert threads_for(99_999, 4) == threads_for(-1, 4) == cpu_count()
    assert (threads_for(None, 4), threads_for(1, 4)) == (4, 1)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_goes_wrong_in_a_thread_is_raised(n_threads):
    def broken(block):
        raise ZeroDivisionError(block)

    with pytest.raises(ZeroDivisionError):
        list(in_order(broken, range(3), n_threads))


def test_linear_algebra_has_one_thread_inside_and_its_own_again():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas() as outside:
            assert outside == min(max(before), cpu_count())
            assert blas_threads() == {1}
            with single_threaded_blas() as again:
                assert again == outside
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_one_thread_factorises_large_matrices(monkeypatch):
    counts = []
    monkeypatch.setattr(arrays, "cholesky", lambda *_, **__: counts.append(blas_threads()))
    monkeypatch.setattr(threads, "_MOST_BYTES", 799)
    with threads.threads_of_blas(2):
        for n_rows in (9, 10):
            arrays.jittered_cholesky(np.eye(n_rows))
    assert counts == [{2}, {1}]


ONE, TWO = single_threaded_blas, lambda: threads.threads_of_blas(2)


@pytest.mark.parametrize(("earlier", "limit"), [(ONE, ONE), (TWO, TWO), (ONE, TWO)])
def test_threads_that_overlap_leave_things_as_they_were(earlier, limit):
    """One comes while the other is there and goes after it: no limit of either stays."""
    first_in, second_in, first_out = Barrier(2), Barrier(2), Barrier(2)
    counts = []

    def first():
        with earlier():
            first_in.wait(10.0)
            second_in.wait(10.0)
        first_out.wait(10.0)

    def second():
        first_in.wait(10.0)
        with limit():
            counts.append(blas_threads())
            second_in.wait(10.0)
            first_out.wait(10.0)
            counts.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        both = [Thread(target=target) for target in (first, second)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join(20.0)
        assert blas_threads() == before
        assert counts == [{1}, {1 if limit is ONE else 2}]
