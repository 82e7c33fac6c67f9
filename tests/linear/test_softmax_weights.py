"""Softmax of weighted laws: the optimum, its symmetries and its limits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

from bochner.linear.softmax_weights import SoftmaxWeights, fit_softmax


def problem(n=200, weights=(1.5, 0.0), biases=(0.5, 0.0, -0.5), seed=0):
    """Scores, labels drawn from their softmax, and whole weights."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, len(weights), len(biases)))
    logits = np.einsum("nkc,k->nc", scores, weights) + biases
    labels = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return scores, labels, rng.integers(0, 4, size=n).astype(float)


def penalised_loss(parameters, scores, labels, weight):
    """The objective in the parameters of logits, row by row."""
    n, n_laws = scores.shape[:2]
    b, a = parameters[:n_laws], parameters[n_laws:]
    unit = np.sqrt([np.average(scores[:, k].var(axis=1), weights=weight) for k in range(n_laws)])
    loss = 0.05 * (np.sum((b * unit) ** 2) + np.sum(a**2))
    for i in range(n):
        logits = b @ scores[i] + a
        loss += weight[i] * (logsumexp(logits) - logits[labels[i]])
    return loss


@pytest.mark.thorough_cases("3")
@pytest.mark.parametrize(("weights", "n_classes"), [((1.0,), 2), ((1.5, 0.5), 3), ((1, -1), 3)])
def test_no_weights_have_less_penalised_loss(weights, n_classes):
    scores, labels, weight = problem(80, weights, np.linspace(-1.0, 1.0, n_classes))
    found = fit_softmax(scores, labels, weight)
    best = minimize(
        penalised_loss,
        np.append(np.ones(len(weights)), np.zeros(n_classes)),
        (scores, labels, weight),
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(weights) + [(None, None)] * n_classes,
        options={"ftol": 1e-15, "gtol": 1e-8},
    ).x
    assert_allclose(np.append(found.weights, found.biases), best, atol=1e-4)
    assert_allclose(found.biases.sum(), 0.0, atol=1e-6)
    assert (found.weights[np.array(weights) < 0] == 0.0).all()


def test_weights_and_biases_are_those_that_labels_were_drawn_with():
    found = fit_softmax(*problem(40_000)[:2])
    assert_allclose(found.weights, [1.5, 0.0], atol=0.05)
    assert_allclose(found.biases, [0.5, 0.0, -0.5], atol=0.05)


def test_weights_are_repetitions_and_units_do_not_matter():
    scores, labels, weight = problem()
    weighted = fit_softmax(scores, labels, weight)
    repeat = weight.astype(int)
    repeated = fit_softmax(np.repeat(scores, repeat, axis=0), np.repeat(labels, repeat))
    units = np.array([1e6, 1e-6])
    scaled = fit_softmax(scores * units[:, None] + 7.0, labels, weight)
    for other in (repeated, in_units(scaled, units)):
        assert_allclose(other.weights, weighted.weights, atol=1e-5)
        assert_allclose(other.biases, weighted.biases, atol=1e-5)


def in_units(found, units):
    return SoftmaxWeights(found.weights * units, found.biases)


@pytest.mark.parametrize("case", ["separated", "constant", "one class", "one row", "no weight"])
def test_probabilities_are_never_zero_or_one(case):
    scores, labels, weight = problem()
    if case == "separated":
        scores = np.eye(3)[labels][:, None] + np.zeros((200, 2, 1))
    elif case == "constant":
        scores = np.ones_like(scores)
    elif case == "one class":
        labels = np.zeros_like(labels)
    elif case == "one row":
        scores, labels, weight = scores[:1], labels[:1], weight[:1] + 1.0
    else:
        weight = np.zeros(200)
    found = fit_softmax(scores, labels, weight)
    far = 1e6 * np.random.default_rng(1).normal(size=(50, 2, 3))
    for rows in (scores, far):
        probabilities = found.probabilities(rows)
        assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
        assert probabilities.min() > 0.0
        assert probabilities.max() < 1.0
    if case == "separated":
        assert found.probabilities(scores)[np.arange(200), labels].min() > 0.97
