r"""Linear classifiers of liblinear's objective, for dense features of many rows.

For targets :math:`y_i = \pm 1` and features with a column of ones, whose weight is penalised like
the others,

.. math:: \min_w \tfrac12 \|w\|^2 + \sum_i c_i \max(0, 1 - y_i\, z_i \cdot w)^2.

Fan, Chang, Hsieh, Wang and Lin, "LIBLINEAR: a library for large linear classification", 2008. The
minimum is found by Newton steps with exact searches along them (Keerthi and DeCoste, "A modified
finite Newton method for fast solution of large scale linear SVMs", 2005), whose systems conjugate
gradients solve, preconditioned by the Hessian on a part of the rows. Problems with the same
features, such as those of classes and folds, are solved side by side.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from sklearn.model_selection import StratifiedKFold

Floats = NDArray[Any]

_NEWTON_STEPS = 60
_GRADIENT_STEPS = 300
_FORCING = 0.1
_SEARCH_STEPS = 20
_MANY_STEPS = 25
_FEW_ACTIVE = 0.7
_JITTERS = (0.0, 1e-6, 1e-5, 1e-4)
_ROWS_PER_FEATURE = 3
_JITTER = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Weights of some problems.

    Parameters
    ----------
    weight : ndarray of shape (p, q)
        The last row is that of the intercepts.
    decision : ndarray of shape (n, q)
        Of the rows that were learned from.
    """

    weight: Floats
    decision: Floats


def with_ones(Z: Floats) -> Floats:
    """Return features (n, p + 1) with a column of ones."""
    return np.concatenate([Z, np.ones((len(Z), 1), Z.dtype)], axis=1)


