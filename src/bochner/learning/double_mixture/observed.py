"""Similarities of pairs of rows as the bound meets them."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from bochner._numerics.arrays import Array
from bochner.learning.double_mixture.sketch import Sketch

_MOST_PAIRS = 8_192
_RANK = 1e-9
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Differences of rows, in the span of all differences, and similarities.

    Differences are in units of the typical distance, similarities in units of ``unit``. All
    similarities of rows with themselves are one row, their mean.

    Parameters
    ----------
    deltas : ndarray of shape (P, q)
    values, counts : ndarrays of shape (P,)
        The mean similarity at each difference, and of how many it is.
    spread : float
        Sum of squares of similarities about these means.
    unit : float
        The mean size of similarities of rows with themselves, or of all if these are zero but for
        rounding.
    basis : ndarray of shape (d, q)
        Orthonormal, of the span.
    """

    deltas: Array
    values: Array
    counts: Array
    spread: float
    unit: float
    basis: Array

    @property
    def total(self) -> float:
        """How many similarities there are."""
        return float(self.counts.sum())


def observed(sketch: Sketch, rng: np.random.Generator) -> Observed:
    """Return the similarities of pairs of rows, of some 8,000 random ones if there are more."""
    basis = _span(sketch.rows)
    coordinates = sketch.rows @ basis / sketch.distance
    first, second = np.triu_indices(len(sketch.rows), k=1)
    share = 1.0
    if len(first) > _MOST_PAIRS:
        share = _MOST_PAIRS / len(first)
        chosen = rng.choice(len(first), _MOST_PAIRS, replace=False)
        first, second = first[chosen], second[chosen]
    unit = _unit(sketch.gram)
    own = np.diagonal(sketch.gram) / unit
    zero = np.zeros((1, basis.shape[1]))
    return Observed(
        deltas=np.concatenate((zero, coordinates[first] - coordinates[second])),
        values=np.append(own.mean(), sketch.gram[first, second] / unit),
        counts=np.append(share * len(own), np.ones(len(first))),
        spread=share * float(np.sum((own - own.mean()) ** 2)),
        unit=unit,
        basis=basis,
    )


def _unit(gram: Array) -> float:
    own, every = (float(np.mean(np.abs(values))) for values in (np.diagonal(gram), gram))
    return own if own > _ROUNDING * every else every


def _span(rows: Array) -> Array:
    """Return an orthonormal basis (d, q) of what rows differ in, of one direction at least."""
    _, values, directions = svd(rows - rows.mean(axis=0), full_matrices=False)
    rank = int(np.count_nonzero(values > _RANK * values[0]))
    basis: Array = directions[: max(rank, 1)].T
    return basis
