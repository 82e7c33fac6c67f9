"""A model from a file answers one row by every method that it has, or is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import bochner
from bochner.files import ModelFileError
from bochner.files import safetensors_container as container
from bochner.learned import Chains

X = np.random.default_rng(0).normal(size=(30, 2))

_MONTHS = pd.date_range("2001-01-01", periods=40, freq="MS")


def test_a_whitener_of_other_features_than_the_coefficients_is_refused(tmp_path):
    """Means would be right, and standard deviations fail."""
    path = tmp_path / "model.bochner"
    model = bochner.KernelGLMRegressor(n_components=8, random_state=0).fit(X, X[:, 0])
    bochner.save(model, path)
    tree, tensors = container.read(path)
    name = next(name for name in tensors if name.endswith("coef"))
    assert bochner.load(path).predict(X).shape == (30,)
    short = {**tensors, name: tensors[name][:-1]}
    container.write(path, tree, short)
    with pytest.raises(ModelFileError, match="is not a sound model file"):
        bochner.load(path)


def _changed(tmp_path, model, change):
    """Return the path of a model file with some of its numbers changed."""
    path = tmp_path / "model.bochner"
    bochner.save(model, path)
    assert bochner.load(path) is not None
    tree, tensors = container.read(path)
    tree, tensors = json.loads(json.dumps(tree)), dict(tensors)
    change(tree, tensors)
    container.write(path, tree, tensors)
    return path


def _ridge():
    return bochner.KreinRidge(n_components=8, random_state=0).fit(X, X[:, 0] + X[:, 1] ** 2)


def _chains():
    model = bochner.LearnedKernelRegressor(
        n_frequencies=4, random_state=0, chains=Chains(n_burn_in=5, n_samples=3)
    )
    return model.fit(X, X[:, 0])


def _times(name, factor):
    """Return a change of every array of that name."""

    def change(tree, tensors):
        full = [each for each in tensors if each.endswith(name)]
        tensors.update({each: tensors[each] * factor for each in full})
        assert full

    return change


def _number(name, value):
    """Return a change of every number of that name in the tree."""

    def change(tree, tensors):
        assert _replaced(tree, name, value)

    return change


def _replaced(node, name, value):
    items = node.items() if isinstance(node, dict) else enumerate(node)
    n_replaced = 0
    for key, part in items:
        if key == name and isinstance(part, int | float):
            node[key] = value
            n_replaced += 1
        elif isinstance(part, dict | list):
            n_replaced += _replaced(part, name, value)
    return n_replaced


CHANGES = {
    "noise of a ridge below zero": (_ridge, _times("posterior_.checked.noise_variance", -1.0)),
    "noise below zero": (_chains, _times("noise_variance", -1.0)),
    "an unknown solver": (_ridge, lambda tree, _: tree["parameters"].update(solver="nope")),
    "alpha below zero": (_ridge, lambda tree, _: tree["parameters"].update(alpha=-1.0)),
    "squares below zero": (_ridge, _times("sums_.square", -1.0)),
    "total weight below zero": (_ridge, _number("weight", -30.0)),
    "no rows": (_ridge, _number("n_samples", 0)),
}


def _table():
    return bochner.TableRegressor(effort="quick", random_state=0).fit(X, X[:, 0] ** 2)


def _process():
    return bochner.GaussianProcessRegressor(random_state=0).fit(X, X[:, 0] ** 2)


def _without_encoder(tree, _):
    tree["attributes"]["tail_encoder_"]["attributes"] = {}


def _classes():
    return bochner.GaussianProcessClassifier(random_state=0).fit(X, X[:, 0] > 0.0)


def _forecasts():
    y = pd.Series(np.arange(40.0) + X[:, 0].repeat(2)[:40] % 1, _MONTHS)
    return bochner.Forecaster(periods=[12], random_state=0).fit(y)


def _counts():
    return bochner.Forecaster(random_state=0).fit(np.maximum(np.rint(X[:, 0] - 0.5), 0.0))


def _parameter(name, value):
    """Return a change of a constructor parameter."""
    return lambda tree, _: tree["parameters"].update({name: value})


CHANGES |= {
    "no facts about a table's fit": (
        _table,
        lambda tree, _: tree["attributes"]["record_"].update(items={}),
    ),
    "negative features of a process": (_process, _parameter("n_components", -1)),
    "fractional landmarks of a process": (_process, _parameter("n_landmarks", 1e300)),
    "negative noise of a process": (_process, _parameter("alpha", -1)),
    "fractional iterations of a process": (_classes, _parameter("max_iter_predict", 50.0)),
    "no number of landmarks": (_ridge, _parameter("residual", [])),
    "a weight of a law of counts below zero": (_counts, _times("law.weights", -1.0)),
    "a level of counts that forgets backwards": (_counts, _times("law.memories", -1.0)),
    "months that begin after millions of years": (_forecasts, _number("offset", float(2**40))),
    "a series of another length": (_forecasts, _number("span", 1e-3)),
    "a last date that is another": (_forecasts, _number("stamp", 0)),
    "an unknown transformation": (_forecasts, _parameter("transformation", "cube")),
    "noise of a table's kernel below zero": (_table, _number("alpha", -1e-3)),
    "signal of a table's kernel below zero": (_table, _times("signal", -1.0)),
    "weights of laws below zero": (_table, _times("head_.weights", -1.0)),
    "an encoder that is not fitted": (_table, _without_encoder),
    "a length scale of a process below zero": (_process, _times("length_scale", -1.0)),
}


def _first(name, value):
    """Return a change of the first entry of the first array whose name has that end."""

    def change(tree, tensors):
        full = next(each for each in tensors if each.endswith(name))
        tensors[full] = tensors[full].copy()
        tensors[full].flat[0] = value

    return change


def _positive():
    return bochner.PositiveFeatures(n_components=8, random_state=0).fit(X)


CHANGES |= {
    "huge parameters of a series": (_forecasts, _first("members.0.theta", 1e20)),
    "huge parameters of all models of a series": (_forecasts, _times("theta", 1e20)),
    "huge factors of a series": (_forecasts, _first("law.factors", 1e300)),
    "huge states of a series": (_forecasts, _first("members.0.mean", 1e300)),
    "huge covariances of a table": (_table, _first("factor", 1e300)),
    "weights of laws that sum to less than one": (_table, _times("head_.weights", 0.5)),
    "no weight of the first law": (_table, _first("head_.weights", 0.0)),
    "a huge number of features": (_positive, _number("_n_features_out", 2**31)),
    "more Fourier features": (
        lambda: bochner.FourierFeatures(n_components=8, random_state=0).fit(X),
        _number("_n_features_out", 9),
    ),
    "more features of similarities": (
        lambda: bochner.SimilarityFeatures(n_components=8, random_state=0).fit(X),
        _number("_n_features_out", 9),
    ),
}


def _skewed():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    y = np.exp(rows[:, 0] + 0.3 * np.exp(rows[:, 1]) * rng.normal(size=200))
    model = bochner.TableRegressor(effort="quick", transformation="log", random_state=0)
    return model.fit(rows, y)


def _classes_of_a_table():
    return bochner.TableClassifier(effort="quick", random_state=0).fit(X, X[:, 0] > 0.0)


def _classes_in_two_axes(tree, tensors):
    tensors["head_.classes_"] = tensors["head_.classes_"][:, None]
    tree["attributes"]["head_"]["fields"]["classes_"]["shape"] = [2, 1]


def _short_scale(tree, _):
    (law, *_) = tree["attributes"]["head_"]["fields"]["laws"]["fields"]["members"]
    kernel = law["fields"]["found"]["fields"]["kernel"]["fields"]
    scale = kernel["length_scale"]
    if isinstance(scale, float):  # One scale of all columns
        kernel["length_scale"] = 1e-5 * scale
    else:
        scale["items"] = [1e-5 * each for each in scale["items"]]


CHANGES |= {
    "huge widths": (_skewed, _first("curves.0.values", 4.6e18)),
    "huge but possible widths": (_skewed, _first("curves.0.values", 20.0)),
    "a length scale of a table far too short": (_skewed, _short_scale),
    "kernels of a table of another size": (_skewed, _times("members.0.coef", 3.0)),
    "coefficients of a ridge of another size": (_ridge, _times("posterior_.coef", 1.1)),
    "classes in two axes": (_classes_of_a_table, _classes_in_two_axes),
}


@pytest.mark.thorough_cases("noise below zero")
@pytest.mark.parametrize("case", CHANGES)
def test_files_whose_numbers_fit_no_model_are_refused(case, tmp_path):
    make, change = CHANGES[case]
    path = _changed(tmp_path, make(), change)
    with pytest.raises(ModelFileError, match="is not a sound model file"):
        bochner.load(path)
