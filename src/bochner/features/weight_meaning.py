r"""Meaning of sample weights: counts of equal, independent observations, or precisions.

If all weights are integers, they are counts: a row of weight three is three independent
observations. Other weights are precisions: a row of any positive weight ``w`` is one observation,
with the noise variance :math:`\sigma^2 / w` in a regression, or with its log-likelihood multiplied
by ``w`` in a classification. Rows of weight zero are not observations.

Both meanings have the same weighted sums, hence the same fit for given hyperparameters. They differ
in the number of observations, on which the noise variance and the evidence depend, and in the rows
removed when one observation is left out.
"""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, Mask, as_array

MEANINGS = ("precisions", "counts")
"""Meanings of the weights of a table: one observation of each row, or as many as its weight."""

_WHOLE = 1e-9
"""Distance from a whole number, as a share of a weight, up to which a weight counts as whole:
products and quotients of whole numbers are off by some spacings of float64, 1e-16."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Observations that rows represent, for leave-one-out predictions.

    Parameters
    ----------
    weights : ndarray of shape (n,)
        Precision of each observation of a row, relative to an observation of weight one.
    counts : ndarray of shape (n,)
        Number of equal, independent observations that a row represents.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.features.weight_meaning import Units
    >>> Units.of(np.array([1.0, 3.0]), 2)
    Units(weights=array([1., 1.]), counts=array([1., 3.]))
    >>> Units.of(np.array([0.5, 3.0]), 2)
    Units(weights=array([0.5, 3. ]), counts=array([1., 1.]))
    """

    weights: Array
    counts: Array

    @classmethod
    def of(cls, sample_weight: Array | None, n: int) -> "Units":
        """Return the units of ``n`` rows with checked weights (n,), ``None`` for ones."""
        if sample_weight is None:
            return cls(np.ones(n), np.ones(n))
        if are_whole(sample_weight).all():
            return cls(np.ones(n), np.rint(sample_weight))
        return cls(sample_weight, (sample_weight > 0.0).astype(np.float64))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def totals(self) -> Array:
        """Total weights of the rows, of shape (n,)."""
        return as_array(self.weights * self.counts)

    @property
    def n_observations(self) -> float:
        """Number of observations of all rows together."""
        return float(self.counts.sum())

    @property
    def are_counts(self) -> bool:
        """Whether every observation has the weight one."""
        return bool((self.weights == 1.0).all())


def are_whole(weights: Array) -> Mask:
    """Return which weights (n,) are whole numbers, up to rounding."""
    return np.asarray(np.abs(weights - np.rint(weights)) <= _WHOLE * weights)
