"""Weights and calibration of sums of laws."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from bochner._base.progress import silent
from bochner.features.chunks import Units
from bochner.kernels import Gaussian
from bochner.linear.softmax_weights import left_out_probabilities
from bochner.tables import learner as laws_learner
from bochner.tables.base_laws import Laws, ScoredLaws
from bochner.tables.fit_plan import _ROUGH, _SMOOTH, Effort
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.learner import Learner
from bochner.tables.leave_one_out import Found, LearnedKernel
from bochner.tables.level_means import Removal
from bochner.tables.observations import Observations
from bochner.tables.predictive import Predictive
from bochner.tables.trees import TreeInputs
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws, member_weights

RNG = np.random.default_rng(0)


def residuals(*scales, n=400, shared=0.7):
    common = RNG.normal(size=(n, 1))
    return np.array(scales) * (shared * common + RNG.normal(size=(n, len(scales))))


@pytest.mark.parametrize("n", [30, 400])
@pytest.mark.parametrize("scales", [(1.0, 1.2, 0.8), (1.0, 3.0), (2.0, 2.0, 2.1, 9.0)])
def test_weights_are_those_of_least_penalised_error(scales, n):
    R = residuals(*scales, n=n)
    K = len(scales)
    G = R.T @ R / len(R)
    level, squares = np.median(np.diag(G)), np.median(R**2, axis=1)
    share = min(0.3, 10.0 * np.sum(squares**2) / np.sum(squares) ** 2)
    assert share == 0.3 if n < 50 else share < 0.2

    def objective(w):
        return (w @ G @ w + share * level * np.sum((w - 1.0 / K) ** 2)) / level

    simplex = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    start = np.full(K, 1.0 / K)
    options = {"ftol": 1e-14, "maxiter": 1000}
    best = minimize(objective, start, bounds=[(0, 1)] * K, constraints=simplex, options=options)
    assert_allclose(member_weights(R), best.x, atol=1e-5)


def judged_by(means, y, weights=None, noise=1.0, groups=None):
    """Laws that predict what they are told, with the noise of weight one."""
    weights = np.ones(len(y)) if weights is None else weights
    law = KernelLaw("", LearnedKernel(Gaussian(), noise), np.arange(1), *np.zeros((2, 1, 1)), 1.0)
    n_laws = means.shape[1]
    variances = np.broadcast_to((noise / weights)[:, None, None], (len(y), n_laws, 1))
    laws = Laws(np.zeros((1, 1)), [replace(law, name=str(number)) for number in range(n_laws)])
    new = np.full(variances.shape, noise)
    rows, columns = np.zeros((len(y), 1)), TreeInputs.of(np.arange(1), None)
    scored = laws, np.arange(len(y)), rows, columns
    return ScoredLaws(*scored, means[:, :, None], variances, variances, new, groups)


def test_weights_of_laws_do_not_know_what_they_are_scored_on():
    """Many useless laws of few rows: weights of all rows would fit the noise."""
    rng = np.random.default_rng(0)
    y, means = rng.normal(size=(200, 20)), rng.normal(size=(200, 20, 40))
    found = [
        SumOfLaws.with_left_out(judged_by(m, t), t, np.ones(20))[0].left_out_rmse
        for m, t in zip(means, y, strict=True)
    ]
    fresh = rng.normal(size=(200, 500, 41))
    errors = []
    for m, t, new in zip(means, y, fresh, strict=True):
        model, _ = SumOfLaws.with_left_out(judged_by(m, t), t, np.ones(20))
        used = [1 + int(law.name) for law in model.laws.members]
        errors.append(np.mean((new[:, 0] - new[:, used] @ model.weights) ** 2))
    excess = np.square(found) - errors
    assert abs(excess.mean()) < 3.0 * excess.std() / np.sqrt(200)


def test_expected_errors_are_those_of_weight_one():
    rng = np.random.default_rng(1)
    weights = 10.0 ** rng.uniform(-1.0, 1.0, 4000)
    y = 0.5 * rng.normal(size=4000) / np.sqrt(weights)
    judged = judged_by(np.zeros((4000, 1)), y, weights, 0.25)
    model, _ = SumOfLaws.with_left_out(judged, y, weights)
    assert_allclose(model.left_out_rmse, 0.5, rtol=0.05)
    assert_allclose(model.law.std, 1.0, rtol=0.05)
    rows, new = np.zeros((3, 1)), np.array([0.1, 1.0, 10.0])
    _, std = model.predict(rows, return_std=True, sample_weight=new)
    (law,) = model.laws.members
    assert_allclose(law.signal * law.found.alpha, 0.25, rtol=0.1)
    function = law.signal  # The prior's, as the law knows no row
    assert_allclose(std, model.law.std * np.sqrt(function + 0.25 / new), rtol=0.1)
    _, cov = model.predict(rows, return_cov=True, sample_weight=new)
    assert_allclose(np.diagonal(cov), std**2)


def test_weights_of_rows_count_in_weights_of_laws_and_losses():
    rng, groups = np.random.default_rng(5), np.arange(60) // 20
    y, means, weights = rng.normal(size=60), rng.normal(size=(60, 3)), rng.uniform(0.1, 4.0, 60)
    model, _ = SumOfLaws.with_left_out(judged_by(means, y, weights), y, weights)
    expected = member_weights((means - y[:, None]) * np.sqrt(weights)[:, None])
    assert_allclose(model.weights, expected[[int(law.name) for law in model.laws.members]])
    labels, scores = (y > 0.0).astype(np.intp), np.stack((-means, means), axis=2)
    for left_out in (None, groups):
        judged = judged_by(means, y, groups=left_out)
        loss = SoftmaxOfLaws.of(judged, np.arange(2), labels, weights).left_out_log_loss
        probability = left_out_probabilities(scores, labels, Units(weights, np.ones(60)), left_out)
        assert loss == pytest.approx(-np.average(np.log(probability), weights=weights))


def test_left_out_means_do_not_know_their_group():
    rng, groups = np.random.default_rng(6), np.arange(60) // 20
    y, means, ones = rng.normal(size=60), rng.normal(size=(60, 3)), np.ones(60)
    judged = judged_by(means, y, groups=groups)
    (mean, _), (other, _) = (
        SumOfLaws.with_left_out(judged, rows, ones)[1] for rows in (y, np.where(groups, y, 9.0 * y))
    )
    assert_allclose(mean[:20], other[:20])
    assert not np.allclose(mean[20:], other[20:])


def test_weights_tell_noise_from_function():
    """Residuals of half of the function's variance and 1.2 times the noise that a law states."""
    rng, n = np.random.default_rng(4), 40_000
    weights, latent = 10.0 ** rng.uniform(-1.0, 1.0, n), rng.uniform(0.5, 1.5, n)
    y = np.sqrt(0.5 * latent + 1.2 * 0.8 / weights) * rng.normal(size=n)
    judged = judged_by(np.zeros((n, 1)), y, weights, 0.8)
    judged = replace(judged, variances=judged.noise + latent[:, None, None])
    model, _ = SumOfLaws.with_left_out(judged, y, weights / weights.mean())
    (law,) = model.laws.members
    assert_allclose(law.signal, 0.5, rtol=0.08)
    assert_allclose(law.signal * law.found.alpha, 1.2 * 0.8, rtol=0.04)
    assert_allclose(model.law.std, 1.0, rtol=0.02)
    expected = np.sqrt(np.mean(0.5 * latent + 1.2 * 0.8))
    assert_allclose(model.left_out_rmse, expected, rtol=0.03)


