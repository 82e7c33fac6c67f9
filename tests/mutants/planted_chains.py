"""Bugs of the chains over frequencies, each with the sampler whose joint law must notice it."""

import numpy as np
from laws import chains
from mutants.registry import planted

from bochner.learned import moves as hamiltonian
from bochner.learned import polya_gamma as polya_gamma

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
