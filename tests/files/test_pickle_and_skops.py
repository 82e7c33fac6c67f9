"""Files of others: pickles of every estimator, and skops where it is installed."""

import pickle

import numpy as np
import pytest
from files.same import assert_same
from fuzz.saved import OTHERS, saved
from fuzz.subjects import SUBJECTS

NAMES = [*SUBJECTS, *OTHERS]


def answers(model, known):
    return [np.asarray(each) for each in known.ask(model)]


@pytest.mark.thorough_cases(
    ",|^(local|Taylor|chain of|learned|process(?!.*labels)|forecaster|signed)"
)
@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_answers_as_the_model(name):
    known = saved(name)
    again = pickle.loads(pickle.dumps(known.model))
    assert_same(answers(again, known), answers(known.model, known))


@pytest.mark.thorough_cases(",|^(local|Taylor|chain of|learned)")
@pytest.mark.parametrize("name", NAMES)
def test_a_skops_file_answers_as_the_model(name):
    skops = pytest.importorskip("skops.io")
    known = saved(name)
    content = skops.dumps(known.model)
    trusted = skops.get_untrusted_types(data=content)
    assert all(each.startswith("bochner.") for each in trusted)
    again = skops.loads(content, trusted=trusted)
    assert_same(answers(again, known), answers(known.model, known))
