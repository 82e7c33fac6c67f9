"""Learns the precision of the weights and parameters of a likelihood by Laplace's evidence."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from scipy.linalg import LinAlgError

from bochner._base.arrays import Array
from bochner._base.descent import minimised
from bochner.features.chunks import Chunk
from bochner.features.landmarks import LatentFeatures
from bochner.gaussian_process.laplace import (
    CONSTANT_SPREAD,
    LaplacePosterior,
    LatentPoint,
    Mode,
    find_mode,
)
from bochner.gaussian_process.laplace_slopes import DIFFERENCE, EvidenceSlopes
from bochner.gaussian_process.latent_rows import LatentRows
from bochner.gaussian_process.likelihood import Likelihood

_LOG_ALPHA = (np.log(1e-6), np.log(1e6))
"""Range of log alpha, for latent functions in their unit. The standard deviation of a unit kernel
is between a thousand units, more than a smooth function needs, and a thousandth, which is almost a
constant."""

_TOLERANCE = 1e-4
"""Largest derivative of the evidence at the end of L-BFGS, in nats per unit of a logarithm:
parameters are then exact to a hundredth of their posterior standard deviation, even if the evidence
is flat."""

_N_POLISHING = 2
"""Number of final Newton steps, each of which doubles the number of digits. Runs that differ by
rounding only, such as by the order of rows, then have the same parameters."""

_MOST_STEPS = 100
"""Largest number of L-BFGS steps; twenty are usual."""

_NEAR = 0.1
"""Largest Newton step in logarithms: a longer step may lead to another maximum."""

_SUBSAMPLE = 1000
"""Number of rows of a subsample on which the search starts."""

_MANY = 4
"""Ratio of the number of rows to the subsample from which a subsample is used. It then takes at
most a quarter of the time and saves more than half of the steps on all rows."""


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceProblem:
    """Rows, a likelihood and a prior; features are arguments of the methods."""

    rows: Chunk  # With numeric targets and positive weights
    offset: Array  # (n,): Logarithms of exposures
    centre: float  # Prior mean of the constant
    likelihood: Likelihood  # With known or initial values of all parameters
    names: tuple[str, ...]  # Names of the learned parameters of the likelihood
    alpha: float | None  # Precision of the weights; None to learn it
    has_constant: bool
    deadline: float = np.inf  # Of perf_counter: no step of a search is begun after it

    def solved(self, features: LatentFeatures) -> tuple[Likelihood, LaplacePosterior]:
        """Return the likelihood with its parameters learned, and the posterior of the weights.

        L-BFGS minimises the loss over learned parameters and alpha. For many rows it starts at the
        minimum of a subsample.
        """
        # The same features for all values: only alpha and parameters of the likelihood change.
        search = self.search(features)
        step = len(self.rows) // _SUBSAMPLE
        start = np.zeros(len(search.first))
        # Evenly spaced rows: no generator, so that results are reproducible.
        if start.size and step >= _MANY:
            some = replace(self, rows=self.rows[::step], offset=self.offset[::step])
            start = some.search(features).best(start)
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

    def search(self, features: LatentFeatures) -> "LaplaceSearch":
        """Return the search for the parameters, on the given features."""
        rows = LatentRows.of(self.rows, self.offset, self.centre, features, self.has_constant)
        return LaplaceSearch(rows, self.likelihood, self.alpha, self.names, self.deadline)


@dataclass(slots=True, eq=False)
class LaplaceSearch:
    """The loss per row as a function of log alpha and parameters, with its gradient.

    The loss is the negative log evidence. If the likelihood has a scale of the signal, the negative
    log prior of the signal's standard deviation is added (see :meth:`penalty`).

    Arguments are differences from initial values, at which a unit kernel has the unit of the latent
    function. The search therefore does not depend on units. Derivatives of the loss per row are of
    order one, which suits the first step of L-BFGS.
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
    _point: LatentPoint | None = None  # The latest mode, where the next search starts

    def __post_init__(self) -> None:
        log_alpha = [] if self.alpha is not None else [-2.0 * np.log(self.likelihood.unit)]
        self.first = np.append(log_alpha, self.likelihood.vector(self.names))
        bounds = self.likelihood.bounds(self.names) - self.likelihood.vector(self.names)[:, None]
        self.bounds = bounds if self.alpha is not None else np.vstack((_LOG_ALPHA, bounds))
        self.size = max(float(self.rows.weight.sum()), 1.0)

    def mode(self, x: Array) -> Mode:
        """Return the mode of the weights at arguments ``x`` (k,)."""
        values = self.first + x
        log_alpha, vector = (values[0], values[1:]) if self.alpha is None else (None, values)
        alpha = self.alpha if log_alpha is None else np.exp(log_alpha)
        precision = np.full(self.rows.width, alpha)
        if self.rows.has_constant:
            precision[-1] = (CONSTANT_SPREAD * self.likelihood.unit) ** -2
        likelihood = self.likelihood.with_vector(self.names, vector)
        # The last mode is close: Newton's method needs few steps from it.
        mode = find_mode(self.rows, likelihood, precision, self._point, self.deadline)
        self._point, self.n_iter = mode.point, self.n_iter + mode.n_iter
        return mode

    def penalty(self, x: Array) -> tuple[float, Array]:
        r"""Return the negative log prior of alpha, up to a constant, and its gradient.

        The standard deviation :math:`\sigma = \alpha^{-1/2}` has a half-Cauchy prior of scale ``s``
        (Gelman, "Prior distributions for variance parameters in hierarchical models", 2006). The
        penalty is :math:`\log(1 + \sigma^2 / s^2)` nats, which increases slowly for strong signals.
        """
        slope, scale = np.zeros(len(x)), self.likelihood.signal_scale
        if self.alpha is not None or scale is None:
            return 0.0, slope
        ratio = float(np.exp(-x[0])) / scale**2
        slope[0] = -ratio / (1.0 + ratio)
        return float(np.log1p(ratio)), slope

    def slopes(self, x: Array) -> tuple[Mode, EvidenceSlopes]:
        """Return the mode at arguments ``x`` (k,), and the derivatives of the log evidence."""
        mode = self.mode(x)
        return mode, EvidenceSlopes.of(self.rows, mode)

    def by_numbers(self, slopes: EvidenceSlopes) -> Array:
        """Return the derivatives of the log evidence by the arguments."""
        by_alpha = [] if self.alpha is not None else [slopes.by_log_alpha()]
        return np.append(by_alpha, slopes.by_parameters(self.names))

    def value_and_slope(self, x: Array) -> tuple[float, Array]:
        """Return the loss per row and its gradient (k,)."""
        mode, slopes = self.slopes(x)
        penalty, slope = self.penalty(x)
        slope -= self.by_numbers(slopes)
        return (penalty - mode.log_evidence) / self.size, slope / self.size

    def best(self, x: Array) -> Array:
        """Return the local minimum of the loss near ``x``."""
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
        """Return ``x`` after Newton steps towards a zero gradient; arguments at bounds are kept."""
        free = (x > self.bounds[:, 0]) & (x < self.bounds[:, 1])
        for _ in range(_N_POLISHING if free.any() else 0):
            if perf_counter() > self.deadline:
                break
            slope = self.value_and_slope(x)[1][free]
            moved = x + DIFFERENCE * np.eye(len(x))[free]
            changes = np.array([self.value_and_slope(end)[1][free] for end in moved]) - slope
            with suppress(LinAlgError):
                step = np.linalg.solve(changes.T / DIFFERENCE, slope)
                if np.abs(step).max() < _NEAR:
                    x = x.copy()
                    x[free] -= step
        return np.clip(x, *self.bounds.T)