@pytest.mark.thorough
def test_no_labels_beat_their_entropy():
    """The softmax of useless laws, fitted to few rows, is worse than the entropy."""
    rng = np.random.default_rng(2)
    losses = []
    for _ in range(60):
        labels, means = rng.integers(2, size=30), rng.normal(size=(30, 3))
        judged = judged_by(means, np.zeros(30))
        model = SoftmaxOfLaws.of(judged, np.arange(2), labels, np.ones(30))
        losses.append(model.left_out_log_loss)
    error = np.std(losses) / np.sqrt(60)
    assert np.mean(losses) > np.log(2.0) - 2.0 * error
    assert np.mean(losses) > np.log(2.0)


def simulated(rng, n_samples):
    X = rng.uniform(-2.0, 2.0, size=(n_samples, 3))
    spread = 0.02 + 0.3 * rng.exponential(size=n_samples)
    mean = np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1] * X[:, 2])
    return X, mean + spread * (rng.exponential(size=n_samples) - 1.0)


SMALL = Effort({"rough": (_ROUGH, 1), "smooth": (_SMOOTH, 1)}, 200, 2000, 150)
"""Rows that choose kernels and correct the noise in tables that are split as large ones are."""


def learner(n_threads=1, time_limit=None, effort=SMALL):
    return Learner(effort, n_threads, time_limit, silent)


