"""What the benchmark of double mixtures measures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from benchmarks.datasets import Dataset
from benchmarks.digmm import data as _digmm_data
from benchmarks.digmm import design, learning
from benchmarks.digmm.data import Split, _directions
from benchmarks.digmm.measures import Task, error_metrics
from benchmarks.digmm.methods import mean_over_directions
from benchmarks.digmm.scales import GAUSSIAN
from bochner import SimilarityFeatures, kernels
from bochner.features.transformer import FourierFeatures

NAME = design.BUNDLED


def task(kernel, method, multiple=1):
    return Task(NAME, kernel, method, multiple, 0, design.QUICK, None)


def made_up(n=900, seed=0):
    """Rows whose classes depend on the first of four inputs alone, and fast."""
    X = np.random.default_rng(seed).uniform(size=(n, 4))
    y = np.sin(20.0 * X[:, 0]) > 0.0
    train, test = slice(0, n // 3 * 2), slice(n // 3 * 2, None)
    return Split(X[train], y[train], X[test], y[test], np.zeros(n // 3 * 2, dtype=bool))


def test_a_row_of_zeros_is_on_the_sphere_too():
    found = _directions(np.array([[0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.5] * 4, [0.6, 0.0, 0.8, 0.0]])


@pytest.mark.parametrize("distance", [0.0, 0.3, 1.2, 2.5])
def test_the_mean_over_directions_in_the_plane(distance):
    """By quadrature over the angle."""
    tau = 1.4

    def value(angle):
        return max(tau - distance * (abs(np.cos(angle)) + abs(np.sin(angle))), 0.0)

    expected = quad(value, 0.0, np.pi / 2.0, limit=200)[0] / (np.pi / 2.0)
    found = mean_over_directions(kernels.TL1(tau), 2)(np.array([distance]))
    assert found == pytest.approx(expected, abs=5e-3)


def test_similarities_are_the_papers():
    X = np.random.default_rng(0).uniform(size=(5, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    products = X @ X.T
    city = np.abs(X[:, None] - X[None]).sum(axis=2)
    formulas = {
        design.POLYNOMIAL: ((1.0 + products) / 2.0) ** 10,  # 1 - |x - y|^2 / a^2 with a = 2
        design.HELLINGER: np.sqrt(products),
        design.TL1: np.maximum(0.7 * 4 - city, 0.0),
        design.TANH: np.tanh(products / 4 + 1.0),
    }
    assert set(formulas) == set(design.SIMILARITIES)
    for name, expected in formulas.items():
        np.testing.assert_allclose(design.SIMILARITIES[name].kernel(4)(X), expected, rtol=1e-12)


def test_the_error_leaves_the_diagonal_out():
    one = task(design.TL1, design.TAYLOR)
    split = one.split()
    features = SimilarityFeatures(kernels.TL1(21.0), 120, expectation="taylor", random_state=0).fit(
        split.fit
    )
    found = error_metrics(one)
    for metric, rows in (("rmse", split.train[:1_000]), ("test_rmse", split.test[:1_000])):
        difference = features.gram(rows) - kernels.TL1(21.0)(rows)
        np.fill_diagonal(difference, 0.0)
        n = len(difference)
        assert found[metric] == pytest.approx(np.sqrt((difference**2).sum() / (n * (n - 1))))


def test_the_penalty_is_chosen_on_training_rows():
    split = made_up()
    features = FourierFeatures(kernels.Gaussian(0.3), 128, random_state=0).fit(split.train)
    Z = learning.features_of(features, split.train)
    found = learning.learned_accuracy(features, split, 0, Z)
    assert found["C"] == design.CS[int(np.argmax(learning.choice_accuracies(Z, split.y, 0)))]
    wrong = replace(split, y_test=~split.y_test)
    other = learning.learned_accuracy(features, wrong, 0, Z)
    assert other["C"] == found["C"]
    assert other["accuracy"] == pytest.approx(1.0 - found["accuracy"])


def test_rows_that_the_source_has_for_validation_are_held_out(monkeypatch):
    source = Dataset(
        "ijcnn1",
        X=np.arange(60.0).reshape(30, 2),
        y=np.tile([1, -1], 15),
        X_test=np.zeros((2, 2)),
        y_test=np.array([1, -1]),
        task="classification",
    )
    monkeypatch.setattr(_digmm_data, "loaded", lambda name, folder: source)
    monkeypatch.setattr(_digmm_data, "_FIRST_OF_VALIDATION", {"ijcnn1": 20})
    split = _digmm_data.split_of.__wrapped__("ijcnn1", 3, None, on_sphere=False)
    original = np.rint(split.train[:, 0] * 29).astype(int)  # scaled to the unit interval
    np.testing.assert_array_equal(split.validation, original >= 20)
    (part,) = learning.Trial((kernels.Gaussian(), False), "ijcnn1", 3, None)._parts(
        split, slice(12), 3
    )
    np.testing.assert_array_equal(np.sort(part), np.flatnonzero(original[:12] >= 20))


def test_finalists_are_the_first_rounds_best_and_the_last_round_decides(monkeypatch):
    first = np.zeros(len(learning.candidates(NAME, 0, None)))
    first[:6] = 0.1, 0.7, 0.6, 0.2, 0.9, 0.8
    last = {1: 0.95, 2: 0.91, 4: 0.92, 5: 0.93}
    places = {
        candidate: place
        for place, candidate in enumerate(learning.candidates(NAME, 0, None).values())
    }
    monkeypatch.setattr(learning.Trial, "first", lambda self, p: first[places[self.candidate]])
    by_c = np.linspace(0.0, 0.5, len(learning._MORE_CS))[::-1]
    monkeypatch.setattr(learning.Trial, "last", lambda self, p: last[places[self.candidate]] - by_c)
    found = learning.best_metrics(NAME, 24, 0, None)
    assert found["candidate"] == 1
    assert found["C"] == learning._MORE_CS[-1]


def test_scales_by_input_find_the_input_that_counts():
    scales = learning.per_input_scales(made_up(), GAUSSIAN)
    assert scales[0] < 0.3 * scales[1:].min()
