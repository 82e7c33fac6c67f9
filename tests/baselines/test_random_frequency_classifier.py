"""RandomFrequencyClassifier: the printed objective, its slopes, and what it learns."""

import numpy as np
import pytest
from baselines.references import factor_of, slopes
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from bochner._base import limits
from bochner.baselines import RandomFrequencyClassifier
from bochner.baselines.mixture_frequencies import MixtureFrequencies, descend, wave_blocks
from bochner.baselines.random_frequency_classifier import PenalisedLoss

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 1.0, size=(120, 2))
SIGNS = (X[:, 0] * X[:, 1] > 0.0).astype(int)
RINGS = np.digitize(np.hypot(*X.T), [0.5, 0.9])


def problem(n_classes, full, n=20, m=7, dim=3, n_mixture=2):
    """A problem with components of unequal size, and an argument away from its start."""
    rng = np.random.default_rng(3)
    mixture = MixtureFrequencies.draw(rng, m, dim, n_mixture, full)
    label = rng.integers(n_classes, size=n)
    target = label[:, None].astype(float) if n_classes == 2 else np.eye(n_classes)[label]
    loss = PenalisedLoss(mixture, rng.normal(size=(n, dim)), target, 0.7)
    theta = loss.start(rng)
    return loss, label, theta + 0.3 * rng.normal(size=len(theta))


def printed(loss, label, theta):
    """The paper's objective term by term; for more classes each has its eta."""
    mixture, X = loss.mixture, loss.X
    targets, (m, d) = loss.target.shape[1], mixture.base.shape
    q = mixture.component.max() + 1
    beta, rest = theta[: targets * 2 * m].reshape(targets, 2, m), theta[targets * 2 * m :]
    zeroth, nu, rest = rest[:targets], rest[targets : targets + q], rest[targets + q :]
    entries, mu = rest[: len(rest) - q * d].reshape(q, -1), rest[-q * d :].reshape(q, d)
    total = 0.0
    for x, y in zip(X, label, strict=True):
        eta = zeroth.copy()
        for j, k in enumerate(mixture.component):
            zeta = x @ factor_of(entries[k], d, mixture.full) @ mixture.base[j] + x @ mu[k]
            eta += nu[k] ** 2 * (beta[:, 0, j] * np.cos(zeta) + beta[:, 1, j] * np.sin(zeta))
        if targets == 1:
            total += -y * eta[0] + np.log(1.0 + np.exp(eta[0]))
        else:
            total += -eta[y] + np.log(np.sum(np.exp(eta)))
    return total + 0.5 * 0.7 * (np.sum(beta**2) + np.sum(zeroth**2))


def fixed_head(loss, label, theta):
    """Scikit-learn's penalised logistic regression on the frequencies of an argument."""
    _, _, nu, omega = loss.unpacked(theta)
    factor = nu[loss.mixture.component] ** 2
    angle = loss.X @ omega.T
    waves = [factor * np.cos(angle), factor * np.sin(angle), np.ones((len(angle), 1))]
    # The constant is penalised as the other weights are.
    head = LogisticRegression(C=1.0 / loss.alpha, fit_intercept=False, tol=1e-12, max_iter=10000)
    head.fit(np.hstack(waves), label)
    return np.concatenate([head.coef_[:, :-1].ravel(), head.coef_[:, -1]])


