"""Weights of classes, and decisions by cost."""

import numpy as np
import pytest
from files.same import round_trip
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from bochner import TableClassifier

QUICK = {"effort": "quick", "random_state": 0}


def rare(n=240, seed=0):
    """One column of two levels: the rare class has a tenth of one, and a third of the other."""
    rng = np.random.default_rng(seed)
    level = rng.integers(2, size=n)
    y = np.where(rng.random(n) < np.where(level == 1, 1 / 3, 0.1), "yes", "no")
    return level[:, None].astype(float), y


@pytest.mark.thorough
def test_balanced_classes_have_the_same_total_weight():
    """Odds are those of the classes times the ratio of their weights."""
    X, y = rare(2000)
    plain = TableClassifier(**QUICK).fit(X, y)
    model = TableClassifier(class_weight="balanced", **QUICK).fit(X, y)
    rows = np.array([[0.0], [1.0]])
    odds = [np.divide(*m.predict_proba(rows).T[::-1]) for m in (plain, model)]
    ratio = np.sum(y == "no") / np.sum(y == "yes")
    assert_allclose(odds[1] / odds[0], ratio, rtol=0.1)
    same = TableClassifier(class_weight={"no": 1.0, "yes": ratio}, **QUICK).fit(X, y)
    assert_allclose(same.predict_proba(rows), model.predict_proba(rows), rtol=1e-3)


def check_costs(tmp_path=None):
    X, y = rare(2000)
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])  # A missed "yes" costs five false ones
    model = TableClassifier(costs=costs, **QUICK).fit(X, y)
    rows = np.array([[0.0], [1.0]])
    p = model.predict_proba(rows)[:, 1]
    expected = np.where(5.0 * p > 1.0 - p, "yes", "no")
    assert_array_equal(model.predict(rows), expected)
    assert_array_equal(expected, ["no", "yes"])
    assert_array_equal(clone(model).set_params(costs=None).fit(X, y).predict(rows), ["no", "no"])
    if tmp_path is not None:
        assert_array_equal(round_trip(model, tmp_path).predict(rows), expected)


@pytest.mark.thorough
def test_decisions_have_the_least_expected_cost(tmp_path):
    check_costs(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"costs": np.ones((3, 3))},
            "costs must have a row and a column for each of the 2 classes",
        ),
        ({"costs": [[0.0, np.nan], [1.0, 0.0]]}, "costs"),
        ({"costs": [1.0, 2.0]}, r"got the shape \(2,\)"),
        ({"class_weight": {"no": -1.0, "yes": 1.0}}, "class_weight must hold finite factors"),
        ({"class_weight": "even"}, "class_weight"),
        ({"class_weight": {"no": np.inf, "yes": 1.0}}, "class_weight must be finite"),
        ({"class_weight": {"maybe": 2.0}}, "not in class_weight"),
    ],
)
def test_what_is_no_weight_or_cost_is_refused(options, message):
    X, y = rare(60)
    with pytest.raises(ValueError, match=message):
        TableClassifier(**options, **QUICK).fit(X, y)
