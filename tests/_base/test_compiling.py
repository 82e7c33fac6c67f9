"""Compiled loops without a folder for their code."""

import subprocess
import sys

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
