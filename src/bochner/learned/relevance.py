"""Relevance and interactions of inputs, averaged over posterior draws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, Index, as_array
from bochner._base.registry import register
from bochner.learned.draws import Draws
from bochner.learned.modulated_waves import WaveSum

# Largest numbers of draws for second derivatives and for averages; range of the number of rows.
_MOST_DRAWS, _FEW_DRAWS, _LEAST_ROWS, _MOST_ROWS = 24, 8, 16, 500
# Budget of multiplications for second derivatives, and array entries of a block (16 MB).
_MOST_PRODUCTS, _MOST_NUMBERS = 2e10, 2e6
# Keeps quotients of zeros finite.
_TINY = float(np.finfo(np.float64).tiny)


@register(shapes={"inclusion": "d", "importance": "d", "interactions": "dd"})
@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """Relevance of the inputs to the learned function, on the training rows.

    An input that never varies counts as absent.

    Parameters
    ----------
    inclusion : ndarray of shape (d,)
        Share of the function's variance due to an input (total Sobol' index), at most one: the
        share that averaging over the values of the input removes, with other inputs fixed, as if
        inputs were independent. Averaged over draws. Zero if no frequency acts on the input.
    importance : ndarray of shape (d,)
        Root mean square, over rows and draws, of the part of the function that this averaging
        removes, divided by the sum over inputs.
    interactions : ndarray of shape (d, d)
        Mean squares of the second derivatives of the posterior mean function along inputs in
        standard deviations, divided by their sum. An entry off the diagonal is zero if and only if
        the effects of the two inputs are additive. An entry on the diagonal is zero if and only if
        the function is linear in the input. For an indicator column the entries mean little,
        because there are no rows between its two values.

    References
    ----------
    Sobol', "Global sensitivity indices for nonlinear mathematical models and their Monte Carlo
    estimates", 2001. Friedman and Popescu, "Predictive learning via rule ensembles", 2008, section
    8.1, for second derivatives as a measure of interaction.
    """

    inclusion: Array
    importance: Array
    interactions: Array


def relevance_of(
    draws: Draws, polynomial: Array, X: Array, weight: Array | None = None
) -> Relevance:
    r"""Return the relevance of each input, computed from some of the draws and of the rows.

    ``polynomial`` (S, k, d) are the coefficients of :math:`x_i, x_i^2, \ldots` in the trend of each
    draw. ``X`` (n, d) are scaled inputs.
    """
    m, d = draws.n_waves, X.shape[1]
    chosen = _spread(draws.n_draws, _MOST_DRAWS)
    n_rows = int(np.clip(_MOST_PRODUCTS / (len(chosen) * m * d * d), _LEAST_ROWS, _MOST_ROWS))
    varies = (X[:1] != X).any(axis=0)
    X = X[_representative(len(X), n_rows, weight)]
    waves = [_Waves.of(draws, index, polynomial[index]) for index in chosen]
    # Averages over inputs take a pass per input, so that fewer draws are used.
    few = waves[:: -(-len(waves) // _FEW_DRAWS)]
    removed = np.array([[np.mean(f.averaged_out(X, i) ** 2) for i in range(d)] for f in few])
    removed *= varies
    variances = np.array([[max(float(np.var(wave.values(X))), _TINY)] for wave in few])
    size = np.sqrt(removed.mean(axis=0))
    curvature = np.zeros((d, d))
    # Blocks of rows bound the memory of second derivatives (n, d, d).
    step = max(1, int(_MOST_NUMBERS / (d * max(m, d))))
    for start in range(0, len(X), step):
        # The sum over draws is the mean function, up to a scale that cancels below.
        second = sum(wave.second_derivatives(X[start : start + step]) for wave in waves)
        curvature += np.sum(second**2, axis=0)
    # On some processors rounding makes products of matrices slightly asymmetric.
    curvature = 0.5 * (curvature + curvature.T) * np.outer(varies, varies)
    return Relevance(
        np.minimum(removed / variances, 1.0).mean(axis=0),
        size / max(size.sum(), _TINY),
        curvature / max(curvature.sum(), _TINY),
    )


def averaged(parts: Sequence[Relevance]) -> Relevance:
    """Return the average of the relevances of several functions."""
    names = ("inclusion", "importance", "interactions")
    arrays = ([getattr(part, name) for part in parts] for name in names)
    return Relevance(*(np.mean(array, axis=0) for array in arrays))


@dataclass(frozen=True, slots=True, eq=False)
class _Waves:
    """One drawn function: a sum of waves plus a polynomial with coefficients (k, d)."""

    waves: WaveSum
    polynomial: Array

    @classmethod
    def of(cls, draws: Draws, index: int, polynomial: Array) -> "_Waves":
        m = draws.n_waves
        coef = draws.coef[index, : 2 * m]
        return cls(draws.waves(index).summed(coef, 1.0 / np.sqrt(m)), polynomial)

    def values(self, X: Array) -> Array:
        """Return the function's values (n,) at rows (n, d)."""
        values = as_array((self.waves.terms(X) @ self.waves.weight).real)
        for power, coef in enumerate(self.polynomial, start=1):
            values += X**power @ coef
        return values

    def averaged_out(self, X: Array, i: int) -> Array:
        """Return the function minus its average over the values of input ``i``, of shape (n,)."""
        # Terms that do not depend on the input do not change by averaging.
        decay = self.waves.decay
        active = np.flatnonzero(
            self.waves.omega[:, i]
            if decay is None
            else (self.waves.omega[:, i] != 0.0) | (decay[:, i] != 0.0)
        )
        along = self.waves.factors(X, i, active)
        # A term's average over one input is the average of that factor times the other factors.
        rest = self.waves.terms(X, active, without=i) * (along - along.mean(axis=0))
        removed = as_array((rest @ self.waves.weight[active]).real)
        for power, coef in enumerate(self.polynomial, start=1):
            removed += coef[i] * (X[:, i] ** power - np.mean(X[:, i] ** power))
        return removed

    def second_derivatives(self, X: Array) -> Array:
        """Return the function's second derivatives (n, d, d) at rows (n, d)."""
        second = self.waves.second_derivatives(X)
        diagonal = np.arange(X.shape[1])
        for power, coef in enumerate(self.polynomial[1:], start=2):
            second[:, diagonal, diagonal] += power * (power - 1) * coef * X ** (power - 2)
        return second


def _representative(n: int, count: int, weight: Array | None) -> Index:
    """Return the indices of at most ``count`` rows at equal steps of the cumulative weights."""
    if weight is None:
        return _spread(n, count)
    total = np.cumsum(weight)
    places = (np.arange(count) + 0.5) / count * total[-1]
    rows: Index = np.searchsorted(total, places).astype(np.intp)
    return rows


def _spread(n: int, count: int) -> Index:
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.intp))
