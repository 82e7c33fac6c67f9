"""What holds for every benchmark: a quick run is whole, resumes, and is rendered."""

import re
from pathlib import Path

import numpy as np
import pytest
from pages import pictures_of

from benchmarks import BENCHMARKS, Options, find, read_rows, render
from benchmarks.__main__ import main

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"

NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] if name == "speed" else []) for name in BENCHMARKS
]

NO_QUICK_PART = {("asymmetric", "accuracy")}
NO_QUICK_PICTURE = {"gabasr-quick-mcycle.svg"}
"""Those that need a folder of data sets."""

MAY_BE_EMPTY = {"digmm-quick-changes.svg"}
"""One iteration of the published updates may leave no change to draw."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_quick_design_is_measured_whole(quick_run, name):
    benchmark, rows = find(name), read_rows(quick_run(name))
    measured = [row for row in rows if row["metric"] == "seconds"]
    assert len(measured) == len(benchmark.cells(Options(quick=True)))
    if "part" in benchmark.settings:
        expected = {part.name for part in benchmark.parts if (name, part.name) not in NO_QUICK_PART}
        assert {row["part"] for row in rows} == expected


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_drawn_and_shown(quick_run, name):
    page, *figures = render(find(name), quick_run(name))
    shown = re.findall(r"!\[.*?\]\((.*?)\)", page.read_text(encoding="utf-8"))
    assert shown == [figure.name for figure in figures]
    every = [f"{name}-quick-{picture.name}.svg" for picture in pictures_of(find(name))]
    expected = [file for file in every if file not in NO_QUICK_PICTURE | MAY_BE_EMPTY]
    assert [file for file in shown if file not in MAY_BE_EMPTY] == expected
    for figure in figures:
        assert figure.read_text(encoding="utf-8").startswith("<svg")


def write_competitions(path):
    """Write as many series of each season and horizon as the folder of data sets has."""
    counts = {(12, 18): 350, (4, 8): 250, (1, 6): 250, (1, 13): 80, (24, 48): 40}
    season, horizon = np.repeat(list(counts), list(counts.values()), axis=0).T
    ends = np.cumsum(2 * horizon)
    np.savez(path, season=season, horizon=horizon, ends=ends, values=np.zeros(ends[-1]))


@pytest.mark.thorough
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_committed_rows_are_those_of_the_design(tmp_path, name, monkeypatch):
    """Designs depend on the numbers of inputs alone, and opponents are run wholly or not at all."""
    monkeypatch.setenv("BOCHNER_BEFORE", "src")
    for room in (
        "environment",
        "forecasts.methods",
        "processes.methods",
        "evidence.training",
        "gabasr.benchmark",
    ):
        monkeypatch.setattr(f"benchmarks.{room}.find_spec", lambda name: True)
    widths = {"letter": 16, "ijcnn1": 22, "covtype_93k": 54, "cod_rna": 8, "eeg_eye_state": 14,
              "spambase": 57, "california_housing": 8, "mnist": 784}  # fmt: skip
    for dataset, d in widths.items():
        np.savez(tmp_path / f"{dataset}.npz", X=np.eye(60, d), y=np.arange(60) % 2)
    write_competitions(tmp_path / "m3.npz")
    settings = find(name).settings
    wanted = {
        (cell.dataset, cell.method, cell.seed, *(str(cell.settings[key]) for key in settings))
        for cell in find(name).cells(Options(data=tmp_path))
        if cell.method != "torch"
    }
    found = {
        (row["dataset"], row["method"], row["seed"], *(str(row[key]) for key in settings))
        for row in read_rows(RESULTS / f"{name}.csv")
        if row["method"] != "torch"
    }
    assert found <= wanted
    measured = {method for _, method, *_ in found}
    wanted = {cell for cell in wanted if cell[1] in measured}
    assert len(found) > 0.99 * len(wanted)


@pytest.mark.thorough_cases("digmm|payoff|schemes|indefinite|asymmetric|competitions")
@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_committed_page_is_that_of_the_committed_rows(name):
    rows = read_rows(RESULTS / f"{name}.csv")
    text = (RESULTS / f"{name}.tables.md").read_text(encoding="utf-8")
    assert text.startswith(find(name).page(rows).rstrip() + "\n\nFrom `")
    for file in re.findall(r"!\[.*?\]\((.*?)\)", text):
        assert (RESULTS / file).is_file()


@pytest.mark.parametrize("name", BENCHMARKS)
def test_it_can_be_made_and_is_tried_before_a_merge(name):
    assert find(name) is BENCHMARKS[name]
    assert f"bench-{name}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
    (benches,) = re.findall(
        r"step benches benches ((?:.*\\\n)*.*)", (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    )
    assert name in benches.split()


@pytest.mark.thorough
def test_the_command_prints_what_it_wrote(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BOCHNER_DATA", raising=False)
    assert main(["gaussian", "--quick", "--out", str(tmp_path)]) == 0
    output = capsys.readouterr().out.replace("\n", "")
    for name in ("gaussian-quick.csv", "gaussian-quick.tables.md", "gaussian-quick-error.svg"):
        assert str(tmp_path / name) in output
    assert main(["indefinit", "--out", str(tmp_path / "results")]) == 2
    assert "There is no benchmark 'indefinit'; there are indefinite, " in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
