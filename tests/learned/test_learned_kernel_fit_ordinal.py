"""LearnedKernelClassifier for classes in order."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import bochner
from bochner import LearnedKernelClassifier
from bochner.gaussian_process import (
    BernoulliLikelihood,
    OrdinalLikelihood,
    SoftmaxLikelihood,
    StudentTLikelihood,
)

CUTS = np.array([-2.0, 0.0, 1.5])
SMALL = {"n_chains": 2, "n_burn_in": 20, "n_samples": 15, "random_state": 0}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def graded(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, size=(n, 1))
    f = 3.0 * np.sin(2.0 * X[:, 0])
    return X, f, np.digitize(f + rng.logistic(size=n), CUTS)


X, F, Y = graded(400, 0)
NEW, F_NEW, Y_NEW = graded(500, 1)
LABELS = np.array(["D", "C", "B", "A"])  # In ascending order of names: A first


@pytest.fixture(scope="module")
def model():
    return LearnedKernelClassifier(20, likelihood="ordinal", **SMALL).fit(X, Y)


def test_probabilities_are_those_of_the_truth(model):
    found = model.predict_proba(NEW)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    law = OrdinalLikelihood(tuple(CUTS))
    exact = np.exp([law.log_density(np.full(len(NEW), c), F_NEW) for c in range(4)]).T
    assert np.abs(found - exact).mean() < 0.04


def test_distances_of_cutpoints_are_found(model):
    assert_allclose(np.diff(model.likelihood_.cutpoints), np.diff(CUTS), atol=0.5)


def test_the_order_of_classes_helps(model):
    plain = LearnedKernelClassifier(20, **SMALL).fit(X, Y)
    own, other = (
        np.log(each.predict_proba(NEW)[np.arange(len(NEW)), Y_NEW]).mean()
        for each in (model, plain)
    )
    assert own > other


def test_probabilities_average_those_of_the_draws(model):
    draws, at = model.learned_[0].draws, NEW[:3]
    inputs, fixed = model._rows(at)
    expected = np.zeros((3, 4))
    rng = np.random.default_rng(0)
    (_, values), (_, spreads) = (
        next(iter(draws.activations(inputs, fixed))),
        next(iter(draws.spreads(inputs, fixed))),
    )
    normal = rng.normal(size=4000)
    for index, mean in enumerate(values):
        f = mean[:, None] + np.sqrt(spreads.mean(axis=0))[:, None] * normal
        cuts = np.array(draws.law_of(index).cutpoints)
        below = 1.0 / (1.0 + np.exp(f[..., None] - cuts))
        ends = np.concatenate([np.zeros((*f.shape, 1)), below, np.ones((*f.shape, 1))], axis=2)
        expected += np.diff(ends, axis=2).mean(axis=1) / draws.n_draws
    assert_allclose(model.predict_proba(at), expected, atol=0.01)


def test_labels_have_the_order_of_their_names(model):
    named = LearnedKernelClassifier(20, likelihood="ordinal", **SMALL).fit(X, LABELS[Y])
    assert_array_equal(named.classes_, ["A", "B", "C", "D"])
    assert np.mean(named.predict(NEW) == LABELS[Y_NEW]) > 0.45
    # The reversed order is the same model, in other draws.
    assert_allclose(named.predict_proba(NEW)[:, ::-1], model.predict_proba(NEW), atol=0.15)


def test_two_classes_in_order_are_logistic():
    ordered = LearnedKernelClassifier(20, likelihood="ordinal", **SMALL).fit(X, Y > 1)
    plain = LearnedKernelClassifier(20, **SMALL).fit(X, Y > 1)
    assert_allclose(ordered.predict_proba(NEW), plain.predict_proba(NEW), atol=0.15)
    assert plain.likelihood_ == BernoulliLikelihood()
    same = LearnedKernelClassifier(20, likelihood=BernoulliLikelihood(), **SMALL).fit(X, Y > 1)
    assert_array_equal(same.predict_proba(NEW), plain.predict_proba(NEW))


def test_given_cutpoints_are_kept():
    law = OrdinalLikelihood((-2.0, 0.0, 1.5))
    assert LearnedKernelClassifier(20, likelihood=law, **SMALL).fit(X, Y).likelihood_ == law


def test_it_is_saved_and_cloned(model, tmp_path):
    bochner.save(model, tmp_path / "model")
    again = bochner.load(tmp_path / "model")
    assert again.likelihood_ == model.likelihood_
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    assert clone(model).likelihood == "ordinal"


def test_rows_of_weight_are_rows_that_repeat():
    weight = np.random.default_rng(5).integers(1, 4, size=80)
    rows = np.repeat(np.arange(80), weight)
    settings = {"likelihood": "ordinal", **SMALL}
    first = LearnedKernelClassifier(10, **settings).fit(X[:80], Y[:80], weight)
    second = LearnedKernelClassifier(10, **settings).fit(X[rows], Y[rows])
    assert_array_equal(first.predict_proba(NEW), second.predict_proba(NEW))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"likelihood": "probit"}, ValueError, "must be one of 'logistic', 'ordinal'.*'probit'"),
        (
            {"likelihood": StudentTLikelihood()},
            TypeError,
            "Numbers are learned by LearnedKernelRegressor",
        ),
        ({"likelihood": SoftmaxLikelihood()}, ValueError, "and KernelGLMClassifier take every"),
        ({"likelihood": OrdinalLikelihood((0.0,))}, ValueError, "y has 4 classes, and .* is for 2"),
        ({"likelihood": "ordinal", "sampler": "mh"}, ValueError, "use sampler='auto', 'pcn'"),
    ],
    ids=str,
)
def test_bad_likelihoods_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        LearnedKernelClassifier(8, **SMALL, **settings).fit(X, Y)
