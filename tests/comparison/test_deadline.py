"""Work that ends when its time is over."""

import signal
import sys
from math import inf
from threading import Thread
from time import perf_counter, sleep

import pytest

from bochner.comparison.deadline import Deadline


def forever():
    while True:
        sleep(0.001)


def test_work_within_the_time_returns():
    for seconds in (5.0, inf):
        assert Deadline(seconds).run(lambda: 3) == 3
    assert Deadline().left == inf


def test_work_is_interrupted_at_the_deadline():
    began, before = perf_counter(), signal.getsignal(signal.SIGALRM)
    deadline = Deadline(0.05)
    assert deadline.run(forever) is None
    assert 0.05 <= perf_counter() - began < 2.0
    assert deadline.left == 0.0
    assert deadline.run(lambda: 3) is None  # It is over
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_work_cannot_keep_the_interruption():
    """Libraries catch exceptions; this one is none of their kind."""

    def stubborn():
        try:
            forever()
        except Exception:
            return 3

    assert Deadline(0.02).run(stubborn) is None


def test_no_interruption_comes_later():
    assert Deadline(0.05).run(lambda: 3) == 3
    sleep(0.1)


def test_errors_of_the_work_are_raised():
    with pytest.raises(ZeroDivisionError):
        Deadline(5.0).run(lambda: 1 / 0)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_threads_begin_nothing_late():
    results = []

    def work():
        results.append(Deadline(5.0).run(lambda: 3))
        results.append(Deadline(0.0).run(lambda: 3))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert results == [3, None]


def test_imports_are_completed(tmp_path, monkeypatch):
    (tmp_path / "slowly_imported.py").write_text("import time\ntime.sleep(0.3)\nvalue = 3\n")
    monkeypatch.syspath_prepend(tmp_path)

    def work():
        import slowly_imported

        assert slowly_imported.value == 3
        forever()

    assert Deadline(0.05).run(work) is None
    assert sys.modules.pop("slowly_imported").value == 3


def test_parts_of_the_time_that_is_left():
    now = [0.0]
    deadline = Deadline(10.0, lambda: now[0])
    now[0] = 4.0
    assert deadline.part(0.5).left == 3.0
    assert Deadline().part(0.5).left == inf
