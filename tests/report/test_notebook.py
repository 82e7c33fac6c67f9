"""``model.report``: a report on rows of one's own."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from report.markup import Page
from report.studies import of_laws, table

from bochner import TableClassifier
from bochner.comparison.outcomes import outcome
from bochner.comparison.split import Split


@pytest.fixture(scope="module")
def rows():
    return table(80, seed=9)


@pytest.mark.thorough
def test_it_is_about_these_rows(rows, tmp_path):
    (study,) = of_laws()
    frame, y = rows
    path = tmp_path / "report.html"
    found = study.model.report(frame, y.rename("demand"), path)
    assert path.read_text(encoding="utf-8") == found.html
    found.save(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == path.read_bytes()
    (own,) = found.studies
    expected = outcome(study.model, Split(frame, y.to_numpy(), frame, y.to_numpy(), "regression"))
    np.testing.assert_array_equal(own.own.prediction, expected.prediction)
    text = Page(found.html).all("main")[0].text.replace("\u00a0", " ")
    assert "predictions of 'demand' for the rows of this file" in text
    assert "182 rows to fit, 80 test rows" in text
    assert "Predictions are compared with known targets of 80 rows." in text


@pytest.mark.thorough
def test_a_notebook_gets_a_frame_with_the_whole_page(rows):
    (study,) = of_laws()
    found = study.model.report(*rows)
    shown = found._repr_html_()
    assert shown.startswith("<iframe ")
    (frame,) = Page(shown).all("iframe")
    assert frame.attributes["srcdoc"] == found.html
    assert frame.attributes["title"] == "Report"
    assert len(repr(found)) < 100


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [pl.from_pandas, np.asarray], ids=["polars", "numpy"])
def test_tables_of_any_kind(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = frame["a"].to_numpy() > 0.3
    model = TableClassifier(effort="quick", random_state=0).fit(kind(frame), y)
    found = model.report(kind(frame), y)
    assert not Page(found.html).faults
    assert found.studies[0].target == "target"
    names = [row[0] for row in Page(found.html).table("Columns")]
    assert names == (["x0", "x1", "x2"] if kind is np.asarray else ["a", "b", "c"])


@pytest.mark.parametrize(
    ("frame", "y", "message"),
    [
        (table(20)[0], np.zeros(19), "one entry for each of the 20 rows"),
        (table(20)[0].iloc[:0], np.zeros(0), "at least one"),
        (table(20)[0], np.r_[1e200, np.zeros(19)], "y must have its largest number between"),
        (table(20)[0], np.r_[np.nan, np.zeros(19)], "missing in 1 of 20 rows"),
        (table(20)[0], ["a"] * 20, "y must hold numbers"),
    ],
)
def test_what_has_no_report(frame, y, message):
    with pytest.raises(ValueError, match=message):
        of_laws()[0].model.report(frame, y)


@pytest.mark.thorough
def test_a_missing_package_is_named():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "import numpy as np; from bochner import TableRegressor\n"
        "X = np.random.default_rng(0).normal(size=(30, 2))\n"
        "model = TableRegressor(effort='quick', random_state=0).fit(X, X[:, 0])\n"
        "try: model.report(X, X[:, 0])\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "Reports need jinja2, which is not installed: run pip install 'bochner[report]'.\n"
    )
