"""Landmarks for low-rank kernel approximations, and features that are exact at landmarks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import solve_triangular

from bochner._base.arrays import (
    Array,
    InputRows,
    as_array,
    dense_rows,
    jittered_cholesky,
    row_blocks,
)
from bochner._base.limits import FLOAT64_EPS, MEBIBYTE
from bochner._base.registry import register
from bochner.features.parameters import AnyKernel, exact_values, kernel_name
from bochner.kernels import Kernel
from bochner.spectral.frequencies import Frequencies

Rows = NDArray[np.intp]
Spectrum = Callable[[], tuple[Array, Array]]

LANDMARKS = ("uniform", "leverage", "pivoted")

# Number of rows for the Gram matrix that selects the tolerance: 125,000 pairs, 2 MiB.
_N_PROBES = 500

# Candidate tolerances, by decades down to the rounding error of a Gram matrix.
_TOLERANCES = 10.0 ** np.arange(-1.0, -14.0, -1.0)

NEGLIGIBLE_SHARE = 1e-8
"""Residual variance, as a share of the greatest variance, below which no more landmarks are chosen:
the root of rounding. More landmarks would only add rounding errors of solves with their matrix."""

_INDEFINITE = -1e-6
"""Least residual variance that rounding explains, as a share of the greatest kernel variance."""

_PREDICTED, _FACTOR_SHARE = 64, 8
"""Largest number of pivots that are predicted together, above which matrix products hardly get
faster; and the least memory of the factor, in units of the memory of their columns."""

_LIKELY, _AGREEMENT = 512, 0.9
"""Number of rows among which pivots are predicted; and the residual variance, relative to the
greatest outside them, at which predictions end. In 2 to 500 inputs 26 to 99 per cent are right."""

_NOTHING = 1e-60
"""Share of the greatest value below which a value of the kernel or of a feature counts as zero. It
is far below rounding, and products of five such values are above 1e-308, below which processors
take ten times as long."""

_CANDIDATE_BYTES = 64 * MEBIBYTE
"""Memory for the factor of the candidate rows: 8,000 candidates for 1,000 landmarks."""


_INDEFINITE_MESSAGE = (
    "{!r} is not the covariance of a Gaussian process: it has a negative eigenvalue on these rows. "
    "Use a positive definite kernel, such as 'gaussian' or 'matern52'; KreinRidge and "
    "KreinRidgeClassifier with residual=None accept indefinite kernels."
)


def kernel_values(kernel: object, X: Array, Y: Array) -> Array:
    """Return the checked values (n, n2) of a kernel between the rows of ``X`` and of ``Y``."""
    if not callable(kernel) or isinstance(kernel, type):
        raise TypeError(f"kernel must be a Kernel, a name or a function k(X, Y), got {kernel!r}.")
    return exact_values(kernel, X, Y).astype(np.float64)


def nonzero(values: Array) -> int:
    """Return how many eigenvalues or singular values are nonzero; ``ValueError`` if none is."""
    count = int(np.count_nonzero(values))
    if not count:
        raise ValueError(
            f"The kernel is zero between all {len(values)} landmarks, which leaves no features. "
            f"Raise n_components, or use other data."
        )
    return count


def count_kept(values: Array, tol: float) -> int:
    """Return how many sorted eigenvalues or singular values exceed the relative tolerance."""
    size = np.abs(values)
    return int(np.count_nonzero(size > tol * size[0]))


def checked_tol(tol: object) -> float | None:
    """Return the validated tolerance; ``None`` means that it is chosen automatically."""
    if isinstance(tol, str) and tol == "auto":
        return None
    if isinstance(tol, bool) or not isinstance(tol, Real) or not 0.0 <= float(tol) < 1.0:
        raise ValueError(f"tol must be 'auto' or a number from 0 to below 1, got {tol!r:.60}.")
    return float(tol)


def probe_rows(X: Array, landmarks: Rows, rng: Generator) -> Array:
    """Return at most 500 rows to select the tolerance on, first those that are not landmarks."""
    non_landmarks = np.setdiff1d(np.arange(len(X)), landmarks)
    order = np.concatenate([rng.permutation(non_landmarks), rng.permutation(landmarks)])
    return np.asarray(X[order[:_N_PROBES]])


def best_tol(exact: Array, left: Array, right: Array, values: Array) -> float:
    """Return the tolerance at which the products of features come closest to ``exact``."""
    errors, residual, n_used = [], exact.copy(), 0
    for tol in _TOLERANCES:
        keep = count_kept(values, tol)
        residual -= left[:, n_used:keep] @ right[:, n_used:keep].T
        n_used = keep
        errors.append(np.linalg.norm(residual))
    return float(_TOLERANCES[int(np.argmin(errors))])


def tail_ridge(eigenvalues: Array, m: int) -> float:
    r"""Return the default ridge of leverage scores, :math:`\sum_{j > m} |\lambda_j| / m`."""
    size = np.sort(np.abs(eigenvalues))[::-1]
    rounding = len(size) * FLOAT64_EPS * float(size[0])
    return max(float(size[m:].sum()) / m, rounding, float(np.finfo(np.float64).tiny))


def pivots(matrix: Array, m: int, rng: Generator) -> Rows:
    """Return ``m`` pivot indices of a randomly pivoted Cholesky factorisation of ``matrix``."""
    n = len(matrix)
    left = np.diagonal(matrix).copy()
    exhausted = n * FLOAT64_EPS * left.sum()
    chosen = np.empty(m, dtype=np.intp)
    factor = np.zeros((n, m))
    for i in range(m):
        if left.sum() <= exhausted:
            unchosen = np.setdiff1d(np.arange(n), chosen[:i])
            chosen[i:] = rng.choice(unchosen, size=m - i, replace=False)
            break
        pivot = chosen[i] = rng.choice(n, p=left / left.sum())
        column = matrix[:, pivot] - factor[:, :i] @ factor[pivot, :i]
        factor[:, i] = column / np.sqrt(column[pivot])
        left = np.maximum(left - factor[:, i] ** 2, 0.0)
        left[pivot] = 0.0
    return chosen


def chosen_rows(
    rule: str, spectrum: Spectrum, n: int, m: int, ridge: float | None, rng: Generator
) -> Rows:
    """Return the indices of ``m`` of ``n`` rows, chosen by a rule of ``LANDMARKS``."""
    if rule == "uniform":
        return rng.choice(n, size=m, replace=False)
    eigenvalues, vectors = spectrum()
    size = np.abs(eigenvalues)
    if rule == "pivoted":
        return pivots((vectors * size) @ vectors.T, m, rng)
    ridge = tail_ridge(eigenvalues, m) if ridge is None else ridge
    scores = vectors**2 @ (size / (size + ridge))  # The diagonal of |K| (|K| + ridge I)^-1
    return rng.choice(n, size=m, replace=False, p=scores / scores.sum())


def cleared(values: Array, greatest: float) -> Array:
    """Set values that are negligible next to ``greatest`` to zero in place; return the array."""
    values[np.abs(values) < _NOTHING * greatest] = 0.0
    return values


def candidate_rows(
    X: InputRows, n_landmarks: int, rng: Generator, limit: int | None = None
) -> Array:
    """Return distinct rows to choose landmarks among: a random subset within the memory limit."""
    n_bytes = min(_CANDIDATE_BYTES, _CANDIDATE_BYTES if limit is None else limit // 4)
    size = max(n_landmarks, n_bytes // (8 * max(n_landmarks, X.shape[1])))
    # Sorted and distinct, so that the choice does not depend on repeats or order of rows.
    some_rng, first_rng = rng.spawn(2)
    candidates = np.unique(dense_rows(X, some_rng.permutation(X.shape[0])[:size]), axis=0)
    return np.asarray(first_rng.permutation(candidates))


def landmark_features(kernel: Any, landmarks: Array, lower: Array, X: Array) -> Array:
    """Return the landmark features (q, n) of rows ``X`` (n, d), by a solve with ``lower``."""
    greatest = float(lower.max())
    values = cleared(kernel(landmarks, X), greatest * greatest)
    return cleared(solve_triangular(lower, values, lower=True, check_finite=False), greatest)


def greatest_pivots(kernel: Any, X: Array, count: int) -> tuple[Array, Array]:
    """Return at most ``count`` landmarks (q, d) among ``X``, and a factor of their Gram matrix."""
    left = kernel.diag(X).astype(np.float64)
    greatest = float(left.max())
    floor = NEGLIGIBLE_SHARE * greatest
    factor, chosen = np.zeros((min(count, len(X)), len(X))), list[int]()
    most = max(1, min(_PREDICTED, count // _FACTOR_SHARE))
    while len(chosen) < len(factor) and left.max() > floor:
        first = len(chosen)
        next_rows = _predicted_pivots(
            kernel, X, factor[:first], left, min(most, len(factor) - first)
        )
        columns = kernel(X[next_rows], X) - factor[:first, next_rows].T @ factor[:first]
        for pivot, column in zip(next_rows, columns, strict=True):
            i = len(chosen)
            if pivot != np.argmax(left) or left[pivot] <= floor:
                break
            column = column - factor[first:i, pivot] @ factor[first:i]
            factor[i] = cleared(column / np.sqrt(left[pivot]), np.sqrt(greatest))
            left -= factor[i] ** 2
            if left.min() < _INDEFINITE * greatest:
                raise ValueError(_INDEFINITE_MESSAGE.format(kernel))
            left[pivot] = 0.0
            chosen.append(int(pivot))
    if not chosen and kernel(X[:1], X).any():
        raise ValueError(_INDEFINITE_MESSAGE.format(kernel))
    if not chosen:
        raise ValueError(f"{kernel!r} is zero on all rows, which leaves no landmarks.")
    return X[chosen], np.ascontiguousarray(factor[: len(chosen), chosen].T)


def _predicted_pivots(kernel: Any, X: Array, factor: Array, left: Array, most: int) -> Rows:
    """Return the next pivots, at least one, from the greatest residual variances ``left`` (n,)."""
    size, best = min(_LIKELY, len(X)), int(np.argmax(left))
    order = np.argpartition(-left, size - 1)
    rows = np.concatenate(([best], order[:size][order[:size] != best]))
    # Stop once another row has more residual variance than the next pivot.
    least = _AGREEMENT * float(left[order[size:]].max()) if size < len(X) else 0.0
    remaining, variance = kernel(X[rows]) - factor[:, rows].T @ factor[:, rows], left[rows]
    local, chosen = np.zeros((most, len(rows))), [0]
    while True:
        i = len(chosen) - 1
        pivot = chosen[i]
        column = remaining[pivot] - local[:i, pivot] @ local[:i]
        local[i] = column / np.sqrt(variance[pivot])
        variance = variance - local[i] ** 2
        variance[pivot] = 0.0
        following = int(np.argmax(variance))
        if len(chosen) == most or variance[following] <= least:
            return rows[chosen]
        chosen.append(following)


@register(shapes={"landmarks": "qd", "lower": "qq"})
@dataclass(frozen=True, slots=True, eq=False)
class LandmarkFeatures:
    """Nyström features of a positive definite kernel at ``q`` landmarks."""

    kernel: Kernel
    landmarks: Array  # (q, d)
    lower: Array  # (q, q)

    is_symmetric: ClassVar[bool] = True

    @classmethod
    def of(
        cls, kernel: Kernel, X: InputRows, n_landmarks: int, rng: Generator
    ) -> "LandmarkFeatures":
        """Return features with at most ``n_landmarks`` landmarks among rows ``X``, dense or CSR."""
        return cls(
            kernel, *greatest_pivots(kernel, candidate_rows(X, n_landmarks, rng), n_landmarks)
        )

    @classmethod
    def at(cls, kernel: Kernel, landmarks: Array) -> "LandmarkFeatures":
        """Return features with these landmarks (q, d), and the least jitter that Cholesky needs."""
        values = kernel(landmarks)
        jitter = NEGLIGIBLE_SHARE * float(np.diagonal(values).max())
        return cls(kernel, landmarks, jittered_cholesky(values, jitter))

    @property
    def n_features(self) -> int:
        """Number of features, ``q``."""
        return len(self.landmarks)

    def features(self, X: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Return the features of rows (n, d), dense or CSR, of shape (n, q)."""
        values = np.empty((X.shape[0], self.n_features), dtype=dtype or X.dtype)
        for rows, block in self._blocks(X):
            values[rows] = landmark_features(self.kernel, self.landmarks, self.lower, block).T
        return values

    def products(self, X: Any, weights: Array) -> Array:
        """Return the products (n, s) of features with weights (q, s), block by block."""
        solved = solve_triangular(self.lower, weights, lower=True, trans=1)
        products = np.empty((X.shape[0], weights.shape[1]))
        for rows, block in self._blocks(X):
            products[rows] = self.kernel(block, self.landmarks) @ solved
        return products

    def _blocks(self, X: Any) -> Iterator[tuple[slice, Array]]:
        """Yield slices of rows and the dense rows, in blocks that bound memory."""
        for rows in row_blocks(X.shape[0], 8 * (X.shape[1] + 2 * self.n_features)):
            yield rows, X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()


