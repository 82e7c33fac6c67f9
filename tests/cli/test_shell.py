"""The command in a shell: pipes, links, closed output and files that are none."""

import json
import os
import subprocess
import sys

import pytest
from cli.command import fit, table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    fit(folder, table(60))
    return folder


def shell(folder, line):
    """Run a line of bash in which ``bochner`` is the command, and return what came of it."""
    whole = f"bochner() {{ '{sys.executable}' -m bochner \"$@\"; }}; set -o pipefail; {line}"
    return subprocess.run(["bash", "-c", whole], cwd=folder, capture_output=True, text=True)


@pytest.mark.thorough_cases(r"\bcsv\b")
@pytest.mark.parametrize("command", ["explain model.bochner", "predict model.bochner train.csv"])
def test_a_reader_that_has_enough_is_no_error(folder, command):
    found = shell(folder, f"bochner {command} | head -1")
    assert (found.returncode, found.stdout.count("\n")) == (0, 1)
    assert "Traceback" not in found.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("end", [">&-", "> /dev/full"])
@pytest.mark.parametrize("command", ["explain model.bochner", "predict model.bochner train.csv"])
def test_output_that_cannot_be_written_is_an_error(folder, command, end):
    found = shell(folder, f"bochner {command} {end}")
    assert found.returncode == 2
    assert found.stderr.startswith("bochner: ")
    assert found.stderr.count("\n") == 1


def test_characters_that_a_locale_lacks_are_escaped(tmp_path):
    fit(tmp_path, table(60).rename(columns={"a": "größe"}))
    escaped, as_json, csv = (
        shell(tmp_path, f"export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0; bochner {words}")
        for words in (
            "explain model.bochner",
            "explain model.bochner --json",
            "predict model.bochner train.csv --keep all",
        )
    )
    assert (escaped.returncode, escaped.stderr) == (0, "")
    assert "gr\\xf6\\xdfe" in escaped.stdout
    columns = [one for each in json.loads(as_json.stdout)["importance"] for one in each["columns"]]
    assert "größe" in columns
    assert csv.stdout.startswith("größe,")


@pytest.mark.thorough
def test_a_pipe_for_a_table_is_refused(folder):
    os.mkfifo(folder / "pipe.csv")
    found = shell(folder, "bochner predict model.bochner pipe.csv")
    assert found.returncode == 2
    assert "is not an ordinary file: pass -" in found.stderr


@pytest.mark.thorough
def test_standard_input_that_is_closed_is_an_error(folder):
    found = shell(folder, "bochner predict model.bochner - <&-")
    assert found.returncode == 2
    assert "Standard input is closed" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("line", ["--help | head -1", "--version | true", "fit --help | true"])
def test_help_may_be_cut_off(tmp_path, line):
    found = shell(tmp_path, f"bochner {line}")
    assert found.returncode == 0
    assert found.stderr == ""


@pytest.mark.thorough
def test_a_dash_is_standard_output(folder):
    found = shell(folder, "bochner predict model.bochner train.csv --out -")
    assert found.stdout.startswith("prediction\n")
    found = shell(folder, "bochner explain model.bochner train.csv --row 1 --out -")
    assert found.stdout.startswith("row,average,prediction,")
    assert not (folder / "-").exists()
