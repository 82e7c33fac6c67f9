"""The benchmark of default settings: metrics, cells, opponents and page."""

from pathlib import Path

import numpy as np
import pytest
from pages import rows_of, small_fold, table_lines
from scipy.spatial.distance import cdist
from scipy.stats import norm

from benchmarks import Options, environment
from benchmarks.published import design, methods
from benchmarks.published.benchmark import PUBLISHED, measured

FOLDER = Options(Path("folder"))


class Known:
    """A normal law of given deviation around the first input."""

    def fit(self, X, y):
        self.n = len(X)
        return self

    def predict(self, X, return_std=False):
        return (X[:, 0], np.full(len(X), 0.5)) if return_std else X[:, 0]

    def predict_interval(self, X, level):
        return X[:, 0] - level, X[:, 0] + level


class Guess:
    """Probabilities 0.25 and 0.75 of two classes."""

    classes_ = np.array([3, 7])

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full((len(X), 1), 7)

    def predict_proba(self, X):
        return np.tile([0.25, 0.75], (len(X), 1))


def test_metrics_of_numbers_are_those_of_test_rows():
    rng = np.random.default_rng(0)
    X, is_test = rng.normal(size=(60, 2)), np.arange(60) >= 40
    y = X[:, 0] + rng.normal(size=60)
    model, residual = Known(), (y - X[:, 0])[is_test]
    found = measured(model, X, y, is_test)
    assert model.n == 40
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert found["nlpd"] == pytest.approx(-np.mean(norm(0.0, 0.5).logpdf(residual)))
    assert found["coverage"] == np.mean(np.abs(residual) <= 0.9)


def test_metrics_of_classes():
    y = np.array([3, 7, 7, 7, 3])
    found = measured(Guess(), np.zeros((5, 1)), y, np.array([True, True, True, False, False]))
    assert found["log_loss"] == pytest.approx(-(np.log(0.25) + 2.0 * np.log(0.75)) / 3.0)
    assert found["error_rate"] == pytest.approx(1.0 / 3.0)


@pytest.fixture
def all_installed(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: True)


@pytest.mark.usefixtures("all_installed")
def test_the_first_splits_and_folds_come_first():
    cells = PUBLISHED.cells(FOLDER)
    seeds = [cell.seed for cell in cells]
    assert seeds == sorted(seeds)
    assert set(seeds) == set(range(5))
    tables = {(cell.settings["part"], cell.dataset) for cell in cells if cell.seed == 0}
    assert len(tables) == 8 + 14
    assert {(cell.settings["part"], cell.dataset) for cell in cells if cell.seed == 4} == tables


@pytest.mark.usefixtures("all_installed")
def test_exact_processes_have_small_tables_of_numbers_only():
    by_method = {
        method: {cell.dataset for cell in PUBLISHED.cells(FOLDER) if cell.method == method}
        for method in (design.EXACT, design.SPARSE, design.XRFM)
    }
    small = {"yacht", "energy", "wine_red", "boston", "concrete", "airfoil"}
    assert by_method[design.EXACT] == small
    assert by_method[design.SPARSE] == {*design.SETS, *design.FOLD_REGRESSIONS}
    within = set(design.FOLD_CLASSES) - {"letter", "electricity"}
    assert by_method[design.XRFM] == by_method[design.SPARSE] | within


def test_methods_without_their_package_are_left_out_with_a_note(monkeypatch):
    monkeypatch.setattr(environment, "find_spec", lambda name: name != "gpytorch")
    with pytest.warns(UserWarning, match=r"is left out.*gpytorch.*bochner\[bench\]") as notes:
        found = methods.installed(methods.REGRESSORS)
    assert len(notes) == 2
    assert set(found) == set(methods.REGRESSORS) - {design.EXACT, design.SPARSE}


def rmse(method, *values, dataset):
    return rows_of(method, "rmse", *values, dataset=dataset, part="splits")


