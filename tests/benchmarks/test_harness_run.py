"""A benchmark resumes, and mixes nothing."""

import csv
import json
import os
import platform
import shutil

import numpy as np
import pytest
import sklearn
from threadpoolctl import threadpool_info

import benchmarks.environment as environment_module
from benchmarks import Benchmark, Cell, Part, read_rows, render, run
from benchmarks.pictures import Picture

HEADER = ["benchmark", "mode", "run", "dataset", "method", "p", "seed", "metric", "value"]


class Planted(Exception):
    """The crash."""


class Toy:
    """A benchmark that counts its cells and crashes before one of them."""

    def __init__(self):
        self.seen, self.crash_at, self.seeds = [], None, (0, 1, 2)

    def cells(self, options):
        for dataset in ("iris", "wine")[: 1 if options.quick else 2]:
            for method in ("ours", "theirs"):
                for seed in self.seeds:
                    yield Cell(dataset, method, seed, {"p": 8})

    def measure(self, cell, options):
        if len(self.seen) == self.crash_at:
            raise Planted
        self.seen.append(cell)
        return {"error": 0.1 / (1 + cell.seed), "bias": -1e-17}

    def benchmark(self, **changes):
        fields = {
            "cells": self.cells,
            "measure": self.measure,
            "tables": lambda rows: [f"{len(rows)} rows"],
            "pictures": (),
        }
        part = Part("all", **{key: changes.pop(key, value) for key, value in fields.items()})
        fields = {"name": "toy", "settings": ("p",), "parts": (part,)}
        return Benchmark(**(fields | changes))


@pytest.fixture
def toy():
    return Toy()


def results(path):
    return [{key: row[key] for key in row if key != "run"} for row in read_rows(path)]


def without_seconds(path):
    return [row for row in results(path) if row["metric"] != "seconds"]


def test_the_csv_is_tidy(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / "toy.csv"
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == HEADER
    assert len(lines) == 1 + 2 * 2 * 3 * 3
    assert lines[1] == ["toy", "full", "1", "iris", "ours", "8", "0", "error", "0.1"]
    assert lines[2][-2:] == ["bias", "-1e-17"]
    assert lines[3][-2] == "seconds"
    assert float(lines[3][-1]) > 0


def test_a_crash_loses_nothing_and_repeats_nothing(toy, tmp_path):
    whole = Toy()
    expected = without_seconds(run(whole.benchmark(), out=tmp_path / "whole"))
    toy.crash_at = 5
    with pytest.raises(Planted):
        run(toy.benchmark(), out=tmp_path)
    assert len(read_rows(tmp_path / "toy.csv")) == 5 * 3
    toy.crash_at = None
    path = run(toy.benchmark(), out=tmp_path)
    assert toy.seen == whole.seen
    assert without_seconds(path) == expected


@pytest.mark.parametrize("size", [0, 1, 20, -1, -10, -40, -70, -100])
def test_a_torn_file_is_measured_again_from_where_it_ends(toy, tmp_path, size):
    path = run(toy.benchmark(), out=tmp_path)
    expected = without_seconds(path)
    os.truncate(path, size % path.stat().st_size)
    n_before = len(toy.seen)
    assert without_seconds(run(toy.benchmark(), out=tmp_path)) == expected
    assert 1 <= len(toy.seen) - n_before <= (2 if size < 0 else 12)


def test_a_finished_benchmark_is_left_alone(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)
    record = path.with_suffix(".environment.json")
    before = path.read_bytes(), record.read_bytes()
    run(toy.benchmark(), out=tmp_path)
    assert (path.read_bytes(), record.read_bytes()) == before
    assert len(toy.seen) == 12


def test_new_cells_are_added_to_the_old(toy, tmp_path):
    run(toy.benchmark(), out=tmp_path)
    toy.seeds = (0, 1, 2, 3)
    run(toy.benchmark(), out=tmp_path)
    assert [cell.seed for cell in toy.seen[12:]] == [3] * 4


def test_quick_and_full_never_share_a_file(toy, tmp_path):
    full = run(toy.benchmark(), out=tmp_path)
    quick = run(toy.benchmark(), out=tmp_path, quick=True)
    assert (full.name, quick.name) == ("toy.csv", "toy-quick.csv")
    assert {row["mode"] for row in read_rows(full)} == {"full"}
    assert {row["mode"] for row in read_rows(quick)} == {"quick"}
    assert len(read_rows(quick)) == 18


def test_other_columns_are_refused(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)
    before = path.read_bytes()
    other = toy.benchmark(
        settings=("q",), cells=lambda options: [Cell("iris", "ours", 0, {"q": 1})]
    )
    with pytest.raises(ValueError, match=r"does not have the columns.*q.*[Mm]ove it away"):
        run(other, out=tmp_path)
    assert path.read_bytes() == before


def renamed(toy, folder):
    quick = run(toy.benchmark(), out=folder, quick=True)
    for suffix in (".csv", ".environment.json"):
        quick.with_suffix(suffix).rename(folder / f"toy{suffix}")


def with_line(toy, folder):
    path = run(toy.benchmark(), out=folder)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:4], "toy,full,1,iris\n", *lines[5:]]))


