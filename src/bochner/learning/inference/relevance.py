"""Which inputs the learned function depends on, and which act together."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """What the learned spectrum says of the inputs.

    Frequencies count by their share of the learned function's variance, averaged over draws.

    Parameters
    ----------
    inclusion : ndarray of shape (d,)
        Share of the frequencies that act on the input at all: the posterior probability of
        inclusion, for sparse frequencies.
    importance : ndarray of shape (d,)
        Root mean square slope of the function along the input, per standard deviation of the
        input; the entries sum to one.
    """

    inclusion: Array
    importance: Array


def relevance_of(omega: Array, coef: Array) -> tuple[Relevance, Array]:
    r"""Return relevance, and interactions of shape (d, d), of draws.

    Parameters
    ----------
    omega : ndarray of shape (S, m, d)
        On scaled inputs.
    coef : ndarray of shape (S, p)

    Returns
    -------
    relevance : Relevance
    interactions : ndarray of shape (d, d)
        Off the diagonal, the share of the function's variance carried by frequencies that act
        on both inputs; on it, by those that act on the input alone. A frequency acts on an
        input to the degree :math:`1 - e^{-\omega_i^2/2}` that it decorrelates values one
        standard deviation apart.
    """
    m, d = omega.shape[1:]
    energy = coef[:, 0 : 2 * m : 2] ** 2 + coef[:, 1 : 2 * m : 2] ** 2
    energy = energy / np.maximum(energy.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    energy /= len(omega)
    inclusion = np.einsum("sm,smd->d", energy, omega != 0.0)
    slope = np.sqrt(np.einsum("sm,smd->d", energy, omega**2))
    square = omega**2
    degree = -np.expm1(-0.5 * square)
    flat = degree.reshape(-1, d)
    together: Array = (energy.reshape(-1, 1) * flat).T @ flat
    alone = np.exp(-0.5 * (square.sum(axis=2, keepdims=True) - square))
    np.fill_diagonal(together, np.einsum("sm,smd,smd->d", energy, degree, alone))
    return Relevance(inclusion, slope / max(slope.sum(), np.finfo(np.float64).tiny)), together
