"""Regression under noise that varies, against the dense law of the targets."""

from dataclasses import replace

import numpy as np
import pytest
from laws import inference_laws
from laws.amplitude_laws import BASES, MATCHED, amplitude_problem
from laws.inference_laws import repeated
from laws.noise_field_laws import heights
from numpy.testing import assert_allclose

from bochner.learned.chain_models import LocallyStationaryModel, sparse_envelope
from bochner.learned.chain_run import CollapsedChain
from bochner.learned.chain_state import InverseGammaNoise
from bochner.learned.frequency_priors import SparseHyper, SparsePrior
from bochner.learned.moves import PrecisionWalk, PriorParameters, ReplacementSweep
from bochner.learned.noise_field import NoiseField, VaryingNoise

NOISE = InverseGammaNoise(1.5, 0.4)
D = 2
MOVES = (ReplacementSweep(block_size=4), PrecisionWalk(), PriorParameters())


def started(case, rng, keep_dtype=np.float64):
    """A chain of a problem and its state, with a field that varies from the start."""
    model = LocallyStationaryModel((1.0,) * D, getattr(case.basis, "n_envelope", 0))
    size = getattr(case.basis, "n_stationary", len(case.omega))
    s_prior = SparsePrior.start(SparseHyper(np.ones(D)))
    units, prior = model.start(rng, s_prior.sample(rng, size), s_prior)
    if isinstance(case.basis, type(MATCHED)):
        units[1:, D : 2 * D] = case.omega[1:, D : 2 * D]
    prior = replace(prior, basis=case.basis)
    likelihood = VaryingNoise(NOISE, sparse_envelope(np.ones(D), 1.0))
    chain = CollapsedChain(case.rows(keep_dtype), likelihood, MOVES)
    field = NoiseField(likelihood.prior.sample(rng, 4), rng.normal(size=8), 0.7, likelihood.prior)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NoiseField, "start", lambda rng, prior: field)
        return chain, chain.init(rng, units, prior, 0.2)


def some_chain(seed, basis=MATCHED, **settings):
    """A small problem, the generator of its seed, and a chain that has started."""
    case, rng = amplitude_problem(basis, n=25, d=D, m=5, **settings), np.random.default_rng(seed)
    return case, rng, *started(case, rng)


def student_log_density(case, state):
    """Log density of contrasts of the targets: a t law whose noise is diag(e^h)."""
    noise = np.exp(heights(repeated(case).X, state.latent.omega, state.latent.weights))
    evidence = state.evidence
    return inference_laws.student_log_density(
        case, evidence.omega, evidence.precision, NOISE, noise
    )


CASES = {
    "rows": {},
    "weights": {"weights": "integer"},
    "a trend": {"q": 2},
    "weights and a trend": {"weights": "integer", "q": 2},
}


def assert_log_evidence(basis=MATCHED, **settings):
    """Differences along a chain are those of the dense law."""
    case, rng, chain, state = some_chain(0, basis, **settings)
    found, expected = [], []
    for _ in range(8):
        info = chain.step(rng, state)
        found.append(info["log_evidence"])
        expected.append(student_log_density(case, state))
    assert np.ptp(expected) > 0.5
    assert_allclose(np.diff(found), np.diff(expected), atol=1e-7)


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES.keys())
@pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())
def test_log_evidence_is_that_of_a_student_law(settings, basis):
    assert_log_evidence(basis, **settings)


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())
def test_evidence_at_other_frequencies_is_that_of_the_same_law(settings):
    """A trajectory compares states by it: the field's weights must not count as rows."""
    case, rng, _, state = some_chain(3, **settings)
    moved = state.omega.copy()
    moved[:, :D] += 0.7 * rng.normal(size=(len(moved), D))
    proposed = state.evidence_at(moved)
    found = proposed.log_evidence() - state.evidence.log_evidence()
    expected = -student_log_density(case, state)
    state.evidence = proposed
    expected += student_log_density(case, state)
    assert abs(expected) > 0.1
    assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())
def test_a_state_is_the_one_computed_afresh(settings):
    _, rng, chain, state = some_chain(2, **settings)
    for _ in range(5):
        chain.step(rng, state, adapting=True)
    before = state.evidence
    chain.rebuild(state)
    for name in ("omega", "gram", "cross", "square", "degrees", "covariance", "mean"):
        expected = getattr(before, name)
        scale = np.max(np.abs(expected))
        assert_allclose(getattr(state.evidence, name), expected, atol=1e-8 * scale)
    assert_allclose(state.evidence.log_evidence(), before.log_evidence(), rtol=1e-9)
