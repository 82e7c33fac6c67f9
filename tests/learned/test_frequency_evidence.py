"""The evidence of a set of frequencies, and the posterior of their weights."""

import numpy as np
import pytest
from laws.inference_laws import check_normal, check_student, problem
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose

from bochner._base import limits
from bochner.learned.chain_state import InverseGammaNoise, evidence_of, solved

NOISE = InverseGammaNoise(0.7, 0.2)
SHAPES = {
    "many rows": {},
    "few rows": {"n": 5, "m": 6},
    "trend": {"q": 2},
    "one of all": {"n": 1, "d": 1, "m": 1},
    "weights": {"weights": "integer"},
    "weights and trend": {"weights": "integer", "q": 3},
}


@pytest.mark.parametrize("settings", SHAPES.values(), ids=SHAPES.keys())
def test_evidence_is_a_multivariate_t_density(settings):
    check_student(**settings)


@pytest.mark.parametrize("weights", [None, "integer", "real"])
@pytest.mark.parametrize("q", [0, 2])
def test_evidence_of_known_noise_is_a_normal_density(weights, q):
    check_normal(weights=weights, q=q)


@pytest.mark.parametrize("settings", SHAPES.values(), ids=SHAPES.keys())
def test_posterior_is_that_of_normal_equations(settings):
    case = problem(**settings)
    evidence = evidence_of(case.rows(), case.omega, 0.4, NOISE)
    A, b = case.posterior(case.omega, 0.4)
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    u = np.linalg.solve(A, b)
    assert_allclose(evidence.covariance, np.linalg.inv(A), rtol=1e-8, atol=1e-10)
    assert_allclose(evidence.mean, u, rtol=1e-8, atol=1e-10)
    assert_allclose(evidence.explained, b @ u, rtol=1e-10)
    assert_allclose(evidence.log_determinant, np.linalg.slogdet(A)[1], rtol=1e-10)
    # u' Lambda_0 u is part of y'Wy - q, beside the squares that the fit leaves.
    left = np.sum(weight * (case.y - case.design(case.omega) @ u) ** 2)
    penalty = 0.4 * np.sum(u[: 2 * len(case.omega)] ** 2)
    assert_allclose(evidence.residual, left + penalty, rtol=1e-9)


@pytest.mark.parametrize("weights", [None, "real"])
@pytest.mark.parametrize("keep", [True, False])
def test_blocks_of_rows_add_up_to_the_whole(monkeypatch, keep, weights):
    case = problem(n=900, q=1, weights=weights)
    whole = evidence_of(case.rows(), case.omega, 0.2, NOISE, keep=True)
    monkeypatch.setattr(limits, "BLOCK_BYTES", 1)
    parts = evidence_of(case.rows(), case.omega, 0.2, NOISE, keep=keep)
    assert (parts.features is not None) == keep
    for name in ("gram", "cross", "covariance", "mean", "log_determinant", "explained"):
        expected = getattr(whole, name)
        atol = 1e-10 * np.max(np.abs(expected))
        assert_allclose(getattr(parts, name), expected, rtol=1e-10, atol=atol)
    assert_allclose(parts.log_evidence(), whole.log_evidence(), rtol=1e-10)


def test_singular_sums_are_refused_by_name():
    case = problem(n=5, m=6)
    evidence = evidence_of(case.rows(), np.repeat(case.omega[:1], 6, axis=0), -1.0, NOISE)
    assert evidence.precision == evidence.least_precision > 0
    with pytest.raises(LinAlgError, match="not positive definite at lambda_0"):
        solved(evidence, -1.0)
