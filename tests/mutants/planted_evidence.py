"""Bugs of the evidence and its moves, each with the law that must notice it."""

from functools import partial

import numpy as np
from laws import inference_laws
from learned import test_hamiltonian, test_precision, test_replacement, test_sparse_prior
from mutants.registry import changes, edit, plant_edits, planted

from bochner.learned import modulated_waves
from bochner.learned import moves as hamiltonian
from bochner.learned import moves as replacement
from bochner.learned.chain_state import ChainEvidence, InverseGammaNoise
from bochner.learned.frequency_priors import SparsePrior
from bochner.spectral import wave_formulas as wave_formulas

NOISE = InverseGammaNoise(0.7, 0.2)
student = inference_laws.check_student
normal = inference_laws.check_normal
blocks = test_replacement.small
one_by_one = partial(test_replacement.small, block_size=1)
slope = partial(inference_laws.check_gradient, NOISE)
steps_of_precision = partial(test_precision.test_steps_leave_the_posterior_as_it_is, NOISE, n=1500)
toggles = partial(test_sparse_prior.test_moves_keep_the_law, "toggle")
toggles_back = partial(test_sparse_prior.test_moves_are_reversible, "toggle")
parameters = test_sparse_prior.test_refreshes_and_redraws_keep_the_hyperprior


def change_ratios(patch, kind, change):
    suggest = SparsePrior.suggest

    def changed(self, rng, omega, index):
        suggestion = suggest(self, rng, omega, index)
        chosen = suggestion.kind == self.kinds.index(kind)
        suggestion.log_ratio[chosen] = change(suggestion.log_ratio[chosen])
        return suggestion

    patch.setattr(SparsePrior, "suggest", changed)


@changes(ChainEvidence, "log_evidence", student, normal, steps_of_precision)
def ridge_without_its_determinant(log_evidence, self, *args):
    """The log of |Lambda_0| lost, here and at other precisions."""
    return log_evidence(self, *args) - self.n_waves * np.log(self.precision)


plant_edits(replacement, "decide_exchanges", blocks, one_by_one,
    old_determinant_dropped=("(lost_determinant + gained_determinant)", "gained_determinant"),
    )  # fmt: skip
planted(slope, name="sine_of_the_wrong_sign")(
    edit(wave_formulas, "angle_gradient", "angle -= ", "angle += ", modulated_waves)
)
planted(toggles, toggles_back, name="toggle_without_odds")(
    lambda patch: change_ratios(patch, "toggle", np.zeros_like)
)
plant_edits(SparsePrior, "refresh", parameters,
    means_of_the_wrong_spread=("np.sqrt(variance / strength)", "np.sqrt(variance / n.clip(1))"),
)  # fmt: skip
planted(test_hamiltonian.assert_order, name="force_without_the_prior")(
    edit(hamiltonian, "_force", " - position", "")
)


@planted(test_hamiltonian.test_trajectories_leave_the_posterior_as_it_is)
def trajectories_count_the_prior_twice(patch):
    edit(hamiltonian, "_energy", "np.sum(position**2)", "2.0 * np.sum(position**2)")(patch)
    edit(hamiltonian, "_force", "- position", "- 2.0 * position")(patch)


# A whole step of momentum to begin every step: no longer the leapfrog.