LatentFeatures = Frequencies | LandmarkFeatures
"""Feature maps of the latent functions of Gaussian processes."""


def residual_variance(features: LatentFeatures, X: Any, Z: Array) -> Array:
    """Return the kernel variance (n,) that features ``Z`` do not explain; 0 if they are random."""
    if isinstance(features, Frequencies):
        return np.zeros(X.shape[0])
    variance = np.empty(X.shape[0])
    for rows in row_blocks(X.shape[0], 8 * X.shape[1]):
        block = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
        prior = features.kernel.diag(block)
        left = prior - np.sum(Z[rows] ** 2, axis=1)
        variance[rows] = np.maximum(left, NEGLIGIBLE_SHARE * prior)
    return variance


@register(shapes={"landmarks": "qd", "lower": "qq", "projected": "qp"})
@dataclass(frozen=True, slots=True, eq=False)
class ResidualFeatures:
    r"""Features of ``q`` landmarks, exact there, and ``p`` random features of what they leave.

    With random features ``z``, landmarks ``L`` and :math:`R R^\top = k(L, L)`, the features are

    .. math:: \tilde z(x) = z(x) - z(L)^\top k(L, L)^{-1} k(L, x), \qquad \phi(x) = R^{-1} k(L, x),

    and the kernel between a landmark and any row is exact (Wilson et al., "Efficiently sampling
    functions from Gaussian process posteriors", 2020). ``lower`` is :math:`R`, and ``projected`` is
    :math:`R^{-1} z(L)`.
    """

    frequencies: Frequencies
    kernel: Kernel
    landmarks: Array  # (q, d)
    lower: Array  # (q, q)
    projected: Array  # (q, p)

    is_symmetric: ClassVar[bool] = True

    @classmethod
    def of(
        cls,
        frequencies: Frequencies,
        kernel: AnyKernel,
        X: InputRows,
        n_landmarks: int,
        rng: Generator,
        limit: int | None = None,
    ) -> "ResidualFeatures":
        """Return features with at most ``n_landmarks`` landmarks among rows ``X``, dense or CSR."""
        name = kernel_name(kernel)
        is_signed = not frequencies.is_symmetric or (frequencies.weight < 0.0).any()
        if not isinstance(kernel, Kernel) or not kernel.is_symmetric or is_signed:
            raise ValueError(
                f"residual needs a positive definite kernel of bochner.kernels, got {name}. Leave "
                f"residual=None, or use a positive definite kernel."
            )
        candidates = candidate_rows(X, n_landmarks, rng, limit)
        # Greedy pivots cover the rows and keep the factor well conditioned (docs/adr/0034).
        landmarks, lower = greatest_pivots(kernel, candidates, n_landmarks)
        projected = solve_triangular(lower, frequencies.features(landmarks), lower=True)
        return cls(frequencies, kernel, landmarks, lower, projected)

    @property
    def n_features(self) -> int:
        """Number of features, ``p + q``."""
        return sum(self.projected.shape)

    @property
    def signature(self) -> Array:
        """Signs of the features, all of them one."""
        return np.ones(self.n_features)

    @property
    def weight(self) -> Array:
        """Weights of the frequencies, which sum to the kernel's variance, of shape (m,)."""
        return self.frequencies.weight

    def features(
        self, X: Any, dtype: DTypeLike | None = None, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Return the features of rows (n, d), dense or CSR, of shape (n, p + q)."""
        feature_dtype = np.dtype(dtype or X.dtype)
        p = self.projected.shape[1]
        if out is None:
            out = np.empty((X.shape[0], self.n_features), dtype=feature_dtype)
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        near = landmark_features(self.kernel, self.landmarks, self.lower, dense)
        # The landmarks' share is subtracted from random features, so that the kernel between a
        # landmark and any row is exact.
        out[:, :p] = self.frequencies.features(dense, np.float64) - near.T @ self.projected
        out[:, p:] = near.T
        return out

    def with_frequencies(self, frequencies: Frequencies) -> "ResidualFeatures":
        """Return the features of the same landmarks with the given ``frequencies``."""
        waves = frequencies.features(self.landmarks)
        projected = solve_triangular(self.lower, waves, lower=True)
        return replace(self, frequencies=frequencies, projected=projected)

    def split(self, coef: Array) -> tuple[Array, Array]:
        r"""Convert feature weights to weights of waves (p, s) and of landmark kernel values (q, s).

        The functions :math:`[\tilde z(x), \phi(x)] \cdot c` with weights ``coef`` (p + q, s) are
        :math:`z(x) \cdot w + k(x, L)\, b`.
        """
        waves, near = np.split(coef, [self.projected.shape[1]])
        b = solve_triangular(self.lower, near - self.projected @ waves, lower=True, trans=1)
        return waves, as_array(b)


FeatureMap = Frequencies | ResidualFeatures
"""Feature maps of linear models: random features alone, or with landmarks."""
