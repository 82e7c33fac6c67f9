"""The benchmark of devices, in a process of its own: SciPy reads its switch when imported."""

import os
import subprocess
import sys

import pytest

from benchmarks import gpu, read_rows

pytest.importorskip("torch")


def test_quick_run(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "gpu", "--quick", "--out", str(tmp_path)]
    settings = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = read_rows(tmp_path / "gpu-quick.csv")
    assert all(row["value"] > 0.0 for row in rows if row["metric"] != "steps")
    found = {(row["part"], row["method"], row["metric"]) for row in rows}
    assert {
        ("limits", gpu.PRODUCT, "gigaflops"),
        ("limits", gpu.COPY, "gigabytes_per_second"),
        ("map", gpu.OURS, "times_the_limit"),
        ("map", gpu.PLAIN, "seconds"),
        ("ridge", gpu.OURS, "steps"),
    } <= found


def test_a_function_is_timed_after_its_first_run(monkeypatch):
    calls, seconds = (
        [],
        iter([0.0, 9.0, 20.0, 21.0, 30.0, 33.0, 40.0, 42.0, 50.0, 52.0, 60.0, 62.0]),
    )
    monkeypatch.setattr(gpu, "perf_counter", lambda: next(seconds))
    monkeypatch.setattr(gpu, "_LONG", 10.0)
    assert gpu.seconds_of(lambda: calls.append(1)) == 2.0
    assert len(calls) == 6
