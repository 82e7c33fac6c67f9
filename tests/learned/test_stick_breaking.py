"""Truncated sticks: their posterior and their evidence, by quadrature."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.learned import mixture_bound

CASES = [
    pytest.param(np.array(counts), concentration, id=f"{counts}-{concentration}")
    for counts, concentration in (
        ([3.0, 2.0], 1.0),
        ([0.0, 0.7], 2.5),
        ([5.5, 0.0], 0.4),
        ([2.0, 0.3, 4.2], 1.0),
        ([0.0, 6.0, 1.5], 3.0),
        ([1.2, 0.0, 0.0], 0.6),
    )
]


def integrals(counts, concentration):
    r"""Return :math:`\int \prod_t \theta_t^{N_t} dp(\beta)` and the means of the sticks under it.

    Also those of the logarithms of the weights. The trapezoidal rule on the logits of the sticks,
    where integrands fall off exponentially, is exact to rounding.
    """
    logit = np.linspace(-100.0, 100.0, 1001)
    n_sticks = len(counts) - 1
    broken = np.meshgrid(*[-np.logaddexp(0.0, -logit)] * n_sticks, indexing="ij")
    kept = np.meshgrid(*[-np.logaddexp(0.0, logit)] * n_sticks, indexing="ij")
    log_theta = [sum(kept[:t], broken[t]) for t in range(n_sticks)] + [sum(kept)]
    log_prior = sum(np.log(concentration) + (concentration - 1.0) * one for one in kept)
    density = np.exp(
        sum(n * one for n, one in zip(counts, log_theta, strict=True))
        + log_prior
        + sum(broken)
        + sum(kept)  # d beta = beta (1 - beta) d logit
    )
    total = density.sum()
    means = [float((density * np.exp(one)).sum() / total) for one in broken]
    logarithms = [float((density * one).sum() / total) for one in log_theta]
    return float(total) * 0.2**n_sticks, np.array(means), np.array(logarithms)


@pytest.mark.parametrize(("counts", "concentration"), CASES)
def test_the_posterior_and_the_evidence_are_integrals(counts, concentration):
    total, means, logarithms = integrals(counts, concentration)
    found = mixture_bound.stick_posterior(counts, concentration)
    assert found.shape == (len(counts) - 1, 2)
    assert_allclose(found[:, 0] / found.sum(axis=1), means, rtol=1e-9)
    assert_allclose(
        mixture_bound.stick_log_evidence(counts, concentration), np.log(total), rtol=1e-9, atol=1e-9
    )
    assert_allclose(mixture_bound.expected_log_weights(found), logarithms, rtol=1e-9)
