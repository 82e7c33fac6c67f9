"""Probabilities of a softmax that is fitted without the row: refits, repeats and entropy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.features.chunks import Units
from bochner.linear.softmax_weights import fit_softmax, left_out_probabilities


def problem(n, weights=(1.0, 0.3), n_classes=3, seed=0):
    """Scores, labels drawn from their softmax, and weights for a test."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, len(weights), n_classes))
    logits = np.einsum("nkc,k->nc", scores, weights)
    labels = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return scores, labels, rng


def refitted(scores, labels, units, number, has_biases):
    """Each row's probability by a softmax that is fitted again without what is removed."""
    found = np.empty(len(labels))
    for index in range(len(labels)):
        weight = units.totals.copy()
        if number is None:
            weight[index] -= units.weights[index]
        else:
            weight[number == number[index]] = 0.0
        softmax = fit_softmax(scores, labels, weight, has_biases=has_biases)
        found[index] = softmax.probabilities(scores[index : index + 1])[0, labels[index]]
    return found


@pytest.mark.parametrize("has_biases", [True, False])
@pytest.mark.parametrize("kind", ["ones", "counts", "fractions", "groups"])
def test_probabilities_are_those_of_refits(kind, has_biases):
    scores, labels, rng = problem(60)
    weight = {"counts": rng.integers(1, 4, 60), "fractions": rng.uniform(0.1, 2.0, 60)}.get(kind)
    units = Units.of(None if weight is None else weight.astype(float), 60)
    number = rng.integers(0, 15, 60) if kind == "groups" else None
    found = left_out_probabilities(scores, labels, units, number, has_biases=has_biases)
    right = refitted(scores, labels, units, number, has_biases)
    plain = fit_softmax(scores, labels, units.totals, has_biases=has_biases)
    inside = plain.probabilities(scores)[np.arange(60), labels]
    # The error of one Newton step is a small share of the change from the fit to all rows.
    assert np.abs(found - right).max() < 0.15 * np.abs(inside - right).max()
    assert abs(np.log(found / right).mean()) < 0.04 * abs(np.log(inside / right).mean())


@pytest.mark.parametrize("n", [6, 40])
def test_whole_weights_are_repeated_rows(n):
    scores, labels, rng = problem(n)
    scores *= 40 / n  # Some of six rows are influential
    counts = rng.integers(1, 5, n)
    weighted = left_out_probabilities(scores, labels, Units.of(counts.astype(float), n))
    repeated = left_out_probabilities(
        np.repeat(scores, counts, axis=0), np.repeat(labels, counts), Units.of(None, counts.sum())
    )
    assert_allclose(np.repeat(weighted, counts), repeated, atol=1e-7)


@pytest.mark.thorough
@pytest.mark.parametrize("n_classes", [2, 4])
def test_labels_that_nothing_predicts_have_their_entropy_at_least(n_classes):
    inside, outside = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        scores, labels = rng.normal(size=(30, 2, n_classes)), rng.integers(n_classes, size=30)
        found = left_out_probabilities(scores, labels, Units.of(None, 30))
        outside.append(-np.log(found).mean())
        softmax = fit_softmax(scores, labels)
        inside.append(-np.log(softmax.probabilities(scores)[np.arange(30), labels]).mean())
    error = np.std(outside) / 10.0
    assert np.mean(outside) > np.log(n_classes) - 2.0 * error
    assert np.mean(inside) < np.log(n_classes) - 5.0 * error


def test_blocks_of_rows_and_weights_of_zero_change_nothing(monkeypatch):
    scores, labels, rng = problem(50)
    number = rng.integers(0, 20, 50)
    units = Units.of(np.append(np.zeros(10), rng.uniform(size=40)), 50)
    together = left_out_probabilities(scores, labels, units, number)
    without = left_out_probabilities(
        scores[10:], labels[10:], Units(units.weights[10:], units.counts[10:]), number[10:]
    )
    assert_allclose(together[10:], without, atol=1e-7)
    monkeypatch.setattr("bochner._base.limits.BLOCK_BYTES", 1000)
    assert_allclose(left_out_probabilities(scores, labels, units, number), together, rtol=1e-12)
