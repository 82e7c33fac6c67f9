r"""Posteriors of Gaussian processes on all rows: exact, or with landmarks for many rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import cho_solve, eigh, lapack, solve_triangular

from bochner._base.arrays import (
    Array,
    Floats,
    as_array,
    floored,
    jittered_cholesky,
    row_blocks,
    steps,
    upper_triangle,
)
from bochner._base.limits import LARGEST_TARGET
from bochner._base.registry import register
from bochner._base.threads import threads_of_factor
from bochner.tables.fit_plan import FitPlan
from bochner.tables.landmark_fits import (
    BLOCK_BYTES,
    sampled_rows,
    solved_by_passes,
    solved_by_products,
    summed_products,
)
from bochner.tables.leave_one_out import (
    EQUAL_ROWS,
    LEAST_SINGLE,
    LearnedKernel,
    factor_inverse,
    left_out_latent,
)
from bochner.tables.observations import CellObservations, Chosen, Elsewhere, Rows, Scored

_FEW = 2000
"""Largest number of rows that are always fitted in double precision, in a quarter of a second."""

_SAME_VARIANCE = 1e-3
"""Largest change of variances over the noise at which their factor is in single precision."""

_ROWS_LEFT_OUT = 4096
"""Rows that are left out in one piece, whose kernel values at 4,000 landmarks have 131 MB."""

_FEW_CHECKED = 200
"""Number of rows at which the change of variances is measured."""


class LeaveOneOutPredictions(NamedTuple):
    """Leave-one-out predictions (s, t) of observations; variances are NaN if not computed."""

    means: Array
    variances: Array
    unit_noise: Array  # The part of the variance that is noise, for a target of weight one


@register(shapes={"coef": "nt", "factor": "mm", "signal": "t"})
@dataclass(frozen=True, slots=True, eq=False)
class KernelLaw:
    r"""The posterior of a Gaussian process; the training rows are stored elsewhere.

    The mean is :math:`\sum_i c_i k(x_i, x)`, the variance of a new target
    :math:`s^2 (\alpha + k(x, x) - \|R^\top k(X_{1:m}, x)\|^2)` with the factor ``R`` of ``m`` rows.
    """

    name: str
    found: LearnedKernel
    columns: Chosen  # (d',): Indices of the encoded columns in the kernel
    coef: Array  # (n, t)
    factor: Floats  # (m, m): Triangular, in single or double precision
    signal: Array | float  # s², (t,)

    def __post_init__(self) -> None:
        if np.min(self.signal) < 0.0:
            raise ValueError("the variance of the signal must not be negative")
        if float(np.abs(self.factor).max(initial=0.0)) > LARGEST_TARGET:  # Entries are squared
            raise ValueError("the factor of a covariance is too large")

    @property
    def kind(self) -> str:
        """Name of the kernel."""
        return type(self.found.kernel).__name__

    @property
    def noise(self) -> Array:
        """Noise variance (t,) of a target of weight one."""
        return np.ravel(self.found.alpha * as_array(self.signal))

    def with_variances(self, of_function: float, of_noise: float) -> "KernelLaw":
        """Return the law with the variances of function and noise multiplied by factors."""
        alpha = of_noise / of_function * self.found.alpha
        learned = replace(self.found, alpha=alpha)
        return replace(self, found=learned, signal=of_function * self.signal)

    def mean(self, X: Array, rows: Array) -> Array:
        """Return means (n', t) at encoded rows (n', d), given the training rows (n, d)."""
        training = rows[: len(self.coef), self.columns]
        return as_array(self.found(X[:, self.columns], training) @ self.coef)

    def variance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return variances (n', t) of new targets of some weights at encoded rows (n', d)."""
        noise = self.found.alpha / as_array(weight)
        return self.signal * (noise + self.latent(X, rows))[:, None]

    def latent(self, X: Array, rows: Array) -> Array:
        """Return variances (n',) of the function at encoded rows, over the signal variance."""
        X, landmarks = X[:, self.columns], rows[: len(self.factor), self.columns]
        explained = np.sum((self.found(X, landmarks) @ self.factor) ** 2, axis=1)
        return as_array(np.maximum(self.found.kernel.diag(X) - explained, 0.0))

    def covariance(self, X: Array, rows: Array, weight: Array | float = 1.0) -> Array:
        """Return covariances (n', n', t) of new targets; their diagonal is :meth:`variance`."""
        inner, landmarks = X[:, self.columns], rows[: len(self.factor), self.columns]
        explained = self.found(inner, landmarks) @ self.factor
        relative = self.found(inner, inner) - explained @ explained.T
        cov: Array = relative[:, :, None] * self.signal
        np.einsum("iit->it", cov)[:] = self.variance(X, rows, weight)
        return cov


