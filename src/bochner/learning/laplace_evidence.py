"""The precision of the weights and the parameters of a likelihood, by Laplace's evidence."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize, root

from bochner._numerics.arrays import Array, LengthScale, as_array
from bochner.features.chunks import Chunk
from bochner.features.length_scales import median_distance
from bochner.frequencies import Frequencies
from bochner.kernels import Kernel
from bochner.learning.laplace import (
    CONSTANT_SPREAD,
    LaplacePosterior,
    LatentRows,
    Mode,
    evidence_slope,
    find_mode,
)
from bochner.likelihoods import Likelihood
from bochner.sampling import Scheme
from bochner.spectral import spectral_measure

_LOG_ALPHA = (np.log(1e-6), np.log(1e6))
"""Range of log alpha, for latent functions in their unit: standard deviations of a unit kernel from
a thousand units, more than a smooth function needs, to a thousandth of one, which is a constant."""

_LOG_PARAMETER = np.log(1e4)
"""Largest change of a parameter's logarithm from its first guess; beyond it a parameter is at the
end of its range, such as the dispersion of Poisson counts."""

_TOLERANCE = 1e-4
"""Largest slope of the evidence at the end of L-BFGS, in nats per unit of a logarithm: parameters
are then exact to a hundredth of their posterior standard deviation, and a root of the slope is
near."""

_ROOT_TOLERANCE = 1e-11
"""Relative error of that root. Parameters then agree between runs that differ by rounding only,
such as with rows in another order."""

_MOST_STEPS = 100
"""Most steps of L-BFGS; twenty are usual."""

_NEAR = 0.1
"""Distance of the root from where L-BFGS ended, in logarithms; one further away is another."""

_SUBSAMPLE = 1000
"""Most rows in the choice of a length scale: half of what ridge regression takes, since every
length scale needs some fifty passes over them."""

_MOST_FREQUENCIES = 64
"""Most frequencies in this choice, for the same reason: it then takes about two seconds."""


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

    def solved(self, frequencies: Frequencies) -> tuple[Likelihood, LaplacePosterior]:
        """Return the likelihood with its parameters learned, and the posterior of the weights.

        Parameters to learn, and alpha, are those of greatest evidence, by L-BFGS.
        """
        rows = LatentRows.of(self.rows, self.offset, self.centre, frequencies, self.has_constant)
        search = _Search(rows, self.likelihood, self.alpha, self.names)
        best = search.start
        if best.size:
            best = minimize(  # type: ignore[call-overload]
                search.value_and_slope,
                best,
                jac=True,
                method="L-BFGS-B",
                bounds=search.bounds,
                options={"maxiter": _MOST_STEPS, "gtol": _TOLERANCE / search.size, "ftol": 0.0},
            ).x
            best = search.polished(best)
        mode = search.mode(best)
        posterior = LaplacePosterior(
            coef=mode.weights,
            whitener=mode.whitener,
            centre=self.centre,
            alpha=float(mode.precision[0]),
            log_evidence=mode.log_evidence,
            n_iter=search.n_iter,
        )
        return mode.likelihood, posterior

    def best_kernel(
        self,
        family: Callable[[LengthScale], Kernel],
        n_frequencies: int,
        scheme: Scheme | str,
        rng: np.random.Generator,
    ) -> Kernel:
        """Return the kernel of ``family`` of greatest evidence over a grid of length scales.

        The grid spans a factor of eight below and above the median distance, in steps of two.
        Every kernel is scored on the same 1000 rows with at most 64 frequencies from the same
        seed, at the alpha and the parameters of the likelihood that are best for it.
        """
        n = len(self.rows)
        chosen = np.sort(rng.choice(n, _SUBSAMPLE, replace=False)) if n > _SUBSAMPLE else slice(n)
        some = replace(self, rows=self.rows[chosen], offset=self.offset[chosen])
        n_frequencies, seed = min(n_frequencies, _MOST_FREQUENCIES), int(rng.integers(2**32))
        X = some.rows.X

        def log_evidence(kernel: Kernel) -> float:
            measure = spectral_measure(kernel, X.shape[1])
            return some.solved(measure.sample(n_frequencies, seed, scheme))[1].log_evidence

        median = median_distance(X, rng, some.rows.weight)
        grid = median * 2.0 ** np.arange(-3.0, 4.0)
        return max((family(float(scale)) for scale in grid), key=log_evidence)


@dataclass(slots=True, eq=False)
class _Search:
    """The negative log evidence per row as a function of log alpha and parameters, with its slope.

    Per row, slopes are of order one, and so is the first step of L-BFGS.
    """

    rows: LatentRows
    likelihood: Likelihood
    alpha: float | None
    names: tuple[str, ...]
    unit: float = field(init=False)
    size: float = field(init=False)
    n_iter: int = 0
    _weights: Array | None = None  # Of the latest mode, from which the next search starts

    def __post_init__(self) -> None:
        self.unit = self.likelihood.unit
        self.size = max(float(self.rows.weight.sum()), 1.0)

    @property
    def start(self) -> Array:
        """First values: a unit kernel has the unit of the latent function."""
        log_alpha = [] if self.alpha is not None else [-2.0 * np.log(self.unit)]
        return np.append(log_alpha, self.likelihood.vector(self.names))

    @property
    def bounds(self) -> Array:
        """Least and greatest values, of shape (k, 2)."""
        ends = self.start[:, None] + _LOG_PARAMETER * np.array([-1.0, 1.0])
        if self.alpha is None:
            ends[0] = self.start[0] + np.array(_LOG_ALPHA)
        return as_array(ends)

    def mode(self, x: Array) -> Mode:
        """Return the mode of the weights at such values."""
        log_alpha, vector = (x[0], x[1:]) if self.alpha is None else (np.log(self.alpha), x)
        precision = np.full(self.rows.width, np.exp(log_alpha))
        if self.rows.has_constant:
            precision[-1] = (CONSTANT_SPREAD * self.unit) ** -2
        likelihood = self.likelihood.with_vector(self.names, vector)
        mode = find_mode(self.rows, likelihood, precision, self._weights)
        self._weights, self.n_iter = mode.weights, self.n_iter + mode.n_iter
        return mode

    def polished(self, x: Array) -> Array:
        """Return the root of the slope near a maximum that L-BFGS found, ends of ranges fixed."""
        low, high = self.bounds.T
        free = (x > low) & (x < high)

        def slope(inner: Array) -> Array:
            moved = x.copy()
            moved[free] = np.clip(inner, low[free], high[free])
            return as_array(self.value_and_slope(moved)[1][free])

        if not free.any():
            return x
        found = root(slope, x[free], tol=_ROOT_TOLERANCE)
        is_near = np.abs(found.x - x[free]).max() < _NEAR
        if is_near and np.abs(found.fun).max() <= np.abs(slope(x[free])).max():
            x = x.copy()
            x[free] = found.x
        return x

    def value_and_slope(self, x: Any) -> tuple[float, Array]:
        """Return the negative log evidence per row, and its derivatives."""
        mode = self.mode(x)
        n_features = self.rows.width - self.rows.has_constant
        by_alpha, by_parameter = evidence_slope(self.rows, mode, self.names, n_features)
        slope = by_parameter if self.alpha is not None else np.append(by_alpha, by_parameter)
        return -mode.log_evidence / self.size, -slope / self.size
