"""Bugs of the evidence and its moves, each with the law that must notice it."""

from functools import partial

import numpy as np
from laws import inference_laws
from learned import test_hamiltonian, test_precision, test_replacement, test_sparse_prior
from mutants.registry import changes, edit, edit_inner, plant_edits, planted, replaces

from bochner.learned import chain_state, exchange_loops, frequency_priors, modulated_waves
from bochner.learned import moves as hamiltonian
from bochner.learned import moves as replacement
from bochner.learned.chain_state import ChainEvidence, InverseGammaNoise, KnownNoise
from bochner.learned.frequency_priors import SparsePrior
from bochner.learned.moves import LogNormalPrecision
from bochner.learned.training_data import TrainingData
from bochner.spectral import wave_formulas as wave_formulas

NOISE = InverseGammaNoise(0.7, 0.2)
student = inference_laws.check_student
student_weights = partial(inference_laws.check_student, weights="integer", q=2)
normal = inference_laws.check_normal
blocks = test_replacement.small
one_by_one = partial(test_replacement.small, block_size=1)
weighted_blocks = partial(test_replacement.small, weights="integer")
slope = partial(inference_laws.check_gradient, NOISE)
weighted_slope = partial(inference_laws.check_gradient, KnownNoise(), weights="real")
steps_of_precision = partial(test_precision.test_steps_leave_the_posterior_as_it_is, NOISE, n=1500)
toggles = partial(test_sparse_prior.test_moves_keep_the_law, "toggle")
toggles_back = partial(test_sparse_prior.test_moves_are_reversible, "toggle")
swaps = partial(test_sparse_prior.test_moves_keep_the_law, "swap")
parameters = test_sparse_prior.test_refreshes_and_redraws_keep_the_hyperprior
crank_nicolson = partial(test_sparse_prior.test_moves_keep_the_law, "pcn")


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


planted(student_weights, name="ridge_on_the_trend")(
    edit(ChainEvidence, "posterior_precision", "2 * self.n_waves", "len(A)")
)


@planted(student_weights)
def rows_for_weights(patch):
    """Degrees of freedom that count a row of weight three once."""
    patch.setattr(TrainingData, "n_observations", property(lambda self: float(self.n_samples)))


@replaces(InverseGammaNoise, "coefficients", student)
def half_the_rows(self, degrees):
    return 0.0, self.shape + degrees, self.rate


plant_edits(replacement, "decide_exchanges", blocks, one_by_one,
    old_determinant_dropped=("(lost_determinant + gained_determinant)", "gained_determinant"),
    old_determinant_inverted=("(lost_determinant + ", "(-lost_determinant + "))  # fmt: skip
for name, function, line in (
    ("mean_with_the_lost_features", "_take_out", "add(-room.weights[a], left[a], without)"),
    ("new_features_without_the_ridge", "_put_in", "room.block[a, a] += precision"),
    ("targets_that_stay", "_exchange", "target[places[a]] = unit.cross[a]"),
):
    planted(blocks, one_by_one, name=name)(
        edit_inner(exchange_loops, function, "decide_exchanges", line, "pass", replacement)
    )
plant_edits(replacement, "decide_exchanges", blocks,
    products_that_stay=("products[later, unit.places[a]] = within[later, w * index + a]", "pass"),
    panels_that_stay=("_carry(index, ", "_carry(n_units, "))  # fmt: skip
for name, old, new in (
    ("features_that_stay", "features[columns[of_features]] = fresh[of_features]", "pass"),
    ("covariance_that_stays", "1.0, scaled[of_units].T", "0.0, scaled[of_units].T"),
):
    planted(blocks, one_by_one, name=name)(
        edit(replacement, "replace_frequencies", old, new, test_replacement)
    )
planted(weighted_blocks, name="proposals_without_weights")(
    edit(
        replacement,
        "part_products",
        "weighted = F if part.weight is None else",
        "weighted = F if 1 else",
    )
)
planted(slope, name="sine_of_the_wrong_sign")(
    edit(wave_formulas, "angle_gradient", "angle -= ", "angle += ", modulated_waves)
)
planted(slope, name="spread_of_the_wrong_sign")(
    edit(chain_state, "part_gradient", "np.subtract(mean", "np.add(mean")
)
planted(weighted_slope, name="determinant_without_weights")(
    edit(chain_state, "part_gradient", "slope *= weight", "pass")
)
planted(slope, name="fit_without_the_noise")(
    edit(chain_state, "part_gradient", "tau * (target", "(target")
)
replaces(LogNormalPrecision, "log_density", steps_of_precision, name="flat_prior_of_the_precision")(
    lambda self, log_precision: 0.0
)
planted(toggles, toggles_back, name="toggle_without_odds")(
    lambda patch: change_ratios(patch, "toggle", np.zeros_like)
)
planted(toggles, name="toggle_of_inverted_odds")(
    lambda patch: change_ratios(patch, "toggle", np.negative)
)
planted(swaps, name="swap_of_inverted_odds")(
    lambda patch: change_ratios(patch, "swap", np.negative)
)
planted(swaps, name="swap_without_odds")(lambda patch: change_ratios(patch, "swap", np.zeros_like))
planted(crank_nicolson, name="crank_nicolson_that_shrinks")(
    edit(frequency_priors, "crank_nicolson", "np.sqrt(1.0 - rho**2)", "(1.0 - rho)")
)
plant_edits(SparsePrior, "refresh", parameters,
    means_of_the_wrong_spread=("np.sqrt(variance / strength)", "np.sqrt(variance / n.clip(1))"),
    variances_without_half_the_frequencies=("hyper.shape + 0.5 * n", "hyper.shape + n"),
)  # fmt: skip
planted(test_hamiltonian.assert_order, name="force_without_the_prior")(
    edit(hamiltonian, "_force", " - position", "")
)


@planted(test_hamiltonian.test_trajectories_leave_the_posterior_as_it_is)
def trajectories_count_the_prior_twice(patch):
    edit(hamiltonian, "_energy", "np.sum(position**2)", "2.0 * np.sum(position**2)")(patch)
    edit(hamiltonian, "_force", "- position", "- 2.0 * position")(patch)


# A whole step of momentum to begin every step: no longer the leapfrog.
planted(test_hamiltonian.assert_order, name="one_half_kick_too_many")(
    edit(
        hamiltonian.Hamiltonian,
        "__call__",
        "        momentum = momentum + 0.5 * step * force\n        position",
        "        momentum = momentum + step * force\n        position",
    )
)
