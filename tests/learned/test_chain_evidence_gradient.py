"""Derivatives of the log evidence, by central differences of dense log densities."""

import pytest
from laws.inference_laws import check_gradient, problem
from numpy.testing import assert_allclose

from bochner._base import limits
from bochner.learned.chain_state import (
    InverseGammaNoise,
    KnownNoise,
    evidence_of,
    frequency_gradient,
)

NOISES = {"unknown": InverseGammaNoise(0.7, 0.2), "known": KnownNoise()}
BOTH = pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())


@BOTH
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("weights", [None, "integer"])
@pytest.mark.parametrize("q", [0, 2])
def test_gradient_by_frequencies(noise, keep, weights, q):
    check_gradient(noise, keep=keep, weights=weights, q=q)


@BOTH
@pytest.mark.parametrize("sizes", [(1, 1, 1), (4, 2, 6)], ids=["one of all", "few rows"])
def test_gradient_of_small_problems(noise, sizes):
    n, d, m = sizes
    check_gradient(noise, n=n, d=d, m=m)


@pytest.mark.parametrize("keep", [True, False])
def test_blocks_add_up(monkeypatch, keep):
    case = problem(n=900, weights="integer", q=1)
    noise = NOISES["unknown"]
    whole = frequency_gradient(evidence_of(case.rows(), case.omega, 0.3, noise), case.rows())
    monkeypatch.setattr(limits, "BLOCK_BYTES", 1)
    evidence = evidence_of(case.rows(), case.omega, 0.3, noise, keep=keep)
    assert_allclose(frequency_gradient(evidence, case.rows()), whole, rtol=1e-9, atol=1e-9)
