"""What models are compared with, and how they are measured."""

import sys
from dataclasses import replace
from time import perf_counter, sleep

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from bochner.comparison import contenders
from bochner.comparison.outcomes import outcome
from bochner.comparison.split import Split

ALPHAS = np.logspace(-3, 3, 13)


@pytest.fixture
def without_catboost(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)


@pytest.fixture(params=["regression", "classification"])
def split(request):
    load = load_diabetes if request.param == "regression" else load_breast_cancer
    X, y = load(return_X_y=True, as_frame=True)
    return Split(X[:200], y[:200].to_numpy(), X[200:], y[200:].to_numpy(), request.param)


def by_hand(method, task, n_components, seed):
    """What a user of scikit-learn would write for a table of numbers."""
    regression = task == "regression"
    linear = RidgeCV(ALPHAS) if regression else LogisticRegression(max_iter=1000)
    ridge = RidgeCV(ALPHAS) if regression else RidgeClassifierCV(ALPHAS)
    trees = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    features = RBFSampler(gamma="scale", n_components=n_components, random_state=seed)
    return {
        contenders.LINEAR: make_pipeline(StandardScaler(), linear),
        contenders.RBF_SAMPLER: make_pipeline(StandardScaler(), features, ridge),
        contenders.TREES: make_pipeline(StandardScaler(), trees(random_state=seed)),
    }[method]


def evaluate(model, split):
    return {name: score.value for name, score in outcome(model, split).scores().items()}


def measure(model, split):
    contenders.timed_fit(model, split)
    return evaluate(model, split)


def values(model, split):
    if split.task == "regression":
        return model.predict(split.X_test)
    return model.decision_function(split.X_test)


@pytest.fixture(params=[contenders.LINEAR, contenders.RBF_SAMPLER, contenders.TREES])
def method(request):
    return request.param


def test_contenders_are_the_pipelines_of_scikit_learn(split, method):
    with threadpool_limits(1):
        contender = contenders.CONTENDERS[method](split.task, 60, 3).fit(split.X, split.y)
        expected = by_hand(method, split.task, 60, 3).fit(split.X, split.y)
    close = np.isclose(values(contender, split), values(expected, split), rtol=1e-8, atol=1e-8)
    # A row that lies on a threshold of the trees falls to either side by rounding.
    assert close.mean() >= (0.95 if method == contenders.TREES else 1.0)


def test_text_and_gaps_are_read_by_all():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["x", "y"], 90)})
    y = frame["a"].to_numpy() + (frame["b"] == "x").to_numpy()
    frame.loc[::7, "a"] = np.nan
    split = Split(frame[:60], y[:60], frame[60:], y[60:], "regression")
    for contender in contenders.CONTENDERS.values():
        assert measure(contender("regression", 16, 0), split)["error"] < 1.0


@pytest.mark.thorough_cases(but="regression")
def test_catboost_has_its_defaults(split, tmp_path, monkeypatch):
    catboost = pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    labels = np.digitize(split.X_test.iloc[:, 0], np.quantile(split.X.iloc[:, 0], [0.3, 0.6]))
    y = np.digitize(split.X.iloc[:, 0], np.quantile(split.X.iloc[:, 0], [0.3, 0.6]))
    if split.task == "classification":  # Three classes, whose predictions are a column
        names = np.array(["low", "middle", "high"], dtype=object)
        split = replace(split, y=names[y], y_test=names[labels])
    contender = contenders.installed()[contenders.CATBOOST](split.task, 60, 3)
    errors = measure(contender, split)
    trees = {
        "regression": catboost.CatBoostRegressor,
        "classification": catboost.CatBoostClassifier,
    }[split.task](random_seed=3, verbose=False, allow_writing_files=False)
    found = trees.fit(contender[:-1].transform(split.X), split.y).predict(
        contender[:-1].transform(split.X_test)
    )
    if split.task == "regression":
        assert errors["rmse"] == pytest.approx(np.sqrt(np.mean((found - split.y_test) ** 2)))
    else:
        assert errors["error"] == np.mean(found[:, 0] != split.y_test) < 0.1
        assert errors["log_loss"] < 0.3
    assert list(tmp_path.iterdir()) == []


class Told:
    """A model that predicts what it was told."""

    def fit(self, X, y, **options):
        self.options = options
        return self

    def predict(self, X):
        return np.array([1.0, 2.0, 4.0])


class Sure(Told):
    def predict(self, X, return_std=False):
        mean = super().predict(X)
        return (mean, np.array([1.0, 1.0, 0.5])) if return_std else mean


THREE = Split(None, np.array([0.0, 2.0, 4.0]), None, np.array([1.0, 3.6, 3.2]), "regression")


class Wide(Sure):
    """A model whose intervals are not those of its standard deviations."""

    def predict_interval(self, X, level):
        assert level == 0.9
        return np.array([0.0, 1.0, 3.0]), np.array([0.5, 5.0, 5.0])


def test_coverage_is_that_of_intervals_where_there_are_some():
    assert evaluate(Wide(), THREE)["coverage"] == pytest.approx(2.0 / 3.0)


