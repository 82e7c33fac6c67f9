"""KreinRidgeClassifier: labels, batches, probabilities."""

import numpy as np
import pytest
from laws.head_laws import plant_signs
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier

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
    return KreinRidgeClassifier(**(defaults | parameters))


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
