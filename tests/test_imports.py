"""Importing the library needs the core dependencies only, and changes nothing."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import bochner
from bochner import save

OPTIONAL = (
    "dask", "distributed", "jinja2", "matplotlib", "onnx", "pandas", "pyarrow", "rich", "typer",
)  # fmt: skip
# Not torch: SciPy looks for it among the imported modules.
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))"


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.thorough
def test_the_core_imports_without_the_extras():
    done = run(f"{BLOCKED}; import bochner; print(len(bochner.__all__))")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


HEAVY = (
    "dask", "joblib", "matplotlib", "numba", "numpy", "pandas", "polyagamma", "pyarrow",
    "safetensors", "scipy", "sklearn",
)  # fmt: skip
"""Packages that take tenths of a second or more to import."""


@pytest.mark.thorough_cases(but=r"dir\(|\bversion\b")
@pytest.mark.parametrize(
    "statement",
    [
        "import bochner; bochner.__version__; dir(bochner)",
        "from bochner.cli.app import app; app(['--help'], standalone_mode=False)",
        "from bochner.cli.app import app; app(['fit', '--help'], standalone_mode=False)",
        "from bochner.cli.app import app; app(['--version'], standalone_mode=False)",
        "from bochner.cli.app import app; app(['fit', 'a.csv', '--targets', 'b'])",
        "from bochner.cli.app import app; app(['fit', 'none.csv', '--target', 'b'])",
        "from bochner.cli.app import app; app(['predict', 'none.bochner', 'none.csv'])",
    ],
)
def test_names_help_and_wrong_options_import_no_heavy_package(statement):
    report = f"print(sorted(set({HEAVY}) & set(sys.modules)))"
    done = run(f"import sys\ntry:\n    {statement}\nexcept SystemExit:\n    pass\n{report}")
    assert done.stdout.endswith("[]\n"), done.stdout + done.stderr


def listed_for_type_checkers():
    """Return the public names by module that the package states for type checkers."""
    tree = ast.parse(Path(bochner.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    for node in block.body:
        for alias in node.names:
            assert alias.asname == alias.name  # The form that exports a name
            yield alias.name, node.module


def test_public_names_are_those_that_type_checkers_read():
    homes = dict(listed_for_type_checkers())
    assert sorted({*homes, "__version__"}) == bochner.__all__
    for name, module in homes.items():
        assert getattr(bochner, name) is getattr(import_module(module), name)


@pytest.mark.thorough
def test_public_names_are_attributes_once_they_were_used():
    done = run(
        "import bochner; from bochner import *; from bochner import Frequencies as F\n"
        "assert vars(bochner)['Frequencies'] is Frequencies is F\n"
        "assert set(bochner.__all__) <= set(dir(bochner))\n"
        "assert bochner.spectral.Chi and bochner.plot.kernel\n"
        "print(hasattr(bochner, 'Nothing'), hasattr(bochner, '__path__'), bochner.nothing)"
    )
    assert "AttributeError: module 'bochner' has no attribute 'nothing'" in done.stderr


IMPORT_ALONE = """
import sys

for name in {names}:
    for module in [m for m in sys.modules if m.partition(".")[0] == "bochner"]:
        del sys.modules[module]
    scope = {{}}
    try:
        exec(f"from bochner import {{name}}", scope)
    except ImportError as error:
        print(name, error)
    else:
        assert scope[name] is not None, name
"""
"""Imports each name into a package of which nothing is imported yet; libraries stay."""

QUICK = ("FitProgress", "load")
"""Names that are imported alone by the quicker tests."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(QUICK, id="quick"),
        pytest.param(
            tuple(n for n in bochner.__all__ if n[0].isalpha() and n not in QUICK),
            id="all others",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_each_name_is_imported_alone(names):
    done = run(IMPORT_ALONE.format(names=names))
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.thorough
def test_a_model_file_imports_the_class_of_its_model(tmp_path):
    path = tmp_path / "rows.bochner"
    model = bochner.KreinRidge("tanh", 8, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    save(model, path)
    done = run(
        f"from bochner.files.model_file import load; print(load({str(path)!r}).predict([[0.5]])[0])"
    )
    assert done.stdout == f"{model.predict([[0.5]])[0]}\n", done.stderr


@pytest.mark.thorough
def test_the_export_names_its_extra():
    model = "bochner.Frequencies([[1.0]], [1.0])"
    done = run(f"{BLOCKED}; import bochner; bochner.export_onnx({model})")
    assert "ImportError: export_onnx needs the package onnx: pip install 'bochner[onnx]'." in (
        done.stderr
    )


@pytest.mark.thorough
def test_the_import_changes_no_global_state():
    state = "np.random.get_state()[1].tobytes(), np.geterr(), [f[:3] for f in warnings.filters]"
    # The dependencies may have effects of their own; only this library's are in question.
    done = run(
        "import warnings, numpy as np, scipy.stats, scipy.sparse, sklearn.utils.estimator_checks\n"
        "import sklearn.datasets, sklearn.linear_model, safetensors.numpy\n"
        f"before = {state}\nimport bochner\nassert ({state}) == before"
    )
    assert done.returncode == 0, done.stderr
