"""Bugs of the evidence and its moves, each with the law that must notice it."""

import inspect
import textwrap

import numpy as np
from laws import inference_laws
from learning.inference import test_sparse_parameters, test_sparse_prior
from learning.moves import test_hamiltonian, test_precision, test_replacement
from mutants.planted import Mutant

from bochner.frequencies import waves as wave_formulas
from bochner.learning.inference import evidence, gradient, waves
from bochner.learning.inference.evidence import Evidence
from bochner.learning.inference.noise import InverseGammaNoise, KnownNoise
from bochner.learning.inference.sparse import SparsePrior
from bochner.learning.inference.training_data import TrainingData
from bochner.learning.moves import hamiltonian, precision, replacement
from bochner.learning.moves.precision import LogNormalPrecision

NOISE = InverseGammaNoise(0.7, 0.2)


def student():
    inference_laws.check_student()


def student_weights():
    inference_laws.check_student(weights="integer", q=2)


def normal():
    inference_laws.check_normal()


def blocks():
    test_replacement.small()


def one_by_one():
    test_replacement.small(block_size=1)


def weighted_blocks():
    test_replacement.small(weights="integer")


def slope():
    inference_laws.check_gradient(NOISE)


def weighted_slope():
    inference_laws.check_gradient(KnownNoise(), weights="real")


def steps_of_precision():
    test_precision.check_invariance(NOISE, n=1500)


def toggles():
    test_sparse_prior.check_invariance("toggle")


def toggles_back():
    test_sparse_prior.check_reversible("toggle")


def swaps():
    test_sparse_prior.check_invariance("swap")


def crank_nicolson():
    test_sparse_prior.check_invariance("pcn")


def edited(function, old, new):
    """The function with a line of it changed, which must be there once."""
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(old) != 1:
        raise LookupError(f"{old!r} is not once in {function.__qualname__}; plant the bug anew.")
    scope = {}
    exec(source.replace(old, new), function.__globals__, scope)
    return scope[function.__name__]


def edit(owner, name, old, new, *users):
    """Return what plants a changed line, also where the name has been imported to."""
    changed = edited(inspect.getattr_static(owner, name), old, new)

    def plant(patch):
        for place in (owner, *users):
            patch.setattr(place, name, changed)

    return plant


def change_ratios(patch, kind, change):
    suggest = SparsePrior.suggest

    def changed(self, rng, omega, index):
        suggestion = suggest(self, rng, omega, index)
        chosen = suggestion.kind == self.kinds.index(kind)
        suggestion.log_ratio[chosen] = change(suggestion.log_ratio[chosen])
        return suggestion

    patch.setattr(SparsePrior, "suggest", changed)


def ridge_without_its_determinant(patch):
    """The log of |Lambda_0| lost, here and at other precisions."""
    here, there = Evidence.log_evidence, precision.log_evidence_at

    def without(self, *args):
        return here(self, *args) - self.n_waves * np.log(self.precision)

    patch.setattr(Evidence, "log_evidence", without)
    patch.setattr(
        precision,
        "log_evidence_at",
        lambda state, value: there(state, value) - state.n_waves * np.log(value),
    )


def ridge_on_the_trend(patch):
    edit(evidence, "_factor", "2 * evidence.n_waves", "len(A)")(patch)


def rows_for_weights(patch):
    """Degrees of freedom that count a row of weight three once."""
    patch.setattr(TrainingData, "total_weight", property(lambda self: float(self.n_samples)))


def half_the_rows(patch):
    patch.setattr(
        InverseGammaNoise,
        "log_likelihood",
        lambda self, residual, degrees: (
            -(self.shape + degrees) * float(np.log(self.rate + residual / 2.0))
        ),
    )


def exchange(old, new):
    return edit(replacement._Block, "exchange", old, new)


def old_determinant_dropped(patch):
    exchange("(old_determinant + new_determinant)", "new_determinant")(patch)


def old_determinant_inverted(patch):
    exchange("(old_determinant + ", "(-old_determinant + ")(patch)


def mean_with_the_lost_features(patch):
    exchange("mean = evidence.mean - left @ weights", "mean = evidence.mean.copy()")(patch)


def explained_with_the_lost_features(patch):
    exchange("evidence.explained - lost", "evidence.explained")(patch)


def new_features_without_the_ridge(patch):
    exchange("schur[np.arange(w), np.arange(w)] += evidence.precision", "pass")(patch)


def accept(old, new):
    return edit(replacement._Block, "accept", old, new)


def products_that_stay(patch):
    """Cross products with the accepted proposal not passed on to those after it."""
    accept("self.products[jj, rest] = self.within[here, rest]", "pass")(patch)


def features_that_stay(patch):
    accept("evidence.features[jj] = self.fresh[here]", "pass")(patch)


def targets_that_stay(patch):
    accept("evidence.cross[jj] = self.cross[here]", "pass")(patch)


