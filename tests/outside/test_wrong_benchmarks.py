"""Benchmarks of a user's own file that break a promise are refused with what to write instead."""

import pytest

from benchmarks.harness import Benchmark, Part, grid, render, run


def declared(name="mine", parts=None, measure=None, tables=None):
    part = Part(
        "errors",
        lambda options: grid(["data"], ["method"], 1),
        measure or (lambda cell, options: {"error": 1.0}),
        tables or (lambda rows: [f"{len(rows)} rows."]),
    )
    return Benchmark(name, (), (part,) if parts is None else parts(part))


@pytest.mark.parametrize("name", ["my bench", "a/b", "", "mine.csv", "mine_2"])
def test_names_have_letters_digits_and_hyphens(name):
    assert declared("Mine-2").name == "Mine-2"
    with pytest.raises(ValueError, match=f"letters, digits and - only, got {name!r}"):
        declared(name)


@pytest.mark.parametrize("parts", [lambda part: part, lambda part: ("errors",), lambda part: "a"])
def test_parts_are_a_sequence_of_parts(parts):
    assert declared(parts=lambda part: [part]).parts[0].name == "errors"
    with pytest.raises(TypeError, match=r"parts of 'mine' must be a tuple of Part, such as \(part"):
        declared(parts=parts)


@pytest.mark.parametrize("metrics", [None, 1.0, [("error", 1.0)]])
def test_measure_returns_a_mapping(metrics, tmp_path):
    with pytest.raises(TypeError, match="measure of the part 'errors' must return a mapping"):
        run(declared(measure=lambda cell, options: metrics), out=tmp_path)


@pytest.mark.parametrize("texts", [None, "One paragraph."])
def test_tables_return_a_sequence_of_texts(texts, tmp_path):
    path = run(declared(), out=tmp_path)
    assert "2 rows." in render(declared(), path)[0].read_text(encoding="utf-8")
    with pytest.raises(TypeError, match=r"tables of the part 'errors' must .* such as \[text\]"):
        render(declared(tables=lambda rows: texts), path)
