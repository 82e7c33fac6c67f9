"""The precision of the weights and the parameters of a likelihood, by Laplace's evidence."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

from bochner._numerics.arrays import Array
from bochner._numerics.descent import minimised
from bochner.features.chunks import Chunk
from bochner.frequencies import Frequencies
from bochner.learning.laplace.approximation import (
    CONSTANT_SPREAD,
    LaplacePosterior,
    LatentRows,
    Mode,
    find_mode,
)
from bochner.learning.laplace.slopes import DIFFERENCE, EvidenceSlopes
from bochner.likelihoods import Likelihood

_LOG_ALPHA = (np.log(1e-6), np.log(1e6))
"""Range of log alpha, for latent functions in their unit: standard deviations of a unit kernel from
a thousand units, more than a smooth function needs, to a thousandth of one, which is a constant."""

_LOG_PARAMETER = np.log(1e3)
"""Largest change of a parameter's logarithm from its first guess: to noise of 1e-6 of the targets'
variance, as in ridge regression, or a dispersion that only 1e4 counts tell from zero. Systems with
less noise lose half of their digits."""

_TOLERANCE = 1e-4
"""Largest slope of the evidence at the end of L-BFGS, in nats per unit of a logarithm: parameters
are then exact to a hundredth of their posterior standard deviation, also where the evidence is
flat."""

_N_POLISHING = 2
"""Newton steps that follow, each of which doubles the digits. Parameters then agree between runs
that differ by rounding only, such as with rows in another order."""

_MOST_STEPS = 100
"""Most steps of L-BFGS; twenty are usual."""

_NEAR = 0.1
"""Longest Newton step in logarithms; the root of a longer one is another maximum's."""

_SUBSAMPLE = 1000
"""Rows on which the search starts."""

