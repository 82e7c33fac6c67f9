"""Arrays of other namespaces, in a process of their own: SciPy reads its switch when imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("library", "cases"), [("torch", "torch"), ("array_api_strict", "not torch")]
)
def test_cases(library, cases):
    pytest.importorskip(library)
    # Plugins and options of the outer run, such as those of coverage, stay out of the inner one.
    settings = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "COV_"))}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("-k", cases, *map(str, sorted(Path(__file__).parent.glob("*cases.py")))),
        ],
        cwd=ROOT,
        env=settings | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert " passed" in done.stdout
