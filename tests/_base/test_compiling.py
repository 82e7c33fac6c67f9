"""The files of compiled loops."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bochner

FILES = {
    "constants": "FACTOR = 3.0",
    "inlined": """
from bochner._base.compiling import inner
from bochner.constants import (
    FACTOR,
)

@inner()
def times(x):
    if x < 0.0:
        raise ValueError("negative", x)  # Arguments are in an environment
    return FACTOR * x
""",
    "loop": """
from bochner import inlined
from bochner._base.compiling import compiled

@compiled()
def called(x):
    return inlined.times(x) + 0.0
""",
}

PROGRAM = """
from numba.core import event
from bochner.loop import called
with event.install_recorder("numba:compile") as recorder:
    print(called(2.0), called(2), len(recorder.buffer) > 0)
"""


def run(folder, cache, program=PROGRAM, **environment):
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)} | environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def write_copy(folder, **edits):
    """Write a copy of the package with a loop that calls a function of another file."""
    package = folder / "bochner"
    shutil.copytree(
        Path(bochner.__file__).parent / "_base",
        package / "_base",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(bochner.__file__, package)
    for name, text in (FILES | edits).items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_copies_share_compiled_loops_until_a_file_changes(tmp_path):
    cache = tmp_path / "cache"
    first, second = write_copy(tmp_path / "first"), write_copy(tmp_path / "second")
    assert run(first, cache) == ["6.0", "6.0", "True"]
    assert run(second, cache) == ["6.0", "6.0", "False"]
    changed = write_copy(tmp_path / "changed", constants="FACTOR = 4.0")
    assert run(changed, cache) == ["8.0", "8.0", "True"]
    text = FILES["inlined"].replace("FACTOR *", "5.0 *")
    (first / "bochner" / "inlined.py").write_text(text, encoding="utf-8")
    assert run(first, cache) == ["10.0", "10.0", "True"]
    assert run(second, cache, NUMBA_OPT="1") == ["6.0", "6.0", "True"]
    for file in cache.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:-100])  # As after a full disk
    full = "import os\ndef full(*_): raise OSError(28, 'full')\nos.fsync = os.replace = full\n"
    assert run(second, cache, full + PROGRAM) == ["6.0", "6.0", "True"]
    assert {file.suffix for file in (cache / "bochner").iterdir()} == {".nbc"}
    assert run(second, cache) == ["6.0", "6.0", "True"]
    assert run(second, cache) == ["6.0", "6.0", "False"]


@pytest.mark.thorough_cases(but="null")
@pytest.mark.parametrize("home", ["/dev/null", "", "~"])
def test_loops_compile_without_a_folder_of_the_user(tmp_path, home):
    copy = write_copy(tmp_path)
    for is_compiled in ("True", "False"):
        assert run(copy, "", XDG_CACHE_HOME=home) == ["6.0", "6.0", is_compiled]
    assert run(copy, "/dev/null") == ["6.0", "6.0", "True"]
    assert {each.name for each in tmp_path.iterdir()} == {"bochner"}


def test_loops_compile_without_a_source_file(tmp_path):
    copy = write_copy(tmp_path)
    program = FILES["loop"] + "print(called(2.0), called.stats.cache_path)"
    assert run(copy, tmp_path, program) == ["6.0", "None"]


CLOSURE = """
def made(offset):
    @compiled()
    def called(x):
        return inlined.times(x) + offset
    return called

called = made(0.0)
"""

RAISING = """
import gc
from bochner._base.compiling import is_compiling
from bochner.loop import called
try:
    called(-2.0)
except ValueError as error:
    print(*error.args, gc.isenabled(), is_compiling())
"""


@pytest.mark.parametrize("is_kept", [True, False])
def test_inlined_functions_raise_with_their_arguments(tmp_path, is_kept):
    """The functions are not compiled by themselves; loops are compiled, then read if kept."""
    imports = FILES["loop"].partition("@")[0]
    copy = write_copy(tmp_path, loop=FILES["loop"] if is_kept else imports + CLOSURE)
    for _ in range(2):
        assert run(copy, tmp_path / "cache", RAISING) == ["negative", "-2.0", "True", "False"]
