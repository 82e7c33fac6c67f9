"""Parameters that a fit refuses are refused in model files, and no others are."""

import copy

import numpy as np
import pytest
from fuzz.saved import ESTIMATORS
from fuzz.subjects import SUBJECTS

import bochner
from bochner.files import ModelFileError

VALUES = (None, -0.5, "x", [], 1e300)
"""Values that many parameters do not have, of the types that files hold."""

KINDS = {SUBJECTS[name].kind: name for name in reversed(ESTIMATORS)}
"""A subject for each class of estimators."""

QUICK = ("ridge", "features", "positive features", "encoder", "pair ridge")
"""Subjects whose fits take milliseconds."""

OF_ROWS = ("costs",)
"""Parameters that are checked against the labels."""


def _given(subject):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    given = {} if subject.target is None else {"y": X[:, 0]}
    if subject.target == "labels":
        given["y"] = np.where(X[:, 0] > 0, "a", "b")
    return {"X": X, **given, **({"right": X} if subject.right else {})}


def _is_taken(subject, name, value, given):
    """Tell whether a fit takes the value of a parameter."""
    try:
        subject.build(**{name: value}).fit(**given)
    except (ValueError, TypeError):
        return False
    return True


def _with(model, name, value):
    """Return a shallow copy of a fitted model with another parameter."""
    changed = copy.copy(model)
    setattr(changed, name, value)
    return changed


def _write(monkeypatch, model, path):
    """Save a model as a program would that checks no parameters."""
    with monkeypatch.context() as patch:
        patch.setattr("bochner.files.json_tree._check_parameters", lambda *parts: None)
        patch.setattr("bochner.files.model_file.try_out", lambda *parts: None)
        bochner.save(model, path)


@pytest.mark.thorough_cases(but=r"encoder|\bpair\b|^features|\bpositive\b")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.thorough)
        for name in KINDS.values()
    ],
)
def test_files_have_the_parameters_that_fits_take(name, tmp_path, monkeypatch):
    subject, path = SUBJECTS[name], tmp_path / "model"
    given = _given(subject)
    model = subject.build().fit(**given)
    wrong = []
    for parameter in sorted(set(subject.parameters) - set(OF_ROWS)):
        for value in VALUES:
            _write(monkeypatch, _with(model, parameter, value), path)
            try:
                bochner.load(path)._repr_html_()
                is_loaded = True
            except ModelFileError:
                is_loaded = False
            if is_loaded != _is_taken(subject, parameter, value, given):
                wrong.append((parameter, value, is_loaded))
    assert not wrong


def test_a_fitted_model_with_an_unusable_parameter_is_not_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    model = bochner.KreinRidge(n_components=8, random_state=0).fit(X, X[:, 0])
    with pytest.raises(TypeError, match="residual must be a positive integer"):
        bochner.save(_with(model, "residual", []), tmp_path / "model")
    bochner.save(bochner.KreinRidge(residual=[]), tmp_path / "model")  # Its fit refuses it
