"""Tables on a screen show texts as they are."""

import io
from time import sleep

import pandas as pd
import pytest
from rich.console import Console

from bochner.cli import main
from bochner.cli.output import cells_table, facts_table, without_formulas


def test_names_are_no_markup():
    """Headings, cells and facts; rich would read a colour's end, a style, a picture, an escape."""
    names = ["[/red]no", "[bold]yes", ":smile:", "a\x1b[31m"]
    tables = (cells_table(names, [names]), facts_table(dict(zip(names, names, strict=True))))
    for table in tables:
        console = Console(file=io.StringIO(), width=200)
        console.print(table)
        for name in ("[/red]no", "[bold]yes", ":smile:", "a\\x1b[31m"):
            assert console.file.getvalue().count(name) == 2


def test_no_text_of_a_safe_table_begins_a_formula():
    names = ["=1+1|cmd", "+a", "-b", "@c", "\td", "plain", "a=b"]
    frame = pd.DataFrame({"=name": names, "number": range(-3, 4), "kind": pd.Categorical(names)})
    found = without_formulas(frame)
    assert list(found) == ["'=name", "number", "kind"]
    quoted = [f"'{name}" for name in names[:5]] + names[5:]
    assert list(found["'=name"]) == list(found["kind"]) == quoted
    assert list(found["number"]) == list(range(-3, 4))
    assert list(frame["=name"]) == names


class Interrupted:
    """An object during whose deletion Ctrl-C is pressed: Python drops the exception."""

    def __del__(self):
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["once", "twice", "in a finaliser"])
def test_an_interrupted_command_ends_in_one_line(name, monkeypatch, capsys):
    def interrupted():
        if name == "in a finaliser":
            Interrupted()
            sleep(60.0)
        raise SystemExit(130) if name == "once" else KeyboardInterrupt

    monkeypatch.setattr("bochner.cli.app.app", interrupted)
    monkeypatch.setattr("os._exit", lambda code: codes.append(code))
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr("sys.unraisablehook", None)  # Of the command, until the end of the test
    codes = []
    main()
    assert codes == [130]
    assert capsys.readouterr().err == "Aborted.\n"
