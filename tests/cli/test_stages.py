"""Seconds of the stages of `bochner fit`, and their shares of a time limit."""

import json
import re
import subprocess
import sys
from time import perf_counter, sleep

import numpy as np
import pytest
from cli.command import bochner, table, write
from cli.test_json import schema

import bochner as library
from bochner.cli import fitting
from bochner.cli.fit_options import FitOptions
from bochner.cli.stages import Stages
from bochner.comparison import others
from bochner.comparison.contenders import TREES


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self):
        return self.now


def test_stages_share_the_time_that_is_left():
    clock = Clock()
    stages = Stages({"fit": 3.0, "comparison": 1.0, "analysis": 1.0}, 50.0, clock)
    with stages.stage("fit") as deadline:
        assert deadline.left == 30.0
        clock.now = 10.0  # It needed less
    with stages.stage("comparison") as deadline:
        assert deadline.left == 20.0
        clock.now = 45.0  # It needed more
    with stages.stage("analysis") as deadline:
        assert deadline.left == 5.0
        clock.now = 60.0
        assert deadline.left == 0.0
    assert stages.seconds == {"fit": 10.0, "comparison": 35.0, "analysis": 15.0}
    assert stages.lines(80) == ["fit 10 s, comparison 35 s, analysis 15 s"]
    stages.left_out = ["gradient-boosted trees", "interactions"]
    assert stages.lines(40) == [  # Numbers and names stay on a line
        "fit 10 s, comparison 35 s, analysis 15 s",
        "Left out at the limit of 50 s:",
        "gradient-boosted trees, interactions",
    ]
    assert stages.lines(39)[:2] == ["fit 10 s, comparison 35 s,", "analysis 15 s"]


def test_stages_without_a_limit():
    clock = Clock()
    stages = Stages({"reading": 1.0, "fit": 1.0}, clock=clock)
    with stages.stage("reading") as deadline:
        clock.now = 0.05
    assert deadline.left == np.inf
    with stages.stage("fit"):
        clock.now = 2.378
    assert stages.lines(80) == ["fit 2.3 s"]


