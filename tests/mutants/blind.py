"""Plant random bugs all over the package and report which of them the tests notice.

A developer's tool, not a test. It chooses places at random, with a seed, in proportion to the code
of each room, changes one operator, constant or argument there, and runs the tests that reach the
line.

    python -m pytest --cov --cov-context=test --junitxml=durations.xml
    python tests/mutants/blind.py --count 100 --seed 1 --out mutants.csv

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
import xml.etree.ElementTree as ET
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from coverage import CoverageData

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "bochner"
# Rooms of pictures and texts hold no mathematics.
SKIPPED = {"cli", "plot", "report", "datasets", "comparison"}
BINARY = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
COMPARED = {ast.Lt: ("<", ">"), ast.Gt: (">", "<"), ast.LtE: ("<=", ">="), ast.GtE: (">=", "<=")}
# Arguments that change speed or crash at once.
UNTOUCHED = {None, "axis", "dtype", "out", "n_jobs", "n_threads"}
DROPPED_CALLS = {"sqrt", "exp", "log", "abs", "conj", "cumsum", "square"}


@dataclass(frozen=True)
class Mutant:
    """One change of one line."""

    path: Path
    line: int
    start: int
    end: int
    new: str
    what: str

    def applied(self) -> str:
        """Return the file's text with the change."""
        text = self.path.read_bytes()
        return (text[: self.start] + self.new.encode() + text[self.end :]).decode()


class Sites(ast.NodeVisitor):
    """The places inside of functions where a bug can be planted."""

    def __init__(self, path: Path):
        self.path = path
        self.text = path.read_bytes()
        lines = self.text.splitlines(keepends=True)
        self.offsets = [0]
        for line in lines:
            self.offsets.append(self.offsets[-1] + len(line))
        self.found: list[Mutant] = []
        self.depth = 0
        self.visit(ast.parse(self.text))

    def visit_FunctionDef(self, node):
        self.depth += 1
        for child in node.body:
            self.visit(child)
        self.depth -= 1

    def visit_Raise(self, node):
        """Messages are no mathematics."""

    def visit_JoinedStr(self, node):
        """Nor are texts."""

    def visit_BinOp(self, node):
        kind = type(node.op)
        is_text = any(
            isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(node)
        )
        if kind in BINARY and not is_text:
            start, end = self._end(node.left), self._start(node.right)
            at = self.text.find(SIGNS[kind].encode(), start, end)
            if at >= 0:
                self._add(node, at, at + 1, BINARY[kind], f"{SIGNS[kind]} → {BINARY[kind]}")
        self.generic_visit(node)

    def visit_UnaryOp(self, node):
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self._add(node, self._start(node), self._start(node.operand), "", "lost minus")
        self.generic_visit(node)

    def visit_Constant(self, node):
        if type(node.value) is float and node.value != 0.0:
            new = repr(2.0 * node.value)
            self._add(node, self._start(node), self._end(node), new, f"{node.value} → {new}")

    def visit_Compare(self, node):
        kind = type(node.ops[0])
        if kind in COMPARED and len(node.ops) == 1:
            old, new = COMPARED[kind]
            at = self.text.find(
                old.encode(), self._end(node.left), self._start(node.comparators[0])
            )
            if at >= 0:
                self._add(node, at, at + len(old), new, f"{old} → {new}")
        self.generic_visit(node)

    def visit_Subscript(self, node):
        index = node.slice
        if isinstance(index, ast.Constant) and index.value in (0, 1) and self.depth:
            new = str(1 - index.value)
            self._add(node, self._start(index), self._end(index), new, f"[{index.value}] → [{new}]")
        self.visit(node.value)
        if not isinstance(index, ast.Constant):
            self.visit(index)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in DROPPED_CALLS and len(node.args) == 1 and not node.keywords:
            argument = self._text(node.args[0])
            self._add(node, self._start(node), self._end(node), f"({argument})", f"lost {name}")
        if name in {"sum", "mean"}:
            new = "mean" if name == "sum" else "sum"
            end = self._end(node.func)
            self._add(node, end - len(name), end, new, f"{name} → {new}")
        for keyword in node.keywords:
            if keyword.arg not in UNTOUCHED and isinstance(keyword.value, ast.Name):
                start, end = self._start(keyword), self._end(keyword)
                after = self.text[end : end + 2]
                end += 2 if after == b", " else 0
                self._add(node, start, end, "", f"lost {keyword.arg}=")
        self.generic_visit(node)

    def visit_Attribute(self, node):
        if node.attr == "T":
            end = self._end(node)
            self._add(node, end - 2, end, "", "lost .T")
        self.generic_visit(node)

    def _add(self, node, start, end, new, what):
        if self.depth:
            self.found.append(Mutant(self.path, node.lineno, start, end, new, what))

    def _start(self, node):
        return self.offsets[node.lineno - 1] + node.col_offset

    def _end(self, node):
        return self.offsets[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node):
        return self.text[self._start(node) : self._end(node)].decode()


