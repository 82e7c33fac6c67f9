"""An interrupt while Numba compiles is heard when it has compiled."""

import signal
import subprocess
import sys
import threading

import pytest

from bochner._base.compiling import event

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")

INTERRUPTED = """
import os, signal

signal.signal(signal.SIGINT, signal.default_int_handler)  # Jobs in the background ignore it
from numba.core import event
from bochner._base import compiling

class Interrupt(event.Listener):
    def on_start(self, event):
        os.kill(os.getpid(), signal.SIGINT)
    def on_end(self, event):
        pass

event.register("numba:compile", Interrupt())

@compiling.njit
def twice(x):
    return 2.0 * x

try:
    twice(1.0)
except KeyboardInterrupt:
    print(len(twice.signatures), twice(2.0))
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_it_compiles_to_the_end_and_is_interrupted_then():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1", "4.0", "True"], done.stderr


def test_a_handler_of_the_user_is_called_once_after_the_lock():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with event.trigger_event("numba:compiler_lock"):
            with event.trigger_event("numba:compiler_lock"):
                signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            assert not heard
        assert heard == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_the_handler():
    found = []

    def compile_there():
        with event.trigger_event("numba:compiler_lock"):
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=compile_there)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGINT)]


HOMELESS = """
from numba.core import caching
caching.CacheImpl._locator_classes = []  # As where no folder can be written to
from bochner._base.compiling import compiled

@compiled()
def twice(x):
    return 2.0 * x

print(twice(1.5), twice._cache.__class__.__name__)
"""


def test_loops_compile_without_a_folder_for_their_code():
    done = subprocess.run(
        [sys.executable, "-c", HOMELESS], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["3.0", "NullCache"], done.stderr
