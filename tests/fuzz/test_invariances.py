"""What must not matter: units of rows and targets, names of classes, weights for equal rows."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fuzz.subjects import SUBJECTS
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import bochner

FACTORS = (1e-12, 1e12)
"""What holds at both ends holds between them: a bound of one unit is passed on one side."""

N_ROWS = 40

OF_ROWS = [
    "ridge, evidence", "ridge classifier, evidence", "encoder", "chain", "chain of classes",
    "local chain", "local chain of classes", "table", "table of classes", "learned table",
    "learned table of classes", "mixture features", "Taylor mixture features", "generalised",
    "generalised, outliers", "generalised, classes",
]  # fmt: skip
"""Those that choose their own length scales; others are given them in units of the rows."""

GIVEN = ["ridge", "ridge, iterative", "ridge classifier", "asymmetric ridge", "features",
         "features, structured", "features, lattice", "features, float32"]  # fmt: skip

OF_TARGETS = [name for name, subject in SUBJECTS.items() if subject.target == "numbers"]
LABELLED = [name for name, subject in SUBJECTS.items() if subject.target == "labels"]

pytestmark = pytest.mark.filterwarnings(
    "ignore::UserWarning", f"ignore::{ConvergenceWarning.__module__}.ConvergenceWarning"
)


def data(subject):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=N_ROWS)
    return X, (y > 0.1).astype(int) if subject.target == "labels" else y


def answers(subject, X, y, new, settings=None, **given):
    """Return what a fitted model says of new rows: features, probabilities or means."""
    model = subject.build(**(settings or {}))
    others = {"right": X} if subject.right else {}
    model.fit(X, **({} if subject.target is None else {"y": y}), **others, **given)
    if subject.target is None:
        return model.transform(new)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(new)
    if subject.target == "labels":
        return model.predict(new)
    return model.predict(new, **({"right": new} if subject.right else {}))


@cache
def usual(name, length_scale=None):
    """Return the answers in the usual units, fitted once for all tests."""
    subject = SUBJECTS[name]
    X, y = data(subject)
    return answers(subject, X, y, X[:7], length_scale and scaled(name, length_scale))


def scaled(name, length_scale):
    """Return the setting that gives a length scale."""
    if "length_scale" in SUBJECTS[name].parameters:
        return {"length_scale": length_scale}
    return {"kernel": kernel(length_scale)}


def assert_same(found, expected, tolerance):
    size = np.abs(expected).max()
    np.testing.assert_allclose(found / size, expected / size, rtol=0.0, atol=tolerance)


def tolerance(name):
    """Rounding of features; where a search or a chain follows, it goes on from other digits."""
    return 1e-3 if "float32" in name else 1e-6


@pytest.mark.thorough_cases(r"1e|chain|table|\bevidence\b|^generalised-")
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", [*OF_ROWS, *GIVEN])
def test_units_of_rows(name, factor):
    subject = SUBJECTS[name]
    X, y = data(subject)
    length_scale = 1.5 if name in GIVEN else None
    settings = length_scale and scaled(name, length_scale * factor)
    found = answers(subject, factor * X, y, factor * X[:7], settings)
    assert_same(found, usual(name, length_scale), tolerance(name))


def kernel(length_scale):
    from bochner.kernels import ShiftGaussian

    return ShiftGaussian(length_scale, shift=0.1 * length_scale)


@pytest.mark.thorough_cases(r"1e|chain|table|process|\bsigned\b|^generalised-|^ridge, evidence")
@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", OF_TARGETS)
def test_units_of_targets(name, factor):
    subject = SUBJECTS[name]
    X, y = data(subject)
    found = answers(subject, X, factor * y, X[:7])
    assert_same(found / factor, usual(name), tolerance(name))


@pytest.mark.thorough_cases(but=r"\bmany\b|\bgeneralised\b|ridge classifier$")
@pytest.mark.parametrize("name", LABELLED)
def test_names_of_classes(name):
    subject = SUBJECTS[name]
    X, y = data(subject)
    expected = usual(name)
    found = answers(subject, X, np.array(["no", "yes"])[y], X[:7])
    if expected.ndim == 1:
        expected = np.array(["no", "yes"])[expected]
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["table of classes", "learned table of classes"])
def test_names_of_classes_in_another_order(name):
    subject = SUBJECTS[name]
    X, y = data(subject)
    classes = y + (X[:, 2] > 0.5)
    classes[:4] = (3, 3, 4, 4)  # Two classes of one size
    one, other = np.array(list("abcde")), np.array(list("caebd"))
    expected = answers(subject, X, one[classes], X[:7])
    found = answers(subject, X, other[classes], X[:7])
    np.testing.assert_array_equal(found[:, np.searchsorted(one, other)], expected)


WEIGHTED = [
    name
    for name, subject in SUBJECTS.items()
    if subject.weighted and subject.target and not subject.right
]


@pytest.mark.thorough_cases("chain|table|signed|generalised$|^ridge.*evidence")
@pytest.mark.parametrize("name", WEIGHTED)
def test_a_weight_of_two_is_a_row_twice(name):
    subject = SUBJECTS[name]
    if "table" in name:
        subject = replace(subject, settings={**subject.settings, "weights": "counts"})
    X, y = data(subject)
    times = np.full(N_ROWS, 2)
    repeated = np.repeat(np.arange(N_ROWS), times)
    expected = answers(subject, X[repeated], y[repeated], X[:7])
    found = answers(subject, X, y, X[:7], sample_weight=times.astype(float))
    assert_same(found, expected, tolerance(name))


RIDGES = {
    "a fixed alpha": ({}, 1e-12),
    "evidence": ({"alpha": "evidence", "length_scale": "evidence"}, 1e-10),
    "a signed kernel": ({"kernel": SUBJECTS["ridge, signed"].settings["kernel"]}, 1e-12),
    "conjugate gradients": ({"solver": "cg"}, 1e-12),
    "a small alpha": ({"alpha": 1e-8}, 1e-5),  # Rounding times the condition number, 1e11
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", RIDGES)
def test_numbers_of_threads(name):
    settings, tolerance = RIDGES[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=3000)
    found = []
    for count in (1, 2, 4):
        with threadpool_limits(count, user_api="blas"):
            model = bochner.KreinRidge(n_components=256, random_state=0, **settings).fit(X, y)
            found.append(model.predict(X[:500]))
    assert_same(found[1], found[0], tolerance)
    assert_same(found[2], found[0], tolerance)
