"""What commands say of the step they are at, on terminals and elsewhere."""

import io
import re
from threading import Event
from time import sleep

import pytest

from bochner import FitProgress
from bochner.cli.output import Activity, reporting


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self):
        return self.now


def test_the_time_left_is_that_of_equal_steps():
    """Steps of two seconds each, the first of which began a second before it was reported."""
    clock = Clock()
    shown = Activity(clock=clock)
    for now, step, text in (
        (1.0, FitProgress("reading"), "after 1 s: reading"),
        (3.0, FitProgress("kernel", 1, 5), "after 3 s: kernel 1/5, about 8 s left of this step"),
        (5.0, FitProgress("kernel", 2, 5), "after 5 s: kernel 2/5, about 6 s left of this step"),
        (7.0, FitProgress("comparing with: trees"), "after 7 s: comparing with: trees"),
        (9.0, FitProgress("kernel", 5, 5), "after 9 s: kernel 5/5"),
    ):
        clock.now = now
        shown.note(step)
        assert str(shown) == text


def test_the_time_left_runs_down_between_steps():
    clock = Clock()
    shown = Activity(60.0, clock)
    clock.now = 10.0
    shown.note(FitProgress("kernel", 1, 3))
    assert str(shown) == "after 10 s of 60 s: kernel 1/3, about 20 s left of this step"
    clock.now = 25.4  # Whole seconds do not flicker
    assert str(shown) == "after 25 s of 60 s: kernel 1/3, about 5 s left of this step"
    clock.now = 40.0
    assert str(shown) == "after 40 s of 60 s: kernel 1/3"


@pytest.fixture
def fast(monkeypatch):
    monkeypatch.setattr(Activity, "pause", lambda self: 0.01)


def test_files_and_pipes_get_lines(fast, capsys):
    with reporting(limit=30.0) as progress:
        progress("learned [red]kernel", 1, 2)
        sleep(0.1)
        progress("x" * 200)
        sleep(0.1)
    written, errors = capsys.readouterr()
    assert written == ""
    lines = errors.splitlines()
    assert all(re.match(r"after \d+ s of 30 s: ", line) for line in lines)
    assert "learned [red]kernel 1/2" in lines[0]
    assert lines[-1].endswith(f": {'x' * 200}")  # Not folded
    sleep(0.05)
    assert capsys.readouterr() == ("", "")  # It has ended


def test_short_work_writes_nothing(fast, capsys, monkeypatch):
    monkeypatch.undo()
    with reporting() as progress:
        progress("reading")
    assert capsys.readouterr() == ("", "")


def test_lines_that_cannot_be_written_stop_nothing(fast, monkeypatch):
    """A line that fails is left out, the next one is tried, and the work goes on to its end."""
    attempts, is_tried_again = [], Event()

    class Full(io.StringIO):
        def write(self, text):
            attempts.append(text)
            if len(attempts) > 1:
                is_tried_again.set()
            raise OSError("No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    with reporting() as progress:
        progress("reading")
        assert is_tried_again.wait(60.0)
        progress("fitting")
    n_attempts = len(attempts)
    assert all(re.match(r"after \d+ s: ", text) for text in attempts)
    sleep(0.05)
    assert len(attempts) == n_attempts  # It has ended
