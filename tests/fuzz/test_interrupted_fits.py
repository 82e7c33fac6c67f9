"""A fit that is interrupted at any call leaves the earlier fit as it was, or an unfitted model."""

import sys

import numpy as np
import pytest
from fuzz.subjects import SUBJECTS
from fuzz.test_parameters_in_files import _given
from sklearn.exceptions import NotFittedError


def interrupted(work, at):
    """Interrupt a function at the given call of a function of the package; return their number."""
    n_calls = 0

    def count(frame, event, _):
        nonlocal n_calls
        if event == "call" and frame.f_globals.get("__name__", "").startswith("bochner."):
            n_calls += 1
            if n_calls == at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        work()
    except KeyboardInterrupt:
        assert n_calls == at
    finally:
        sys.setprofile(None)
    return n_calls


def answer(model, X, right=None, **_):
    """Return what a model answers to rows, as text, or that it is not fitted."""
    try:
        call = getattr(model, "predict", None) or model.transform
        return str(np.asarray(call(X) if right is None else call(X, right)).tolist())
    except NotFittedError:
        return "unfitted"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.thorough_cases("columns|evidence|generalised|of|chain|table|signed|poly")
@pytest.mark.parametrize("name", SUBJECTS)
def test_an_interrupted_fit_is_no_mixture(name):
    subject = SUBJECTS[name]
    given = _given(subject)
    later = {k: 1.7 * v + 0.3 if v.dtype.kind == "f" else v[::-1].copy() for k, v in given.items()}
    model, other = subject.build().fit(**given), subject.build()
    possible = {"unfitted", answer(other, **given), answer(model, **given)}
    n_calls = interrupted(lambda: other.fit(**later), -1)
    possible.add(answer(other, **given))
    before = dict(vars(model))
    for at in {n_calls // 2, *range(max(1, n_calls - 12), n_calls, 2)}:
        interrupted(lambda: model.fit(**later), at)
        assert answer(model, **given) in possible, at
        vars(model).clear()
        vars(model).update(before)