@pytest.mark.parametrize("full", [True, False], ids=["full", "diagonal"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_objective_and_its_gradient_are_those_of_the_printed_formula(n_classes, full):
    loss, label, theta = problem(n_classes, full)
    value, gradient = loss(theta)
    assert_allclose(value, printed(loss, label, theta), rtol=1e-12)
    expected = slopes(lambda at: printed(loss, label, at), theta)
    assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("n_classes", [2, 3])
def test_blocks_of_rows_give_the_sums_of_all(monkeypatch, n_classes):
    loss, _, theta = problem(n_classes, full=True)
    value, gradient = loss(theta)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 500)
    assert len(list(wave_blocks(loss.X, loss.mixture.base))) > 2
    again = loss(theta)
    assert_allclose(again[0], value, rtol=1e-12)
    assert_allclose(again[1], gradient, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_logistic_regression_on_fixed_frequencies_has_no_slope_in_the_weights(n_classes):
    loss, label, theta = problem(n_classes, full=True, n=60)
    weights = fixed_head(loss, label, theta)
    theta[: len(weights)] = weights
    gradient = loss(theta)[1]
    assert np.abs(gradient[: len(weights)]).max() < 1e-4
    assert np.abs(gradient[len(weights) :]).max() > 1e-2


def test_the_fitted_attributes_have_the_reported_objective():
    y = np.array(["no", "yes"])[SIGNS]
    model = RandomFrequencyClassifier(40, alpha=0.3, max_iter=20, random_state=0).fit(X, y)
    eta = model.decision_function(X)
    penalty = 0.15 * (np.sum(model.coef_**2) + np.sum(model.intercept_**2))
    likelihood = np.sum(np.log1p(np.exp(eta)) - SIGNS * eta)
    assert_allclose(model.objective_, likelihood + penalty, rtol=1e-9)
    features = model.frequencies_.features(X - model.centre_)
    assert_allclose(eta, features @ model.coef_[0] + model.intercept_[0], rtol=1e-12)
    assert_allclose(model.predict_proba(X)[:, 1], 1.0 / (1.0 + np.exp(-eta)), rtol=1e-12)
    assert_array_equal(model.predict(X), np.where(eta > 0, "yes", "no"))
    assert_array_equal(model.classes_, ["no", "yes"])


def test_probabilities_of_many_classes_are_the_softmax():
    y = np.array([20, 10, 30])[RINGS]
    model = RandomFrequencyClassifier(40, max_iter=20, random_state=0).fit(X, y)
    eta = model.decision_function(X)
    assert eta.shape == (120, 3)
    assert model.coef_.shape == (3, 40)
    expected = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    assert_array_equal(model.predict(X), np.array([10, 20, 30])[eta.argmax(axis=1)])


@pytest.mark.parametrize("task", ["signs", "rings"])
def test_boundaries_that_are_not_linear_are_learned(task):
    def label(rows):
        if task == "signs":
            return rows[:, 0] * rows[:, 1] > 0.0
        return np.digitize(np.hypot(*rows.T), [0.5, 0.9])

    rng = np.random.default_rng(1)
    train, test = rng.uniform(-1.0, 1.0, size=(2, 600, 2))
    model = RandomFrequencyClassifier(60, max_iter=60, random_state=0).fit(train, label(train))
    assert model.score(test, label(test)) > 0.93
    assert LogisticRegression().fit(train, label(train)).score(test, label(test)) < 0.8


@pytest.mark.parametrize("n_classes", [2, 3])
def test_frequencies_that_move_reach_less_than_any_weights_on_the_first_ones(n_classes):
    loss, label, theta = problem(n_classes, full=True, n=80)
    head = fixed_head(loss, label, theta)
    stuck = theta.copy()
    stuck[: len(head)] = head
    found, least, _ = descend(loss, len(loss.target), theta, 200, 1e-9)
    assert least * 80 < loss(stuck)[0] - 1.0
    assert_allclose(least * 80, printed(loss, label, found), rtol=1e-9)


def test_units_do_not_matter():
    model = RandomFrequencyClassifier(40, max_iter=10, random_state=0).fit(X, RINGS)
    other = RandomFrequencyClassifier(40, max_iter=10, random_state=0).fit(X * [2, 0.5], RINGS)
    assert_allclose(other.predict_proba(X * [2, 0.5]), model.predict_proba(X), atol=1e-6)


def test_more_iterations_and_smaller_penalties_have_smaller_objectives():
    def objective(**parameters):
        found = RandomFrequencyClassifier(40, random_state=0, **parameters).fit(X, SIGNS)
        return found.objective_

    values = [objective(max_iter=steps) for steps in (1, 5, 25)]
    assert values == sorted(values, reverse=True)
    assert objective(alpha=1e-3, max_iter=25) < values[-1]


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes, got 1 class"):
        RandomFrequencyClassifier().fit(X, np.ones(120, dtype=int))
