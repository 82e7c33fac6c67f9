"""JSON output: one document per command, told by its keys."""

import json
import sys

import pytest
from cli.command import SMALL, bochner, fit, labelled, table, write

import bochner as library
from bochner.cli import model_files as models
from bochner.comparison.contenders import CONTENDERS
from bochner.comparison.outcomes import KINDS_OF_ROWS, LIKE

FIT = {"table", "warnings", "task", "split", "targets", "importance", "interactions", "model"}
FIT |= {"report", "record", "left_out"}
TARGET = {"name", "verdict", "calibration", "level", "methods", "best_other", "confusion", "checks"}
TARGET |= {"leaks"}
EVALUATION = {"model", "table", "n", "targets"}
EXPLANATION = {"model", "outputs", "columns", "average", "rows"}


def run(*arguments):
    result = bochner(*arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("compare", [True, False])
@pytest.mark.parametrize("frame", [table(), labelled()], ids=["numbers", "classes"])
def test_a_fit_is_written(tmp_path, frame, compare):
    path, out = write(frame, tmp_path / "t.csv"), tmp_path / "m.bochner"
    options = SMALL if not compare else ("--effort", "quick")
    found = run("fit", path, "--target", "y", *options, "--out", out, "--json")
    assert found.keys() == FIT
    (target,) = found["targets"]
    assert target.keys() == TARGET
    tested = library.load(out).record_
    metric = "rmse" if found["task"] == "regression" else "log_loss"
    assert target["methods"][0]["scores"][metric]["value"] == tested[f"test_{metric}"]
    assert (target["best_other"] is not None) == compare
    assert found["split"] == {
        "kind": "random",
        "reason": "The test rows were chosen at random.",
        "n_fit": 120,
        "n_test": 30,
    }
    assert [entry["columns"] for entry in found["importance"]] == [
        [name] for name in library.load(out).importance().columns
    ]
    again = tmp_path / "again.bochner"
    command = found["record"]["command"].split()
    assert command[:2] == ["bochner", "fit"]
    repeated = run(*command[1:], "--out", again, "--json", "--no-compare")
    assert repeated["targets"][0]["methods"][0]["scores"] == target["methods"][0]["scores"]


def test_evaluations_and_explanations_are_written(tmp_path):
    for frame in (table(), labelled()):
        model = fit(tmp_path, frame)
        path = write(frame.head(30), tmp_path / "new.csv")
        written = run("evaluate", model, path, "--group", "colour", "--json")
        assert written.keys() == EVALUATION
        (target,) = written["targets"]
        assert target.keys() == {*TARGET, "groups", "kinds_of_rows"}
        assert {each["group"] for each in target["groups"]} == {"red", "blue", "green"}
        unlike = frame.head(30).assign(a=9.0, colour=["pink"] * 15 + ["red"] * 15)
        unlike.loc[:3, "b"] = None
        written = run("evaluate", model, write(unlike, path), "--json")
        kinds = written["targets"][0]["kinds_of_rows"]
        assert [(kind["kind"], kind["n"]) for kind in kinds] == [
            ("missing", 4),
            ("new level", 15),
            ("beyond the range", 30),
        ]
        written = run("explain", model, path, "--json")
        assert written.keys() == EXPLANATION
        assert {len(each["contributions"][0]) for each in written["rows"]} == {3}


def test_every_kind_of_rows_has_its_words():
    frame = table(30)
    model = library.TableRegressor(effort="quick", random_state=0).fit(frame[["a"]], frame["y"])
    reasons = list(model.unlike_rows(frame[["a"]]))
    assert list(models._REASONS) == reasons
    assert list(KINDS_OF_ROWS) == [LIKE, *reasons]


def test_what_has_no_time_is_left_out(tmp_path, monkeypatch):
    """No other method and no analysis starts after the limit, however fast the machine is."""
    monkeypatch.setitem(sys.modules, "catboost", None)
    path, out = write(table(), tmp_path / "t.csv"), tmp_path / "m.bochner"
    options = "--target", "y", "--effort", "quick", "--out", out, "--time-limit", "1e-6"
    found = run("fit", path, *options, "--json")
    assert found["left_out"] == [*CONTENDERS, "importance of columns"]
    assert found["importance"] is None
    assert [method["name"] for method in found["targets"][0]["methods"]] == ["bochner"]
    shown = " ".join(bochner("fit", path, *options).stdout.split())
    reason = "longer than the fit or the limit of 1e-06 s"
    assert f"Left out, because {reason}: linear model, " in shown


@pytest.mark.parametrize("options", [(), ("--json",)], ids=str)
def test_ctrl_c_after_the_fit_keeps_the_model(options, tmp_path, monkeypatch):
    path, out = write(table(), tmp_path / "t.csv"), tmp_path / "m.bochner"

    def interrupted(*_, **__):
        assert out.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("bochner.comparison.study.add_others", interrupted)
    result = bochner("fit", path, "--target", "y", "--effort", "quick", "--out", out, *options)
    assert result.exit_code == 130
    assert options or "the model is complete" in result.stdout
    assert options or "bochner predict" in result.stdout
    assert bochner("predict", out, path).exit_code == 0
