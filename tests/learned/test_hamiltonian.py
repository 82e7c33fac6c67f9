"""Hamiltonian trajectories: reversible, of unit volume, of second order, and invariant."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from laws.inference_laws import log_density, problem
from learned.test_dirichlet_mixture import standard_errors
from numpy.testing import assert_allclose
from scipy import stats

from bochner.learned import moves
from bochner.learned.chain_state import (
    ChainState,
    InverseGammaNoise,
    KnownNoise,
    StepSizes,
    evidence_of,
)
from bochner.learned.dirichlet_mixture import (
    GammaPrior,
    Mixture,
    MixturePrior,
    NormalInverseWishart,
)
from bochner.learned.frequency_priors import DensePrior, SparseHyper, SparsePrior, Whitening
from bochner.learned.moves import Hamiltonian

# Shared evenly (Bonferroni) among the functions of a chain.
FAMILY_ALPHA = 1e-3
NOISE = InverseGammaNoise(2.0, 0.3)


def hamiltonian_step(rng, evidence, rows, whitening, step_size, move):
    """The evidence after a trajectory, and its acceptance."""
    prior = SimpleNamespace(whitening=lambda rng, omega: whitening)
    state = ChainState(rows, evidence, prior, StepSizes({"hmc": step_size}))
    info = move(rng, state)
    return state.evidence, info["acceptance_hmc"]


class Given:
    """In place of a generator: the momentum given, no jitter, and acceptance of anything."""

    def __init__(self, momentum):
        self.momentum = momentum

    def normal(self, size):
        assert size == self.momentum.shape
        return self.momentum

    def uniform(self, low, high):
        return 0.5 * (low + high)

    def random(self):
        return 1e-300


@dataclass(frozen=True)
class Trajectories:
    """A problem with the coordinates of its prior, and its trajectories."""

    case: object
    noise: object
    whitening: Whitening
    precision: float = 0.3

    @property
    def start(self):
        return self.whitening.whiten(self.case.omega)

    def run(self, position, momentum, step_size, n_steps):
        """End position, end momentum, and how much the energy has grown."""
        seen = []
        with pytest.MonkeyPatch.context() as patch:
            energy = moves._energy

            def seeing(*arguments):
                seen.append((*arguments[1:], energy(*arguments)))
                return seen[-1][-1]

            patch.setattr(moves, "_energy", seeing)
            rows = self.case.rows()
            omega = self.whitening.colour(position)
            evidence = evidence_of(rows, omega, self.precision, self.noise)
            settings = Hamiltonian(n_steps, jitter=0.0)
            end, rate = hamiltonian_step(
                Given(momentum), evidence, rows, self.whitening, step_size, settings
            )
        growth = seen[-1][2] - seen[0][2]
        assert_allclose(rate, np.exp(min(-growth, 0.0)))
        assert_allclose(end.omega, self.whitening.colour(seen[-1][0]), rtol=1e-12)
        return seen[-1][0], seen[-1][1], growth


def trajectories(kind="dense", noise=NOISE, **settings):
    case = problem(**{"n": 15, "m": 2, "d": 2} | settings)
    m, d = case.omega.shape
    rng = np.random.default_rng(1)
    if kind == "dense":
        base = NormalInverseWishart(np.zeros(d), 0.3, np.eye(d), d + 2.0)
        means = 0.3 * rng.normal(size=(2, d))
        covariances = np.array([np.diag(np.arange(1.0, d + 1.0)), 0.5 * np.eye(d) + 0.1])
        mixture = Mixture(np.arange(m) % 2, means, covariances, 1.0)
        whitening = DensePrior(MixturePrior(base, GammaPrior(1.0, 1.0)), mixture).whitening(
            rng, case.omega
        )
    else:
        case.omega[0, 0] = 0.0
        prior = SparsePrior.start(SparseHyper(np.ones(d))).refresh(rng, np.zeros((0, d)))
        whitening = prior.whitening(rng, case.omega)
    return Trajectories(case, noise, whitening)


def momentum_of(t, seed=2):
    fresh = np.random.default_rng(seed).normal(size=t.case.omega.shape)
    return np.where(t.whitening.moving, fresh, 0.0)


CASES = {
    "dense": {},
    "dense, weights, trend": {"weights": "integer", "q": 1},
    "dense, known noise": {"noise": KnownNoise(), "weights": "real"},
    "sparse": {"kind": "sparse"},
}
ALL = pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())


def assert_order(**settings):
    """Half the step, twice as many of them: a quarter of the error in energy."""
    t = trajectories(**settings)
    momentum = momentum_of(t)
    growth = [t.run(t.start, momentum, 0.016 / refined, 8 * refined)[2] for refined in (1, 2, 4)]
    assert np.max(np.abs(growth)) < 0.01
    assert_allclose(growth[0] / growth[1], 4.0, rtol=0.1)
    assert_allclose(growth[1] / growth[2], 4.0, rtol=0.05)


@ALL
def test_errors_in_energy_are_of_second_order(settings):
    assert_order(**settings)


class Standard(Whitening):
    """Frequencies whose prior is standard normal to begin with, all of which may move."""

    def __init__(self, omega):
        self.moving = np.ones(omega.shape, dtype=bool)

    def whiten(self, omega):
        return omega

    def colour(self, coordinates):
        return coordinates

    def pull(self, gradient):
        return gradient


def functions(omega):
    """Functions of two frequencies (N, 2); thresholds lie between points of the grid."""
    a, b = np.sort(np.abs(omega), axis=1).T
    return np.column_stack(
        (a, b, a**2, b**2, a < 0.55, b < 1.05, np.tanh(omega[:, 0]), np.cos(omega @ [1.0, 2.0]))
    )


def quadrature(case, precision):
    """Means of the functions under evidence times standard normal prior."""
    grid = np.linspace(-4.0, 4.0, 81)
    log_posterior = np.empty((len(grid), len(grid)))
    half = len(grid) // 2
    # Evidence is blind to the signs of frequencies.
    for i in range(half, len(grid)):
        for j in range(half, i + 1):
            omega = np.array([[grid[i]], [grid[j]]])
            value = log_density(case, omega, precision, NOISE)
            for p, q in ((i, j), (j, i)):
                for row in (p, len(grid) - 1 - p):
                    log_posterior[row, [q, len(grid) - 1 - q]] = value
    a, b = np.meshgrid(grid, grid, indexing="ij")
    density = np.exp(log_posterior - log_posterior.max() - 0.5 * (a**2 + b**2))
    assert max(density[0].max(), density[:, 0].max()) < 1e-3 * density.max()
    values = functions(np.column_stack((a.ravel(), b.ravel())))
    return density.ravel() @ values / density.sum()


@pytest.mark.thorough
def test_trajectories_leave_the_posterior_as_it_is(n=3000, step_size=0.9):
    case, precision = problem(n=5, d=1, m=2), 0.5
    rng, rows = np.random.default_rng(3), case.rows()
    expected = quadrature(case, precision)
    evidence = evidence_of(rows, case.omega, precision, NOISE)
    chain, rates = [], []
    for _ in range(n):
        evidence, rate = hamiltonian_step(
            rng, evidence, rows, Standard(case.omega), step_size, Hamiltonian(4)
        )
        chain.append(evidence.omega.ravel())
        rates.append(rate)
    values = functions(np.array(chain))
    z = (values.mean(axis=0) - expected) / standard_errors(values)
    assert np.max(np.abs(z)) < stats.norm.isf(FAMILY_ALPHA / (2.0 * len(z)))
    # Steps so small that all is accepted would say nothing of the energy.
    assert 0.6 < np.mean(rates) < 0.97


def test_a_trajectory_that_diverges_is_refused():
    t = trajectories()
    evidence = evidence_of(t.case.rows(), t.case.omega, t.precision, t.noise)
    settings = Hamiltonian(4)
    same, rate = hamiltonian_step(
        np.random.default_rng(0), evidence, t.case.rows(), t.whitening, 1e6, settings
    )
    assert (same is evidence, rate) == (True, 0.0)
