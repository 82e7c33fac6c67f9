"""Moves of the precision leave its posterior as it is, by quadrature."""

import numpy as np
import pytest
from laws.inference_laws import log_density, problem
from learned.test_dirichlet_mixture import standard_errors
from numpy.testing import assert_allclose
from scipy import stats

from bochner._base.limits import LARGEST_ENTRY
from bochner.learned.chain_state import InverseGammaNoise, KnownNoise, StepSizes, evidence_of
from bochner.learned.moves import ChainState, LogNormalPrecision, PrecisionWalk

# Shared evenly (Bonferroni) among the functions of each chain.
FAMILY_ALPHA = 1e-3
PRIOR = LogNormalPrecision(mean=1.0, std=0.7)


def precision_step(rng, evidence, prior, step_size, n_steps=2):
    """The evidence after a move, and its acceptance."""
    state = ChainState(None, evidence, None, StepSizes({"precision": step_size}))
    info = PrecisionWalk(prior, n_steps)(rng, state)
    return state.evidence, info["acceptance_precision"]


def functions(t):
    """Moments and a histogram of the log precision."""
    t = np.asarray(t)
    edges = np.array([-1.0, 0.0, 1.0])
    return np.column_stack((t, t**2, np.tanh(t), *(t < edge for edge in edges)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "noise", [InverseGammaNoise(0.7, 0.2), KnownNoise()], ids=["unknown", "known"]
)
def test_steps_leave_the_posterior_as_it_is(noise, n=3000, step_size=1.2):
    case = problem(n=12, m=2, q=1)
    grid = np.linspace(-4.0, 5.0, 301)
    log_posterior = np.array([log_density(case, case.omega, np.exp(t), noise) for t in grid])
    log_posterior += stats.norm(PRIOR.mean, PRIOR.std).logpdf(grid)
    density = np.exp(log_posterior - log_posterior.max())
    assert max(density[0], density[-1]) < 1e-4
    expected = density @ functions(grid) / density.sum()
    rng = np.random.default_rng(30)
    evidence = evidence_of(case.rows(), case.omega, np.exp(expected[0]), noise)
    chain, rates = [], []
    for _ in range(n):
        evidence, rate = precision_step(rng, evidence, PRIOR, step_size)
        chain.append(np.log(evidence.precision))
        rates.append(rate)
    values = functions(chain)
    z = (values.mean(axis=0) - expected) / standard_errors(values)
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))
    assert 0.2 < np.mean(rates) < 0.9
    # What is returned is the posterior at the precision it names.
    fresh = evidence_of(case.rows(), case.omega, evidence.precision, noise)
    assert_allclose(evidence.log_evidence(), fresh.log_evidence(), rtol=1e-10)
    assert_allclose(evidence.covariance, fresh.covariance, rtol=1e-8)


def test_a_precision_changes_if_a_step_is_accepted():
    case, rng = problem(n=12, m=2, q=1), np.random.default_rng(3)
    before = evidence_of(case.rows(), case.omega, 2.0, KnownNoise())
    moves = [precision_step(rng, before, PRIOR, 1.2, n_steps=1) for _ in range(20)]
    changed = [evidence.precision != before.precision for evidence, _ in moves]
    assert changed == [rate > 0.0 for _, rate in moves]
    assert {*changed} == {False, True}


@pytest.mark.parametrize("towards", [-500.0, 500.0])
def test_precisions_stay_where_they_have_a_posterior(towards):
    """From the rounding of the sums to the largest numbers, wherever the prior wants to go."""
    case = problem(n=30, m=2)
    evidence = evidence_of(case.rows(), case.omega, 1.0, KnownNoise())
    rng, prior = np.random.default_rng(0), LogNormalPrecision(towards, 10.0)
    moved, rate = precision_step(rng, evidence, prior, 30.0, n_steps=60)
    assert 0.0 < rate < 1.0
    assert evidence.least_precision <= moved.precision <= LARGEST_ENTRY
