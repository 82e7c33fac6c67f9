r"""How a ridge regression on features is solved: by which method, in which precision and memory.

Two methods give the same weights. The first forms the Gram matrix of the features, in
:math:`n p^2` operations and :math:`16 p^2` bytes, and factorises it; the second,
:mod:`bochner.learning.iterative`, meets the rows in some ten passes of :math:`4 n p` operations
each, and knows the weights alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bochner._numerics import limits
from bochner._numerics.memory import in_words
from bochner.features.chunks import Chunk

SOLVERS = ("auto", "cholesky", "cg")

_OVERHEAD = 16 * limits.MEBIBYTE
"""Of blocks in threads, small arrays and the libraries' own."""

_LANDMARK_BYTES = 256 * limits.MEBIBYTE
_LEAST_BLOCK_BYTES = limits.MEBIBYTE

_MANY_ROWS = 10_000_000
"""As many as a stream is taken to have, whose number of rows is not known."""

_HALF_ULP = 6e-8
"""Relative rounding error of one float32 operation, 2**-24."""

_ROUNDING = 1e-3
"""Greatest rounding error of float32 products relative to alpha.

It is about the relative error of the weights in the directions that alpha decides."""

_WORTH_FLOPS, _WORTH_FEATURES = 2e10, 1e7
"""Products of fewer operations, and passes over fewer features, stay in float64."""

_SINGLE_TOL = 1e-5
"""The least tolerance that conjugate gradients reach on features in float32."""

# Seconds on two cores of 2024, which the choice of the method needs up to their ratios.
_PRODUCT = {np.float64: 1.2e-11, np.float32: 5.5e-12}
_FACTOR = 2.5e-11
_PASS = {np.float64: 3.5e-9, np.float32: 1.8e-9}
_PASSES = 12
_WORTH_SECONDS, _WORTH_RATIO = 10.0, 2.0


@dataclass(frozen=True, slots=True)
class RidgeProblem:
    """What the plan depends on.

    Parameters
    ----------
    p, t : int
        Numbers of features and targets.
    n_samples : int or None
        Number of rows, ``None`` where it is not known.
    alpha : float or None
        ``None`` where evidence or cross-validation chooses it, which needs the Gram matrix.
    scale : float
        :math:`k(0)`, the mean squared norm of the features.
    is_indefinite : bool
    is_repeatable : bool
        Whether the rows can be met more than once.
    tol : float
        Of conjugate gradients.
    on_device : bool
        Whether the rows are, where the Gram matrix takes less time than is predicted.
    weight_rms : float
        Root mean square of the rows' weights.
    """

    p: int
    t: int
    n_samples: int | None
    alpha: float | None
    scale: float
    is_indefinite: bool = False
    is_repeatable: bool = True
    tol: float = 1e-4
    on_device: bool = False
    weight_rms: float = 1.0

    def float32_suffices(self, weight_rms: float) -> bool:
        r"""Return whether rounding in float32 products is negligible compared to ``alpha``.

        The products of a row of weight :math:`w_i` are rounded by
        :math:`6 \cdot 10^{-8} w_i k(0)`, with independent signs, so that the rounding error of
        their sum grows like :math:`6 \cdot 10^{-8} k(0) (\sum_i w_i^2)^{1/2}`; measured in the
        spectral norm, it is 1 to 30 times that, more for fewer features. ``alpha`` must be a
        thousand times that. In a Krein space a pole may be closer to ``alpha`` than zero is, and
        float64 is used.

        Parameters
        ----------
        weight_rms : float
            Root mean square of the weights of a chunk of rows. If every chunk of a stream passes,
            the sum over all of them does.
        """
        if self.alpha is None or self.is_indefinite:
            return False
        n = _MANY_ROWS if self.n_samples is None else self.n_samples
        return bool(_ROUNDING * self.alpha >= _HALF_ULP * np.sqrt(n) * weight_rms * self.scale)

    def product_dtype(self, chunk: Chunk) -> type[np.floating[Any]]:
        """Return the type in which products of the features of a chunk are made."""
        return self._product_dtype(len(chunk), chunk.weight_rms)

    def _product_dtype(self, n_rows: int, weight_rms: float) -> type[np.floating[Any]]:
        pays = n_rows * self.p**2 >= _WORTH_FLOPS
        return np.float32 if pays and self.float32_suffices(weight_rms) else np.float64

    @property
    def cholesky_bytes(self) -> int:
        """Memory that the sums and their solution need, at the most."""
        matrices = 9 if self.is_indefinite else 5 if self.alpha is None else 2
        return 8 * matrices * self.p**2 + 16 * self.p * self.t + _OVERHEAD

    def cholesky_seconds(self) -> float:
        """Predict the time of the Gram matrix and its factorisation."""
        n = self.n_samples or 0
        factor = _FACTOR * (20.0 if self.alpha is None else 1.0)
        return (
            _PRODUCT[self._product_dtype(n, self.weight_rms)] * n * self.p**2 + factor * self.p**3
        )

    def iterative_seconds(self) -> float:
        """Predict the time of the passes."""
        n = self.n_samples or 0
        return _PASSES * _PASS[self.pass_dtype(self.weight_rms)] * n * self.p

    def pass_dtype(self, weight_rms: float) -> type[np.floating[Any]]:
        """Return the type of features in conjugate gradients."""
        n = _MANY_ROWS if self.n_samples is None else self.n_samples
        pays = self.tol >= _SINGLE_TOL and n * self.p >= _WORTH_FEATURES
        return np.float32 if pays and self.float32_suffices(weight_rms) else np.float64