@pytest.mark.thorough_cases(but="regression")
@pytest.mark.parametrize("name", contenders.installed())
def test_rows_without_weight_are_passed_over(split, name):
    weight = (np.arange(200) < 150).astype(float)
    y = np.where(weight > 0, split.y, split.y[::-1])
    contender = contenders.installed()[name]
    whole = Split(split.X, split.y, split.X_test, split.y_test, split.task, weight)
    other = Split(split.X, y, split.X_test, split.y_test, split.task, weight)
    metric = "rmse" if split.task == "regression" else "error"
    one, two = (measure(contender(split.task, 32, 0), some)[metric] for some in (whole, other))
    # The encoder's means and scales, and the trees' bins, do not depend on the target.
    assert one == pytest.approx(two, rel=1e-6)


def mixed(task="regression", n=160):
    rng = np.random.default_rng(0)
    a, level = rng.normal(size=n), rng.integers(0, 300, n)  # More levels than are one-hot encoded
    frame = pd.DataFrame({"a": a, "level": [f"level {number}" for number in level % 40]})
    y = a + 0.1 * (level % 40) + 0.1 * rng.normal(size=n)
    if task == "classification":
        y = np.where(y > np.median(y), "high", "low")
    half = n // 2
    return Split(frame[:half], y[:half], frame[half:], y[half:], task)


@pytest.mark.usefixtures("without_catboost")
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_outcomes_are_those_of_each_method_alone(task):
    weighted = replace(mixed(task), weight=np.linspace(0.5, 1.5, 80))
    found = [{}]
    assert contenders.add_others(found, weighted, seed=3) == []
    names = list(contenders.CONTENDERS)
    constant = [contenders.CONSTANT] * (task == "classification")
    assert list(found[0]) == [*constant, *names]
    if constant:  # The weighted shares of the classes
        high, of_constant = weighted.y == "high", found[0][contenders.CONSTANT]
        expected = np.average(high, weights=weighted.weight)
        column = list(of_constant.classes).index("high")
        assert column == (high.mean() < 0.5)  # The rarer class is the second one
        np.testing.assert_allclose(of_constant.probability[:, column], expected)
    for name in names:
        alone = contenders.CONTENDERS[name](task, contenders.N_COMPONENTS, 3)
        contenders.timed_fit(alone, weighted)
        expected = outcome(alone, weighted)
        if task == "regression":
            np.testing.assert_allclose(found[0][name].prediction, expected.prediction, rtol=1e-6)
        else:
            np.testing.assert_array_equal(found[0][name].prediction, expected.prediction)
        assert found[0][name].seconds > 0.0


@pytest.fixture
def threads_of_trees(monkeypatch):
    """Return sets of BLAS and OpenMP threads that fits and predictions of trees add to."""
    threads = {"blas": set(), "openmp": set()}

    def recorded(call):
        def method(*args, **options):
            for pool in threadpool_info():
                threads[pool["user_api"]].add(pool["num_threads"])
            return call(*args, **options)

        return method

    for name in ("fit", "predict"):
        call = recorded(getattr(HistGradientBoostingRegressor, name))
        monkeypatch.setattr(HistGradientBoostingRegressor, name, call)
    with threadpool_limits(2, user_api="openmp"):
        yield threads


@pytest.mark.thorough_cases("2")
@pytest.mark.usefixtures("without_catboost")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_methods_have_the_threads_of_the_fit(n_jobs, threads_of_trees, monkeypatch):
    """Linear algebra has those of the fit; OpenMP, whose threads busy-wait, has one."""
    monkeypatch.setattr("bochner._base.threads.cpu_count", lambda: 8)
    monkeypatch.setattr(contenders, "_MANY_ROWS", 0)
    contenders.add_others([{}], mixed(), n_jobs=n_jobs)
    assert threads_of_trees == {"blas": {n_jobs}, "openmp": {1}}


@pytest.mark.usefixtures("without_catboost")
def test_methods_without_time_are_named(monkeypatch):
    """None starts after the limit; one that takes longer than the fit is stopped."""
    found = [{}]
    names = list(contenders.CONTENDERS)
    assert contenders.add_others(found, mixed(), until=0.0) == names
    assert found == [{}]
    monkeypatch.setattr(contenders, "_LEAST_SECONDS", 0.0)
    fit = RidgeCV.fit

    def slow_fit(*arguments, **options):
        sleep(6.0)
        return fit(*arguments, **options)

    monkeypatch.setattr(RidgeCV, "fit", slow_fit)
    began = perf_counter()
    slow = [contenders.LINEAR, contenders.RBF_SAMPLER]
    assert contenders.add_others(found, mixed(), longest=2.0) == slow
    assert list(found[0]) == [contenders.TREES]
    assert 4.0 <= perf_counter() - began < 30.0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_limit_that_is_reached_in_a_finaliser_holds():
    class Slow:
        def __del__(self):
            sleep(1.0)  # Python drops the exception of a signal in it

    def work():
        Slow()
        return sleep(9.0) or "late"

    assert contenders.within_time(work, perf_counter() + 0.5) is None
