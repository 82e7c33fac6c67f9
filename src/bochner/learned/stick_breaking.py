r"""Truncated stick-breaking weights of a Dirichlet-process mixture of ``T`` components.

.. math:: \theta_t = \beta_t \prod_{s < t} (1 - \beta_s), \qquad \beta_t \sim \mathrm{Beta}(1,
          \alpha), \qquad \beta_T = 1.

With :math:`N_t` frequencies expected in each component, a stick's posterior is
:math:`\mathrm{Beta}(1 + N_t, \alpha + \sum_{s > t} N_s)`.

Blei and Jordan, "Variational inference for Dirichlet process mixtures", 2006.
"""

import numpy as np
from scipy.special import betaln, digamma

from bochner._base.arrays import Array


def posterior(counts: Array, concentration: float) -> Array:
    """Return the Beta parameters (T - 1, 2) of all sticks but the last, which is one."""
    beyond = counts[::-1].cumsum()[::-1]
    return np.column_stack((1.0 + counts[:-1], concentration + beyond[1:]))


def expected_log_weights(sticks: Array) -> Array:
    r"""Return :math:`E \log \theta_t`, of shape (T,), from Beta parameters (T - 1, 2)."""
    both = digamma(sticks.sum(axis=1))
    broken: Array = np.append(digamma(sticks[:, 0]) - both, 0.0)
    expected: Array = broken + np.append(0.0, np.cumsum(digamma(sticks[:, 1]) - both))
    return expected


def log_evidence(counts: Array, concentration: float) -> float:
    r"""Return :math:`\log E_\beta \prod_t \theta_t^{N_t}`, with the sticks integrated out.

    Its gradient by the counts is :func:`expected_log_weights` of their posterior.
    """
    after = betaln(*posterior(counts, concentration).T)
    return float(np.sum(after - betaln(1.0, concentration)))
