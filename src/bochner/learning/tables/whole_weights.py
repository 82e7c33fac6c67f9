"""Decides whether whole-number weights of a regression are counts of equal rows or precisions."""

import numpy as np
from numpy.random import Generator

from bochner._numerics.arrays import Array
from bochner.features.length_scales import median_distance
from bochner.kernels import Laplacian
from bochner.learning.tables.observations import Observations
from bochner.learning.tables.rows import Chosen
from bochner.learning.tables.search import leave_one_out_error

_ROWS = 400
"""Number of rows of the test: enough to distinguish weights of one and two."""

_OCTAVES = (-1.0, 0.0, 1.0, 2.0)
"""Length scales, as powers of two times the median distance. One of them fits the function roughly,
so that differences of the noise between rows exceed the misfit."""

_DISTINCT_SHARE = 0.5
"""Share of different rows below which weights are counts: few levels with several targets each are
a frequency table, in which typical targets have small errors and large counts."""

_LEAST_EVIDENCE = 5.0
"""Difference of log likelihoods, in nats, above which weights are precisions: weights that have
nothing to do with the noise exceed it in fewer than one of a hundred tables."""


def are_precisions(X: Array, Y: Array, weights: Array, rng: Generator) -> bool:
    r"""Return whether leave-one-out errors decrease with the weights, which indicates precisions.

    With either meaning of a weight ``w`` the function has the same posterior, with the noise
    variance :math:`\sigma^2 / w`. The meanings differ in the leave-one-out error of a row. Its
    variance is the variance of the function plus :math:`\sigma^2 / w` for a precision, such as the
    mean of ``w`` measurements, and plus :math:`\sigma^2` for ``w`` equal rows. The meanings are
    compared by the likelihood of the errors of at most 400 rows.

    Parameters
    ----------
    X : array of shape (n, d)
        Encoded rows.
    Y : array of shape (n, t)
        Targets of mean zero and variance one.
    weights : array of shape (n,)
    rng : Generator
    """
    test_rows: Chosen = rng.permutation(len(Y))[:_ROWS]
    data = Observations.of(
        X[test_rows], Y[test_rows], weights[test_rows] / weights[test_rows].mean()
    )
    rows = data.rows(np.arange(len(test_rows))).with_unit_targets()
    if len(rows) < max(2.0, _DISTINCT_SHARE * len(test_rows)):
        return False
    median = median_distance(rows.X, rng, None)
    kernels = [Laplacian(median * 2.0**octave) for octave in _OCTAVES]
    (_, alpha), kernel = min(
        ((leave_one_out_error(kernel, rows), kernel) for kernel in kernels),
        key=lambda pair: pair[0][0],
    )
    inverse = np.linalg.inv(kernel(rows.X, rows.X) + np.diag(alpha / rows.weights))
    observed = rows.observations
    residuals, variance = observed.left_out(
        rows.weights, inverse @ rows.Y, np.diagonal(inverse), alpha
    )
    squares, counts = np.mean(residuals**2, axis=1), observed.counts

    def log_likelihood(variance: Array) -> float:
        scale = np.average(squares / variance, weights=counts)
        return -0.5 * float(counts @ np.log(scale * variance))

    # The likelihood of counts differs in the noise of the new target only: alpha, not alpha / w.
    of_counts = variance - alpha / observed.weights + alpha
    return log_likelihood(variance) > log_likelihood(of_counts) + _LEAST_EVIDENCE
