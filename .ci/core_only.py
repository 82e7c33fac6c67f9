"""Check an installation that has the core dependencies and no extra."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np

import bochner

OPTIONAL = ("matplotlib", "pandas", "pyarrow", "rich", "typer")

present = [name for name in OPTIONAL if find_spec(name)]
assert not present, f"The core installation brought {', '.join(present)}."

co2 = bochner.datasets.load("mauna_loa_co2_weekly")
known = np.isfinite(co2.y)
mean = bochner.KreinRidge(random_state=0).fit(co2.X[known], co2.y[known]).predict(co2.X)
assert mean.shape == co2.y.shape

command = subprocess.run([sys.argv[1], "demo"], capture_output=True, text=True, check=False)
said = command.stdout + command.stderr
assert command.returncode != 0, "`bochner demo` must fail without its extra."
assert "pip install 'bochner[cli]'" in said, f"`bochner` must name its extra, it said: {said}"
assert len(said.strip().splitlines()) == 1, f"One line was expected, not: {said}"
print("The core works alone, and the command names its extra.")
