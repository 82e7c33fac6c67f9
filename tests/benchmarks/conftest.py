"""Quick runs that several tests share."""

import fcntl
import os
from pathlib import Path

import pytest

from benchmarks import find, run


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """Return a function from the name of a benchmark to the CSV of its quick run.

    Test processes share one folder, ``QUICK_RUNS`` if that is set: the first to need a run makes
    it, and as a finished run measures nothing again, the others read it.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder = Path(os.environ.get("QUICK_RUNS", folder))

    def path_of(name):
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return run(find(name), out=folder / name, quick=True)

    return path_of
