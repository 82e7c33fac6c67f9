"""A fit that raises leaves an earlier fit as it was, of every estimator."""

import numpy as np
import pytest
from fuzz.subjects import SUBJECTS
from numpy.testing import assert_equal

import bochner
from bochner._base.whole_fits import all_or_nothing

QUICK = [
    name
    for name, subject in SUBJECTS.items()
    if "table" not in name and "signed" not in name and "polynomial" not in name
]


def rows(d, scale=1.0):
    return np.random.default_rng(0).normal(size=(40, d)) * scale


def fit(model, subject, X):
    y = X[:, 0] > 0.0 if subject.target == "labels" else X[:, 0]
    others = {"right": X} if subject.right else {}
    return model.fit(X, **({} if subject.target is None else {"y": y}), **others)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.filterwarnings("ignore:The features approximate")
def test_a_refused_fit_leaves_the_earlier_one(name):
    subject = SUBJECTS[name]
    model = fit(subject.build(), subject, rows(3))
    before = dict(vars(model))
    answer = getattr(model, "transform", None) or model.predict
    for bad in (rows(5, 1e200), rows(5)[:0], rows(5) * np.inf):
        with pytest.raises(ValueError, match=r"."):
            fit(model, subject, bad)
        assert getattr(model, "n_features_in_", 3) == 3  # Sequences have no such number
        assert list(map(id, vars(model).values())) == list(map(id, before.values()))
        answer(rows(3), **({"right": rows(3)} if subject.right else {}))


def test_a_refused_fit_of_a_table_leaves_answers_as_they_were():
    """Units of the target are those of the earlier fit, too."""
    model = bochner.TableRegressor(effort="quick", random_state=0)
    before = model.fit(rows(3), rows(3)[:, 0]).predict(rows(3))
    with pytest.raises(ValueError, match="1 sample"):
        model.fit(rows(5)[:1], [1.0])
    assert_equal(model.predict(rows(3)), before)


def test_an_interrupt_of_a_later_batch_leaves_the_sum_of_the_earlier_ones():
    class Interrupted:
        total = 0

        @all_or_nothing
        def add(self, number):
            self.total += number
            self.last = number
            if number > 1:
                raise KeyboardInterrupt

    counter = Interrupted()
    counter.add(1)
    with pytest.raises(KeyboardInterrupt):
        counter.add(2)
    assert vars(counter) == {"total": 1, "last": 1}