def targets_of(y: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Return targets (n, q) of plus and minus one, and the classes.

    One column for two classes, otherwise one for each against the rest.
    """
    classes = np.unique(y)
    chosen = classes[1:] if len(classes) == 2 else classes
    return np.where(y[:, None] == chosen, 1.0, -1.0), classes


def labels_of(decision: Floats, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class of the greatest decision value, of shape (n,)."""
    if decision.shape[1] == 1:
        return classes[(decision[:, 0] > 0.0).astype(np.intp)]
    labels: NDArray[Any] = classes[np.argmax(decision, axis=1)]
    return labels


def minimised(
    Z: Floats, Y: Floats, cost: Floats | float, *, start: Floats | None = None, tol: float = 1e-3
) -> Solution:
    """Return the weights that minimise the objective of every column of ``Y``.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        With a column of ones for intercepts. Computations are in its type.
    Y : ndarray of shape (n, q)
        Plus and minus one.
    cost : float or ndarray of shape (n, q)
        ``c``; zero leaves a row out.
    start : ndarray of shape (p, q), default=None
        ``None`` means zero. Not looked at where there are fewer rows than features.
    tol : float, default=1e-3
        Newton steps end when one gains less than this part of every objective.
    """
    Y = Y.astype(Z.dtype)
    cost = np.broadcast_to(np.asarray(cost, dtype=Z.dtype), Y.shape)
    if len(Z) >= Z.shape[1]:
        return _minimised(Z, Y, cost, start, tol)
    # Weights are combinations of rows, and there are fewer of these: in an orthonormal basis.
    rows = Z.astype(np.float64)
    gram = rows @ rows.T
    gram.flat[:: len(gram) + 1] *= 1.0 + _JITTER
    factor = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
    found = _minimised(factor.astype(Z.dtype), Y, cost, None, tol)
    weight = rows.T @ solve_triangular(factor, found.weight, lower=True, trans="T")
    return Solution(weight.astype(Z.dtype), found.decision)


def folds(y: NDArray[Any], n_folds: int, seed: int) -> list[NDArray[np.intp]]:
    """Return the rows of stratified and shuffled folds."""
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return [part for _, part in splitter.split(y, y)]


def accuracies(
    Z: Floats,
    y: NDArray[Any],
    Cs: tuple[float, ...],
    parts: Sequence[NDArray[np.intp]],
    *,
    tol: float = 1e-3,
) -> Floats:
    """Return the mean accuracy on parts left out in their turn for each ``C``, (len(Cs),).

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        With a column of ones.
    y : ndarray of shape (n,)
        Two classes or more.
    Cs : tuple of float
        Rising, so that one begins where the last ended.
    parts : sequence of ndarrays
        Rows.
    tol : float, default=1e-3
    """
    Y, classes = targets_of(y)
    included = np.ones((len(y), len(parts)))
    for place, part in enumerate(parts):
        included[part, place] = 0.0
    mask = np.repeat(included, Y.shape[1], axis=1)
    every = np.tile(Y, len(parts))
    start, found = None, []
    for C in Cs:
        solution = minimised(Z, every, C * mask, start=start, tol=tol)
        start = solution.weight
        by_part = np.split(solution.decision, len(parts), axis=1)
        right = [
            labels_of(decision[part], classes) == y[part]
            for decision, part in zip(by_part, parts, strict=True)
        ]
        found.append(np.mean(np.concatenate(right)))
    return np.array(found)


def _minimised(Z: Floats, Y: Floats, cost: Floats, start: Floats | None, tol: float) -> Solution:
    W = np.zeros((Z.shape[1], Y.shape[1]), Z.dtype) if start is None else start.astype(Z.dtype)
    F = Z @ W
    n_steps, factor = _GRADIENT_STEPS, None
    for _ in range(_NEWTON_STEPS):
        slack = np.maximum(1.0 - Y * F, 0.0)
        gradient = W - 2.0 * (Z.T @ (cost * slack * Y))
        value = 0.5 * _dots(W, W) + _dots(cost * slack, slack)
        curvature = 2.0 * cost * (slack > 0.0)
        if factor is None or n_steps > _MANY_STEPS:
            factor = _preconditioner(Z, curvature)
        step, along, n_steps = _newton_step(Z, gradient, curvature, factor)
        length = _search(W, step, F, along, Y, cost).astype(Z.dtype)
        W += length * step
        F += length * along
        if (-_dots(gradient, step) <= tol * value).all():
            break
    return Solution(W, F)


def _dots(A: Floats, B: Floats) -> Floats:
    """Return the inner products of columns, summed in double precision."""
    dots: Floats = np.einsum("ij,ij->j", A, B, dtype=np.float64)
    return dots


def _preconditioner(Z: Floats, curvature: Floats) -> Any:
    """Return a factor of the Hessian on some rows, the same for all problems."""
    mean = curvature.mean(axis=1)
    active = np.flatnonzero(mean)
    rng = np.random.default_rng(0)
    rows = rng.permutation(active)[: _ROWS_PER_FEATURE * Z.shape[1]]
    rows.sort()
    share = len(active) / max(len(rows), 1)
    part = Z[rows] * np.sqrt(share * mean[rows])[:, None].astype(Z.dtype)
    hessian = part.T @ part
    diagonal = np.arange(len(hessian))
    for jitter in _JITTERS:
        # What rounding leaves of an eigenvalue near zero is none of a preconditioner's business.
        hessian[diagonal, diagonal] += 1.0 + jitter * float(np.trace(hessian))
        with suppress(LinAlgError):
            return cho_factor(hessian, lower=True, check_finite=False)
    raise LinAlgError("The Hessian of the classifier is not finite: features are too large.")


def _newton_step(
    Z: Floats, gradient: Floats, curvature: Floats, factor: Any
) -> tuple[Floats, Floats, int]:
    """Return steps (p, q), their features' products (n, q), and the iterations taken."""
    active = np.flatnonzero(curvature.any(axis=1))
    everything = len(active) > _FEW_ACTIVE * len(Z)
    part, bends = (Z, curvature) if everything else (Z[active], curvature[active])
    step, residual = np.zeros_like(gradient), -gradient
    preconditioned = cho_solve(factor, residual, check_finite=False)
    direction = preconditioned.copy()
    size = _dots(residual, preconditioned)
    wanted = _FORCING**2 * size
    n_steps = 0
    while n_steps < _GRADIENT_STEPS and (size > wanted).any():
        n_steps += 1
        hessian = direction + part.T @ (bends * (part @ direction))
        # A problem that is solved stays as it is.
        is_open = size > wanted
        bend = np.where(is_open, _dots(direction, hessian), 1.0)
        length = np.where(is_open, size / bend, 0.0).astype(Z.dtype)
        step += length * direction
        residual -= length * hessian
        preconditioned = cho_solve(factor, residual, check_finite=False)
        fresh = np.where(is_open, _dots(residual, preconditioned), size)
        ratio = np.where(is_open, fresh / np.where(is_open, size, 1.0), 0.0)
        direction = preconditioned + ratio.astype(Z.dtype) * direction
        size = fresh
    return step, Z @ step, n_steps


def _search(
    W: Floats, step: Floats, F: Floats, along: Floats, Y: Floats, cost: Floats
) -> NDArray[np.float64]:
    """Return how far along its step each problem has its minimum, by Newton's method."""
    slope_at_zero, bend = _dots(W, step), _dots(step, step)
    margin, rate = 1.0 - Y * F, Y * along
    length = np.ones(W.shape[1])
    for _ in range(_SEARCH_STEPS):
        slack = np.maximum(margin - length.astype(W.dtype) * rate, 0.0)
        slope = slope_at_zero + length * bend - 2.0 * _dots(cost * slack, rate)
        second = bend + 2.0 * _dots(cost * (slack > 0.0) * rate, rate)
        change = slope / np.maximum(second, np.finfo(np.float64).tiny)
        length = np.clip(length - change, 0.0, 10.0 * length)
        if (np.abs(change) <= 1e-3 * length).all():
            break
    return length
