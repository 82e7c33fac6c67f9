r"""Frequencies of a Gaussian mixture as a smooth function of the mixture's parameters.

With base samples :math:`w_j \sim N(0, I)` that are drawn once, the frequencies
:math:`\omega_j = M_{q(j)} w_j + \mu_{q(j)}` are samples of :math:`\sum_q N(\mu_q, M_q M_q^\top)`
that are differentiable in ``M`` and :math:`\mu`. Features are cosines, then sines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bochner._base import limits
from bochner._base.arrays import Array, as_count, row_blocks
from bochner._base.checks import check_choice, generators, validated
from bochner._base.descent import MANY_CORRECTIONS, minimised
from bochner.features.parameters import count_frequencies, median_distance
from bochner.spectral import wave_formulas as formulas
from bochner.spectral.wave_formulas import MemoryLayout

# Number of inputs up to which covariance="auto" is full: 210 parameters for each Gaussian.
_MOST_INPUTS_IN_FULL = 20

# Widths of the first and the last Gaussian at the start, in inverse median distances: kernels
# from twice the median distance to a quarter of it.
_START_WIDTHS = (0.5, 4.0)

# Spread of the means at the start, relative to the width; at zero, Gaussians of equal width
# would have equal gradients up to their base samples.
_MEAN_SPREAD = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class MixtureFrequencies:
    """The map from a mixture's factors and means to its frequencies, and its transpose.

    ``base`` (m, d) are the samples :math:`w`, ``component`` (m,) their components :math:`q`,
    ascending and each present. Factors are lower triangular if ``full``, otherwise diagonal.
    """

    base: Array
    component: NDArray[np.intp]
    full: bool

    @classmethod
    def draw(cls, rng: Generator, m: int, dim: int, n_mixture: int, full: bool) -> Self:
        """Return ``m`` base samples, divided equally among at most ``m`` components."""
        component = np.arange(m) * min(n_mixture, m) // m
        return cls(rng.standard_normal((m, dim)), component, full)

    @property
    def dim(self) -> int:
        return int(self.base.shape[1])

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of frequencies of each component, of shape (Q,)."""
        return np.bincount(self.component)

    @property
    def n_parameters(self) -> int:
        return len(self.counts) * (len(self._entries[0]) + self.dim)

    def start(self, rng: Generator, stretch: float = 1.0) -> Array:
        """Return a first ``theta`` for inputs whose median distance is one."""
        q = len(self.counts)
        width = stretch * (np.geomspace(*_START_WIDTHS, q) if q > 1 else np.ones(1))
        rows, columns = self._entries
        factors = np.outer(width, rows == columns)
        means = _MEAN_SPREAD * width[:, None] * rng.standard_normal((q, self.dim))
        return np.concatenate([factors.ravel(), means.ravel()])

    def factors(self, theta: Array) -> Array:
        """Return ``M``, of shape (Q, d, d)."""
        rows, columns = self._entries
        factors = np.zeros((len(self.counts), self.dim, self.dim))
        factors[:, rows, columns] = theta[: len(factors) * len(rows)].reshape(-1, len(rows))
        return factors

    def means(self, theta: Array) -> Array:
        r"""Return :math:`\mu`, of shape (Q, d)."""
        means: Array = theta[len(theta) - len(self.counts) * self.dim :]
        return means.reshape(-1, self.dim)

    def omega(self, theta: Array) -> Array:
        """Return the frequencies, of shape (m, d)."""
        parts = zip(self._slices(), self.factors(theta), self.means(theta), strict=True)
        return np.concatenate([self.base[rows] @ factor.T + mean for rows, factor, mean in parts])

    def pullback(self, slope: Array) -> Array:
        """Return a gradient in ``theta`` from that in the frequencies, of shape (m, d)."""
        rows, columns = self._entries
        factors = [(slope[part].T @ self.base[part])[rows, columns] for part in self._slices()]
        means = [slope[part].sum(axis=0) for part in self._slices()]
        return np.concatenate([*factors, *means])

    @property
    def _entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of the entries of a factor that are not fixed at zero."""
        diagonal = np.arange(self.dim)
        return np.tril_indices(self.dim) if self.full else (diagonal, diagonal)

    def _slices(self) -> list[slice]:
        ends = np.cumsum(self.counts).tolist()
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]


def wave_blocks(X: Array, omega: Array) -> Iterator[tuple[slice, Array]]:
    """Yield slices of rows ``X`` (n, d) and their cosines and sines, of shape (block, 2m)."""
    for rows in row_blocks(len(X), 16 * len(omega)):
        yield rows, formulas.wave_features(X[rows], omega, MemoryLayout.BY_SAMPLE)


def wave_passes(X: Array, omega: Array) -> Callable[[], Iterator[tuple[slice, Array]]]:
    """Return a function that yields the blocks, any number of times; few are kept."""
    if len(X) * 16 * len(omega) > limits.CACHED_FEATURES_BYTES:
        return lambda: wave_blocks(X, omega)
    held = list(wave_blocks(X, omega))
    return lambda: iter(held)


def angle_gradient(slope: Array, waves: Array) -> Array:
    """Return a gradient in the angles (n, m) from that in cosines and sines (n, 2m)."""
    pairs = MemoryLayout.BY_SAMPLE.pairs
    return formulas.angle_gradient(pairs(waves), pairs(slope))


class Preparation:
    """Standardised rows, and a mixture of frequencies for them as an estimator describes it.

    Rows ``X`` (n, d) are less their means ``centre`` (d,), in units ``scale`` (d,) in which their
    median distance is one. ``rng`` draws the mixture's first parameters.
    """

    def __init__(self, estimator: BaseEstimator, X: Array) -> None:
        m, dim = count_frequencies(estimator.n_components), X.shape[1]
        n_mixture = as_count("n_mixture", estimator.n_mixture)
        covariance = check_choice("covariance", estimator.covariance, ("auto", "full", "diagonal"))
        full = covariance == "full" or (covariance == "auto" and dim <= _MOST_INPUTS_IN_FULL)
        scale_rng, base_rng, self.rng = generators(estimator.random_state, 3)
        self.centre, deviation = means_and_deviations(X)
        self.scale = deviation * median_distance((X - self.centre) / deviation, scale_rng)
        self.mixture = MixtureFrequencies.draw(base_rng, m, dim, n_mixture, full)
        self.X = (X - self.centre) / self.scale


def means_and_deviations(values: Array) -> tuple[Array, Array]:
    """Return means and standard deviations of columns, one where they are rounding error."""
    centre = values.mean(axis=0)
    deviation = np.sqrt(np.mean((values - centre) ** 2, axis=0))
    rounding = 10.0 * limits.FLOAT64_EPS * np.abs(centre)
    return centre, np.where(deviation > rounding, deviation, 1.0)


def feature_blocks(model: BaseEstimator, X: object) -> Iterator[Array]:
    """Yield the features of rows from a fitted model, a block of rows at a time."""
    check_is_fitted(model)
    rows = validated(model, X, dtype=np.float64, reset=False) - model.centre_
    for block in row_blocks(len(rows), 16 * model.frequencies_.n_frequencies):
        yield model.frequencies_.features(rows[block])


def descend(
    objective: Callable[[Array], tuple[float, Array]],
    n: int,
    start: Array,
    max_iter: object,
    tol: object,
    bounds: list[tuple[float | None, float | None]] | None = None,
) -> tuple[Array, float, int]:
    """Return the minimiser of an objective over ``n``, the minimum, and the number of steps."""
    steps = as_count("max_iter", max_iter)
    if isinstance(tol, bool) or not isinstance(tol, Real):
        raise TypeError(f"tol must be a number of zero or more, got {tol!r}.")
    if not 0.0 <= float(tol) < np.inf:
        raise ValueError(f"tol must be finite and zero or more, got {tol!r}.")

    def quotient(theta: Array) -> tuple[float, Array]:
        value, gradient = objective(theta)
        return value / n, gradient / n

    end = minimised(
        quotient,
        start,
        n_steps=steps,
        bounds=bounds,
        decrease=float(tol),
        slope=float(tol),
        n_corrections=MANY_CORRECTIONS,
    )
    return end.point, end.loss, max(end.n_steps, 1)
