"""A benchmark resumes, and mixes nothing."""

import os

import pytest

from benchmarks import Benchmark, Cell, Part, median_table, medians, read_rows, run


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


def test_quick_and_full_never_share_a_file(toy, tmp_path):
    full = run(toy.benchmark(), out=tmp_path)
    quick = run(toy.benchmark(), out=tmp_path, quick=True)
    assert (full.name, quick.name) == ("toy.csv", "toy-quick.csv")
    assert {row["mode"] for row in read_rows(full)} == {"full"}
    assert {row["mode"] for row in read_rows(quick)} == {"quick"}
    assert len(read_rows(quick)) == 18


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


# Tables and curves


def row(dataset, method, p, seed, value, metric="error"):
    keys = {"benchmark": "toy", "mode": "full", "run": 1, "dataset": dataset, "method": method}
    return keys | {"p": p, "seed": seed, "metric": metric, "value": value}


@pytest.fixture
def rows():
    ours, theirs = (3.0, 1.0, 2.0), (4.0, 8.0, 5.0)
    table = [row("iris", "ours", 8, seed, value) for seed, value in enumerate(ours)]
    table += [row("iris", "theirs", 8, seed, value) for seed, value in enumerate(theirs)]
    table += [row("wine", "ours", 8, 0, 0.12345), row("wine", "ours", 8, 1, 0.12355)]
    return [*table, row("iris", "ours", 8, 0, 99.0, metric="seconds")]


def test_medians_over_seeds(rows):
    found = medians(rows, by=["dataset", "method"], metric="error")
    expected = {("iris", "ours"): 2.0, ("iris", "theirs"): 5.0, ("wine", "ours"): 0.1235}
    assert found == pytest.approx(expected)
    assert list(found) == list(expected)


def test_a_table_by_hand(rows):
    table = median_table(rows, index=["dataset"], metric="error", ratio_to="theirs", digits=4)
    assert table.splitlines() == [
        "| dataset | ours | theirs |",
        "| --- | ---: | ---: |",
        "| iris | 2 (0.40) | 5 |",
        "| wine | 0.1235 | – |",
    ]
