"""Importing the library needs the core dependencies only, and changes nothing."""

import subprocess
import sys

from bochner import save
from bochner.experimental import SequenceFeatures

OPTIONAL = (
    "dask",
    "distributed",
    "jinja2",
    "matplotlib",
    "onnx",
    "pandas",
    "pyarrow",
    "pyspark",
    "ray",
    "rich",
    "typer",
)
# Not torch: SciPy looks for it among the imported modules.
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


def test_the_core_imports_without_the_extras():
    done = run(f"{BLOCKED}; import bochner; print(len(bochner.__all__))")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


def test_the_export_names_its_extra():
    model = "bochner.Frequencies([[1.0]], [1.0])"
    done = run(f"{BLOCKED}; import bochner; bochner.export_onnx({model})")
    assert "ImportError: export_onnx needs the package onnx: pip install 'bochner[onnx]'." in (
        done.stderr
    )


def test_the_import_changes_no_global_state():
    state = "np.random.get_state()[1].tobytes(), np.geterr(), [f[:3] for f in warnings.filters]"
    # The dependencies may have effects of their own; only this library's are in question.
    done = run(
        "import warnings, numpy as np, scipy.stats, scipy.sparse, sklearn.utils.estimator_checks\n"
        "import sklearn.datasets, sklearn.linear_model, safetensors.numpy\n"
        f"before = {state}\nimport bochner\nassert ({state}) == before"
    )
    assert done.returncode == 0, done.stderr


def test_the_import_leaves_experimental_modules_out():
    done = run("import sys, bochner, bochner.cli.app; print('bochner.experimental' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_a_model_file_imports_the_experimental_module(tmp_path):
    path = tmp_path / "letters.bochner"
    model = SequenceFeatures(n_components=8, random_state=0).fit(["abc", "abcd"])
    save(model, path)
    done = run(f"import bochner; print(bochner.load({str(path)!r}).transform(['abcd']).tolist())")
    assert done.stdout == f"{model.transform(['abcd']).tolist()}\n", done.stderr
