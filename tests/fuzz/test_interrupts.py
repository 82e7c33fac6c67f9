"""Commands that are stopped at any time: whole files, codes that are documented, no traceback."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bochner

COMMAND = Path(sys.executable).with_name("bochner")
CODES = {"SIGINT": {0, 130, -2}, "SIGTERM": {0, 143, -15}, "SIGKILL": {0, -9}}
"""Codes of a command that was in time, and of one that was stopped; negative ones at its start."""

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not hasattr(signal, "SIGKILL") or not COMMAND.exists(), reason="needs signals, a command"
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, and a model and predictions that were there before."""
    folder = tmp_path_factory.mktemp("stopped")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    X.assign(target=np.sin(X["a"])).to_csv(folder / "rows.csv", index=False)
    model = bochner.TableRegressor(effort="quick", random_state=0)
    bochner.save(model.fit(X, np.sin(X["a"])), folder / "model.bochner")
    (folder / "out.csv").write_text("prediction\n0.0\n")
    (folder / "report.html").write_text('<meta name="generator" content="bochner"></html>')
    return folder


def commands(folder):
    rows, model = folder / "rows.csv", folder / "model.bochner"
    return {
        "fit": (["fit", rows, "--target", "target", "--out", model, "--effort", "quick"], model),
        "predict": (["predict", model, rows, "--out", folder / "out.csv"], folder / "out.csv"),
        "evaluate": (
            ["evaluate", model, rows, "--report", folder / "report.html"],
            folder / "report.html",
        ),
    }


def stopped(folder, name, kind, seconds):
    """Stop a command after some time, and return its code; AssertionError if a file is broken."""
    arguments, path = commands(folder)[name]
    before = path.read_bytes()
    process = subprocess.Popen(
        [str(COMMAND), *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    process.send_signal(getattr(signal, kind))
    _, errors = process.communicate(timeout=60)
    if kind == "SIGINT" and ("init_import_site" in errors or "import re\n" in errors):
        return process.returncode  # Python itself was starting, and has its own words
    assert process.returncode in CODES[kind], f"{process.returncode}: {errors}"
    assert "Traceback" not in errors, errors
    if path.read_bytes() != before:  # The command was in time: what it wrote is whole
        if path.suffix == ".bochner":
            bochner.load(path)
        elif path.suffix == ".csv":
            assert len(pd.read_csv(path)) == 120
        else:
            assert path.read_text().rstrip().endswith("</html>")
    left = [each for each in folder.iterdir() if each.suffix == ".partial"]
    if kind == "SIGKILL":
        for each in left:
            each.unlink()
    else:
        assert not left, left
    return process.returncode


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("name", ["fit", "predict"])
def test_stopped_early(folder, name, kind):
    stopped(folder, name, kind, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("name", ["fit", "predict", "evaluate"])
def test_stopped_at_any_time(folder, name, kind):
    began = time.perf_counter()
    arguments, _ = commands(folder)[name]
    subprocess.run([str(COMMAND), *map(str, arguments)], cwd=folder, check=True)
    whole = time.perf_counter() - began
    rng = np.random.default_rng(0)
    codes = {stopped(folder, name, kind, t) for t in rng.uniform(0.02, 1.1 * whole, 20)}
    assert codes - {0}, "no command was stopped"