def exact(
    name: str,
    learned: LearnedKernel,
    rows: Rows,
    columns: Chosen,
    n_landmarks: int,
    scored: Scored,
    n_threads: int,
    learned_from: int | None = None,
    growth: Array | float = 1.0,
) -> tuple[KernelLaw, LeaveOneOutPredictions, Array | float]:
    """Return the exact posterior of rows, scored ones last, and its left-out predictions.

    Variances at landmarks are greater than those of all rows: the factor by which they are comes
    third. A kernel that was learned from one half of a search only scores the other half: its law
    has no factor of variances, and its variances grow by the given factor.
    """
    inputs, observed = rows.columns(columns), scored.observed
    lower = _cholesky(learned, inputs, n_threads, _FEW if learned_from is None else 0)
    # Predictions of a constant target of one measure the effect of the change in the mean target
    # that leaving out an observation causes.
    targets = np.column_stack((inputs.Y, np.ones(len(inputs)))).astype(lower.dtype)
    solved = as_array(cho_solve((lower, True), targets))
    coef = solved[:, :-1]
    # The last diagonal block of the inverse depends on the last block of the factor only.
    first = int(observed.cell.min())
    last = inputs.part(np.arange(first, len(inputs)))
    inverse = factor_inverse(np.array(lower[first:, first:], order="F"))
    in_last = replace(observed, cell=observed.cell - first)
    left_out, relative = _left_out(last, in_last, solved[first:], inverse, learned.alpha)
    residuals = left_out[:, :-1] - scored.centres * left_out[:, -1:]
    squares = residuals**2 / relative[:, None]
    in_signal = slice(None) if learned_from is None else scored.part == learned_from
    signal = np.mean(squares[in_signal], axis=0)
    factor: Floats = np.empty((0, 0))
    if n_landmarks == len(inputs):
        # All rows are landmarks: the factor follows from the Cholesky factor of the fit.
        factor64 = as_array(lapack.dtrtri(lower, lower=1)[0].T)
        factor = _stored(learned, inputs.X[-_FEW_CHECKED:], inputs.X, factor64)
    elif n_landmarks:
        landmarks = inputs.X[:n_landmarks]
        sums = summed_products(learned, inputs, landmarks, n_threads)[0]
        factor64 = _factor(learned, landmarks, sums)
        factor = _stored(learned, inputs.X[-_FEW_CHECKED:], inputs.X, factor64)
        if rows.groups is None:
            latent = left_out_latent(learned, inputs, sums, observed)
            growth = (latent + learned.alpha / observed.weights) / relative
    law = KernelLaw(name, learned, columns, coef, factor, signal)
    means = rows.Y[observed.cell] + observed.deviations - residuals
    variances = signal * (growth * relative)[:, None]
    noise = np.broadcast_to(signal * learned.alpha, means.shape)
    return law, LeaveOneOutPredictions(means, variances, noise), growth


def _left_out(
    rows: Rows, observed: CellObservations, coef: Array, inverse: NDArray[Any], alpha: float
) -> tuple[Array, Array]:
    """Return left-out residuals (s, t + 1), the last of a constant target, and variances (s,)."""
    n_targets = coef.shape[1] - observed.deviations.shape[1]
    observed = replace(observed, deviations=np.pad(observed.deviations, ((0, 0), (0, n_targets))))
    if rows.groups is None:
        diagonal = np.diagonal(inverse).astype(np.float64)
        return observed.left_out(rows.weights, coef, diagonal, alpha)
    residuals = observed.deviations + rows.solved(inverse, coef)[observed.cell]
    latent = rows.left_out_variance(inverse) - alpha / rows.weights
    return residuals, latent[observed.cell] + alpha / observed.weights


def _cholesky(learned: LearnedKernel, rows: Rows, n_threads: int, few: int) -> Floats:
    """Return the Cholesky factor (n, n) of the targets' covariance, of many rows in float32."""

    def covariance(dtype: DTypeLike) -> NDArray[Any]:
        """Return the upper triangle of the matrix, with zeros below, which must be finite."""

        def values(block: slice) -> NDArray[Any]:
            between = learned(rows.X[block], rows.X[block.start :])
            return floored(between.astype(dtype, copy=False))

        blocks = list(row_blocks(len(rows), 8 * len(rows), block_bytes=BLOCK_BYTES))
        matrix = upper_triangle(values, blocks, dtype, n_threads)
        matrix[np.diag_indices(len(rows))] += learned.alpha / rows.weights
        return matrix

    is_single = len(rows) > few and learned.alpha >= LEAST_SINGLE
    for factored in (*[lapack.spotrf][:is_single], lapack.dpotrf):
        # The factor replaces the matrix: with 16,500 rows each takes one or two gigabytes.
        matrix = covariance(np.float32 if factored is lapack.spotrf else np.float64)
        with threads_of_factor(matrix.nbytes):
            lower, failed = factored(matrix.T, lower=1, overwrite_a=1)
        if not failed:
            return np.asarray(lower)
    return jittered_cholesky(covariance(np.float64))


