"""A missing package is one line with a command that installs it, and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from cli.command import table, write

import bochner as library
from bochner import TableRegressor

pytestmark = pytest.mark.thorough

PACKAGES = (
    "pandas", "pyarrow", "python_calamine", "rich", "typer", "matplotlib", "jinja2", "babel",
    "charset_normalizer", "holidays", "markupsafe",
)  # fmt: skip
COMMANDS = {
    "fit": "fit t.csv --target target --out n.bochner --report r.html --effort quick --no-compare",
    "predict": "predict m.bochner t.csv --out p.csv",
    "evaluate": "evaluate m.bochner t.csv",
    "explain": "explain m.bochner --column a --plot x.svg",
    "forecast": "forecast s.csv --target y --horizon 3 --report f.html --holidays DE --no-compare",
    "diagnose": "diagnose t.csv --kernel gaussian",
    "sheet": "predict m.bochner t.xlsx --out p.csv",
}
RUN = """
import os, sys
sys.modules.update(dict.fromkeys([sys.argv[1]]))
from bochner.cli import main
for words in sys.argv[2:]:
    print("#", words, file=sys.stderr, flush=True)
    if not (child := os.fork()):
        sys.argv = ["bochner", *words.split()]
        main()
    print("=", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=sys.stderr, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, a series and a model."""
    folder, frame = tmp_path_factory.mktemp("missing"), table(60).rename(columns={"y": "target"})
    write(frame, folder / "t.csv")
    frame.to_excel(folder / "t.xlsx")
    days = pd.date_range("2022-11-01", periods=90)
    write(pd.DataFrame({"day": days, "y": range(90)}), folder / "s.csv")
    model = TableRegressor(effort="quick", random_state=0).fit(
        frame.drop(columns="target"), frame["target"]
    )
    library.save(model, folder / "m.bochner")
    return folder


@pytest.mark.parametrize("package", PACKAGES)
def test_a_missing_package_is_named_in_one_line(package, folder):
    code = [sys.executable, "-W", "ignore", "-c", RUN, package, *COMMANDS.values()]
    env = os.environ | {"PYTHONPATH": str(Path(library.__file__).parents[1])}
    done = subprocess.run(code, cwd=folder, env=env, capture_output=True, text=True, check=False)
    runs = done.stderr.split("# ")[1:]
    assert len(runs) == len(COMMANDS), done.stderr
    for run in runs:
        said, status = run.rsplit("= ", 1)
        assert "Traceback" not in said, said
        if int(status):
            assert int(status) == 2
            assert "pip install" in said.splitlines()[-1], said
