"""Left-out values of classifiers against fits without the row."""

from dataclasses import replace

import numpy as np
import pytest
from laws.head_laws import krein_problem
from numpy.testing import assert_allclose

from bochner.features.chunks import Chunk, Indicators, sample_rows
from bochner.features.row_sums import feature_sums
from bochner.linear.iterative import IterativeSolution
from bochner.linear.krein import fit_krein
from bochner.linear.ridge_posterior import fit_ridge
from bochner.linear.softmax_weights import left_out_indicators

RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 3, size=40)
TARGETS = Indicators(np.arange(3))


def fitted(frequencies, rows, method, alpha, fit_intercept):
    sums = feature_sums(frequencies, rows.X, TARGETS(rows.y), rows.weight)
    if method == "krein":
        found = fit_krein(sums, frequencies.signature, alpha, fit_intercept=fit_intercept)
        return found, sums
    found = fit_ridge(sums, alpha, fit_intercept=fit_intercept)
    if method == "posterior":
        return found, sums
    return IterativeSolution(found.coef, found.intercept, alpha, None, 1), None


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("method", ["posterior", "krein", "passes"])
@pytest.mark.parametrize("weights", ["none", "fractions", "whole"])
def test_values_are_those_of_fits_without_a_row_or_one_of_equal_rows(
    method, weights, fit_intercept
):
    data = krein_problem(negative=None if method == "krein" else False)
    weight = {"none": None, "fractions": RNG.uniform(0.1, 4.0, 40)}.get(
        weights, RNG.integers(0, 4, 40).astype(float)
    )
    rows, options = Chunk(data.X, LABELS, weight), (method, 0.31, fit_intercept)
    sample = sample_rows([rows], 40, np.random.default_rng(0))
    solution, sums = fitted(data.frequencies, rows, *options)
    signature = data.frequencies.signature
    found = left_out_indicators(
        sample, data.frequencies, TARGETS, solution, sums, signature, fit_intercept=fit_intercept
    )
    kept = np.flatnonzero(rows.weights > 0.0)
    assert len(found) == len(kept)
    for i, value in zip(kept, found, strict=True):
        left = rows.weights.copy()
        left[i] -= left[i] if weights == "fractions" else 1.0
        other, _ = fitted(data.frequencies, replace(rows, weight=left), *options)
        expected = other.mean(data.frequencies.features(data.X[[i]]))[0]
        assert_allclose(value, np.clip(expected, -3.0, 3.0), rtol=1e-6, atol=1e-8)


def test_an_observation_that_is_being_forgotten_is_left_out_as_it_counts():
    data = krein_problem(negative=False)
    rows = Chunk(data.X, LABELS, RNG.integers(1, 4, 40).astype(float)).aged(0.9)
    sample = sample_rows([rows], 40, np.random.default_rng(0))
    assert_allclose(sample.unit_weights, 0.9 ** np.arange(40)[::-1])
    assert_allclose(sample.weighted(0.5).unit_weights, 0.5 * sample.unit_weights)
    fractions = sample_rows([replace(rows, weight=0.3 * rows.weights)], 40, np.random.default_rng())
    assert_allclose(fractions.unit_weights, 0.3 * rows.weights)


def test_leverages_of_a_sample_are_close_to_those_of_all_rows():
    data = krein_problem(m=8, negative=False, n=4000)
    rows = Chunk(data.X, RNG.integers(0, 3, size=4000))
    sample = sample_rows([rows], 500, np.random.default_rng(0))
    values = []
    for method in ("posterior", "passes"):
        solution, sums = fitted(data.frequencies, rows, method, 1.0, True)
        found = left_out_indicators(
            sample, data.frequencies, TARGETS, solution, sums, np.ones(16), fit_intercept=True
        )
        values.append(found - solution.mean(data.frequencies.features(sample.rows.X)))
    assert_allclose(values[1], values[0], atol=0.3 * np.abs(values[0]).max())
    assert np.corrcoef(values[0].ravel(), values[1].ravel())[0, 1] > 0.95