def on_landmarks(
    name: str,
    learned: LearnedKernel,
    rows: Rows,
    columns: Chosen,
    sizes: tuple[int, int],
    scored: Scored,
    n_threads: int,
    elsewhere: Elsewhere | None = None,
    end: float = np.inf,
) -> tuple[KernelLaw, LeaveOneOutPredictions]:
    r"""Return the posterior of the Nyström approximation, and its left-out means and variances.

    With ``Z`` the first rows and weights ``W``, the coefficients solve
    :math:`(k(Z, X) W k(X, Z) + \alpha k(Z, Z)) c = k(Z, X) W y`; ``sizes`` are those of ``Z``.
    """
    observed = scored.observed
    n_landmarks, n_of_variance = sizes
    with_ones = replace(rows, Y=np.column_stack((rows.Y, np.ones(len(rows)))))
    solution = None
    if elsewhere is None:
        solution = solved_by_passes(learned, columns, with_ones, sizes, n_threads, end)
    if solution is None:
        solution = solved_by_products(learned, columns, with_ones, sizes, n_threads, elsewhere)
    coef, lower = solution.coef[:, :-1], solution.lower
    landmarks = rows.X[:n_landmarks, columns]
    first = int(observed.cell.min())
    last = with_ones.part(np.arange(first, len(rows))).columns(columns)
    deviations = np.pad(observed.deviations, ((0, 0), (0, 1)))
    in_last = replace(observed, cell=observed.cell - first, deviations=deviations)

    def half_of(some: Chosen) -> Array:
        return as_array(solve_triangular(lower, learned(landmarks, last.X[some]), lower=True))

    left_out = _without(half_of, lower.T @ solution.coef, last, in_last)
    residuals = left_out[:, :-1] - scored.centres * left_out[:, -1:]
    factor: Floats = np.empty((0, 0))
    signal = np.ones(rows.Y.shape[1])
    variances = np.full(residuals.shape, np.nan)
    if n_of_variance:
        factor = _factor(learned, rows.X[:n_of_variance, columns], solution.of_variance)
        factor = _stored(
            learned, rows.X[-_FEW_CHECKED:, columns], rows.X[:n_of_variance, columns], factor
        )
        unit = KernelLaw(name, learned, columns, coef, factor, 1.0)
        blocks = steps(len(last), _ROWS_LEFT_OUT)
        new = rows.X[first:]
        latent = np.concatenate([unit.latent(new[block], rows.X) for block in blocks])[in_last.cell]
        relative = (latent + learned.alpha / observed.weights)[:, None]
        signal = np.mean(residuals**2 / relative, axis=0)
        variances = signal * relative
    means = rows.Y[observed.cell] + observed.deviations - residuals
    noise = np.broadcast_to(signal * learned.alpha, means.shape)
    law = KernelLaw(name, learned, columns, coef, factor, signal)
    return law, LeaveOneOutPredictions(means, variances, noise)


def _without(
    half_of: Callable[[Chosen], Array], rotated: Array, rows: Rows, observed: CellObservations
) -> Array:
    """Return left-out residuals (s, t) from half covariances (m, k) and ``rotated`` means."""
    root, residuals, leverage = np.sqrt(rows.weights), np.empty_like(rows.Y), np.empty(len(rows))
    groups = [np.arange(len(rows))] if rows.groups is None else rows.members()
    half_of_few = half_of(np.arange(len(rows))) if len(rows) <= _ROWS_LEFT_OUT else None

    def scaled(some: Chosen) -> tuple[Array, Array]:
        """Return columns and residuals of rows, multiplied by square roots of weights."""
        half = half_of(some) if half_of_few is None else half_of_few[:, some]
        # With square roots of weights the hat matrix of a group is symmetric.
        return half * root[some], root[some, None] * (rows.Y[some] - half.T @ rotated)

    for group in groups:
        blocks = np.split(group, range(_ROWS_LEFT_OUT, len(group), _ROWS_LEFT_OUT))
        if rows.groups is None:
            for block in blocks:
                half, residuals[block] = scaled(block)
                leverage[block] = np.sum(half**2, axis=0)
        # Woodbury's identity solves the smaller of two systems: rows of the group or landmarks.
        elif len(group) <= min(len(rotated), _ROWS_LEFT_OUT):
            half, of_group = scaled(group)
            residuals[group] = np.linalg.solve(np.eye(len(group)) - half.T @ half, of_group)
        else:
            inner, cross = np.eye(len(rotated)), np.zeros_like(rotated)
            for block in blocks:
                half, residuals[block] = scaled(block)
                inner -= half @ half.T
                cross += half @ residuals[block]
            solved = np.linalg.solve(inner, cross)
            for block in blocks:
                residuals[block] += scaled(block)[0].T @ solved
    of_rows = (residuals / root[:, None])[observed.cell]
    left: Array = observed.deviations + of_rows
    if rows.groups is None:
        share = observed.weights / rows.weights[observed.cell]
        left /= (1.0 - share * leverage[observed.cell])[:, None]
    return left


