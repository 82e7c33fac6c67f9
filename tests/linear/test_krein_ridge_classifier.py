"""KreinRidgeClassifier: labels, batches, probabilities."""

import warnings

import numpy as np
import pytest
from flat_parameters import flat
from laws.head_laws import plant_signs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bochner import KreinRidge, KreinRidgeClassifier, kernels

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(90, 2)), RNG.normal(size=(30, 2))
LABELS = {
    2: np.where(X[:, 0] > 0.2, "yes", "no"),
    3: np.array(["low", "mid", "top"])[np.digitize(X[:, 0], [-0.5, 0.5])],
}
each_count = pytest.mark.parametrize("n_classes", [2, 3])


def classifier(**parameters):
    defaults = {"kernel": kernels.Gaussian(1.0), "n_components": 40, "random_state": 0}
    return flat(KreinRidgeClassifier, **(defaults | parameters))


@pytest.fixture(params=["positive", "signed"])
def signs(request, monkeypatch):
    if request.param == "signed":
        plant_signs(monkeypatch)


@each_count
@pytest.mark.usefixtures("signs")
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_it_is_scikit_learns_ridge_classifier_on_its_features(n_classes, fit_intercept):
    y = LABELS[n_classes]
    model = classifier(alpha=0.5, fit_intercept=fit_intercept, associated=True).fit(X, y)
    features = model.frequencies_.features
    theirs = RidgeClassifier(0.5, fit_intercept=fit_intercept).fit(features(X), y)
    assert_allclose(model.decision_function(NEW), theirs.decision_function(features(NEW)))
    assert_array_equal(model.predict(NEW), theirs.predict(features(NEW)))
    assert_allclose(model.coef_, theirs.coef_.reshape(model.coef_.shape), atol=1e-9)
    assert np.isfinite(model.log_evidence_)


@each_count
@pytest.mark.usefixtures("signs")
def test_it_is_the_regressor_of_indicators(n_classes):
    y = LABELS[n_classes]
    classes = np.unique(y)[1:] if n_classes == 2 else np.unique(y)
    targets = np.where(y[:, None] == classes, 1.0, -1.0)
    model = classifier(alpha="evidence").fit(X, y)
    regressor = KreinRidge(kernels.Gaussian(1.0), 40, "evidence", random_state=0).fit(X, targets)
    assert_allclose(model.decision_function(NEW).reshape(30, -1), regressor.predict(NEW))
    assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)
    evidence = getattr(regressor, "log_evidence_", None)  # None in a Krein space
    assert getattr(model, "log_evidence_", None) == pytest.approx(evidence)


@each_count
@pytest.mark.usefixtures("signs")
@pytest.mark.parametrize("associated", [False, True])
def test_batches_in_any_order_give_the_whole(n_classes, associated):
    y = LABELS[n_classes]
    whole = classifier(associated=associated).fit(X, y)
    model = classifier(associated=associated)
    for rows in np.array_split(np.argsort(y)[::-1], 4):
        model.partial_fit(X[rows], y[rows], classes=np.unique(y))
    assert_allclose(model.decision_function(NEW), whole.decision_function(NEW), rtol=1e-7)


def test_wrong_data_are_refused():
    model = classifier().partial_fit(X, LABELS[2])
    with pytest.raises(ValueError, match=r"not announced: \['maybe'\].*Known: \['no', 'yes'\]"):
        model.partial_fit(X[:1], ["maybe"])
    with pytest.raises(ValueError, match="at least two classes"):
        classifier().fit(X, np.zeros(90))
    with pytest.raises(NotFittedError):
        classifier().predict(X)


@pytest.mark.thorough_cases("load_digits")
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_digits])
def test_log_loss_is_close_to_that_of_logistic_regression(load):
    rows, labels = load(return_X_y=True)
    X, new, y, labels = train_test_split(rows, labels, test_size=0.4, random_state=0)
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    model = KreinRidgeClassifier(random_state=0).fit(X, y)
    theirs = LogisticRegression(max_iter=1000).fit(X, y).predict_proba(new)
    ours = model.predict_proba(new)
    values = model.decision_function(new)
    values = np.stack((-values, values), axis=1) if values.ndim == 1 else values
    clipped = np.clip((1.0 + values) / 2.0, 0.0, 1.0)
    clipped /= clipped.sum(axis=1, keepdims=True)
    assert log_loss(labels, ours) < log_loss(labels, clipped)
    assert log_loss(labels, ours) < log_loss(labels, theirs) + 0.06
    assert np.mean(ours.argmax(axis=1) == labels) > model.score(new, labels) - 0.01


@each_count
@pytest.mark.usefixtures("signs")
@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_probabilities_are_never_zero_or_one(n_classes, solver):
    far = np.concatenate((NEW, 100.0 * NEW))
    for alpha in (1e-6, 1.0):
        with warnings.catch_warnings(action="ignore"):
            model = classifier(alpha=alpha, solver=solver).fit(X, LABELS[n_classes])
        found = model.predict_proba(far)
        assert found.min() > 0.0
        assert found.max() < 1.0
        assert_allclose(found.sum(axis=1), 1.0)


def test_batches_add_left_out_values():
    rows = np.random.default_rng(1).normal(size=(900, 2))
    y = np.where(rows[:, 0] + np.random.default_rng(2).normal(size=900) > 0.5, "yes", "no")
    whole, model = classifier().fit(rows, y), classifier()
    for part in np.array_split(np.arange(900), 6):
        model.partial_fit(rows[part], y[part], classes=["no", "yes"])
    assert len(model.left_out_.keys) == 900
    assert_allclose(model.predict_proba(NEW), whole.predict_proba(NEW), atol=0.05)
    stream = classifier().partial_fit(iter([(rows[:300], y[:300])] * 2), None, ["no", "yes"])
    assert len(stream.left_out_.keys) == 300, "the first chunk of an iterator"


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["p", None], "classes must hold labels of one kind"),
        ([0.0, 1.0, np.nan], "classes must not have missing entries"),
    ],
)
def test_announced_classes_are_labels(classes, message):
    y = ["p", "q"] if classes[0] == "p" else [0.0, 1.0]
    with pytest.raises(ValueError, match=message):
        KreinRidgeClassifier(n_components=8).partial_fit(np.eye(2), y, classes)


def test_announced_classes_remain():
    X, y = np.eye(4), ["a", "b"] * 2
    model = KreinRidgeClassifier(n_components=8, random_state=0).partial_fit(X, y, ["b", "a"])
    model.partial_fit(X, y, ["a", "b"])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, ["a", "c"])


def test_weights_of_classes_are_no_counts():
    """One weight for all rows of a class multiplies their losses, also if it is a whole number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (rng.uniform(size=300) < expit(X[:, 0] - 2.0)).astype(int)
    model = KreinRidgeClassifier(
        alpha="evidence", length_scale="evidence", n_components=32, random_state=0
    )
    whole = model.fit(X, y, np.where(y == 1, 20.0, 1.0)).predict_proba(X)
    other = model.fit(X, y, np.where(y == 1, 20.0 + 1e-6, 1.0)).predict_proba(X)
    assert_allclose(whole, other, atol=0.01)  # A search of length scales ends at some thousandths
