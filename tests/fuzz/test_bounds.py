"""Changed model files while compiled loops check the bounds of their arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

FILES = Path(__file__).with_name("test_model_files.py")

WITH_LOOPS = "lists_and_arrays and (forecaster or text)"
"""Models whose predictions run compiled loops over arrays of the file."""


def test_no_changed_file_makes_loops_read_beyond_their_arrays(tmp_path):
    """In a process of its own: a crash is a failure as well."""
    checks = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "slow or not slow"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-k", WITH_LOOPS, str(FILES)],
        env={**os.environ, **checks},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
