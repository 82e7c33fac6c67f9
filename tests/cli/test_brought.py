"""Files that people bring, from the command line."""

import re

import numpy as np
import pytest
from cli.command import SMALL, bochner, fit, predict, refusal, table, write

from bochner import TableRegressor, read_table

QUICK = SMALL


def flat(text):
    """A text in one line, without the frame of the screen."""
    return " ".join(text.split())


def fitted(folder, text, *options, target="y", name="train.csv"):
    """Fit to a file with this text, and return the model and what is printed."""
    path = folder / name
    path.write_text(text)
    out = folder / "m.bochner"
    result = bochner("fit", path, "--target", target, "--out", out, *QUICK, *options)
    assert result.exit_code == 0, result.output
    return out, flat(result.stdout)


def rows(n=60):
    rng = np.random.default_rng(0)
    x = rng.uniform(1.0, 9.0, n).round(3)
    return x, (3.0 * x + 0.01 * rng.normal(size=n)).round(3)


def test_a_unit_is_that_of_the_fit(tmp_path):
    x, y = rows()
    text = "x,y\n" + "".join(f"{a} kg,{b}\n" for a, b in zip(x, y, strict=True))
    model, shown = fitted(tmp_path, text, "--types", "x,number")
    assert "'x' holds amounts in kg" in shown
    new = tmp_path / "new.csv"
    new.write_text("x\n5 kg\n2 kg\n")
    found = bochner("predict", model, new).stdout.split()[1:]
    np.testing.assert_allclose(list(map(float, found)), [15.0, 6.0], atol=0.2)
    new.write_text("x\n5000 g\n2000 g\n")
    assert "had the unit kg at the fit, and has g here" in refusal(tmp_path, "predict", model, new)


@pytest.mark.thorough
def test_a_constant_column_is_noted_and_not_used(tmp_path):
    path = write(table().assign(site="north"), tmp_path / "t.csv")
    out, without = tmp_path / "c.bochner", tmp_path / "w.bochner"
    result = bochner("fit", path, "--target", "y", "--out", out, *QUICK)
    words = "'site' has the same entry in every row and is not used (north)"
    assert words in flat(result.stdout)
    bochner("fit", path, "--target", "y", "--drop", "site", "--out", without, *QUICK)
    found = predict(out, table().assign(site="south"))
    np.testing.assert_array_equal(found, predict(without, table()))
    # Python has the same note, and the same column without features.
    with pytest.warns(UserWarning, match=re.escape(words)):
        frame = read_table(path)
    model = TableRegressor(effort="quick", random_state=0).fit(frame.drop(columns="y"), frame["y"])
    kinds = {state["name"]: state["kind"] for state in model.encoder_.columns_}
    assert kinds["site"] == "constant"


@pytest.fixture(scope="module")
def split_model(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("split"), table())


@pytest.mark.thorough
def test_rows_of_the_fit_are_named_and_the_others_have_their_errors(split_model, tmp_path):
    path = write(table(), tmp_path / "t.csv")
    result = bochner("predict", split_model, path, "--out", tmp_path / "p.csv")
    shown = flat(result.stderr)
    assert "120 of the 150 rows were used in the fit" in shown
    assert "Of these, 30 rows were not fitted: RMSE" in shown
    result = bochner("evaluate", split_model, path)
    shown = flat(result.stdout)
    assert "120 of the 150 rows were used in the fit" in shown
    assert "Errors of the 30 rows that the fit did not have" in shown
    fresh = table(400)[150:]
    result = bochner("predict", split_model, write(fresh, path), "--out", tmp_path / "p.csv")
    assert "used in the fit" not in flat(result.stderr)


@pytest.mark.thorough
def test_a_later_file_has_its_own_words_and_lines(tmp_path):
    x, y = rows()
    text = "x,y\n" + "".join(f"{a} kg,{b}\n" for a, b in zip(x, y, strict=True))
    model, _ = fitted(tmp_path, text, "--types", "x,number")
    new = tmp_path / "new.csv"
    content = "x,r\n5 kg,a\nunclear,b\n2 kg,c\n"
    new.write_text(content)
    said = refusal(tmp_path, "predict", model, new)
    assert "name them by missing= (--missing)." in said
    assert "--types" not in said
    new.write_text("1,2\n" + content)
    options = ("--missing", "unclear", "--skip", "1")
    found = bochner("predict", model, new, *options).stdout.split()[1:]
    np.testing.assert_allclose([float(found[0]), float(found[2])], [15.0, 6.0], atol=0.2)
    assert bochner("explain", model, new, "--row", "1", *options).exit_code == 0
    new.write_text("x;y;r\n5,5 kg;16,5;a\n2,5 kg;7,5;b\n2,25 kg;6,75;c\n10,25 kg;30,75;Total\n")
    result = bochner("predict", model, new)
    found = result.stdout.split()[1:]
    np.testing.assert_allclose(list(map(float, found)), [16.5, 7.5, 6.75], atol=0.3)
    assert "The last row (Total) is left out" in flat(result.stderr)
    assert bochner("evaluate", model, new, "--skip", "0").exit_code == 0
