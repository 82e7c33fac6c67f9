"""Plant random bugs all over the package and report which of them the tests notice.

It chooses places at random, with a seed, in proportion to the code
of each room, changes one operator, constant or argument there, and runs the tests that reach the
line.

    python -m pytest --cov --cov-context=test
    python tools/mutate.py --count 100 --seed 1 --coverage .coverage --out mutants.csv

Survivors are listed with their change: each is either a missing test or a change of nothing.
"""

import argparse
import ast
import csv
import os
import random
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

import pytest
from coverage import CoverageData

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "bochner"
# Rooms of pictures and texts hold no mathematics.
SKIPPED = {"cli", "plot", "datasets", "comparison"}
SWAPPED = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE},
}
# Arguments that change speed or crash at once.
UNTOUCHED = {None, "axis", "dtype", "out", "n_jobs", "n_threads"}
# How a line of pytest's summary starts that names a test, or a module that is not imported.
_FAILURES = ("FAILED", "ERROR tests")
DROPPED_CALLS = {"sqrt", "exp", "log", "abs", "conj", "cumsum", "square"}


@dataclass(frozen=True)
class Mutant:
    """One change of one line, identified by the node of the file and the index of its change."""

    path: Path
    line: int
    node: int
    change: int
    what: str

    def applied(self) -> str:
        """Return the file's code with the change."""
        tree = ast.parse(self.path.read_text(encoding="utf-8"))
        node = list(places(tree))[self.node]
        wrong = changes(node)[self.change]
        fields = vars(node)
        fields.clear()
        node.__class__ = type(wrong)
        fields.update(vars(wrong))
        return ast.unparse(tree)


def places(tree: ast.AST, inside: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes inside of functions; messages of errors and other texts are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Raise | ast.JoinedStr):
            continue
        within = inside or (isinstance(tree, ast.FunctionDef) and node in tree.body)
        if within:
            yield node
        yield from places(node, within)


def rebuilt(node: ast.AST, **fields: object) -> ast.AST:
    """Return a copy of a node with other fields."""
    return type(node)(**{name: getattr(node, name) for name in node._fields} | fields)


def changes(node: ast.AST) -> list[ast.AST]:
    """Return the wrong nodes that may take the place of a node."""
    match node:
        case ast.BinOp(op=op) if type(op) in SWAPPED and not has_text(node):
            return [rebuilt(node, op=SWAPPED[type(op)]())]
        case ast.Compare(ops=[op]) if type(op) in SWAPPED:
            return [rebuilt(node, ops=[SWAPPED[type(op)]()])]
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            return [operand]
        case ast.Constant(value=float(value)) if value != 0.0:
            return [ast.Constant(2.0 * value)]
        case ast.Subscript(slice=ast.Constant(value=int(index))) if index in (0, 1):
            return [rebuilt(node, slice=ast.Constant(1 - index))]
        case ast.Attribute(value=value, attr="T"):
            return [value]
        case ast.Call():
            return changes_of_call(node)
    return []


def has_text(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node))


