"""Loops of the analysis that a second process compiles while the first command fits."""

import os
import subprocess
import sys

import pytest

from bochner.cli import compiling
from bochner.learning.tables.exchange_sums import add_kernel_sums

ANALYSED = """
import numpy as np, pandas as pd
from bochner import TableRegressor
from bochner.learning.tables.exchange_sums import add_kernel_sums
rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["area", "age"])
frame["kind"] = rng.choice([*"abc"], 60)
y = frame["area"] + (frame["kind"] == "a")
TableRegressor(effort="quick", random_state=0).fit(frame, y).importance()
print(sum(add_kernel_sums.stats.cache_misses.values()))
"""


@pytest.fixture
def started(monkeypatch):
    """Return the commands that were started as processes; none is."""
    commands = []

    class Process:
        def __init__(self, command, **streams):
            assert set(streams.values()) == {subprocess.DEVNULL}
            commands.append(command)

        def terminate(self):
            commands.append("terminated")

        def wait(self):
            commands.append("waited for")

    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(compiling, "cpu_count", lambda: 2)
    return commands


def test_a_process_starts_only_where_the_loops_are_needed_and_not_stored(monkeypatch, started):
    for is_needed, is_stored, n_cores in [(0, 0, 2), (1, 1, 2), (1, 0, 1)]:
        monkeypatch.setattr(compiling, "is_compiled", lambda answer=is_stored: bool(answer))
        monkeypatch.setattr(compiling, "cpu_count", lambda n=n_cores: n)
        with compiling.compiling_meanwhile(is_needed=bool(is_needed)):
            assert not started
    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    monkeypatch.setattr(compiling, "cpu_count", lambda: 2)
    with compiling.compiling_meanwhile(is_needed=True):
        assert started == [[sys.executable, "-m", "bochner.cli.compiling"]]
    assert started[1:] == ["terminated", "waited for"]


def test_the_process_ends_with_an_error_of_the_command(monkeypatch, started):
    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    with pytest.raises(KeyboardInterrupt), compiling.compiling_meanwhile(is_needed=True):
        raise KeyboardInterrupt
    assert started[1:] == ["terminated", "waited for"]


def test_loops_in_the_cache_are_found():
    compiling.compile_analysis()
    assert not add_kernel_sums.stats.cache_path or compiling.is_compiled()


def assert_no_loop_is_compiled_again(folder):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-m", "bochner.cli.compiling"]
    subprocess.run(command, env=environment, check=True)
    analysed = subprocess.run(
        [sys.executable, "-c", ANALYSED], env=environment, capture_output=True, check=True
    )
    assert analysed.stdout.split() == [b"0"]


def test_an_analysis_compiles_none_of_the_stored_loops(tmp_path):
    assert_no_loop_is_compiled_again(tmp_path)
