"""Tables, and the command run on them as a user would."""

import io
import warnings
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from bochner.cli.app import app

SMALL = ("--effort", "quick", "--no-compare")


def table(n_rows=150):
    """A table of two numbers and a colour, and a target that depends on all of them."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=n_rows), rng.uniform(-2.0, 2.0, n_rows)
    colour = rng.choice(["red", "blue", "green"], n_rows)
    y = np.sin(2.0 * a) + b**2 + (colour == "red") + 0.1 * rng.normal(size=n_rows)
    return pd.DataFrame({"a": a, "b": b, "colour": colour, "y": y})


def labelled(n_rows=150):
    """The same table with the target in two classes."""
    frame = table(n_rows)
    return frame.assign(y=np.where(frame["y"] > 1.0, "high", "low"))


def bochner(*arguments) -> Any:
    """Run the command; a warning is as bad as a traceback."""
    with warnings.catch_warnings(action="error"):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(frame, path):
    frame.to_csv(path, index=False)
    return path


def fit(folder, frame, *options, target="y", out="model.bochner", settings=SMALL):
    """Fit to a table written to ``folder``, and return the model file."""
    path = write(frame, folder / "train.csv")
    result = bochner("fit", path, "--target", target, "--out", folder / out, *settings, *options)
    assert result.exit_code == 0, result.output
    return folder / out


def predict(model, frame, *options):
    """Predict through files, and return what was written."""
    path = write(frame, model.parent / "new.csv")
    result = bochner("predict", model, path, *options)
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout))


def refusal(folder, *arguments):
    """Run a command that must be refused, and return its one message."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = bochner(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout.strip() in ("", "reading")
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("bochner: ")
    assert "Traceback" not in result.output
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    return result.stderr.removeprefix("bochner: ").strip()


def usage_error(*arguments):
    """Run a command that the parser refuses, and return its message on one line."""
    result = bochner(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("Error") == 1
    return " ".join(result.stderr.replace("│", " ").split())
