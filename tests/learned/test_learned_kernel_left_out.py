"""Errors and calibration from left-out rows: against the chains run one by one."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from learned.learned_fits import THREE, X, Y, classifier, regressor
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

import bochner
from bochner import LearnedKernelClassifier, LearnedKernelRegressor
from bochner.learned import Chains, learned_kernel

WEIGHT = np.random.default_rng(7).uniform(0.5, 3.0, size=len(X))
CHAINS = {"n_chains": 3, "n_samples": 4, "n_burn_in": 3}


def fitted(model, y, weight=None):
    """Return a model, and the blocks that its chains have left out, of rows in the given order."""
    kept, right = [], learned_kernel.blocks_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "bochner.learned.learned_kernel_fit.blocks_of",
            lambda *args: kept.append(right(*args)) or kept[0],
        )
        model.fit(X, y, weight)
    block = np.empty(len(X), dtype=int)
    block[np.lexsort((y, *X.T[::-1]))] = np.argmax(kept[0], axis=1)
    assert_array_equal(kept[0].sum(axis=1), 1)
    return model, block


def of_one_chain(model, index):
    """Return the model as if it had one of the chains alone, and no calibration."""
    one = type(model)(**model.get_params())
    vars(one).update(vars(model))
    one._scale, one._softmax, one.learned_ = 1.0, None, []
    for learned in model.learned_:
        draws = learned.draws
        n_kept = draws.n_draws // model.chains.n_chains
        names = ("omega", "coef", "precision", "noise_variance", "log_density")
        parts = {
            name: getattr(draws, name)[index * n_kept : (index + 1) * n_kept] for name in names
        }
        whitener = draws.whitener[draws.whitened // n_kept == index]
        parts |= {"whitener": whitener, "whitened": np.arange(n_kept)}
        own = replace(draws, **parts)
        one.learned_.append(type(learned)(own, learned.trace, learned.kernel, learned.structure))
    return one


def test_error_and_scale_are_those_of_left_out_rows():
    model, block = fitted(regressor(**CHAINS), Y, WEIGHT)
    each = [of_one_chain(model, k).predict(X, return_std=True) for k in range(3)]
    means, stds = np.swapaxes(each, 0, 1)
    place = block, np.arange(len(X))
    residual = Y - means[place]
    between = means.var(axis=0)
    new = stds[place] ** 2 + between
    # Less the noise of weight one, plus that of the row's own weight.
    noises = np.array([of_one_chain(model, k).noise_variance_ for k in range(3)])[block]
    ratio = residual**2 / (new - noises + noises / WEIGHT)
    assert_allclose(model.score_, np.sqrt(np.mean(new * ratio)), rtol=1e-5)
    scale = np.sqrt(np.mean(ratio))
    mixture = np.sqrt(np.mean(stds**2, axis=0) + means.var(axis=0))
    mean, std = model.predict(X, return_std=True)
    assert_allclose(mean, means.mean(axis=0))
    assert_allclose(std, scale * mixture, rtol=1e-5)
    samples = model.sample_y(X[:5], 4000, random_state=0)
    assert_allclose(samples.std(axis=1), std[:5], rtol=0.08)


@pytest.mark.thorough
def test_temperature_and_log_loss_are_those_of_left_out_rows():
    model, block = fitted(classifier(**CHAINS), THREE, WEIGHT)
    each = np.array([of_one_chain(model, k).predict_proba(X) for k in range(3)])
    scores = np.log(each[block, np.arange(len(X))])
    unit = np.sqrt(np.average(scores.var(axis=1), weights=WEIGHT))

    def log_p(factor):
        return log_softmax(factor * scores, axis=1)[np.arange(len(X)), THREE]

    def best(weight):
        def loss(factor):
            return 0.05 * (factor * unit) ** 2 - weight @ log_p(factor)

        options = {"xatol": 1e-9}
        return minimize_scalar(loss, bounds=(0.0, 20.0), method="bounded", options=options).x

    # Each row's probability has the temperature of the other rows.
    found = [log_p(best(np.where(np.arange(len(X)) == i, 0.0, WEIGHT)))[i] for i in range(len(X))]
    assert_allclose(model.score_, -np.average(found, weights=WEIGHT), rtol=1e-3)
    inside = -np.average(log_p(best(WEIGHT)), weights=WEIGHT)
    assert model.score_ > inside + 1e-3
    best = best(WEIGHT)
    power = model._averaged([learned.draws for learned in model.learned_], *model._rows(X)) ** best
    expected = power / power.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-4)


def test_a_chain_does_not_depend_on_the_rows_that_it_leaves_out():
    """Other targets in one block change the draws of the other chains alone."""
    model, block = fitted(regressor(**CHAINS, structure="dense"), Y)
    other = Y.copy()
    # Exchanged targets: their mean and scale, and so those of all chains, stay.
    other[block == 1] = Y[block == 1][::-1]
    again, _ = fitted(regressor(**CHAINS, structure="dense"), other)
    for k, are_equal in enumerate((False, True, False)):
        one, two = (each.learned_[0].draws.omega.reshape(3, 4, 8, 3)[k] for each in (model, again))
        assert np.allclose(one, two, rtol=1e-6) == are_equal


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The chain has not converged")
def test_few_rows_and_trends_leave_nothing_out(tmp_path):
    for model in (
        regressor(**CHAINS).fit(X[:14], Y[:14]),
        regressor(**CHAINS, trend=1).fit(X, Y),
        regressor(n_samples=4).fit(X, Y),
    ):
        assert model.score_ is None
        assert model._scale == 1.0
    model = classifier(**CHAINS).fit(X, THREE)
    bochner.save(model, tmp_path / "model")
    again = bochner.load(tmp_path / "model")
    assert again.score_ == model.score_
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.thorough
def test_many_rows_pool_the_draws():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-2.0, 2.0, size=(600, 2))
    f = np.sin(2.0 * inputs[:, 0]) * inputs[:, 1]
    short = {"chains": Chains(n_burn_in=5, n_samples=4, n_chains=4), "random_state": 0}
    model = LearnedKernelRegressor(20, **short).fit(inputs, f + 0.1 * rng.normal(size=600))
    assert model.learned_[0].draws.omega.shape == (1, 20 * 4, 2)
    new = rng.uniform(-2.0, 2.0, size=(400, 2))
    mean = model.predict(new)
    assert np.sqrt(np.mean((mean - np.sin(2.0 * new[:, 0]) * new[:, 1]) ** 2)) < 0.06
    labels = LearnedKernelClassifier(20, **short).fit(inputs, f > 0.0)
    assert labels.learned_[0].draws.n_draws == 1
    assert labels.score(new, np.sin(2.0 * new[:, 0]) * new[:, 1] > 0.0) > 0.93


@pytest.mark.thorough
def test_intervals_of_data_from_the_model_hold():
    """Sums of waves with the prior's weights and noise; new rows of twelve tables."""
    n_inside = n_rows = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        inputs = rng.normal(size=(260, 2))
        omega, beta = rng.normal(size=(30, 2)), rng.normal(size=(2, 30)) / np.sqrt(30.0)
        angle = inputs @ omega.T
        y = np.cos(angle) @ beta[0] + np.sin(angle) @ beta[1] + 0.3 * rng.normal(size=260)
        with warnings.catch_warnings(action="error"):
            model = LearnedKernelRegressor(
                30,
                "dense",
                random_state=seed,
                chains=Chains(n_burn_in=8, n_samples=6, n_chains=4, thin=1),
            ).fit(inputs[:160], y[:160])
        mean, std = model.predict(inputs[160:], return_std=True)
        n_inside += np.count_nonzero(np.abs(y[160:] - mean) < stats.norm.ppf(0.95) * std)
        n_rows += 100
    # Scales of 160 left-out rows are off by 1 / sqrt(320) = 6 per cent each, which moves the
    # coverage of a table by 1.1 per cent: added to the binomial variance.
    deviation = np.sqrt(0.9 * 0.1 / n_rows + 0.011**2 / 12)
    assert abs(n_inside / n_rows - 0.9) < stats.norm.isf(1e-3) * deviation
