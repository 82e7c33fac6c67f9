"""Estimators as laws of tables: left-out predictions, variances, classes, and refusals."""

import pickle
import re
import warnings
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bochner import KreinRidge, TableClassifier, TableRegressor, load, save
from bochner._base.progress import silent
from bochner.tables import estimator_laws
from bochner.tables import learner as learners
from bochner.tables.estimator_laws import EstimatorLaw, EstimatorLearner
from bochner.tables.fit_plan import TRIAL
from bochner.tables.learner import Learner
from bochner.tables.observations import Observations

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 4))
Y = np.column_stack([X[:, 1] - X[:, 2], np.abs(X[:, 1])]) + 0.3 * RNG.normal(size=(N, 2))
WEIGHTS = RNG.choice([0.5, 1.5], N)
TRIPLES = RNG.permutation(N // 3).repeat(3)
COLUMNS = np.array([1, 2])
LABELS = np.digitize(Y[:, 0], [-0.7, 0.9]).astype(np.int64)


def fitted(model, labels=None, groups=None, weights=None, n_scored=N, seed=0):
    """The law of an estimator and its left-out predictions, with the order of the rows."""
    data = Observations.of(X, Y, np.ones(N) if weights is None else weights, groups)
    order = np.random.default_rng(1).permutation(N)
    scored = data.scored(order, n_scored, np.zeros(n_scored, dtype=int))
    learner = EstimatorLearner("base model 1", model, COLUMNS, labels, seed)
    return *learner.fit(data, order, scored), order[N - n_scored :]


def folds_of(order, groups):
    """Every fourth row, or group, in the order."""
    labels = order if groups is None else groups[order]
    numbers = {label: i for i, label in enumerate(dict.fromkeys(labels.tolist()))}
    fold = np.array([numbers[label] % 4 for label in labels.tolist()])
    return [order[fold == number] for number in range(4)]


def check_left_out(groups=None, weights=None):
    """Each fold is predicted by a fit to all other rows, and the law is the fit to all rows."""
    law, (means, variances, noise), order = fitted(Ridge(3.0), None, groups, weights)
    place = np.argsort(order)
    for removed in folds_of(order, groups):
        rest = np.setdiff1d(np.arange(N), removed)
        assert groups is None or not set(groups[removed]) & set(groups[rest])
        for target in range(2):
            options = {} if weights is None else {"sample_weight": weights[rest]}
            refit = Ridge(3.0).fit(X[rest][:, COLUMNS], Y[rest, target], **options)
            expected = refit.predict(X[removed][:, COLUMNS])
            assert_allclose(means[place[removed], target], expected, atol=1e-10)
    whole = Ridge(3.0).fit(X[:, COLUMNS], Y[:, 1], weights)
    assert_allclose(law.mean(X, X)[:, 1], whole.predict(X[:, COLUMNS]), atol=1e-10)
    squares = (Y[order] - means) ** 2
    assert_allclose(law.signal, squares.mean(axis=0))
    of_scored = np.ones(N) if weights is None else weights[order]
    assert_allclose(variances, law.variance(X, X, of_scored))
    of_parts = replace(law, misfit=0.25, alpha=0.75)
    expected = np.outer([0.25 + 0.75 / 0.5, 0.25 + 0.75 / 3.0], law.signal)
    assert_allclose(of_parts.variance(X[:2], X, np.array([0.5, 3.0])), expected)
    assert_allclose(noise, np.tile(law.noise, (N, 1)))
    if weights is None:
        assert_allclose(variances, np.tile(squares.mean(axis=0), (N, 1)))


@pytest.mark.parametrize("groups", [None, TRIPLES], ids=["rows", "groups"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weights"])
def test_left_out_predictions_are_those_of_refits(groups, weights):
    check_left_out(groups, weights)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_those_of_logistic_regression(n_classes):
    """Log odds of two classes and centred log probabilities of three, as boosted trees have."""
    labels = np.minimum(LABELS, n_classes - 1)
    law, (means, *_), order = fitted_classes(LogisticRegression(), labels)
    rows = X[:, COLUMNS]
    removed = folds_of(order, None)[2]
    rest = np.setdiff1d(np.arange(N), removed)
    refit = LogisticRegression().fit(rows[rest], labels[rest])
    if n_classes == 2:
        expected = refit.decision_function(rows[removed])[:, None]
    else:
        logs = np.log(np.maximum(refit.predict_proba(rows[removed]), 0.001))
        expected = logs - logs.mean(axis=1, keepdims=True)
    assert_allclose(means[np.argsort(order)[removed]], expected, atol=1e-6)
    assert law.mean(X, X).shape == (N, 1 if n_classes == 2 else 3)
    votes, *_ = fitted_classes(KNeighborsClassifier(1), labels)
    probabilities = np.exp(votes.mean(X, X))  # In proportion, with the least one a thousandth
    greatest = np.log(probabilities.max(axis=1) / probabilities.min(axis=1))
    if n_classes == 2:
        greatest = np.abs(votes.mean(X, X)[:, 0])
    assert_allclose(greatest, np.log(1000.0))


def fitted_classes(model, labels):
    n_outputs = 1 if labels.max() == 1 else 3
    targets = np.zeros((N, n_outputs))
    data, order = Observations.of(X, targets, np.ones(N)), np.random.default_rng(1).permutation(N)
    scored = data.scored(order, N, np.zeros(N, dtype=int))
    learner = EstimatorLearner("base model 1", model, COLUMNS, labels, 0)
    return *learner.fit(data, order, scored), order


@pytest.mark.thorough
def test_seeds_follow_the_model_where_they_are_none():
    """Seeds of the user stay, those that are None follow the seed of the model, also in steps."""
    new = X + 0.3
    for model in (ExtraTreesRegressor(3, random_state=5), ExtraTreesRegressor(3)):
        own = model.random_state is not None
        first, second = (
            fitted(make_pipeline(StandardScaler(), model), seed=seed)[0].mean(new, new)
            for seed in (7, 8)
        )
        by_hand = clone(model).set_params(random_state=5 if own else 7)
        by_hand = make_pipeline(StandardScaler(), by_hand).fit(X[:, COLUMNS], Y[:, 0])
        assert_allclose(first[:, 0], by_hand.predict(new[:, COLUMNS]))
        assert np.array_equal(first, second) == own


class Recorder(RegressorMixin, BaseEstimator):
    """A line through the first column that keeps the rows of its fit."""

    def fit(self, X, y):
        self.rows_, self.slope_ = X.copy(), float(X[:, 0] @ y / (X[:, 0] @ X[:, 0]))
        return self

    def predict(self, X):
        return self.slope_ * X[:, :1]  # A column, as some estimators return


TABLE = pd.DataFrame(
    {
        "a": np.where(np.arange(N) % 9 == 0, np.nan, X[:, 0]),
        "b": X[:, 1],
        "word": RNG.choice(["x", "y", "z"], N),
    }
)
QUICK = TableRegressor(effort="quick", random_state=0, n_jobs=1)


@pytest.mark.thorough
def test_estimators_have_the_standardised_columns():
    """The columns are those of the standardised encoding, without missing entries."""
    model = clone(QUICK).set_params(base_models=(Recorder(),)).fit(TABLE, TABLE["a"].fillna(9.0))
    law = model.head_.laws.members[-1]
    rows = law.estimators[0].rows_
    assert np.isfinite(rows).all()
    assert rows.shape[1] == len(law.columns) == len(model.encoder_.get_feature_names_out())
    assert_allclose(rows, model.encoder_.transform(TABLE), atol=1e-6)


def learned(base_models, **options):
    data = Observations.of(X, Y[:, :1] / Y[:, 0].std(), np.ones(N))
    learner = Learner(TRIAL, 1, options.pop("time_limit", None), silent)
    rng = np.random.default_rng(0)
    return learner.fit(data, [np.arange(4)], rng, base_models=base_models, **options).laws.members


@pytest.mark.thorough
def test_no_base_model_starts_late():
    """No base model starts after the share of the limit at which boosting does not start."""
    with pytest.MonkeyPatch.context() as patch:
        clock = iter(np.r_[np.zeros(1000), np.full(1000, 8.0)])
        patch.setattr(learners, "perf_counter", lambda: next(clock))
        first = learned([Ridge()], time_limit=10.0)
        late = Learner._is_late
        patch.setattr(
            Learner, "_is_late", lambda self, share, seconds=0.0: share == 0.7 or late(self, 1.0)
        )
        clock = iter(np.zeros(2000))
        second = learned([Ridge()], time_limit=10.0)
    assert any(isinstance(law, EstimatorLaw) for law in first)
    assert second
    assert not any(isinstance(law, EstimatorLaw) for law in second)


class Slow(Recorder):
    """Takes ten seconds of a clock that stands still otherwise."""

    now = 0.0

    def fit(self, X, y):
        Slow.now += 10.0
        return super().fit(X, y)


def test_an_estimator_that_would_be_late_is_left_out_after_its_first_fit():
    """The first of five fits shows that the others would exceed the limit, and is the last."""
    data, order = Observations.of(X, Y[:, :1], np.ones(N)), np.arange(N)
    scored, fits = data.scored(order, N, np.zeros(N, dtype=int)), []
    for seconds in (49.0, 51.0):
        learner = EstimatorLearner("base model 1", Slow(), COLUMNS, None, 0, seconds)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Slow, "now", 0.0)
            patch.setattr(estimator_laws, "perf_counter", lambda: Slow.now)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                law = learner.fit(data, order, scored)
            fits.append((law is not None, Slow.now, ["exceed" in str(w.message) for w in caught]))
    assert fits == [(False, 10.0, [True]), (True, 50.0, [])]


class Opposite(LogisticRegression):
    """Gives each class the probability of the other."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, ::-1]


@pytest.mark.thorough
def test_base_models_of_weight_zero_are_dropped():
    model = TableClassifier(effort="quick", random_state=0, base_models=[Opposite()])
    model.fit(X, LABELS > 0)
    assert not any(isinstance(law, EstimatorLaw) for law in model.head_.laws.members)
    assert model.predict_proba(X).shape == (N, 2)


@cache
def with_line():
    """A model of log targets with a ridge regression, fitted once for several tests."""
    model = clone(QUICK).set_params(base_models=[Ridge()], transformation="log")
    return model.fit(TABLE, np.exp(Y[:, 0]))


@pytest.mark.thorough
def test_predictions_have_base_models():
    model = with_line()
    assert model.head_.weights[-1] > 0.0
    mean, std = model.predict(TABLE, return_std=True)
    lower, upper = model.predict_interval(TABLE)
    assert (std > 0.0).all()
    assert ((lower < mean) & (mean < upper)).all()
    assert model.predict_quantiles(TABLE, [0.2, 0.7]).shape == (N, 2)
    assert model.sample(TABLE, 3, random_state=0).shape == (N, 3)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(TABLE), mean)


@pytest.mark.thorough
def test_summaries_and_reports_name_base_models():
    model = with_line()
    assert "Ridge" in model._repr_html_()
    html = model.report(TABLE, np.exp(Y[:, 0])).html
    (sentence,) = re.findall("weighted average of [^.]*", html)
    assert sentence.endswith(" and Ridge")
    assert "base model 1" in html


@pytest.mark.thorough
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classifiers_have_base_models(n_classes):
    labels = np.array(["one", "three", "two"])[np.minimum(LABELS, n_classes - 1)]
    model = TableClassifier(effort="quick", random_state=0, base_models=[LogisticRegression()])
    model.fit(X, labels)
    assert model.head_.softmax.weights[-1] > 0.0
    plain = TableClassifier(effort="quick", random_state=0).fit(X, labels)
    assert model.score_ < plain.score_ + 0.01
    assert model.score(X, labels) > 0.75


@pytest.mark.thorough
def test_models_of_the_library_are_saved(tmp_path):
    model = clone(QUICK).set_params(base_models=[KreinRidge(n_components=32)])
    model.fit(X[:60], np.sin(4.0 * X[:60, 0]), groups=TRIPLES[:60])
    assert isinstance(model.head_.laws.members[-1], EstimatorLaw)
    save(model, tmp_path / "model.bochner")
    again = load(tmp_path / "model.bochner")
    assert_array_equal(again.predict(X, return_std=True), model.predict(X, return_std=True))
    assert again.get_params()["base_models"][0].n_components == 32


@pytest.mark.thorough
def test_other_estimators_are_named_when_they_are_saved(tmp_path):
    model = clone(QUICK).set_params(base_models=[Ridge(), KNeighborsRegressor()]).fit(X, Y[:, 0])
    message = r"base_models\.0 is of scikit-learn's class Ridge, which a model file"
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "model.bochner")


@pytest.mark.thorough
def test_classes_that_a_fold_lacks_are_a_warning():
    labels = np.zeros(N, dtype=int)
    labels[:2] = 1
    model = TableClassifier(effort="quick", random_state=0, base_models=[LogisticRegression()])
    with pytest.warns(UserWarning, match="The base model 1, LogisticRegression.*is left out"):
        model.fit(X, labels)
    assert model.predict_proba(X).shape == (N, 2)


class Wrong(RegressorMixin, BaseEstimator):
    """Predicts what a function returns for the rows."""

    def __init__(self, outputs):
        self.outputs = outputs

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.outputs(X)


class WrongClassifier(ClassifierMixin, Wrong):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.outputs(X)


def transposed(X):
    return np.full((2, len(X)), 0.5)


def percentages(X):
    return np.full((len(X), 2), 50.0)


def huge(X):
    return np.full(len(X), 1e200)


def wrong_law(outputs, n_classes):
    """A law of estimators that return what a function returns for the rows."""
    model = WrongClassifier(outputs) if n_classes else Wrong(outputs)
    columns = np.arange(2)
    return EstimatorLaw("base model 1", np.ones(1), 0.0, 1.0, columns, [model], bool(n_classes))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("outputs", "n_classes", "fault"),
    [
        (lambda X: np.full(len(X), np.nan), 0, "returned NaN or infinite"),
        (huge, 0, "returned numbers beyond"),
        (lambda X: np.zeros(len(X) - 1), 0, r"shape \(7,\) .* returned an array of shape \(6,\)"),
        (lambda X: np.zeros((len(X), 2)), 0, r"returned an array of shape \(7, 2\)"),
        (lambda X: np.full(len(X), "x"), 0, "and type <U1"),
        (lambda X: np.full((len(X), 3), 1.0 / 3.0), 2, r"returned an array of shape \(7, 3\)"),
        (transposed, 2, r"of shape \(7, 2\) .* of shape \(2, 7\)"),
        (percentages, 2, "negative or do not sum to one"),
    ],
)
def test_wrong_predictions_are_blamed(outputs, n_classes, fault):
    """The message names the method, the model, what was expected and what came."""
    rows = np.zeros((7, 2))
    method = "predict_proba" if n_classes else "predict"
    message = ""
    try:
        wrong_law(outputs, n_classes).mean(rows, rows)
    except ValueError as error:
        message = str(error)
    assert re.search(rf"^{method} of the base model 1, Wrong.*{fault}", message)


def test_a_fit_names_the_model_of_wrong_predictions():
    model = clone(QUICK).set_params(base_models=[Ridge(), Wrong(lambda X: np.zeros((len(X), 2)))])
    with pytest.raises(ValueError, match="predict of the base model 2, Wrong"):
        model.fit(X, Y[:, 0])


class WrongOrder(BaseEstimator, RegressorMixin):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def regressor(**options):
    return partial(TableRegressor, effort="quick", **options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (regressor(base_models=Ridge()), TypeError, r"a list or tuple .*Ridge.*\[estimator\]"),
        (regressor(base_models="ridge"), TypeError, "must be a list or tuple of estimators"),
        (
            regressor(base_models=[Ridge]),
            TypeError,
            r"base_models\[0\] .* got <class .*ridge.*: pass an object, Ridge\(\)",
        ),
        (regressor(base_models=[Ridge(), 3]), TypeError, r"base_models\[1\] .*regressor.* got 3"),
        (
            regressor(base_models=[LogisticRegression()]),
            TypeError,
            r"must be a regressor, got LogisticRegression\(\): it is for bochner.TableClassifier",
        ),
        (
            partial(TableClassifier, base_models=[Ridge()]),
            TypeError,
            "must be a classifier with predict_proba, got .*: it is for bochner.TableRegressor",
        ),
        (regressor(base_models=[WrongOrder()]), TypeError, "RegressorMixin and BaseEstimator, in"),
        (
            partial(TableClassifier, base_models=[LinearSVC()]),
            TypeError,
            "with predict_proba, got LinearSVC.*CalibratedClassifierCV",
        ),
    ],
)
def test_invalid_base_models_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make().fit(X, LABELS)


@pytest.mark.thorough
def test_weights_that_an_estimator_does_not_take_are_refused():
    model = clone(QUICK).set_params(base_models=[Ridge(), KNeighborsRegressor()])
    with pytest.raises(ValueError, match=r"base_models\[1\], KNeighborsRegressor\(\), does not"):
        model.fit(X, Y[:, 0], WEIGHTS)
    model.fit(X, Y[:, 0], np.full(N, 0.3))


@pytest.mark.thorough
def test_tables_in_partitions_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    frame = dask.from_pandas(TABLE, npartitions=2)
    with pytest.raises(ValueError, match="base_models need rows in memory, and X is in partitions"):
        clone(QUICK).set_params(base_models=[Ridge()]).fit(frame, frame["b"])


def test_laws_of_other_numbers_of_estimators_are_refused():
    with pytest.raises(ValueError, match="2 estimators of 1 outputs"):
        EstimatorLaw("base model 1", np.ones(1), 0.0, 1.0, COLUMNS, [Ridge(), Ridge()], False)


def test_misfit_and_noise_have_factors_of_their_own():
    """The misfit is 2.0 * 0.3 and the noise 2.0 * 0.5 at weight one; each has its factor."""
    law = EstimatorLaw("own", np.array([2.0]), 0.3, 0.5, COLUMNS, [Ridge().fit(X, Y[:, 0])], False)
    weights = np.array([0.25, 1.0, 4.0, np.inf])
    changed = law.with_variances(0.7, 1.9)
    expected = 0.7 * 2.0 * 0.3 + 1.9 * 2.0 * 0.5 / weights
    assert_allclose(changed.variance(X[:4], X, weights)[:, 0], expected)
    assert_allclose(changed.noise, 1.9 * law.noise)
