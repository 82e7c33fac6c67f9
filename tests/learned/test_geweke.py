"""Geweke's joint-distribution test of every sampler, for every likelihood.

In 40 chains of 400 rounds a sampler (the slow tests), the greatest of the standardised
differences of 14 to 16 functions were: regression dense mh 1.9, pcn 1.7, hmc 1.9, sparse 1.8,
sparse with hmc 2.2; Polya-Gamma dense 2.4, sparse 1.5; joint pairs dense 1.6, sparse 2.6.

Among 24 to 28 functions of two spectra it was: matched dense 1.2, sparse 1.3, with hmc 2.5; grid
dense 2.8, sparse 2.0; Polya-Gamma matched 3.4, and 2.3 in 60 chains from another seed.
"""

import numpy as np
import pytest
from laws import chains
from scipy import stats

# Shared evenly (Bonferroni) among the samplers, and by each among its functions.
FAMILY_ALPHA = 1e-3
ALPHA = FAMILY_ALPHA / len(chains.SAMPLERS)
# Those of two spectra whose parts others have: in long chains alone.
ALIKE = ("matched-dense", "matched-sparse-hmc", "grid-sparse")
# Samplers of two spectra share all but the amplitudes with the others.
ROUNDS = {name: 20 for name in chains.SAMPLERS if name.startswith(("matched", "grid"))}
ROUNDS["polya-gamma-matched"] = 20


@pytest.mark.thorough_cases(but="regression-sparse$")
@pytest.mark.parametrize("name", [name for name in chains.SAMPLERS if name not in ALIKE])
def test_rounds_and_redraws_have_the_models_joint_law(name):
    chains.check_joint(chains.SAMPLERS[name], n_rounds=ROUNDS.get(name, 50), alpha=ALPHA)


@pytest.mark.thorough_cases("dense-hmc|gamma-dense")
@pytest.mark.slow
@pytest.mark.parametrize("name", chains.SAMPLERS)
def test_they_have_it_in_long_chains(name):
    chains.check_joint(chains.SAMPLERS[name], 40, 400, 20_000, alpha=ALPHA)


def test_polya_gamma_draws_have_their_laplace_transform():
    """E exp(-w t) = cosh(c/2) / cosh(sqrt(c^2/4 + t/2)) (Polson et al., 2013)."""
    rng, n = np.random.default_rng(3), 4000
    for c in (0.0, 1.0, 5.0):
        drawn = chains.polya_gamma(rng, np.full(n, c))
        for t in (0.5, 4.0):
            value = np.exp(-drawn * t)
            exact = np.cosh(0.5 * c) / np.cosh(np.sqrt(0.25 * c**2 + 0.5 * t))
            z = (value.mean() - exact) / (value.std() / np.sqrt(n))
            assert abs(z) < stats.norm.isf(FAMILY_ALPHA / 12)
