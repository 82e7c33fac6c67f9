"""Every number that a module names has a reason next to it."""

import ast
import io
import tokenize
from itertools import pairwise
from pathlib import Path

import pytest

import bochner

FILES = {
    path.relative_to(root.parent).as_posix(): path
    for root in (Path(bochner.__file__).parent, Path(__file__).parents[1] / "benchmarks")
    for path in sorted(root.rglob("*.py"))
}


def is_number(node: ast.expr) -> bool:
    """Tell whether an expression is made of numbers: literals, arithmetic, tuples of them."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float | complex) and not isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) or is_number(node.right)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.Call):
        # np.finfo(...).eps, float(...), np.log(2.0), np.geomspace(1e-3, 1e3, 13) and the like.
        return bool(node.args) and any(map(is_number, node.args))
    return isinstance(node, ast.Attribute) and node.attr in ("eps", "tiny", "max", "min")


def named_numbers(source: str) -> list[tuple[str, int, int]]:
    """Return names of module-level numbers, with their first and last line."""
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        names = [ast.unparse(target) for target in targets]
        if is_number(value):
            found.append((", ".join(names), node.lineno, node.end_lineno or node.lineno))
    return found


def unexplained(source: str) -> list[str]:
    """Return the numbers without a comment above or after them, or a string below."""
    tree, lines = ast.parse(source).body, source.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    commented = {token.start[0] for token in tokens if token.type == tokenize.COMMENT}
    documented = {
        before.end_lineno
        for before, node in pairwise(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    return [
        f"{name} (line {first})"
        for name, first, last in named_numbers(source)
        if not (
            (first - 1 in commented and lines[first - 2].lstrip().startswith("#"))
            or commented & set(range(first, last + 1))
            or last in documented
        )
    ]


@pytest.mark.parametrize("file", FILES)
def test_numbers_have_reasons(file):
    assert not unexplained(FILES[file].read_text(encoding="utf-8"))


def test_the_package_and_the_benchmarks_are_read():
    assert {"bochner/__init__.py", "benchmarks/__init__.py"} <= FILES.keys()


def test_what_counts_as_a_reason():
    assert unexplained("A = 3\nB, C = 1.0, -2e3\nD: float = 4.0 * np.finfo(float).eps\n") == [
        "A (line 1)",
        "(B, C) (line 2)",
        "D (line 3)",
    ]
    assert not unexplained('# Why.\nA = 3\nB = 1.0  # Why.\nD: float = 2.0\n"""Why."""\n')
    assert not unexplained('NAMES = ("a", "b")\nFLAG = True\nTABLE = {"a": 1}\n')