def fitted(X, y, effort=SMALL, **options):
    rows = Observations.of(X, y[:, None], np.ones(len(y)), options.pop("groups", None))
    columns = [np.arange(X.shape[1])]
    judged = learner(effort=effort).fit(rows, columns, np.random.default_rng(0), **options)
    return judged, SumOfLaws.with_left_out(judged, y, np.ones(len(y)))[0]


LEVELS = np.array([0.1, 0.5, 0.8])


def assert_new_rows(n_samples=300, effort=SMALL):
    """Coverage on both sides of errors that are not symmetric, by rows of other draws."""
    found = [of_new_rows(np.random.default_rng(seed), n_samples, effort) for seed in (2, 3, 4)]
    covered, below, drawn, ratio = (np.mean(values, axis=0) for values in zip(*found, strict=True))
    assert_allclose(covered, 0.9, atol=0.04)
    assert_allclose(below, LEVELS, atol=0.04)
    assert_allclose(drawn, 0.5, atol=0.03)
    assert abs(ratio - 1.0) < 0.12


def of_new_rows(rng, n_samples, effort):
    (X, y), (new, truth) = simulated(rng, n_samples), simulated(rng, 2000)
    shift = y.mean()
    judged, model = fitted(X, y - shift, effort)
    assert len(judged.scored) == n_samples - 1000 if n_samples >= 1500 else n_samples
    predictive = Predictive.of_rows(*model.components(new), model.law, lambda values: values)
    lower, upper = predictive.quantiles(np.array([0.05, 0.95])).T
    truth = truth - shift
    quantiles = predictive.quantiles(LEVELS)
    error = np.sqrt(np.mean((model.predict(new) - truth) ** 2))
    return (
        np.mean((lower <= truth) & (truth <= upper)),
        np.mean(truth[:, None] <= quantiles, axis=0),
        np.mean(predictive.sample(20, rng) <= quantiles[:, [1]]),
        model.left_out_rmse / error,
    )


@pytest.mark.thorough
@pytest.mark.parametrize("n_samples", [300, 1700])
def test_intervals_and_quantiles_hold_at_new_rows(n_samples):
    assert_new_rows(n_samples)


def test_kernels_of_one_half_judge_the_other():
    """Kernels of very unequal halves show which rows each of them has judged."""
    X, y = simulated(np.random.default_rng(0), 100)
    good, useless = LearnedKernel(Gaussian(2.0), 0.1), LearnedKernel(Gaussian(1e-3), 0.1)
    with pytest.MonkeyPatch.context() as patch:
        found = Found(good, (useless, good), 1.0, 1.0)
        patch.setattr(laws_learner, "finished", lambda family, begin, rows: found)
        judged, _ = fitted(X, y - y.mean())
    first, second = judged.means[:50, 0, 0], judged.means[50:, 0, 0]
    others = (y.mean() - y[judged.scored[50:]]) / 99.0  # Means without each row
    assert_allclose(second, others, atol=1e-6)
    assert np.std(first) > 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("first", [0, 3])
