"""A move of a user's own file in the chains of the learned kernels."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

import bochner
from bochner import LearnedKernelClassifier, LearnedKernelRegressor, LocallyStationaryRegressor
from bochner.learned import Chains
from bochner.learned.moves import LOCAL_MOVES, Move

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@bochner.register
@dataclass(frozen=True, slots=True)
class JointStep(Move):
    """A Crank-Nicolson step of all frequencies in the coordinates in which they are normal."""

    name, step_size, target_acceptance = "joint", 0.1, 0.3

    def __call__(self, rng, state):
        law = state.prior.whitening(rng, state.omega)
        step = min(state.steps[self.name], 1.0)
        fresh = np.where(law.moving, rng.normal(size=state.omega.shape), 0.0)
        moved = np.sqrt(1.0 - step**2) * law.whiten(state.omega) + step * fresh
        proposed = state.evidence_at(law.colour(moved))
        log_ratio = proposed.log_evidence() - state.evidence.log_evidence()
        if np.log(rng.random()) < log_ratio:
            state.evidence = proposed
        return {"acceptance_joint": float(np.exp(min(log_ratio, 0.0)))}


X = np.random.default_rng(0).normal(size=(50, 2))
Y = np.sin(2.0 * X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=50)
WITH_IT = [JointStep(), *LOCAL_MOVES]
SHORT = {"n_frequencies": 4, "chains": Chains(n_burn_in=60, n_samples=60, thin=1, n_chains=1)}


@pytest.mark.thorough
@pytest.mark.parametrize("structure", ["dense", "sparse"])
def test_its_step_size_is_adapted_to_its_target(structure):
    short = SHORT | {"n_frequencies": 5, "chains": Chains(120, 80, 1, thin=1)}
    model = LearnedKernelRegressor(
        **short, structure=structure, sampler=WITH_IT, random_state=0
    ).fit(X, Y)
    records = model.trace_.records
    assert 0.1 < records["acceptance_joint"][:, -80:].mean() < 0.6
    assert len(np.unique(records["step_size_joint"][:, -80:])) == 1


@pytest.mark.thorough
def test_it_leaves_the_posterior_as_it_is():
    means = [
        [
            LearnedKernelRegressor(**SHORT, structure="dense", sampler=sampler, random_state=seed)
            .fit(X, Y)
            .trace_.records["log_evidence"][:, -60:]
            .mean()
            for seed in range(5)
        ]
        for sampler in (WITH_IT, list(LOCAL_MOVES))
    ]
    assert stats.ttest_ind(*means, equal_var=False).pvalue > 1e-3


@pytest.mark.parametrize(
    ("kind", "y"),
    [
        (LearnedKernelRegressor, Y),
        (LearnedKernelClassifier, Y > 0.0),
        (LocallyStationaryRegressor, Y),
    ],
)
def test_models_with_it_are_saved_and_loaded(kind, y, tmp_path):
    short = SHORT | {"structure": "dense", "chains": Chains(6, 6, 1, thin=1)}
    model = kind(**short, sampler=WITH_IT, random_state=0).fit(X, y)
    assert "acceptance_joint" in model.trace_.records
    bochner.save(model, tmp_path / "m.bochner")
    assert_array_equal(bochner.load(tmp_path / "m.bochner").predict(X), model.predict(X))
