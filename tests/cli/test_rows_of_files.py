"""Rows without a target, duplicates, and columns made of the target, in files of the command."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cli.command import SMALL, bochner, fit, labelled, refusal, table, write

import bochner as library
from bochner.cli.predicting import _groups
from bochner.comparison.outcomes import Outcome


def fitted(folder, frame, *options):
    path = write(frame, folder / "t.csv")
    command = ("fit", path, "--target", "y", *SMALL, "--out", folder / "m.bochner", "--json")
    result = bochner(*command, *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def scores(document):
    return {
        name: score["value"]
        for name, score in document["targets"][0]["methods"][0]["scores"].items()
    }


@pytest.mark.parametrize("frame", [table(60), labelled(60)], ids=["numbers", "classes"])
def test_rows_without_target_are_left_out_and_predicted(tmp_path, frame):
    frame.loc[[3, 10, 50], "y"] = None
    document = fitted(tmp_path, frame)
    assert document["split"]["n_fit"] + document["split"]["n_test"] == 57
    assert any("3 of the 60 rows have no target 'y'" in note for note in document["table"]["notes"])
    for command in ("predict", "evaluate"):
        result = bochner(command, tmp_path / "m.bochner", tmp_path / "t.csv")
        assert result.exit_code == 0, result.output
        assert "57" in result.output.replace("\n", " ") or command == "predict"
    result = bochner("diagnose", tmp_path / "t.csv", "--kernel", "gaussian")
    assert result.exit_code == 0, result.output


def test_levels_of_the_fit_are_no_labels_of_sums(tmp_path):
    levels = ["low", "mid", "high", "Mean"]
    fitted(tmp_path, table(60).drop(columns="y").assign(level=levels * 15, y=np.arange(60.0) % 7))
    path = write(table(60)[:4].drop(columns="y").assign(level=levels), tmp_path / "p.csv")
    result = bochner("predict", tmp_path / "m.bochner", path)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 5), result.output


@pytest.mark.parametrize("ids", [["007", "1.10", "", "1E5"], ["a-1", "2021-01-01", "(5)", "9"]])
def test_ids_of_later_files_are_written_as_they_are(tmp_path, ids):
    fitted(tmp_path, table(60).assign(key=np.arange(1000, 1060)), "--id", "key")
    path = write(table(60)[:4].assign(key=ids), tmp_path / "p.csv")
    result = bochner("predict", tmp_path / "m.bochner", path)
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == ["key", *ids]


def test_a_file_without_any_target_is_refused(tmp_path):
    path = write(table(30).assign(y=""), tmp_path / "t.csv")
    message = refusal(tmp_path, "fit", path, "--target", "y", "--out", tmp_path / "m.bochner")
    assert "'y'" in message


def test_a_table_that_is_written_three_times_scores_as_the_plain_one(tmp_path):
    plain, thrice = [], []
    for seed in range(3):
        frame = table(450)[150 * seed : 150 * (seed + 1)]
        options = ("--seed", seed)
        plain.append(scores(fitted(tmp_path, frame, *options)))
        copied = pd.concat([frame] * 3).sample(frac=1.0, random_state=seed)
        document = fitted(tmp_path, copied, *options)
        thrice.append(scores(document))
        assert "300 duplicates among the 450 rows" in " ".join(document["table"]["notes"])
        assert document["split"]["n_fit"] == 120
    mae, coverage = (
        [np.median([each[name] for each in runs]) for runs in (plain, thrice)]
        for name in ("mae", "coverage")
    )
    assert 0.6 < mae[1] / mae[0] < 1.6  # Errors at copies of training rows are ten times smaller
    assert abs(coverage[1] - coverage[0]) < 0.1
    assert library.load(tmp_path / "m.bochner").score_ > 0.05


def test_a_column_that_is_made_of_the_target_is_named_everywhere(tmp_path):
    frame = table(60)
    frame["paid"] = (1.7 * frame["y"] + 3.0).round(4)
    page = tmp_path / "page.html"
    document = fitted(tmp_path, frame, "--report", page)
    (target,) = document["targets"]
    assert [leak["column"] for leak in target["leaks"]] == ["paid"]
    question = "'paid' alone explains more than 99.9 %: is it known when you predict?"
    assert question in target["verdict"]
    head = page.read_text().partition("</header>")[0]
    head = head.replace("&#39;", "'").replace("\u00a0", " ")
    for text in (question, "Too good to be true: 'paid' nearly determines the target"):
        assert text in head
    result = bochner("evaluate", tmp_path / "m.bochner", tmp_path / "t.csv")
    assert "'paid' alone explains" in " ".join(result.output.split())
    report = library.load(tmp_path / "m.bochner").report(frame.drop(columns="y"), frame["y"])
    assert [leak.column for leak in report.studies[0].leaks] == ["paid"]


def test_python_names_the_rows_without_target(tmp_path):
    frame = table(60)
    model = library.load(fit(tmp_path, frame))
    frame.loc[[3, 10], "y"] = np.nan
    X, y = frame.drop(columns="y"), frame["y"]
    named = r"missing in 2 of 60 rows \(rows 4, 11, counting from 1\).*known = y.notna\(\)"
    with pytest.raises(ValueError, match=named):
        library.TableRegressor().fit(X, y)
    with pytest.raises(ValueError, match=named):
        library.TableClassifier().fit(X, y.gt(0.0).map(str).where(y.notna()))
    with pytest.raises(ValueError, match=named + r" and report\("):
        model.report(X, y)


def test_groups_are_those_of_rows_whose_target_is_known():
    frame, outcome = pd.DataFrame({"g": list("abab")}), Outcome(np.array([3.0, 5.0]), np.zeros(2))
    fresh = SimpleNamespace(frame=frame, rows_with_targets=np.array([1, 2]))
    groups = _groups(outcome, fresh, "g")
    assert {name: part.y.tolist() for name, part in groups.items()} == {"a": [5.0], "b": [3.0]}