def run(folder, *options, frame=None):
    path = write(table() if frame is None else frame, folder / "t.csv")
    arguments = "--target", "y", "--effort", "quick", "--out", folder / "m.bochner", *options
    result = bochner("fit", path, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_seconds_of_stages_are_those_waited_for(tmp_path):
    began = perf_counter()
    shown = json.loads(run(tmp_path, "--json"))
    waited = perf_counter() - began
    schema("fit").validate(shown)
    assert list(shown["seconds"]) == ["reading", "fit", "test", "comparison", "analysis"]
    assert 0.5 * waited < sum(shown["seconds"].values()) <= waited
    methods = {method["name"]: method["seconds"] for method in shown["targets"][0]["methods"]}
    assert methods.pop("bochner") <= shown["seconds"]["fit"]
    assert shown["left_out"] == []
    assert not schema("fit").is_valid(shown | {"seconds": {"fit": -1.0}})


def test_the_seconds_are_printed_on_one_line(tmp_path):
    printed = run(tmp_path)
    (line,) = (line for line in printed.splitlines() if line.startswith("Time"))
    assert re.search(r"fit [\d.]+ s, (test [\d.]+ s, )?comparison [\d.]+ s", line)
    assert len(line.rstrip()) <= 80


def test_without_analysis_nothing_is_analysed(tmp_path, monkeypatch):
    for name in ("importance", "interactions", "effect"):
        monkeypatch.setattr(library.TableRegressor, name, None)
    report = tmp_path / "r.html"
    options = "--no-compare", "--no-analysis"
    printed = run(tmp_path, *options)
    assert "matter" not in printed
    assert "analysis " not in printed
    assert "Left out" not in printed
    shown = json.loads(run(tmp_path, *options, "--report", report, "--json"))
    page = report.read_text("utf-8")
    assert "Residuals" in page
    assert "Importance and interactions" not in page
    schema("fit").validate(shown)
    assert shown["importance"] is shown["interactions"] is None
    assert shown["record"]["command"].endswith("--no-compare --no-analysis")
    assert list(shown["seconds"]) == ["reading", "fit", "test", "report"]


def slow(*_, **__):
    sleep(60.0)


def test_what_has_no_time_is_left_out_and_named(tmp_path, monkeypatch):
    """Trees, interactions and effects that take a minute each, of a command that has seconds."""
    outcome = others._outcome

    def with_slow_trees(name, *arguments):
        return slow() if name == TREES else outcome(name, *arguments)

    monkeypatch.setitem(sys.modules, "catboost", None)
    monkeypatch.setattr(others, "_outcome", with_slow_trees)
    for name in ("interactions", "effect"):
        monkeypatch.setattr(library.TableRegressor, name, slow)
    report = tmp_path / "r.html"
    began = perf_counter()
    printed = run(tmp_path, "--time-limit", 8, "--report", report)
    assert perf_counter() - began < 20.0
    flat = " ".join(printed.split())
    left_out = f"{TREES}, interactions, effects in the report"
    assert f"Left out at the limit of 8 s: {left_out}" in flat
    assert "linear model" in printed
    assert "important columns" in printed
    assert "interacting" not in printed
    page = report.read_text("utf-8")
    assert "Residuals" in page
    assert "Importance and interactions" not in page


def test_the_fit_has_a_share_of_the_time_limit(tmp_path):
    """The greater, the less else there is to do."""
    shares = []
    for asked in ((False, False), (True, False), (True, True)):
        compare, analysis = asked
        options = FitOptions(target=["y"], time_limit=100.0, compare=compare, analysis=analysis)
        stages = fitting._stages(options)
        with stages.stage("reading"), stages.stage("fit") as deadline:
            shares.append(deadline.left)
    assert 90.0 > shares[0] > shares[1] > shares[2] > 45.0
    shown = json.loads(run(tmp_path, "--time-limit", 100, "--json"))
    assert "--time-limit 100.0" in shown["record"]["command"]
    assert 45.0 < library.load(tmp_path / "m.bochner").time_limit < shares[2]


@pytest.mark.parametrize("limit", ["-1", "nan", "inf"])
def test_limits_that_are_none_are_refused(tmp_path, limit):
    path = write(table(), tmp_path / "t.csv")
    result = bochner("fit", path, "--target", "y", "--time-limit", limit)
    assert result.exit_code == 2
    assert "--time-limit must be a positive number of seconds" in result.stderr


def test_an_evaluation_computes_what_it_shows(regressor, tmp_path, monkeypatch):
    """Importance, interactions and effects for a report alone."""
    path, report = write(table(30), tmp_path / "new.csv"), tmp_path / "r.html"
    asked = []
    for name in ("importance", "interactions"):
        right = getattr(library.TableRegressor, name)

        def noted(self, _right=right, _name=name):
            asked.append(_name)
            return _right(self)

        monkeypatch.setattr(library.TableRegressor, name, noted)
    for options in ((), ("--json",), ("--report", report, "--no-analysis")):
        result = bochner("evaluate", regressor, path, *options)
        assert result.exit_code == 0, result.output
    assert asked == []
    assert "Importance and interactions" not in report.read_text("utf-8")
    assert bochner("evaluate", regressor, path, "--report", report).exit_code == 0
    assert asked == ["importance", "interactions"]
    assert "Importance and interactions" in report.read_text("utf-8")


def test_the_limit_counts_from_the_start_of_the_process():
    """Imports, and what Python does before, are in the limit."""
    now = 100.0
    stages = Stages({"fit": 1.0}, 10.0, lambda: now, used=2.5)
    with stages.stage("fit") as deadline:
        assert deadline.left == pytest.approx(7.5)
    code = (
        "from time import sleep\n"
        "from bochner.cli import start\n"
        "sleep(0.5)\n"
        "assert start.seconds_since_start() == 0.0\n"
        "start.note_start()\n"
        "print(start.seconds_since_start())"
    )
    began = perf_counter()
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 0.5 < float(result.stdout) < perf_counter() - began, result.stderr