def test_each_family_has_the_columns_that_tell_most(first):
    """One encoding is noise; the other has the inputs of the target."""
    X, y = simulated(np.random.default_rng(0), 120)
    table = np.random.default_rng(1).normal(size=(120, 6))
    table[:, first : first + 3] = X
    rows = Observations.of(table, y[:, None] - y.mean(), np.ones(120))
    effort = replace(SMALL, families={"rough": (_ROUGH, 2), "smooth": (_SMOOTH, 2)})
    encodings = [np.arange(3), np.arange(3, 6)]
    laws = learner(effort=effort).fit(rows, encodings, np.random.default_rng(0)).laws
    assert {law.name for law in laws.members} == {"rough", "smooth"}
    for law in laws.members:
        assert_array_equal(law.columns, np.arange(first, first + 3))


def test_rows_of_a_group_do_not_predict_each_other():
    """A target that is a number for each group tells nothing about new groups."""
    rng = np.random.default_rng(4)
    groups = np.arange(300) // 6
    X = rng.normal(size=(50, 2))[groups] + 0.01 * rng.normal(size=(300, 2))
    y = rng.normal(size=50)[groups] + 0.1 * rng.normal(size=300)
    _, alone = fitted(X, y)
    _, together = fitted(X, y, groups=groups)
    assert alone.left_out_rmse < 0.5
    assert together.left_out_rmse > 0.9


def test_the_latest_rows_are_scored_alone():
    rng = np.random.default_rng(5)
    time = np.arange(200) / 200.0
    y = np.sin(30.0 * time) + 0.1 * rng.normal(size=200)
    blocks = np.minimum(np.arange(200) // 20, 8)
    removal = Removal(blocks, 1 * (blocks == 8), np.arange(200))
    judged, model = fitted(time[:, None], y, groups=blocks, removal=removal)
    assert set(judged.scored) == set(range(160, 200))
    assert model.left_out_rmse > 0.5
    assert fitted(time[:, None], y)[1].left_out_rmse < 0.2


@pytest.mark.thorough
def test_a_time_limit_leaves_one_law_and_does_not_touch_the_rest():
    X, y = simulated(np.random.default_rng(0), 120)
    rows = Observations.of(X, y[:, None] - y.mean(), np.ones(120))
    judged = [
        learner(n_threads, limit).fit(rows, [np.arange(3)], np.random.default_rng(0))
        for n_threads, limit in ((1, 1e-9), (1, None), (2, None))
    ]
    assert len(judged[0].laws.members) == 1
    assert len(judged[1].laws.members) == 2
    assert_allclose(judged[2].means, judged[1].means, atol=1e-6)  # Partly in single precision


def classes(rng, n_samples):
    X = rng.normal(size=(n_samples, 2))
    logits = np.column_stack((2.0 * X[:, 0], -X[:, 0] + 2.0 * X[:, 1], np.zeros(n_samples)))
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    drawn = (rng.random(n_samples)[:, None] > np.cumsum(probability, axis=1)).sum(axis=1)
    return X, np.minimum(drawn, 2), probability


@pytest.mark.thorough
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_nearly_those_that_drew_the_classes(n_classes):
    rng = np.random.default_rng(6)
    (X, labels, _), (new, truth, probability) = classes(rng, 900), classes(rng, 4000)
    if n_classes == 2:
        labels, truth = labels == 1, truth == 1
        probability = np.column_stack((1.0 - probability[:, 1], probability[:, 1]))
    names = np.array(["a", "b", "c"])[:n_classes]
    Y = (labels[:, None] == np.unique(labels)[1 - (n_classes > 2) :]).astype(float)
    rows = Observations.of(X, Y - Y.mean(axis=0), np.ones(900))
    judged = learner().fit(rows, [np.arange(2)], rng, with_variance=False)
    model = SoftmaxOfLaws.of(judged, names, np.asarray(labels, dtype=np.intp), np.ones(900))
    found = model.predict_proba(new)
    assert_allclose(found.sum(axis=1), 1.0)
    assert np.sqrt(np.mean((found - probability) ** 2)) < 0.05
    loss = -np.mean(np.log(found[np.arange(4000), np.asarray(truth, dtype=int)]))
    assert abs(model.left_out_log_loss - loss) < 0.05
    assert set(model.predict(new)) <= set(names)