def panels_that_stay(patch):
    patch.setattr(replacement._Block, "_carry", lambda *args: None)


def covariance_that_stays(patch):
    patch.setattr(replacement._Block, "finish", lambda self: None)


def proposals_without_weights(patch):
    edit(
        replacement,
        "part_products",
        "weighted = F if part.weight is None else",
        "weighted = F if 1 else",
    )(patch)


def prior_ratio_dropped(patch):
    edit(replacement, "replace_frequencies", " + proposals.log_ratio[k]", "", test_replacement)(
        patch
    )


def sine_of_the_wrong_sign(patch):
    edit(wave_formulas, "angle_gradient", "angle -= ", "angle += ", waves)(patch)


def spread_of_the_wrong_sign(patch):
    edit(gradient, "part_gradient", "np.subtract(mean", "np.add(mean")(patch)


def determinant_without_weights(patch):
    edit(gradient, "part_gradient", "slope *= weight", "pass")(patch)


def fit_without_the_noise(patch):
    edit(gradient, "part_gradient", "tau * (target", "(target")(patch)


def flat_prior_of_the_precision(patch):
    patch.setattr(LogNormalPrecision, "log_density", lambda self, log_precision: 0.0)


def toggle_without_odds(patch):
    change_ratios(patch, "toggle", np.zeros_like)


def toggle_of_inverted_odds(patch):
    change_ratios(patch, "toggle", np.negative)


def swap_of_inverted_odds(patch):
    change_ratios(patch, "swap", np.negative)


def swap_without_odds(patch):
    change_ratios(patch, "swap", np.zeros_like)


def crank_nicolson_that_shrinks(patch):
    edit(test_sparse_prior.module, "crank_nicolson", "np.sqrt(1.0 - rho**2)", "(1.0 - rho)")(patch)


def parameters_edited(old, new):
    return edit(SparsePrior, "refresh", old, new)


def means_of_the_wrong_spread(patch):
    parameters_edited("np.sqrt(variance / strength)", "np.sqrt(variance / n.clip(1))")(patch)


def variances_without_half_the_frequencies(patch):
    parameters_edited("hyper.shape + 0.5 * n", "hyper.shape + n")(patch)


def inclusion_of_active_frequencies_only(patch):
    parameters_edited("b + len(omega) - counts", "b + counts")(patch)


def force_without_the_prior(patch):
    edit(hamiltonian, "_force", " - position", "")(patch)


def prior_counted_twice(patch):
    edit(hamiltonian, "_energy", "np.sum(position**2)", "2.0 * np.sum(position**2)")(patch)
    edit(hamiltonian, "_force", "- position", "- 2.0 * position")(patch)


def one_half_kick_too_many(patch):
    """A whole step of momentum to begin every step: no longer the leapfrog."""
    edit(
        hamiltonian.Hamiltonian,
        "__call__",
        "        momentum = momentum + 0.5 * step * force\n        position",
        "        momentum = momentum + step * force\n        position",
    )(patch)


MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(plant.__name__, plant, checks)
    for plant, checks in {
        ridge_without_its_determinant: (student, normal, steps_of_precision),
        ridge_on_the_trend: (student_weights,),
        rows_for_weights: (student_weights,),
        half_the_rows: (student,),
        old_determinant_dropped: (blocks, one_by_one),
        old_determinant_inverted: (blocks, one_by_one),
        mean_with_the_lost_features: (blocks, one_by_one),
        explained_with_the_lost_features: (blocks, one_by_one),
        new_features_without_the_ridge: (blocks, one_by_one),
        products_that_stay: (blocks,),
        features_that_stay: (blocks, one_by_one),
        targets_that_stay: (blocks, one_by_one),
        panels_that_stay: (blocks,),
        covariance_that_stays: (blocks, one_by_one),
        proposals_without_weights: (weighted_blocks,),
        prior_ratio_dropped: (blocks, one_by_one),
        sine_of_the_wrong_sign: (slope,),
        spread_of_the_wrong_sign: (slope,),
        determinant_without_weights: (weighted_slope,),
        fit_without_the_noise: (slope,),
        flat_prior_of_the_precision: (steps_of_precision,),
        toggle_without_odds: (toggles, toggles_back),
        toggle_of_inverted_odds: (toggles,),
        swap_of_inverted_odds: (swaps,),
        swap_without_odds: (swaps,),
        crank_nicolson_that_shrinks: (crank_nicolson,),
        means_of_the_wrong_spread: (test_sparse_parameters.check_geweke,),
        variances_without_half_the_frequencies: (test_sparse_parameters.check_geweke,),
        inclusion_of_active_frequencies_only: (test_sparse_parameters.check_geweke,),
        force_without_the_prior: (test_hamiltonian.check_order,),
        prior_counted_twice: (test_hamiltonian.check_invariance,),
        one_half_kick_too_many: (test_hamiltonian.check_order,),
    }.items()
)