def with_record(text):
    def prepare(toy, folder):
        run(toy.benchmark(), out=folder)
        (folder / "toy.environment.json").write_text(text)

    return prepare


DAMAGED = {
    "renamed": (renamed, r"toy / quick.*never mixed with toy / full"),
    "foreign": (lambda toy, folder: (folder / "toy.csv").write_text("my only copy"), "columns"),
    "a line": (with_line, r"line 5: expected 9 fields, got 4"),
    **{
        text: (with_record(text), r"toy\.environment\.json")
        for text in ("", "{", '{"runs": {}}', "[]")
    },
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_cannot_be_gone_on_with_is_refused_and_kept(toy, tmp_path, case):
    prepare, message = DAMAGED[case]
    prepare(toy, tmp_path)
    before = (tmp_path / "toy.csv").read_bytes()
    with pytest.raises(ValueError, match=message):
        run(toy.benchmark(), out=tmp_path)
    assert (tmp_path / "toy.csv").read_bytes() == before


def test_every_row_is_traced_to_the_run_that_made_it(toy, tmp_path):
    toy.crash_at = 4
    with pytest.raises(Planted):
        run(toy.benchmark(), out=tmp_path)
    toy.crash_at = None
    path = run(toy.benchmark(), out=tmp_path, data=tmp_path, threads=None)
    runs = [row["run"] for row in read_rows(path)]
    assert runs == [1] * 12 + [2] * 24
    records = json.loads(path.with_suffix(".environment.json").read_text())["runs"]
    assert [records[name]["threads"] for name in ("1", "2")] == [1, None]
    assert records["1"]["command"] == "python -m benchmarks toy"
    assert records["2"]["command"] == "python -m benchmarks toy --data DIR"


def test_the_environment_is_complete(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path, quick=True)
    record = json.loads(path.with_suffix(".environment.json").read_text())["runs"]["1"]
    assert record["command"] == "python -m benchmarks toy --quick"
    assert record["python"] == platform.python_version()
    assert record["platform"] == platform.platform()
    assert record["cpu_count"] == os.cpu_count()
    assert record["processor"]
    assert record["versions"]["numpy"] == np.__version__
    assert record["versions"]["scikit-learn"] == sklearn.__version__
    assert {"bochner", "numpy", "scipy", "scikit-learn"} <= set(record["versions"])
    assert record["started"].endswith("+00:00")
    assert str(tmp_path) not in json.dumps(record)


def test_the_commit_is_known_only_where_git_tracks_the_source(monkeypatch, tmp_path):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    source = tmp_path / "package" / "__init__.py"
    source.parent.mkdir()
    source.touch()
    monkeypatch.setattr(environment_module, "__file__", str(source))
    assert environment_module.commit() is None

    def git(*arguments):
        assert environment_module._git(tmp_path, *arguments) is not None

    git("init")
    assert environment_module.commit() is None
    git("add", ".")
    who = ("-c", "user.name=n", "-c", "user.email=e@x")
    git(*who, "-c", "commit.gpgsign=false", "commit", "--no-verify", "-m", "one")
    clean = environment_module.commit()
    assert clean == environment_module._git(tmp_path, "rev-parse", "HEAD")
    source.write_text("changed = True\n")
    assert environment_module.commit() == f"{clean}-dirty"


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_limited_while_a_cell_runs(toy, tmp_path, threads):
    def measure(cell, options):
        return {"threads": max(pool["num_threads"] for pool in threadpool_info())}

    path = run(toy.benchmark(measure=measure), out=tmp_path, threads=threads)
    assert {row["value"] for row in read_rows(path) if row["metric"] == "threads"} <= {1.0, threads}


def test_seconds_given_by_the_benchmark_are_kept(toy, tmp_path):
    benchmark = toy.benchmark(measure=lambda cell, options: {"seconds": 7, "error": 1})
    first, second, *_ = read_rows(run(benchmark, out=tmp_path, quick=True))
    assert (first["metric"], first["value"]) == ("error", 1.0)
    assert (second["metric"], second["value"]) == ("seconds", 7.0)


def test_progress_counts_what_was_there_already(toy, tmp_path):
    toy.crash_at = 10
    with pytest.raises(Planted):
        run(toy.benchmark(), out=tmp_path)
    toy.crash_at, calls = None, []
    run(toy.benchmark(), out=tmp_path, progress=lambda *call: calls.append(call))
    assert [call[:2] for call in calls] == [(10, 12), (11, 12), (12, 12)]
    assert [call[2] for call in calls] == [None, *toy.seen[10:]]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([Cell("iris", "ours", 0)], "must have the settings"),
        ([Cell("iris", "ours", 0, {"p": 8, "q": 1})], "must have the settings"),
        ([Cell("iris", "ours", 0, {"p": 8})] * 2, "same cell twice"),
        ([Cell("iris", "two\nlines", 0, {"p": 8})], "one line"),
        ([], "nothing to measure"),
    ],
)
def test_a_wrong_design_is_named(toy, tmp_path, cells, message):
    with pytest.raises(ValueError, match=message):
        run(toy.benchmark(cells=lambda options: cells), out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_arguments_are_named(toy, tmp_path):
    with pytest.raises(ValueError, match="data must name an existing folder"):
        run(toy.benchmark(), data=tmp_path / "nowhere", out=tmp_path)
    with pytest.raises(ValueError, match="threads must be at least 1"):
        run(toy.benchmark(), out=tmp_path, threads=0)


def test_rendering_needs_the_csv_only(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)
    (written,) = render(toy.benchmark(measure=None, cells=None), path)
    assert written == path.with_suffix(".tables.md")
    text = written.read_text()
    assert text.startswith("36 rows\n\nFrom `toy.csv`")
    for said in ("- `python -m benchmarks toy` (", f"numpy {np.__version__}", "1 thread(s)"):
        assert said in text


def test_figures_are_written_and_repeat_bit_for_bit(toy, tmp_path):
    pytest.importorskip("matplotlib")

    def values(rows):
        return {
            (row["dataset"], row["method"], 1.0 + row["seed"]): row["value"]
            for row in rows
            if row["metric"] == "error"
        }

    shown = Picture("error", "Errors.", "seed", "error", values)
    benchmark = toy.benchmark(pictures=(shown,))
    path = run(benchmark, out=tmp_path)
    table, picture = render(benchmark, path)
    assert (table.name, picture.name) == ("toy.tables.md", "toy-error.svg")
    first = picture.read_bytes()
    assert b"<svg" in first
    assert "![error](toy-error.svg)\n\nErrors." in table.read_text(encoding="utf-8")
    render(benchmark, path)
    assert picture.read_bytes() == first


def test_rendering_another_benchmarks_csv_is_refused(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)
    with pytest.raises(ValueError, match=r"results of 'other' only; it holds toy"):
        render(toy.benchmark(name="other"), path)


def test_a_failed_summary_leaves_no_file(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)

    def tables(rows):
        raise Planted

    with pytest.raises(Planted):
        render(toy.benchmark(tables=tables), path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["toy.csv", "toy.environment.json"]


def test_only_some_methods_are_measured(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path, only=["theirs"])
    assert {row["method"] for row in results(path)} == {"theirs"}
    run(toy.benchmark(), out=tmp_path)
    assert len(toy.seen) == 12
    assert {cell.method for cell in toy.seen[6:]} == {"ours"}


def test_a_method_is_measured_again_and_the_others_are_kept(toy, tmp_path):
    path = run(toy.benchmark(), out=tmp_path)
    before = without_seconds(path)
    kept = [row for row in read_rows(path) if row["method"] == "ours"]
    toy.crash_at = 15
    with pytest.raises(Planted):
        run(toy.benchmark(), out=tmp_path, again=["theirs"])
    assert {cell.method for cell in toy.seen[12:]} == {"theirs"}
    toy.crash_at = None
    run(toy.benchmark(), out=tmp_path)
    assert len(toy.seen) == 18
    assert [row for row in read_rows(path) if row["method"] == "ours"] == kept
    assert {row["run"] for row in read_rows(path) if row["method"] == "theirs"} == {2, 3}
    assert sorted(map(str, without_seconds(path))) == sorted(map(str, before))


@pytest.mark.parametrize("name", ["only", "again"])
def test_a_method_without_cells_is_named(toy, tmp_path, name):
    with pytest.raises(ValueError, match="no method 'mine' to measure; there are ours, theirs"):
        run(toy.benchmark(), out=tmp_path, **{name: ["mine"]})