_MANY = 4
"""Times so many rows from which on the search starts with a subsample: its share of the time is
then at most a quarter, and it saves more than half of the steps on all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceProblem:
    """Rows, a likelihood and a prior; kernels and their features are given to the methods."""

    rows: Chunk  # With numbers for targets, all of positive weight
    offset: Array  # (n,): logarithms of exposures
    centre: float  # Mean of the constant's prior
    likelihood: Likelihood  # With a number, known or to start from, for every parameter
    names: tuple[str, ...]  # Parameters of the likelihood that are learned
    alpha: float | None  # Precision of the weights; None to learn it
    has_constant: bool
    deadline: float = np.inf  # Of perf_counter: no step of a search is begun after it

    def solved(self, frequencies: Frequencies) -> tuple[Likelihood, LaplacePosterior]:
        """Return the likelihood with its parameters learned, and the posterior of the weights.

        Parameters to learn, and alpha, are those of least loss, by L-BFGS. On many rows it
        starts from those of some of the rows.
        """
        search = self.search(frequencies)
        step = len(self.rows) // _SUBSAMPLE
        start = np.zeros(len(search.first))
        if start.size and step >= _MANY:
            some = replace(self, rows=self.rows[::step], offset=self.offset[::step])
            start = some.search(frequencies).best(start)
        mode = search.mode(search.polished(search.best(start)))
        posterior = LaplacePosterior(
            coef=mode.weights,
            whitener=mode.whitener,
            centre=self.centre,
            alpha=float(mode.precision[0]),
            log_evidence=mode.log_evidence,
            n_iter=search.n_iter,
        )
        return mode.likelihood, posterior

    def search(self, frequencies: Frequencies) -> "LaplaceSearch":
        """Return the evidence on features of these frequencies, to be searched."""
        rows = LatentRows.of(self.rows, self.offset, self.centre, frequencies, self.has_constant)
        return LaplaceSearch(rows, self.likelihood, self.alpha, self.names, self.deadline)


@dataclass(slots=True, eq=False)
class LaplaceSearch:
    """The loss of a row as a function of log alpha and parameters, with its slope.

    The loss is the negative log evidence, with that of a prior of the signal's standard deviation
    where the likelihood has one (see :meth:`penalty`).

    Arguments are counted from first values, those for which a unit kernel has the unit of the
    latent function: the search does not depend on units. Per row, slopes are of order one, and so
    is the first step of L-BFGS.
    """

    rows: LatentRows
    likelihood: Likelihood
    alpha: float | None
    names: tuple[str, ...]
    deadline: float = np.inf
    first: Array = field(init=False)
    bounds: Array = field(init=False)  # (k, 2)
    size: float = field(init=False)
    n_iter: int = 0
    _weights: Array | None = None  # Weights at the latest mode, where the next search starts

    def __post_init__(self) -> None:
        log_alpha = [] if self.alpha is not None else [-2.0 * np.log(self.likelihood.unit)]
        self.first = np.append(log_alpha, self.likelihood.vector(self.names))
        self.bounds = np.tile(_LOG_PARAMETER * np.array([-1.0, 1.0]), (len(self.first), 1))
        if self.alpha is None:
            self.bounds[0] = _LOG_ALPHA
        self.size = max(float(self.rows.weight.sum()), 1.0)

    def mode(self, x: Array) -> Mode:
        """Return the mode of the weights at such values."""
        given = self.first + x
        log_alpha, vector = (given[0], given[1:]) if self.alpha is None else (None, given)
        alpha = self.alpha if log_alpha is None else np.exp(log_alpha)
        precision = np.full(self.rows.width, alpha)
        if self.rows.has_constant:
            precision[-1] = (CONSTANT_SPREAD * self.likelihood.unit) ** -2
        likelihood = self.likelihood.with_vector(self.names, vector)
        mode = find_mode(self.rows, likelihood, precision, self._weights)
        self._weights, self.n_iter = mode.weights, self.n_iter + mode.n_iter
        return mode

    def penalty(self, x: Array) -> tuple[float, Array]:
        r"""Return the negative log prior of alpha, up to a constant, and its gradient.

        The standard deviation :math:`\sigma = \alpha^{-1/2}` has a half-Cauchy prior of scale ``s``
        (Gelman, "Prior distributions for variance parameters in hierarchical models", 2006): of
        :math:`\log(1 + \sigma^2 / s^2)` nats, so that signals far stronger than ``s`` cost few.
        """
        slope, scale = np.zeros(len(x)), self.likelihood.signal_scale
        if self.alpha is not None or scale is None:
            return 0.0, slope
        ratio = float(np.exp(-x[0])) / scale**2
        slope[0] = -ratio / (1.0 + ratio)
        return float(np.log1p(ratio)), slope

    def slopes(self, x: Array) -> tuple[Mode, EvidenceSlopes]:
        """Return the mode at such values, and the derivatives of the log evidence there."""
        mode = self.mode(x)
        return mode, EvidenceSlopes.of(self.rows, mode)

    def by_numbers(self, slopes: EvidenceSlopes) -> Array:
        """Return the derivatives of the log evidence by the arguments."""
        by_alpha = [] if self.alpha is not None else [slopes.by_log_alpha()]
        return np.append(by_alpha, slopes.by_parameters(self.names))

    def value_and_slope(self, x: Any) -> tuple[float, Array]:
        """Return the loss of a row, and its derivatives."""
        mode, slopes = self.slopes(x)
        penalty, slope = self.penalty(x)
        slope -= self.by_numbers(slopes)
        return (penalty - mode.log_evidence) / self.size, slope / self.size

    def best(self, x: Array) -> Array:
        """Return the values near ``x`` of least loss."""
        if not x.size:
            return x
        return minimised(
            self.value_and_slope,
            x,
            n_steps=_MOST_STEPS,
            bounds=self.bounds,
            decrease=0.0,
            slope=_TOLERANCE / self.size,
            deadline=self.deadline,
        ).point

    def polished(self, x: Array) -> Array:
        """Return values after Newton steps towards the root of the slope, ends of ranges fixed."""
        free = (x > self.bounds[:, 0]) & (x < self.bounds[:, 1])
        for _ in range(_N_POLISHING if free.any() else 0):
            if perf_counter() > self.deadline:
                break
            slope = self.value_and_slope(x)[1][free]
            moved = x + DIFFERENCE * np.eye(len(x))[free]
            changes = np.array([self.value_and_slope(to)[1][free] for to in moved]) - slope
            with suppress(LinAlgError):
                step = np.linalg.solve(changes.T / DIFFERENCE, slope)
                if np.abs(step).max() < _NEAR:
                    x = x.copy()
                    x[free] -= step
        return np.clip(x, *self.bounds.T)