def chosen(count, seed, only):
    """Choose mutants at random: files in proportion to their places, one mutant a line."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        if room not in SKIPPED and only in str(path):
            found += Sites(path).found
    random.Random(seed).shuffle(found)
    taken, lines = [], set()
    for mutant in found:
        try:
            ast.parse(mutant.applied())
        except SyntaxError:
            continue
        if (mutant.path, mutant.line) not in lines:
            lines.add((mutant.path, mutant.line))
            taken.append(mutant)
    return taken[:count]


def seconds_by_test(path):
    """Return what each test took, by the name that coverage gives it."""
    seconds = {}
    for case in ET.parse(path).iter("testcase"):
        module = case.get("classname", "").replace(".", "/")
        seconds[f"{module}.py::{case.get('name')}"] = float(case.get("time", 0.0))
    return seconds


def reaching(mutant, data, seconds):
    """Return the tests that reach the line: one of each function first, the quick ones first."""
    contexts = data.contexts_by_lineno(str(mutant.path))
    lines = contexts.get(mutant.line) or {name for names in contexts.values() for name in names}
    tests = sorted(
        {name.split("|")[0] for name in lines if "::" in name},
        key=lambda name: seconds.get(name, 1.0),
    )
    rank, ordered = defaultdict(int), []
    for name in tests:
        function = name.split("[")[0]
        ordered.append((rank[function], name))
        rank[function] += 1
    return [name for _, name in sorted(ordered, key=lambda pair: pair[0])]


def survives(mutant, slot, tests, limit):
    """Run the tests in batches with the bug planted; return whether none fails, and which did."""
    target = slot / "src" / "bochner" / mutant.path.relative_to(PACKAGE)
    target.write_text(mutant.applied(), encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": f"{slot / 'src'}{os.pathsep}{ROOT}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    began, size = time.monotonic(), 40
    try:
        for first in (0, size, 4 * size):
            batch = tests[first : first + (size if first == 0 else 3 * size)]
            left = limit - (time.monotonic() - began)
            if not batch or left < 5:
                break
            plugins = ["-p", "no:cacheprovider", "-p", "no:randomly"]
            options = ["-q", "-x", *plugins, "--no-header", "-m", "not slow"]
            command = [sys.executable, "-m", "pytest", *options, *batch]
            try:
                done = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    timeout=left,
                    capture_output=True,
                    text=True,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                # A bug that makes a chain endless would be noticed; one that is only slow not.
                return True, "time"
            if done.returncode == 1:
                failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
                return False, failed[0][7:160] if failed else "error"
            if done.returncode not in (0, 5):
                return False, f"exit {done.returncode}: {done.stdout[-200:]}"
        return True, f"{len(tests)} tests"
    finally:
        shutil.copy(mutant.path, target)


def main():
    """Choose, run in two slots, write a line per mutant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the paths to plant in")
    parser.add_argument("--coverage", default=".coverage")
    parser.add_argument("--durations", default="durations.xml")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds per mutant")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--slots", type=Path, default=Path("build/blind"))
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    options = parser.parse_args()
    data = CoverageData(options.coverage)
    data.read()
    seconds = seconds_by_test(options.durations)
    slots = Queue()
    for number in range(options.jobs):
        slot = options.slots.resolve() / str(number)
        shutil.rmtree(slot, ignore_errors=True)
        shutil.copytree(ROOT / "src", slot / "src")
        slots.put(slot)

    def run(mutant):
        slot = slots.get()
        try:
            tests = reaching(mutant, data, seconds)
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
            print(
                f"{'SURVIVES' if alive else 'caught  '} {place}:{mutant.line} {mutant.what}: {by}"
            )
    print(f"{dead} of {len(mutants)} caught")


if __name__ == "__main__":
    main()