def _factor(learned: LearnedKernel, landmarks: Array, inner: Array) -> Array:
    """Return ``R`` of :class:`KernelLaw` from landmarks and their sums (m, m) over all rows."""
    lower = jittered_cholesky(learned(landmarks, landmarks), EQUAL_ROWS)
    inverse, _ = lapack.dtrtri(lower, lower=1)
    whitener = inverse.T
    values, vectors = eigh(whitener.T @ inner @ whitener, driver="evd")
    # Rounding errors may leave small negative eigenvalues.
    values = np.maximum(values, 0.0)
    return as_array(whitener @ (vectors * np.sqrt(values / (values + learned.alpha))))


def _stored(learned: LearnedKernel, checked: Array, landmarks: Array, factor: Array) -> Floats:
    """Return the factor of variances as a triangle, in float32 if variances hardly change."""
    if np.tril(factor, -1).any():
        factor = np.tril(as_array(np.linalg.qr(factor.T, mode="r")).T)
    single: Floats = factor.astype(np.float32)
    values = learned(checked, landmarks[: len(factor)])
    explained = np.sum((values @ factor) ** 2, axis=1)
    of_single = np.sum((values.astype(np.float32) @ single) ** 2, axis=1, dtype=np.float64)
    is_same = np.abs(of_single - explained).max() <= _SAME_VARIANCE * learned.alpha
    return single if is_same else factor


_DIVISOR = 4
"""Ratio of a fit's sizes to those of a comparison, with a sixty-fourth of the operations."""

_MOST_COMPARED = 2000
"""Most rows at which errors are compared: their ratio has a standard error of some per cent."""

_LEAST_GAIN = 0.93
"""Largest ratio of errors, exact fit to landmarks, at which the full exact fit is used."""

_NEARLY_ALL, _LEAST_GAIN_OF_NEARLY_ALL = 1.25, 0.98
"""Ratio of the rows to a part that has nearly all, and the ratio of errors at which an exact fit to
it is used: predictions take four times as long as those of landmarks."""


def is_part_better(learned: LearnedKernel, columns: Chosen, plan: FitPlan, n_threads: int) -> bool:
    """Return whether an exact fit to some rows probably has smaller errors than landmarks."""
    n_last = plan.n_scored_rows
    # Landmarks are rows of the subset: both kinds of fits share the stored rows.
    if plan.n_part - n_last < plan.n_landmarks:
        return False
    n_landmarks = max(plan.n_landmarks // _DIVISOR, 1)
    n_rows = min((len(plan.rows) - n_last) // _DIVISOR, int(sampled_rows(n_landmarks)))
    n_exact = (plan.n_part - n_last) // _DIVISOR
    first = len(plan.rows) - n_last
    new = plan.rows.part(np.arange(first, min(first + _MOST_COMPARED, len(plan.rows))))
    new, known = new.columns(columns), plan.rows.part(np.arange(n_rows)).columns(columns)
    part, landmarks = known.part(np.arange(n_exact)), known.X[:n_landmarks]
    everything = np.arange(len(columns))
    sizes = n_landmarks, 0
    of_landmarks = solved_by_products(learned, everything, known, sizes, n_threads, None).coef
    gram = learned(part.X, part.X)
    gram[np.diag_indices(n_exact)] += learned.alpha / part.weights
    of_part = cho_solve((jittered_cholesky(gram), True), part.Y)
    error = _squares(learned(new.X, part.X) @ of_part, new)
    has_nearly_all = len(plan.rows) <= _NEARLY_ALL * plan.n_part
    gain = _LEAST_GAIN_OF_NEARLY_ALL if has_nearly_all else _LEAST_GAIN
    return error <= gain * _squares(learned(new.X, landmarks) @ of_landmarks, new)


def _squares(means: Array, rows: Rows) -> float:
    return float(np.sum(rows.weights[:, None] * (rows.Y - means) ** 2))
