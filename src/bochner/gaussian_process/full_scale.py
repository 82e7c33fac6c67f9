r"""Gaussian processes on very many rows: landmarks, and nearest neighbours for the residuals.

With features :math:`\phi(x)` of landmarks a function is :math:`f(x) = \phi(x) \cdot u + r(x)`,
:math:`u` standard normal. Residuals with noise, of covariance :math:`S`, are conditioned on near
neighbours among the earlier rows:

.. math:: e_i \mid e_N \sim N(a_i^\top e_N, d_i), \quad a_i = S_{NN}^{-1} S_{Ni}, \quad
          d_i = S_{ii} - a_i^\top S_{Ni}.

The rows :math:`(\phi(x_i) - \Phi_N^\top a_i) / \sqrt{d_i}` of a matrix :math:`U` are those of a
linear model with noise of variance one: :math:`u` has the posterior precision :math:`I + U^\top U`.
The expected log evidence is too low by at most :math:`\tfrac12 \sum_i \log(d_i / d_i^*)`, where
:math:`d_i^*` are variances given all earlier rows (Vecchia, 1988; Gyger, Furrer and Sigrist, 2025).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_solve, lapack, solve_triangular
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from bochner._base.arrays import Array, as_array, jittered_cholesky, steps, upper_triangle
from bochner._base.registry import register
from bochner._base.threads import in_order, single_threaded_blas, threads_of_factor
from bochner.features.landmarks import greatest_pivots, landmark_features

_SQUARE_ROWS = 64
"""Rows of a square block whose diagonal is taken: 64 values are computed per value in use,
and a call of a kernel takes as long as some thousand values."""

_BLOCK_VALUES = 2**24
"""Largest number of kernel values of a block: 128 MiB, of which kernels need several copies."""

_PROBED_ROWS = 64  # Rows whose entries are replaced to find how far a kernel reaches along a column
_FLAT = 1e-3
"""Loss of correlation along a column below which the column does not matter for neighbours."""

_WINDOW = 32
"""Number of lags whose losses are averaged, half of `_PROBED_ROWS`: losses differ among rows."""


class ObservedRows(NamedTuple):
    """Training rows (n, d), their targets (n, t), and the variance (n,) of their noise."""

    X: Array
    Y: Array
    noise: Array

    def part(self, places: NDArray[np.intp]) -> "ObservedRows":
        """Return the rows at ``places``."""
        return ObservedRows(*(values[places] for values in self))


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of a function by a scikit-learn kernel, and the kernel's white noise."""

    kernel: Any  # Kernel of scikit-learn on numeric rows

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Return covariances (n, n2) of the function."""
        return as_array(self.kernel(X, X if Y is None else Y))

    def diag(self, X: Array) -> Array:
        """Return variances (n,) of the function."""
        blocks = steps(len(X), _SQUARE_ROWS)
        return np.concatenate([np.diagonal(self(X[rows])) for rows in blocks])

    def noise(self, X: Array) -> Array:
        """Return variances (n,) of the kernel's white noise."""
        return np.maximum(as_array(self.kernel.diag(X)) - self.diag(X), 0.0)

    def __repr__(self) -> str:
        return repr(self.kernel)


