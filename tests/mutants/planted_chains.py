"""Bugs of the chains over frequencies, each with the sampler whose joint law must notice it."""

from dataclasses import replace
from itertools import count

import numpy as np
from laws import chains
from mutants import planted_mixture
from mutants.registry import changes, edit, planted, replaces

from bochner.learned import moves as hamiltonian
from bochner.learned import moves as replacement
from bochner.learned import polya_gamma as polya_gamma
from bochner.learned.frequency_priors import SparsePrior
from bochner.learned.moves import LogNormalPrecision
from bochner.papers import bank as joint_pairs
from bochner.papers.bank import JointPairChain, Laplace

ALPHA = 1e-3


def check(name, n_rounds=25, n_chains=24):
    return lambda: chains.check_joint(chains.SAMPLERS[name], n_chains, n_rounds, alpha=ALPHA)


@planted(check("regression-dense-hmc", 80))
def prior_counted_twice(patch):
    """In the energy and in the force of Hamiltonian moves."""
    energy, force = hamiltonian._energy, hamiltonian._force
    patch.setattr(
        hamiltonian,
        "_energy",
        lambda evidence, x, momentum: energy(evidence, x, momentum) + 0.5 * float(np.sum(x**2)),
    )
    patch.setattr(
        hamiltonian,
        "_force",
        lambda evidence, rows, whitening, x: force(evidence, rows, whitening, x) - x,
    )


planted(check("regression-dense-mh", 50), name="evidence_ratio_inverted")(
    edit(replacement, "decide_exchanges", "< ratio + ", "< -ratio + ")
)
planted(check("regression-sparse", 70), name="determinant_of_the_old_pair_dropped")(
    edit(
        replacement,
        "decide_exchanges",
        "(lost_determinant + gained_determinant)",
        "gained_determinant",
    )
)


@changes(SparsePrior, "suggest", check("joint-pairs-sparse", 50))
def prior_odds_of_toggles_dropped(suggest, self, *args):
    right = suggest(self, *args)
    return replace(right, log_ratio=np.zeros(len(right.kind)))


def change_approximations(patch, change):
    """Change approximations, which come in turn: of the reverse move, of the move."""
    approximation, number = JointPairChain._approximation, count()

    def changed(self, columns, offset, precision):
        def right(columns):
            return approximation(self, columns, offset, precision)

        return change(next(number) % 2 == 0, right, columns)

    patch.setattr(JointPairChain, "_approximation", changed)


class _Silent(Laplace):
    def log_density(self, beta):
        return 0.0


@planted(check("joint-pairs-dense-mh"))
def reverse_move_lost(patch):
    def change(reverse, right, columns):
        law = right(columns)
        return _Silent(law.mode, law.lower) if reverse else law

    change_approximations(patch, change)


@planted(check("joint-pairs-dense-mh", 70, n_chains=40))
def approximation_at_the_old_frequency(patch):
    last = []

    def change(reverse, right, columns):
        last[:] = [columns] if reverse else last
        return right(last[0])

    change_approximations(patch, change)


@replaces(JointPairChain, "_log_posterior", check("joint-pairs-dense-mh"))
def prior_of_the_weights_dropped(self, activation, beta, precision):
    return joint_pairs.log_likelihood(self.rows.target, activation)


@planted(check("polya-gamma-sparse"), check("joint-pairs-sparse"))
def targets_of_zero_and_one(patch):
    chain = chains.PolyaGamma.chain
    joint = chains.JointPairs.chain
    patch.setattr(chains.PolyaGamma, "chain", lambda self, model, y: chain(self, model, y + 0.5))
    patch.setattr(chains.JointPairs, "chain", lambda self, model, y: joint(self, model, y + 0.5))


@changes(polya_gamma, "part_weights", check("polya-gamma-sparse"))
def rows_counted_twice(weights, part, activation, rng):
    return weights(replace(part, weight=np.full(len(activation), 2.0)), activation, rng)


@replaces(LogNormalPrecision, "log_density", check("regression-sparse"))
def precision_without_its_prior(self, log_precision):
    return 0.0


@changes(LogNormalPrecision, "log_density", check("joint-pairs-dense-mh", 50))
def precision_with_a_jacobian_too_many(density, self, log_precision):
    return density(self, log_precision) + log_precision


planted(check("joint-pairs-dense-mh"))(planted_mixture.posterior_with_one_degree_more)
