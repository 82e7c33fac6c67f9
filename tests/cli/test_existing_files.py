"""Files that exist where a command writes: replaced only if a command wrote them."""

import pytest
from cli.command import SMALL, bochner, table, write

PRECIOUS = "name,amount\nrent,100\n"


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    path, model = write(table(60), folder / "t.csv"), folder / "m.bochner"
    assert bochner("fit", path, "--target", "y", "--out", model, *SMALL).exit_code == 0
    (folder / "s.csv").write_text("t,y\n" + "".join(f"{i},{i % 7}\n" for i in range(60)))
    column = str(table(60).columns[0])
    fit = "fit", path, "--target", "y", *SMALL
    forecast = "forecast", folder / "s.csv", "--target", "y", "--time", "t", "--horizon", "2"
    forecast = *forecast, "--no-compare", "--out", "-"
    effect = "explain", model, "--column", column
    return {
        "fit": (*fit, "--out", "new.bochner"),
        "fit --report": (*fit, "--out", "more.bochner", "--report", "new.html"),
        "predict": ("predict", model, path, "--out", "new.csv"),
        "evaluate": ("evaluate", model, path, "--report", "other.html"),
        "explain": ("explain", model, path, "--out", "shares.csv"),
        "effect": (*effect, "--out", "effect.csv"),
        "svg": (*effect, "--plot", "effect.svg"),
        "png": (*effect, "--plot", "effect.png"),
        "pdf": (*effect, "--plot", "effect.pdf"),
        "picture": (*effect, "--plot", "effect"),
        "forecast": (*forecast[:-1], "forecast.csv"),
        "forecast --model": (*forecast, "--model", "series.bochner"),
        "forecast --report": (*forecast, "--report", "series.html"),
    }


@pytest.mark.parametrize("name", [
    "fit", "fit --report", "predict", "evaluate", "explain", "effect", "svg", "png", "pdf",
    "picture", "forecast", "forecast --model", "forecast --report",
])  # fmt: skip
def test_only_files_of_commands_are_replaced(inputs, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / inputs[name][-1]
    path.write_text(PRECIOUS)
    refused = bochner(*inputs[name])
    assert refused.exit_code == 2
    assert "that bochner wrote: name another file, or delete it" in refused.stderr
    assert path.read_text() == PRECIOUS
    path.write_bytes(b"")
    for _ in range(2):  # An empty file, and then one of the command
        done = bochner(*inputs[name])
        assert done.exit_code == 0, done.stderr
        assert path.stat().st_size
    whole = path.read_bytes()
    monkeypatch.setattr("os.replace", interrupt)
    assert bochner(*inputs[name]).exit_code == 130
    assert path.read_bytes() == whole
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("header", ["actual,prediction", "prediction,my comment", "t,forecast,b"])
@pytest.mark.parametrize("name", ["predict", "explain", "effect", "forecast"])
def test_tables_with_columns_of_others_are_kept(inputs, name, header, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / inputs[name][-1]
    path.write_text(precious := header + ",mine\n1,2,3,4\n")
    refused = bochner(*inputs[name])
    assert (refused.exit_code, path.read_text()) == (2, precious)
    assert "that bochner wrote" in refused.stderr


def test_an_interrupted_demo_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("bochner.cli.fitting.fit_table", interrupt)
    result = bochner("demo", "--out", tmp_path)
    assert result.exit_code == 130
    assert "bochner predict" not in result.stdout


def test_a_demo_keeps_files_of_its_names(tmp_path):
    (tmp_path / "gapminder.csv").write_text(PRECIOUS)
    assert "is no table that bochner wrote" in bochner("demo", "--out", tmp_path).stderr
    assert (tmp_path / "gapminder.csv").read_text() == PRECIOUS
