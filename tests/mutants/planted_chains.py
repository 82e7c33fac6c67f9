"""Bugs of the chains over frequencies, each with the sampler whose joint law must notice it."""

import numpy as np
from laws import chains
from mutants.registry import edit, planted

from bochner.learned import moves as hamiltonian
from bochner.learned import moves as replacement
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