def test_the_page_has_means_ratios_and_published_figures():
    rows = [
        *rmse(design.OURS, 1.0, 2.0, 6.0, dataset="yacht"),
        *rmse(design.CATBOOST, 2.0, 4.0, dataset="yacht"),
        *rmse(design.OURS, 2.0, dataset="boston"),
        *rmse(design.CATBOOST, 1.0, dataset="boston"),
        *rmse(design.EXACT, 9.0, dataset="yacht"),
    ]
    lines = table_lines(PUBLISHED.page(rows))
    assert lines["data set"][0] == [design.OURS, design.CATBOOST, design.EXACT]
    assert lines["yacht"][0] == ["3 ± 2", "3 ± 1", "9"]
    # Ratios are of the splits that both have: 1.5 / 3 and 2 / 1, and 9 / 2.
    assert lines[design.OURS] == [["2", "1", "1", "0.5", "2"]]
    assert lines[design.EXACT] == [["1", "4.5", "0.5", "4.5", "4.5"]]
    assert lines["yacht"][1][:2] == ["3 ± 2", design.PRINTED["rmse"]["yacht"]["MC dropout"]]


def matern(X, Z, model):
    """Return the learned kernel of an exact process, from its formula."""
    scale = model.kernel.base_kernel.lengthscale.detach().numpy().astype(float)
    t = np.sqrt(5.0) * cdist(X / scale, Z / scale)
    return model.kernel.outputscale.item() * (1.0 + t + t**2 / 3.0) * np.exp(-t)


def test_an_exact_process_conditions_on_its_rows():
    pytest.importorskip("gpytorch")
    from benchmarks.published.processes import ExactProcess

    fold = small_fold()
    process = ExactProcess(0).fit(fold.X, fold.y)
    model, (centre, unit) = process._model, (fold.y.mean(), fold.y.std())
    X, Z = ((X - fold.X.mean(axis=0)) / fold.X.std(axis=0) for X in (fold.X, fold.X_test))
    noise, constant = process._likelihood.noise.item(), model.mean.constant.item()
    solved = np.linalg.solve(
        matern(X, X, model) + noise * np.eye(len(X)),
        np.column_stack([(fold.y - centre) / unit - constant, matern(X, Z, model)]),
    )
    cross = matern(Z, X, model)
    variance = matern(Z[:1], Z[:1], model)[0, 0] + noise - np.sum(cross * solved[:, 1:].T, axis=1)
    mean, std = process.predict(fold.X_test, return_std=True)
    # It is in single precision.
    np.testing.assert_allclose(mean, centre + unit * (constant + cross @ solved[:, 0]), atol=1e-3)
    np.testing.assert_allclose(std, unit * np.sqrt(variance), rtol=1e-3)
    lower, upper = process.predict_interval(fold.X_test, level=0.9)
    np.testing.assert_allclose(norm(mean, std).cdf(upper) - norm(mean, std).cdf(lower), 0.9)


@pytest.mark.parametrize("method", [design.EXACT, design.SPARSE, design.XRFM])
def test_opponents_learn_a_regression(method):
    pytest.importorskip("gpytorch")
    pytest.importorskip("xrfm")
    fold = small_fold()
    model = methods.REGRESSORS[method](0, ()).fit(fold.X, fold.y)
    residual = model.predict(fold.X_test) - fold.y_test
    assert np.mean(residual**2) < 0.3 * np.var(fold.y_test)


def test_codes_are_told_to_xrfm():
    pytest.importorskip("xrfm")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=400), rng.integers(12, size=400)])
    y = np.where(X[:, 1] % 2 == 1, 7, 3)
    X[-1, 1] = 99.0  # A code that no training row has
    model = methods.CLASSIFIERS[design.XRFM](0, (False, True)).fit(X[:300], y[:300])
    encoded = model._encoded(X[300:])
    np.testing.assert_array_equal(encoded[:, 1:], X[300:, 1:] == np.arange(12))
    (block,) = model._machine.categorical_info["categorical_indices"]
    assert block.tolist() == list(range(1, 13))
    probability = model.predict_proba(X[300:])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-5)
    assert np.mean(model.predict(X[300:-1]) == y[300:-1]) > 0.95
    own = probability[np.arange(99), np.searchsorted(model.classes_, y[300:-1])]
    assert np.mean(own) > 0.8