@dataclass(frozen=True, slots=True)
class RidgePlan:
    """How a problem is solved.

    Parameters
    ----------
    solver : {"cholesky", "cg"}
    block_bytes : int
        Of features that exist at once, with ``"cholesky"``.
    n_landmarks : int
        Rows of the preconditioner, with ``"cg"``.
    keep : bool
        Whether ``"cg"`` keeps the features of all rows.
    """

    solver: str
    block_bytes: int = limits.SUMS_BLOCK_BYTES
    n_landmarks: int = 0
    keep: bool = False


def plan_ridge(problem: RidgeProblem, solver: str, limit: int | None) -> RidgePlan:
    """Return how the problem is solved within ``limit`` bytes above the rows themselves.

    ``"auto"`` forms the Gram matrix, which also tells standard deviations and the evidence, unless
    that does not fit or is predicted to take more than ten seconds and twice as long as conjugate
    gradients.

    Raises
    ------
    ValueError
        If the solver is unknown, cannot solve the problem, or needs more memory.
    """
    if solver not in SOLVERS:
        known = ", ".join(map(repr, SOLVERS))
        raise ValueError(f"solver must be one of {known}, got {solver!r}.")
    fits = limit is None or problem.cholesky_bytes + _LEAST_BLOCK_BYTES <= limit
    obstacle = _obstacle(problem)
    if solver == "cg" and obstacle is not None:
        raise ValueError(f"solver='cg' {obstacle}; use solver='cholesky'.")
    if solver == "cg" or (solver == "auto" and obstacle is None and _pays(problem, fits)):
        return _iterative(problem, limit)
    if not fits:
        assert limit is not None
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and the Gram matrix of {problem.p} features with "
            f"its factors needs {in_words(problem.cholesky_bytes + _LEAST_BLOCK_BYTES)}. "
            f"Use fewer n_components"
            + (", or solver='cg'." if obstacle is None else f"; solver='cg' {obstacle}.")
        )
    if limit is None:
        return RidgePlan("cholesky")
    left = (limit - problem.cholesky_bytes) // 2
    return RidgePlan("cholesky", max(_LEAST_BLOCK_BYTES, min(left, limits.SUMS_BLOCK_BYTES)))


def _obstacle(problem: RidgeProblem) -> str | None:
    if problem.alpha is None:
        return "needs a number for alpha, because 'evidence' takes the whole Gram matrix"
    if not problem.is_repeatable:
        return (
            "meets the rows more than once, and an iterator and partial_fit give them once (pass "
            "a list of chunks, or an object whose __iter__ starts anew)"
        )
    return None


def _pays(problem: RidgeProblem, fits: bool) -> bool:
    if not fits or problem.on_device:
        return not fits
    direct, passes = problem.cholesky_seconds(), problem.iterative_seconds()
    return direct > _WORTH_SECONDS and direct > _WORTH_RATIO * passes


def _iterative(problem: RidgeProblem, limit: int | None) -> RidgePlan:
    """Share the memory between kept features and the preconditioner."""
    p, size = problem.p, np.dtype(problem.pass_dtype(problem.weight_rms)).itemsize
    vectors = 64 * p * problem.t + 64 * p + _OVERHEAD
    spare = None if limit is None else limit - vectors
    if spare is not None and spare < size * 32 * (p + 32):
        assert limit is not None
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and conjugate gradients on {p} features need at "
            f"least {in_words(vectors + size * 32 * (p + 32))}. Use fewer n_components."
        )
    for_landmarks = _LANDMARK_BYTES if spare is None else min(spare // 3, _LANDMARK_BYTES)
    # s (p + s) numbers, and no more rows than features: with as many, few steps are left.
    budget = for_landmarks / size
    n_landmarks = int((np.sqrt(p**2 + 4.0 * budget) - p) / 2.0)
    n_landmarks = max(1, min(n_landmarks, max(p, 256)))
    kept = limits.CACHED_FEATURES_BYTES if spare is None else spare // 2
    n = problem.n_samples
    return RidgePlan(
        "cg",
        n_landmarks=n_landmarks if n is None else min(n_landmarks, n),
        keep=n is not None and size * n * p <= kept,
    )