def changes_of_call(node: ast.Call) -> list[ast.AST]:
    """Return the call without its function, of the other of sum and mean, or less an argument."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    changes: list[ast.AST] = []
    if name in DROPPED_CALLS and len(node.args) == 1 and not node.keywords:
        changes.append(node.args[0])
    if name in {"sum", "mean"}:
        other = "mean" if name == "sum" else "sum"
        changes.append(rebuilt(node, func=rebuilt(node.func, attr=other)))
    for keyword in node.keywords:
        if keyword.arg not in UNTOUCHED and isinstance(keyword.value, ast.Name):
            changes.append(rebuilt(node, keywords=[k for k in node.keywords if k is not keyword]))
    return changes


def chosen(count, seed, only):
    """Choose mutants at random: files in proportion to their places, one mutant a line."""
    mutants = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in SKIPPED or only not in str(path):
            continue
        for index, node in enumerate(places(ast.parse(path.read_text(encoding="utf-8")))):
            for change, wrong in enumerate(changes(node)):
                change_text = f"{ast.unparse(node)} → {ast.unparse(wrong)}"
                mutants.append(Mutant(path, node.lineno, index, change, change_text))
    random.Random(seed).shuffle(mutants)
    of_lines = {(mutant.path, mutant.line): mutant for mutant in reversed(mutants)}
    return [mutant for mutant in mutants if of_lines[mutant.path, mutant.line] is mutant][:count]


def mirrored(mutant):
    """Return the tests that mirror the file, its folder, its room and the laws, in this order."""
    place = mutant.path.relative_to(PACKAGE)
    room = ROOT / "tests" / {"distributed": "cluster"}.get(place.parts[0], place.parts[0])
    folder = ROOT / "tests" / place.parent
    folders = [folder / f"test_{place.stem}.py", folder, room]
    if place.parts[0] in {"learning", "tables", "_numerics"}:
        folders += [ROOT / "tests" / "features", ROOT / "tests" / "estimators"]
    folders.append(ROOT / "tests" / "laws")
    return [str(path) for path in dict.fromkeys(folders) if path.exists()]


def reaching(mutant, data):
    """Return the tests that reach the line: one of each function first."""
    if data is None:
        return mirrored(mutant)
    contexts = data.contexts_by_lineno(str(mutant.path))
    lines = contexts.get(mutant.line) or {name for names in contexts.values() for name in names}
    rank, ordered = defaultdict(int), []
    for name in sorted({name.split("|")[0] for name in lines if "::" in name}):
        function = name.split("[")[0]
        ordered.append((rank[function], name))
        rank[function] += 1
    return [name for _, name in sorted(ordered)] or mirrored(mutant)


def survives(mutant, slot, tests, limit):
    """Run the tests in batches with the bug planted; return whether none fails, and which did."""
    target = slot / "src" / "bochner" / mutant.path.relative_to(PACKAGE)
    target.write_text(mutant.applied(), encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": f"{slot / 'src'}{os.pathsep}{ROOT}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    began, size = time.monotonic(), 1 if Path(tests[0]).exists() else 40
    try:
        for first in (0, size, 4 * size):
            batch = tests[first : first + (size if first == 0 else 3 * size)]
            left = limit - (time.monotonic() - began)
            if not batch or left < 5:
                break
            plugins = ["-p", "no:cacheprovider", "-p", "no:randomly"]
            options = ["-q", "-x", *plugins, "--no-header"]
            command = [sys.executable, "-m", "pytest", *options, *batch]
            run = {"cwd": ROOT, "env": environment, "timeout": left, "check": False}
            try:
                result = subprocess.run(command, **run, capture_output=True, text=True)
                if result.returncode == pytest.ExitCode.USAGE_ERROR:
                    # Names of cases that pytest does not take: all cases of their functions.
                    command[-len(batch) :] = dict.fromkeys(name.split("[")[0] for name in batch)
                    result = subprocess.run(command, **run, capture_output=True, text=True)
            except subprocess.TimeoutExpired:
                # A bug that makes a chain endless would be noticed; one that is only slow not.
                return True, "time"
            # A bug that lets a test module not be imported is an error of the collection.
            failed = [line for line in result.stdout.splitlines() if line.startswith(_FAILURES)]
            if failed or result.returncode == pytest.ExitCode.TESTS_FAILED:
                return False, failed[0].partition(" ")[2][:153] if failed else "error"
            if result.returncode not in (0, 5):
                raise RuntimeError(f"exit {result.returncode}: {result.stdout}{result.stderr}")
        return True, f"{len(tests)} tests"
    finally:
        shutil.copy(mutant.path, target)


def main():
    """Choose, run in two slots, write a line per mutant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the paths to plant in")
    parser.add_argument("--coverage", help="by default, tests that mirror the file are run")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds per mutant")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slots", type=Path, default=Path("build/mutants"))
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    options = parser.parse_args()
    data = CoverageData(options.coverage) if options.coverage else None
    if data is not None:
        data.read()
    slots = Queue()
    for number in range(options.jobs):
        slot = options.slots.resolve() / str(number)
        shutil.rmtree(slot, ignore_errors=True)
        shutil.copytree(ROOT / "src", slot / "src")
        slots.put(slot)

    def run(mutant):
        slot = slots.get()
        try:
            tests = reaching(mutant, data)
            return mutant, *survives(mutant, slot, tests, options.limit), len(tests)
        finally:
            slots.put(slot)

    mutants = chosen(options.count, options.seed, options.only)
    dead = 0
    with (
        options.out.open("w", newline="", encoding="utf-8") as file,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        writer = csv.writer(file)
        writer.writerow(["file", "line", "change", "caught", "by", "tests"])
        for mutant, alive, by, n_tests in pool.map(run, mutants):
            dead += not alive
            place = mutant.path.relative_to(PACKAGE)
            writer.writerow([place, mutant.line, mutant.what, int(not alive), by, n_tests])
            file.flush()
            verdict = "SURVIVES" if alive else "caught  "
            print(f"{verdict} {place}:{mutant.line} {mutant.what}: {by}")
    print(f"{dead} of {len(mutants)} caught")


if __name__ == "__main__":
    main()
