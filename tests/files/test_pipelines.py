"""Pipelines of scikit-learn in model files: what comes back, and what is refused."""

import warnings

import numpy as np
import pytest
import sklearn
from persist.pipelines import PIPELINES, TABLE, X, Y, answers, fitted, ridge
from persist.same import assert_same, round_trip
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

import bochner
from bochner.files import ModelFileError, container
from bochner.files.composed import column_numbers, estimators
from bochner.files.sklearn_parts import PARTS


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_comes_back_bit_for_bit(name, tmp_path):
    model, rows = fitted(name)
    loaded = round_trip(model, tmp_path)
    assert_same(answers(loaded, rows), answers(model, rows))
    assert repr(sklearn.base.clone(loaded)) == repr(loaded)


def test_no_part_is_left_out():
    found = {type(part) for name in PIPELINES for part in estimators(fitted(name)[0])}
    assert set(PARTS.values()) <= found


def test_an_unfitted_pipeline_comes_back(tmp_path):
    model = make_pipeline(StandardScaler(), ridge())
    assert repr(round_trip(model, tmp_path)) == repr(model)


def test_what_belongs_to_a_machine_is_left_out(tmp_path):
    columns = make_column_transformer((StandardScaler(), [0, 1]), n_jobs=2)
    model = make_pipeline(columns, ridge(), memory=str(tmp_path / "cache")).fit(X, Y)
    loaded = round_trip(model, tmp_path)
    assert (loaded.memory, loaded[0].n_jobs) == (None, None)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (make_pipeline(PolynomialFeatures(), ridge()), "class PolynomialFeatures.*those.* Ridge,"),
        (make_pipeline(FunctionTransformer(np.log), ridge()), r"steps\.0\.1\.func is of type"),
        (
            GridSearchCV(ridge(), {"alpha": [1.0]}),
            "got an object of scikit-learn's class GridSearchCV.*Pipeline",
        ),
        (
            make_column_transformer((OneHotEncoder(), make_column_selector(dtype_include=object))),
            r"transformers\.0\.2 is of scikit-learn's class make_column_selector",
        ),
    ],
)
def test_other_parts_are_refused(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        bochner.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_attributes_of_another_scikit_learn_are_refused(tmp_path):
    model = make_pipeline(StandardScaler(), ridge()).fit(X, Y)
    model[0].means_by_group_ = np.zeros(3)
    with pytest.raises(ValueError, match="StandardScaler has no attribute 'means_by_group_'"):
        bochner.save(model, tmp_path / "model")


@pytest.fixture
def edited(tmp_path):
    """Return a function that saves the pipeline of a name, edits its tree, and loads it."""

    def load(name, edit):
        path = tmp_path / "model"
        bochner.save(fitted(name)[0], path)
        tree, tensors = container.read(path)
        steps = [step["items"][1] for step in tree["parameters"]["steps"]]
        edit(tree["parameters"], *steps)
        container.write(path, tree, tensors)
        return bochner.load(path)

    return load


def test_another_version_of_scikit_learn_warns(edited):
    with pytest.warns(InconsistentVersionWarning, match="StandardScaler from version 1.0.2"):
        edited("standard", lambda own, first, last: first.update(version="1.0.2"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        edited("standard", lambda own, first, last: None)


def shorter(own, columns, head):
    columns["attributes"]["transformers_"].pop()


def swapped(own, columns, head):
    known = columns["attributes"]["_transformer_to_input_indices"]["items"]
    known["standardscaler"], known["pipeline"] = known["pipeline"], known["standardscaler"]


def renamed(own, columns, head):
    columns["attributes"]["transformers_"][0]["items"][2][0] = "depth"


def sparse(own, columns, head):
    columns["attributes"]["sparse_output_"] = True


TAMPERED = {
    "a number": (
        "norms",
        lambda own, first, last: own["steps"][0]["items"].__setitem__(1, 0.5),
        "do not fit together",
    ),
    "sparse output": ("one-hot but one", sparse, "its output is sparse"),
    "a cache": ("standard", lambda own, *_: own.update(memory="/tmp/x"), "memory should be None"),
    "processes": (
        "slice",
        lambda own, columns, head: columns["parameters"].update(n_jobs=10**6),
        "n_jobs should be None",
    ),
    "a parameter": (
        "standard",
        lambda own, first, last: first["parameters"].update(with_mean="yes"),
        "'with_mean' parameter of StandardScaler must be",
    ),
    "a class": ("standard", lambda own, first, last: first.update({"class": "sklearn.X"}), "X"),
    "no version": ("standard", lambda own, first, last: first.pop("version"), "lacks 'version'"),
    "a type": (
        "standard",
        lambda own, first, last: first["attributes"].update(n_samples_seen_="many"),
        "n_samples_seen_ should be",
    ),
    "a width": ("one-hot", shorter, "do not fit together"),
    "columns": ("one-hot", swapped, "the columns of 'standardscaler' are not"),
    "a name": ("one-hot", renamed, "'depth'"),
    "order": ("holes", lambda own, *steps: own["steps"].reverse(), "do not fit together"),
    "one step": ("holes", lambda own, *steps: own.update(steps=[1]), "not a sound model file"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_changed_files_are_refused(case, edited):
    name, edit, message = TAMPERED[case]
    with pytest.raises(ModelFileError, match=message) as caught:
        edited(name, edit)
    assert "\n" not in str(caught.value)


def test_columns_are_numbered_as_scikit_learn_does():
    choices = ["kind", 1, ["size", "width"], [0, -1], slice(0, 2), slice("size", "kind"), []]
    choices += [np.array([True, False, True])]
    for chosen in choices:
        model = make_column_transformer(("drop", chosen), remainder="passthrough").fit(TABLE)
        (expected, *_) = model._transformer_to_input_indices.values()
        assert column_numbers(model, chosen).tolist() == list(expected), chosen
