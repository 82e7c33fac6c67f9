"""Blocks of replacements are the chain of one proposal at a time, each factorised afresh."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws.inference_laws import problem
from numpy.testing import assert_allclose, assert_array_equal

from bochner._base import limits
from bochner.learned.chain_state import InverseGammaNoise, KnownNoise, evidence_of, solved
from bochner.learned.moves import Proposals, replace_frequencies

GAUSSIAN, KNOWN = InverseGammaNoise(0.7, 0.2), KnownNoise()


@dataclass(frozen=True)
class Plan:
    """All that is drawn: the order of every sweep, a move of each frequency, and its uniform."""

    order: np.ndarray
    shift: np.ndarray
    log_ratio: np.ndarray
    log_uniform: np.ndarray

    @classmethod
    def of(cls, m, d, n_sweeps, seed=0, groups=None):
        rng = np.random.default_rng(seed)
        groups = [np.arange(m)] if groups is None else groups
        order = [np.concatenate([rng.permutation(g) for g in groups]) for _ in range(n_sweeps)]
        order = np.array(order)
        size = (n_sweeps, m)
        return cls(
            order,
            0.5 * rng.normal(size=(*size, d)),
            rng.normal(size=size) - 0.5,
            np.log(rng.random(size)),
        )

    def proposed(self, sweep, places, omega):
        """New values of the frequencies at these places of the sweep, given all current ones."""
        return 0.98 * omega[self.order[sweep, places]] + self.shift[sweep, places]


def literal_log_evidence(case, omega, precision, noise):
    """Equation (14) by dense algebra that starts anew; constants left out."""
    A, b = case.posterior(omega, precision)
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    residual = np.sum(weight * case.y**2) - b @ np.linalg.solve(A, b)
    fit = -residual / 2.0
    if isinstance(noise, InverseGammaNoise):
        degrees = np.sum(weight) - case.trend.shape[1]
        fit = -(noise.shape + degrees / 2.0) * np.log(noise.rate + residual / 2.0)
    return case.n_waves(omega) * np.log(precision) - 0.5 * np.linalg.slogdet(A)[1] + fit


def one_at_a_time(case, precision, noise, plan):
    """Decisions and log evidence after each of them, of shape (sweeps, m), and frequencies."""
    omega = case.omega.copy()
    current = literal_log_evidence(case, omega, precision, noise)
    decisions, trace = np.zeros(plan.order.shape, dtype=bool), np.zeros(plan.order.shape)
    for sweep, place in np.ndindex(*plan.order.shape):
        trial = omega.copy()
        trial[plan.order[sweep, place]] = plan.proposed(sweep, place, omega)
        log_evidence = literal_log_evidence(case, trial, precision, noise)
        log_ratio = log_evidence - current + plan.log_ratio[sweep, place]
        if plan.log_uniform[sweep, place] < log_ratio:
            omega, current, decisions[sweep, place] = trial, log_evidence, True
        trace[sweep, place] = current
    return decisions, trace, omega


def assert_chain(
    case, precision, noise, *, block_size, n_sweeps=3, keep=True, atol=None, groups=None
):
    """Same decisions, same evidence after every block, and the posterior of a fresh start.

    With ``atol`` given, sums too ill-conditioned for more are factorised again every sweep.
    Blocks are of one of the ``groups`` of units.
    """
    plan = Plan.of(*case.omega.shape, n_sweeps, groups=groups)
    sizes = [len(case.omega)] if groups is None else [len(group) for group in groups]
    decisions, trace, omega = one_at_a_time(case, precision, noise, plan)
    # Both answers must be common: a chain that never moves proves nothing.
    assert 0.1 < decisions.mean() < 0.9
    evidence = evidence_of(case.rows(), case.omega, precision, noise, keep=keep)
    for sweep in range(n_sweeps):
        for places in _blocks(sizes, block_size):
            proposals = Proposals(
                plan.order[sweep, places],
                plan.proposed(sweep, places, evidence.omega),
                plan.log_ratio[sweep, places],
                plan.log_uniform[sweep, places],
            )
            accepted = replace_frequencies(evidence, case.rows(), proposals)
            assert_array_equal(accepted, decisions[sweep, places])
            difference = evidence.log_evidence() - trace[sweep, places.stop - 1]
            assert abs(difference) < (1e-8 if atol is None else atol)
        if atol is not None:
            evidence = solved(evidence, precision)
    assert_array_equal(evidence.omega, omega)
    assert_state(case, evidence, rtol=1e-9 if atol is None else 1e-6)


def _blocks(sizes, block_size):
    first = 0
    for size in sizes:
        for start in range(first, first + size, block_size):
            yield slice(start, min(start + block_size, first + size))
        first += size


def assert_state(case, evidence, rtol=1e-9):
    """The posterior, the sums and the features are those of the frequencies, made afresh."""
    A, b = case.posterior(evidence.omega, evidence.precision)
    u, P = np.linalg.solve(A, b), np.linalg.inv(A)
    ridge = np.diag(A) - np.diag(evidence.gram)
    pairs = 2 * case.n_waves(evidence.omega)
    assert_allclose(ridge[:pairs], evidence.precision, atol=1e-11 * np.max(A))
    assert_allclose(ridge[pairs:], 0.0, atol=1e-11 * np.max(A))
    Z = case.design(evidence.omega).T
    for name, expected in {
        "gram": A - np.diag(ridge),
        "cross": b,
        "covariance": P,
        "mean": u,
        "explained": b @ u,
        "log_determinant": np.linalg.slogdet(A)[1],
        "features": Z if evidence.features is not None else None,
    }.items():
        found = getattr(evidence, name)
        if expected is None:
            assert found is None
            continue
        assert_allclose(found, expected, rtol=0.0, atol=rtol * np.max(np.abs(expected)))


def small(block_size=7, **settings):
    """The check for planted errors: a few frequencies, all of a sweep in few blocks."""
    assert_chain(problem(n=40, m=12, **settings), 0.1, GAUSSIAN, block_size=block_size)


CASES = {
    "unknown noise": (GAUSSIAN, {"m": 80}),
    "unknown noise, weights, trend": (GAUSSIAN, {"m": 70, "weights": "integer", "q": 2}),
    "known noise, weights": (KNOWN, {"m": 70, "weights": "real"}),
    "known noise, trend": (KNOWN, {"m": 70, "q": 2}),
}


@pytest.mark.thorough_cases("1|64|^unknown noise-")
@pytest.mark.parametrize("block_size", [1, 7, 64])
@pytest.mark.parametrize(("noise", "settings"), CASES.values(), ids=CASES.keys())
def test_blocks_are_the_chain_of_one_at_a_time(noise, settings, block_size):
    assert_chain(problem(n=200, **settings), 0.1, noise, block_size=block_size)


@pytest.mark.parametrize("block_size", [1, 7, 64])
@pytest.mark.parametrize("weights", [None, "integer"])
def test_features_need_not_be_kept(monkeypatch, weights, block_size):
    monkeypatch.setattr(limits, "BLOCK_BYTES", 1)
    case = problem(n=600, m=20, q=1, weights=weights)
    assert_chain(case, 0.1, GAUSSIAN, block_size=block_size, keep=False)


@pytest.mark.parametrize("sizes", [(10, 2, 1), (1, 2, 2), (5, 1, 12)])
def test_few_rows_or_frequencies(sizes):
    n, d, m = sizes
    case = problem(n=n, d=d, m=m)
    assert_chain(case, 0.1, GAUSSIAN, block_size=4, n_sweeps=60 // m)


def forced(case, omega, index, precision, noise=GAUSSIAN):
    """The evidence after one block of proposals, all of which are accepted."""
    evidence = evidence_of(case.rows(), case.omega, precision, noise)
    size = len(index)
    proposals = Proposals(np.asarray(index), omega, np.zeros(size), np.full(size, -np.inf))
    accepted = replace_frequencies(evidence, case.rows(), proposals)
    return evidence, accepted


@pytest.mark.parametrize(
    ("index", "values"),
    [
        ([7, 2, 5], lambda case: case.omega[[7, 2, 5]]),
        # Each takes the other's value: for one step they are the same, at the first's place.
        ([7, 2], lambda case: case.omega[[2, 7]]),
        # The sine of a zero frequency is zero.
        ([0, 4, 9], lambda case: np.stack((case.other[0], np.zeros(3), np.zeros(3)))),
        ([], lambda case: np.empty((0, 3))),
    ],
    ids=["current values", "changed places", "zero frequencies", "empty"],
)
def test_any_proposals_may_be_accepted(index, values):
    case = problem(m=10)
    case = replace(case, omega=np.vstack((np.zeros((1, 3)), case.omega[1:])))
    evidence, accepted = forced(case, values(case), np.array(index, dtype=int), 0.1)
    assert accepted.shape == (len(index),)
    assert np.all(accepted)
    assert_array_equal(evidence.omega[index], values(case))
    assert_state(case, evidence)
    literal = literal_log_evidence(case, evidence.omega, 0.1, GAUSSIAN)
    assert_allclose(evidence.log_evidence(), literal, rtol=0.0, atol=1e-8)


# Rounding is multiplied by the square of the condition of A, here 1e6 and 1e8; what matters is
# that log evidence stays far from the unit in which decisions are made.
SMALL = pytest.mark.parametrize(("precision", "atol"), [(1e-4, 1e-6), (1e-6, 5e-3)])


@SMALL
@pytest.mark.parametrize("block_size", [1, 7, 64])
def test_the_chain_at_a_small_precision(block_size, precision, atol):
    case = problem(n=200, m=30)
    assert_chain(case, precision, GAUSSIAN, block_size=block_size, n_sweeps=4, atol=atol)


def test_sparse_frequencies_at_a_small_precision():
    """A condition of 1e9: without a correction of P C, log evidence is wrong by more than one."""
    case, rng = problem(n=3000, d=5, m=100), np.random.default_rng(2)
    sparse = rng.random(case.omega.shape) < 0.5
    case = replace(case, omega=case.omega * sparse)
    evidence = evidence_of(case.rows(), case.omega, 1e-6, GAUSSIAN)
    for order in np.split(rng.permutation(100), 2):
        moved = case.omega[order] + 0.1 * rng.normal(size=(50, 5)) * sparse[order]
        uniforms = np.log(rng.random(50))
        replace_frequencies(evidence, case.rows(), Proposals(order, moved, np.zeros(50), uniforms))
        literal = literal_log_evidence(case, evidence.omega, 1e-6, GAUSSIAN)
        assert abs(evidence.log_evidence() - literal) < 0.1
