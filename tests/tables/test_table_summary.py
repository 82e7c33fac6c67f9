"""The summary of a fitted model that notebooks show."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.utils import estimator_html_repr

from bochner import TableClassifier, TableRegressor

SUM = {"effort": "quick", "random_state": 0}
MARKUP = "<b onmouseover='alert(1)'>a & b</b>"


class Page(HTMLParser):
    """Tags, attributes and text of a fragment of HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.names, self.texts, self.open = set(), set(), [], []
        self.widths = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.names.update(name for name, _ in attrs)
        self.widths += [value for name, value in attrs if name == "style"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    def after(self, key):
        return self.texts[self.texts.index(key) + 1]


def table(n_rows=150):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({MARKUP: rng.normal(size=n_rows), "weak": rng.normal(size=n_rows)})
    frame["kind"], frame["same"] = rng.choice(["x", "y"], n_rows), 1.0
    return frame, frame[MARKUP].to_numpy() + (frame["kind"] == "x") + rng.normal(size=n_rows) / 9


def page(model):
    found = Page(model._repr_mimebundle_()["text/html"])
    assert not found.open
    assert found.tags <= {"style", "div", "span", "strong"}
    assert found.names <= {"class", "style", "title"}
    assert all(re.fullmatch(r"width:\d+%", width) for width in found.widths)
    return found


def test_a_sum_of_laws_tells_what_it_is():
    X, y = table()
    model = TableRegressor(**SUM).fit(X, y)
    assert model._repr_html_() == model._repr_mimebundle_()["text/html"]
    found = page(model)
    assert found.after("TableRegressor") == "predicts"
    assert found.after("predicts") == "numbers"
    assert found.after("fitted to") == "150 rows; columns: 2 numeric, 1 text, 1 not used"
    assert found.after("expected error").startswith(f"{model.score_:.4g} (root mean square error")
    assert "errors at 150 rows left out" in found.after("calibration")
    ends = re.search(r"intervals of (\S+) to (\S+) standard", found.after("calibration"))
    mean, std = model.predict(X, return_std=True)
    for words, values in zip(ends.groups(), model.predict_interval(X, 0.9), strict=True):
        np.testing.assert_allclose(float(words) * std, values - mean, rtol=1e-2)
    first, last = found.texts.index("weights of laws"), found.texts.index("importance")
    shares = [float(text[:-1]) for text in found.texts[first:last] if text.endswith("%")]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100.0, abs=0.5 * len(shares))
    assert found.after("importance") == MARKUP
    assert "same" not in found.texts
    model.record_["target"] = MARKUP
    assert page(model).after("predicts") == f"numbers of {MARKUP}"


def test_classes_and_kernels():
    X, y = table()
    labels = np.where(y > 1.0, "<i>much</i>", "little")
    model = TableClassifier(**SUM).fit(X, labels)
    found = page(model)
    assert found.after("predicts") == "2 classes: <i>much</i>, little"
    assert {"weights of laws", "calibration"} <= set(found.texts)
    assert found.after("expected error").startswith(f"{model.score_:.4g} (log loss")


@pytest.mark.parametrize("step", [1, -1], ids=["growing", "falling"])
def test_kernels_without_the_columns_that_grow_in_time_are_told_apart(step):
    X, y = table()
    X["time"] = step * np.arange(len(X))
    model = TableRegressor(**SUM).fit(X, y, time=np.arange(len(X)))
    found = page(model)
    n_shown = np.sum(model.head_.weights > 0.0)
    names = found.texts[found.texts.index("weights of laws") + 1 :: 2][:n_shown]
    assert len(set(names)) == n_shown
    order = np.argsort(-model.head_.weights, kind="stable")[:n_shown]
    encoded = list(model.encoder_.get_feature_names_out())
    width, place = len(encoded), encoded.index("time")
    laws = [model.head_.laws.members[i] for i in order]
    fewer = [len(law.columns) < width for law in laws]
    assert not any(place in law.columns % width for law in laws if len(law.columns) < width)
    assert any(fewer)
    assert ["without trends" in name for name in names] == fewer


def test_other_representations_are_those_of_scikit_learn():
    X, y = table()
    model = TableRegressor(effort="quick", random_state=0)
    assert estimator_html_repr(model)[:100] == model._repr_html_()[:100]
    assert "sk-container" in model._repr_mimebundle_()["text/html"]
    text = repr(model)
    model.fit(X, y)
    assert repr(model) == text == model._repr_mimebundle_()["text/plain"]
    with config_context(display="text"):
        assert "text/html" not in model._repr_mimebundle_()
        assert not hasattr(model, "_repr_html_")