def row_steps(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Return slices of ``n_rows`` rows such that a slice times ``n_columns`` fits into a block."""
    return iter(steps(n_rows, max(1, _BLOCK_VALUES // max(n_columns, 1))))


def rates(covariance: Covariance, X: Array, rng: np.random.Generator) -> Array:
    """Return for each column one over the distance that halves the correlation, of shape (d,)."""
    n = len(X)
    few = rng.permutation(n)[:_PROBED_ROWS]
    rows = X[few]
    variances = covariance.diag(rows)
    gaps = np.unique(np.geomspace(1, max(n - 1, 1), 16).astype(np.intp))
    inverse_reaches = np.empty(X.shape[1])
    for column in range(X.shape[1]):
        entries = np.sort(X[:, column])
        rank = np.searchsorted(entries, rows[:, column])
        moved = np.repeat(rows, len(gaps), axis=0)
        places = np.minimum(rank[:, None] + gaps, n - 1)
        moved[:, column] = entries[places].ravel()
        loss = _losses(covariance, rows, variances, moved, len(gaps))
        lag = np.abs(moved[:, column] - np.repeat(rows[:, column], len(gaps)))
        inverse_reaches[column] = 1.0 / _half_loss(lag, loss)
    return inverse_reaches


def _losses(
    covariance: Covariance, rows: Array, variances: Array, moved: Array, count: int
) -> Array:
    """Return one minus the correlation of each row with each of its ``count`` moved rows."""
    values = np.empty(len(moved))
    for i, row in enumerate(rows):
        of_row = slice(i * count, (i + 1) * count)
        values[of_row] = covariance(row[None], moved[of_row])[0]
    scale = np.sqrt(np.repeat(variances, count) * covariance.diag(moved))
    return as_array(1.0 - np.divide(values, scale, out=np.ones_like(values), where=scale > 0.0))


def _half_loss(lag: Array, loss: Array) -> float:
    """Return the least lag at which the smoothed loss reaches half of its maximum."""
    moved = lag > 0.0
    if not moved.any() or loss[moved].max() < _FLAT:
        return np.inf
    order = np.argsort(lag[moved])
    lag, loss = lag[moved][order], loss[moved][order]
    window = min(len(loss), _WINDOW)
    mean = np.convolve(loss, np.full(window, 1.0 / window), "valid")
    return float(lag[np.argmax(mean >= 0.5 * mean.max()) + window // 2])


MOST_EXACT = 16_500
"""Largest number of rows of an exact process: the factor takes 2.2 GB and about 20 s."""


def covariance_factor(covariance: Covariance, X: Array, noise: Array) -> Array:
    """Return the Cholesky factor (n, n) of the covariance of observations, lower triangular."""

    def values(block: slice) -> Array:
        return covariance(X[block], X[block.start :])

    matrix = upper_triangle(values, list(row_steps(len(X), len(X))), np.float64)
    matrix[np.diag_indices(len(X))] += noise
    with threads_of_factor(matrix.nbytes):
        lower, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        raise LinAlgError(
            f"The kernel, {covariance!r}, is not returning a positive definite matrix. Try "
            f"gradually increasing the 'alpha' parameter of your GaussianProcessRegressor "
            f"estimator."
        )
    return as_array(lower)


def exact_solution(lower: Array, given: ObservedRows) -> tuple[Array, float]:
    """Return the posterior mean's coefficients (n, t), and log evidence summed over targets."""
    coef = cho_solve((lower, True), given.Y)
    n, n_targets = given.Y.shape
    constant = np.sum(np.log(np.diagonal(lower))) + 0.5 * n * np.log(2.0 * np.pi)
    return coef, -0.5 * float(np.sum(given.Y * coef)) - n_targets * float(constant)


Places = NDArray[np.intp]

_GROWTH = 1.25
"""Growth factor of the rows among which neighbours are searched: a row's neighbours are among at
least four fifths of the rows before it."""

_TREE_COLUMNS = 8
"""Largest number of columns for which trees are faster than all distances, at 10,000 rows."""


def nearest(points: Array, queries: Array, count: int) -> Places:
    """Return positions (n, k) of the ``k = min(count, len(points))`` points nearest to queries."""
    algorithm = "kd_tree" if points.shape[1] <= _TREE_COLUMNS else "brute"
    search = NearestNeighbors(algorithm=algorithm).fit(points)
    places: Places = search.kneighbors(queries, min(count, len(points)), return_distance=False)
    return places


def nearest_earlier(points: Array, count: int) -> list[Places]:
    """Return for each row of ``points`` (n, d) the positions of near neighbours in earlier rows."""
    n, first = len(points), min(len(points), 2 * count)
    neighbours: list[Places] = [np.arange(min(i, count)) for i in range(min(n, count + 1))]
    for i in range(len(neighbours), first):
        lags = points[:i] - points[i]
        neighbours.append(np.argpartition(np.einsum("ij,ij->i", lags, lags), count - 1)[:count])
    while len(neighbours) < n:
        size = len(neighbours)
        following = points[size : int(_GROWTH * size) + 1]
        neighbours.extend(nearest(points[:size], following, count))
    return neighbours


_BLOCK_ROWS = 64  # Rows that a thread takes at a time, which need about ten milliseconds
_LEAST_VARIANCE = 1e-12
"""Least variance given neighbours, relative to the prior variance; less is rounding error."""

_CHECKED, _MORE_NEIGHBOURS = 128, 4
"""Number of rows on which the divergence is estimated, and the factor of their neighbours."""


class Conditional(NamedTuple):
    """Conditional distribution of a residual: weights (k,) of its neighbours, and its variance."""

    weights: Array
    variance: float


class Residuals(NamedTuple):
    """Residual process given landmarks (q, d), with the Cholesky factor of their covariance."""

    covariance: Covariance
    landmarks: Array
    lower: Array

    def features(self, X: Array) -> Array:
        """Return the landmarks' features (n, q) of rows (n, d)."""
        features = np.zeros((len(X), len(self.lower)))
        if len(self.lower):
            for rows in row_steps(len(X), len(self.lower)):
                of_rows = landmark_features(self.covariance, self.landmarks, self.lower, X[rows])
                features[rows] = of_rows.T
        return features

    def conditionals(
        self, X: Array, near: Places, given: ObservedRows
    ) -> tuple[list[Conditional], Array, Array]:
        """Return laws of residuals at rows (n, d), their means (n, t) and features (n, q)."""
        used, inverse = np.unique(near, return_inverse=True)
        places, given = inverse.reshape(near.shape), given.part(used)
        phi, of_given = self.features(X), self.features(given.X)
        laws = list(self._laws((X, phi, np.zeros(len(X))), list(places), given, of_given))
        pairs = list(zip(laws, places, strict=True))
        mean = np.stack([law.weights @ given.Y[place] for law, place in pairs])
        change = np.stack([law.weights @ of_given[place] for law, place in pairs])
        return laws, mean, phi - change

    def whitened(
        self, given: ObservedRows, earlier: Sequence[Places]
    ) -> tuple[Array, Array, Array]:
        """Return whitened features (n, q), whitened targets (n, t) and residual variances (n,)."""
        phi = self.features(given.X)
        U, V, variance = phi.copy(), given.Y.copy(), np.empty(len(phi))
        laws = self._laws((given.X, phi, given.noise), earlier, given, phi)
        for i, (law, near) in enumerate(zip(laws, earlier, strict=True)):
            scale = 1.0 / np.sqrt(law.variance)
            U[i] = scale * (phi[i] - law.weights @ phi[near])
            V[i] = scale * (given.Y[i] - law.weights @ given.Y[near])
            variance[i] = law.variance
        return U, V, variance

    def divergence(
        self,
        points: Array,
        given: ObservedRows,
        variance: Array,
        earlier: Sequence[Places],
        rng: Generator,
    ) -> float:
        """Return the estimated divergence from the density with four times as many neighbours."""
        rows = np.sort(rng.permutation(len(points))[:_CHECKED])
        more = list[Places]()
        for row in rows:
            lags = points[:row] - points[row]
            count = min(row, _MORE_NEIGHBOURS * len(earlier[row]))
            more.append(np.argsort(np.einsum("ij,ij->i", lags, lags), kind="stable")[:count])
        some = given.part(rows)
        laws = self._laws(
            (some.X, self.features(some.X), some.noise), more, given, self.features(given.X)
        )
        ratios = [np.log(variance[row] / law.variance) for row, law in zip(rows, laws, strict=True)]
        return 0.5 * len(points) * max(float(np.mean(ratios)), 0.0)

    def joint(
        self, X: Array, laws: Sequence[Conditional], near: Places, given: ObservedRows
    ) -> Array:
        """Return covariances (n, n) of function values minus weighted targets of neighbours."""
        used, inverse = np.unique(near, return_inverse=True)
        shape, ends = (len(X), len(used)), np.arange(len(X) + 1) * near.shape[1]
        weights = csr_array(
            (np.concatenate([law.weights for law in laws]), inverse.ravel(), ends), shape
        )
        given = given.part(used)
        across = weights @ self.covariance(given.X, X)
        cov = self.covariance(X) - across - across.T
        for rows in row_steps(len(used), len(used)):
            part = weights @ self.covariance(given.X, given.X[rows])
            cov += (weights[:, rows] @ part.T).T
        return as_array(cov + ((weights * given.noise) @ weights.T).toarray())

    def _laws(
        self,
        rows: tuple[Array, Array, Array],
        near: Sequence[Places],
        given: ObservedRows,
        of_given: Array,
    ) -> Iterator[Conditional]:
        """Yield each row's residual distribution; ``rows`` are inputs, features and noise."""
        X, phi, noise = rows
        prior = self.covariance.diag(X)
        total = prior - np.einsum("ij,ij->i", phi, phi) + noise
        total = np.maximum(total, _LEAST_VARIANCE * prior)

        def of_block(block: slice) -> list[Conditional]:
            each = range(block.start, block.stop)
            return [
                self._law(X[i], phi[i], total[i], given.part(near[i]), of_given[near[i]])
                for i in each
            ]

        with single_threaded_blas() as n_threads:
            blocks = list(steps(len(X), _BLOCK_ROWS))
            for _, laws in in_order(of_block, blocks, n_threads):
                yield from laws

    def _law(
        self, x: Array, phi: Array, total: float, given: ObservedRows, of_given: Array
    ) -> Conditional:
        """Return the distribution of a residual of variance ``total``, given its neighbours."""
        if not len(given.X):
            return Conditional(np.empty(0), total)
        across = self.covariance(given.X, x[None])[:, 0] - of_given @ phi
        between = self.covariance(given.X) - of_given @ of_given.T
        between[np.diag_indices(len(between))] += given.noise
        _, weights, failed = lapack.dposv(between, across, lower=1)
        if failed:
            scale = total + float(phi @ phi)
            weights = cho_solve((jittered_cholesky(between, scale=scale), True), across)
        left = total - float(weights @ across)
        return Conditional(weights, max(left, _LEAST_VARIANCE * (total + float(phi @ phi))))


_CANDIDATES = 8192
"""Rows among which landmarks are chosen: their factor with 256 landmarks takes 16 MiB."""

_EARLIER_SHARE = 4
"""Ratio of the numbers of neighbours in a prediction and in a fit. More neighbours hardly change
coefficients, but improve predictions: of five inputs, errors with 256 were 0.88 times those of 64.
"""


@register(shapes={"landmarks": "qd", "lower": "qq", "root": "qq", "coef": "qt", "rate": "d"})
@dataclass(frozen=True, slots=True, eq=False)
class FullScaleProcess:
    """The posterior of the landmarks' coefficients; the training rows are stored elsewhere."""

    landmarks: Array  # (q, d)
    lower: Array  # (q, q): R
    root: Array  # (q, q): Cholesky factor of the posterior precision
    coef: Array  # (q, t): Posterior mean
    rate: Array  # (d,): Column factors in distances to neighbours
    n_neighbors: int
    log_likelihood: float  # Summed over targets
    log_likelihood_error: float  # Estimated deficit of log_likelihood

    @classmethod
    def of(
        cls, covariance: Covariance, given: ObservedRows, sizes: tuple[int, int], seed: int
    ) -> "FullScaleProcess":
        """Return the posterior; ``sizes`` are numbers of landmarks and of prediction neighbours."""
        n_landmarks, n_neighbors = sizes
        order_rng, rate_rng, check_rng = np.random.default_rng(seed).spawn(3)
        given = given.part(order_rng.permutation(len(given.X)))
        rate = rates(covariance, given.X, rate_rng)
        landmarks, lower = np.empty((0, given.X.shape[1])), np.empty((0, 0))
        candidates = given.X[:_CANDIDATES]
        if n_landmarks and covariance.diag(candidates).any():
            landmarks, lower = greatest_pivots(covariance, candidates, n_landmarks)
        residuals = Residuals(covariance, landmarks, lower)
        points = given.X * rate
        earlier = nearest_earlier(points, -(-n_neighbors // _EARLIER_SHARE))
        U, V, variance = residuals.whitened(given, earlier)
        root = jittered_cholesky(U.T @ U, 1.0) if U.size else lower
        half = solve_triangular(root, U.T @ V, lower=True)
        determinant = 2.0 * np.sum(np.log(np.diagonal(root))) + np.sum(np.log(variance))
        n, n_targets = given.Y.shape
        constant = n_targets * (n * np.log(2.0 * np.pi) + determinant)
        evidence = -0.5 * float(np.sum(V**2) - np.sum(half**2) + constant)
        error = residuals.divergence(points, given, variance, earlier, check_rng)
        coef = solve_triangular(root, half, lower=True, trans=1)
        return cls(landmarks, lower, root, coef, rate, n_neighbors, evidence, n_targets * error)

    def moments(self, covariance: Covariance, given: ObservedRows, X: Array) -> tuple[Array, Array]:
        """Return means (n, t) and variances (n,) of the function at rows (n, d)."""
        residuals = Residuals(covariance, self.landmarks, self.lower)
        near = nearest(given.X * self.rate, X * self.rate, self.n_neighbors)
        mean, variance = np.empty((len(X), given.Y.shape[1])), np.empty(len(X))
        for rows in row_steps(len(X), near.shape[1]):
            laws, mean[rows], p = residuals.conditionals(X[rows], near[rows], given)
            explained = solve_triangular(self.root, p.T, lower=True)
            mean[rows] += p @ self.coef
            variance[rows] = [law.variance for law in laws]
            variance[rows] += np.einsum("ij,ij->j", explained, explained)
        return mean, variance

    def joint(self, covariance: Covariance, given: ObservedRows, X: Array) -> tuple[Array, Array]:
        """Return means (n, t) and covariances (n, n) of the function at rows (n, d)."""
        residuals = Residuals(covariance, self.landmarks, self.lower)
        near = nearest(given.X * self.rate, X * self.rate, self.n_neighbors)
        laws, mean, p = residuals.conditionals(X, near, given)
        explained = solve_triangular(self.root, p.T, lower=True)
        cov = residuals.joint(X, laws, near, given) - p @ p.T + explained.T @ explained
        return mean + p @ self.coef, cov
