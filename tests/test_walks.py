"""Files that run in the main calls: few, and those that docs/architecture.md lists.

``python tests/test_walks.py`` writes the lists into the page.
"""

import ast
import re
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bochner
from bochner.learned import Chains

ROOT = Path(bochner.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
N_ROWS = 200
"""Rows of a fit: enough for the ways that most tables take, few enough for a quick test."""

RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 3))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=N_ROWS)
TABLE = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0.0, "x", "y")})
MONTHS = pd.date_range("2015-01-31", periods=72, freq="ME")
SERIES = pd.Series(
    10.0 + 0.1 * np.arange(72) + np.sin(np.pi * np.arange(72) / 6.0) + 0.1 * RNG.normal(size=72),
    index=MONTHS,
)


def fourier_features() -> None:
    bochner.FourierFeatures(bochner.kernels.Gaussian(1.0), random_state=0).fit_transform(X)


def krein_ridge() -> None:
    bochner.KreinRidge(random_state=0).fit(X, Y)


def krein_ridge_of_indefinite_kernel() -> None:
    bochner.KreinRidge(bochner.kernels.TL1(2.0), random_state=0).fit(X, Y)


def gaussian_process() -> None:
    bochner.GaussianProcessRegressor(random_state=0).fit(X, Y)


def learned_kernel() -> None:
    chains = Chains(n_burn_in=5, n_samples=5, n_chains=2)
    bochner.LearnedKernelRegressor(20, chains=chains, random_state=0).fit(X, Y)


@cache
def table_model() -> bochner.TableRegressor:
    return bochner.TableRegressor(random_state=1).fit(TABLE, Y)


def table_fit() -> None:
    bochner.TableRegressor(random_state=1).fit(TABLE, Y)


def table_interval() -> None:
    table_model().predict_interval(TABLE)


@cache
def forecaster() -> bochner.Forecaster:
    return bochner.Forecaster().fit(SERIES)


def forecast_fit() -> None:
    bochner.Forecaster().fit(SERIES)


def forecast_interval() -> None:
    forecaster().predict_interval(12)


def csv_file() -> None:
    bochner.read_table(ROOT / "datasets" / "data" / "seattle_weather.csv")


WALKS: dict[str, tuple[Callable[[], None], int]] = {
    "FourierFeatures(Gaussian()).fit_transform(X)": (fourier_features, 20),
    "KreinRidge().fit(X, y)": (krein_ridge, 26),
    # An indefinite kernel also meets the design of its measure, of atoms on the rows' distances.
    "KreinRidge(TL1(2.0)).fit(X, y)": (krein_ridge_of_indefinite_kernel, 31),
    "GaussianProcessRegressor().fit(X, y)": (gaussian_process, 26),
    "LearnedKernelRegressor().fit(X, y)": (learned_kernel, 30),
    "TableRegressor().fit(X, y)": (table_fit, 31),
    "TableRegressor.predict_interval(X)": (table_interval, 14),
    "Forecaster().fit(y)": (forecast_fit, 22),
    "Forecaster.predict_interval(12)": (forecast_interval, 11),
    "read_table(path)": (csv_file, 15),  # Each column is offered to each rule, in a file of its own
}
"""Calls, each with the most files that it may run through."""


def run(call: Callable[[], None]) -> dict[str, set[str]]:
    """Return the functions of the package that a call runs, by file, in order of first entry."""
    entered: dict[str, set[str]] = {}

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)):
            place = Path(code.co_filename).relative_to(ROOT).as_posix()
            entered.setdefault(place, set()).add(code.co_qualname)

    earlier = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(earlier)
        threading.setprofile(None)
    return entered


@cache
def walked(name: str) -> dict[str, set[str]]:
    """Return the files and functions of a walk; imports and compilation are done before."""
    call, _ = WALKS[name]
    call()
    return run(call)


def subject(place: str) -> str:
    """Return the first sentence of a file, on one line."""
    text = ast.get_docstring(ast.parse((ROOT / place).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def section(name: str) -> str:
    """Return the lines of the page on a walk."""
    files = "\n".join(f"1. `{place}`: {subject(place)}" for place in walked(name))
    return f"### `{name}`\n\n{files}\n"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WALKS)
def test_a_call_runs_through_few_files(name):
    files = walked(name)
    assert len(files) <= WALKS[name][1], ", ".join(files)


@pytest.mark.filterwarnings("ignore")
def test_plain_features_run_through_few_functions():
    functions = walked("FourierFeatures(Gaussian()).fit_transform(X)").values()
    assert sum(map(len, functions)) <= 75


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WALKS)
def test_the_page_lists_the_files_that_run(name):
    assert section(name) in PAGE.read_text(encoding="utf-8"), (
        "run `python tests/test_walks.py`, which writes the lists"
    )


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for title in WALKS:
        pattern = re.compile(rf"### `{re.escape(title)}`\n.*?(?=\n#|\Z)", re.DOTALL)
        page = pattern.sub(lambda _, title=title: section(title).rstrip("\n") + "\n", page)
    PAGE.write_text(page, encoding="utf-8")
