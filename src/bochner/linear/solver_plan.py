r"""Plans a ridge regression on features: the method, the precision and the memory.

Two methods give the same weights. The first forms the Gram matrix of the features, in :math:`n p^2`
operations and :math:`16 p^2` bytes, and factorises it. The second, :mod:`bochner.linear.iterative`,
only computes the weights, in some ten passes over the rows of :math:`4 n p` operations each.
"""

from dataclasses import dataclass

import numpy as np

from bochner._base import limits
from bochner._base.arrays import as_positive_scalar
from bochner._base.number_texts import as_bytes, in_words
from bochner._base.registry import register
from bochner.features.chunks import Chunk

SOLVERS = ("auto", "cholesky", "cg")
_OVERHEAD = 16 * limits.MEBIBYTE
"""Memory for blocks in threads, small arrays and libraries; tests of memory limits check it."""
_LANDMARK_BYTES = 256 * limits.MEBIBYTE
"""Largest size of the preconditioner: 5,800 rows of as many float32 features."""
_LEAST_BLOCK_BYTES = limits.MEBIBYTE
"""Smallest memory of a block of features: with less, calls from Python would dominate the time."""
_MANY_ROWS = 10_000_000
"""Number of rows assumed for a stream; with more rows, rounding errors may exceed their bound."""
_HALF_ULP = 6e-8
"""Relative rounding error of one float32 operation, 2**-24."""
_ROUNDING = 1e-3
"""Largest rounding error of sums of float32 products, relative to alpha."""
_WORTH_FLOPS = 2e10
"""Number of operations below which Gram matrices use float64: it takes a quarter of a second."""
_WORTH_FEATURES = 1e7
"""Number of rows times features below which passes use float64: it takes 35 milliseconds."""
_SINGLE_TOL = 1e-5
"""Smallest tolerance that conjugate gradients reach on float32 features."""
_PRODUCT = {np.float64: 1.2e-11, np.float32: 5.5e-12}
"""Seconds per product in a Gram matrix. This number and the next three were measured on two cores
of 2024; the choice of the method depends on their ratios only."""
_FACTOR = 2.5e-11
"""Seconds of a Cholesky factorisation, per cube of the number of features."""
_PASS = {np.float64: 3.5e-9, np.float32: 1.8e-9}
"""Seconds per feature of one row in a pass of conjugate gradients."""
_PASSES = 12
"""Typical number of passes of conjugate gradients at the default tolerance."""
_WORTH_SECONDS = 10.0
"""Predicted seconds below which the Gram matrix is formed, because it also gives uncertainty."""
_WORTH_RATIO = 2.0
"""Ratio of predicted times, which may be wrong twofold, below which the Gram matrix is formed."""


@register
@dataclass(frozen=True, slots=True)
class RidgeSolver:
    """Options of the solver of a ridge regression: method, tolerance and memory limit.

    Parameters
    ----------
    method : {"auto", "cholesky", "cg"}, default="auto"
        ``"cholesky"`` forms the Gram matrix of the features, in :math:`n p^2` operations; ``"cg"``
        only computes the weights, by preconditioned conjugate gradients (minimal residuals in a
        Krein space), in about ten passes of :math:`4 n p` operations over the rows, without
        standard deviations, evidence and ``partial_fit``. ``"auto"`` uses ``"cg"`` if
        ``"cholesky"`` is predicted to take more than ten seconds and twice as long as ``"cg"``,
        or does not fit into memory.
    tol : float, default=1e-4
        Tolerance of ``"cg"``, below 1: about the relative error of predictions on the training
        rows.
    memory_limit : int or str, default=None
        Memory that a fit may allocate in addition to the rows: bytes, ``"1GB"`` or ``"512MiB"``.
        The fit uses blocks that stay below the limit, or raises an error.

    Examples
    --------
    >>> from bochner import KreinRidge
    >>> from bochner.linear import RidgeSolver
    >>> model = KreinRidge(solver=RidgeSolver("cg", tol=1e-6))
    """

    method: str = "auto"
    tol: float = 1e-4
    memory_limit: int | str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in SOLVERS:
            names = ", ".join(map(repr, SOLVERS))
            raise ValueError(f"solver must be one of {names}, got {self.method!r:.60}.")
        if as_positive_scalar("tol", self.tol) >= 1.0:
            raise ValueError(
                f"tol must be below 1, got {self.tol:g}: it is relative to the residual of weights "
                f"that are all zero. Use 1e-4, for instance."
            )
        if self.memory_limit is not None:
            as_bytes(self.memory_limit)

    @classmethod
    def resolved(cls, solver: "str | RidgeSolver") -> "RidgeSolver":
        """Return the solver of a name such as ``"cg"``; a ``RidgeSolver`` is returned unchanged."""
        return solver if isinstance(solver, cls) else cls(solver)  # type: ignore[arg-type]

    @property
    def memory(self) -> int | None:
        """The memory limit in bytes."""
        return None if self.memory_limit is None else as_bytes(self.memory_limit)


@dataclass(frozen=True, slots=True)
class RidgeProblem:
    """Sizes and options of a fit of ``t`` targets on ``p`` features, including check features."""

    p: int
    t: int
    n_samples: int | None  # number of rows, None if unknown
    alpha: float | None  # None: evidence or cross-validation chooses it, from the Gram matrix
    scale: float  # mean squared norm of the features, k(0)
    is_indefinite: bool = False
    is_repeatable: bool = True  # whether the rows can be read more than once
    tol: float = 1e-4  # tolerance of conjugate gradients
    weight_rms: float = 1.0  # root mean square of the weights of rows
    n_checks: int = 0  # number of check features

    def float32_suffices(self, weight_rms: float) -> bool:
        r"""Return whether rounding in float32 products is negligible compared to ``alpha``.

        The sum of products has an error of about :math:`6 \cdot 10^{-8} k(0) (\sum_i w_i^2)^{1/2}`,
        and errors in the spectral norm are up to 30 times as large: ``alpha`` must be a thousand
        times the estimate. In a Krein space float64 is used, because of poles.
        """
        if self.alpha is None or self.is_indefinite:
            return False
        n = self.n_samples or _MANY_ROWS
        return bool(_ROUNDING * self.alpha >= _HALF_ULP * np.sqrt(n) * weight_rms * self.scale)

    def product_dtype(self, chunk: Chunk) -> type[np.floating]:
        """Return the data type for products of the features of a chunk."""
        return self._gram_dtype(len(chunk), chunk.weight_rms)

    def _gram_dtype(self, n_rows: int, weight_rms: float) -> type[np.floating]:
        """Return the data type for products of the features of ``n_rows`` rows."""
        return self._dtype(n_rows * self.p**2 >= _WORTH_FLOPS, weight_rms)

    def _dtype(self, pays: bool, weight_rms: float) -> type[np.floating]:
        return np.float32 if pays and self.float32_suffices(weight_rms) else np.float64

    @property
    def cholesky_bytes(self) -> int:
        """Peak memory in bytes of the Gram matrix, its factors and the solution."""
        matrices = 5 if self.alpha is None else 2
        if self.is_indefinite:
            matrices = 9
        elif self.n_checks:
            matrices = 6  # The sums, a centred copy, and roots of noise and prior covariance
        return 8 * matrices * self.p**2 + 16 * self.p * self.t + _OVERHEAD

    @property
    def is_faster_by_passes(self) -> bool:
        """Whether conjugate gradients are predicted to be clearly faster than the Gram matrix."""
        n = self.n_samples or 0
        product = _PRODUCT[self._gram_dtype(n, self.weight_rms)]
        direct = product * n * self.p**2 + _FACTOR * self.p**3
        passes = _PASSES * _PASS[self.pass_dtype(self.weight_rms)] * n * self.p
        return direct > _WORTH_SECONDS and direct > _WORTH_RATIO * passes

    def pass_dtype(self, weight_rms: float) -> type[np.floating]:
        """Return the floating-point type of the features in conjugate gradients."""
        n = self.n_samples or _MANY_ROWS
        return self._dtype(self.tol >= _SINGLE_TOL and n * self.p >= _WORTH_FEATURES, weight_rms)


@dataclass(frozen=True, slots=True)
class RidgePlan:
    """The plan of a fit: ``"cholesky"`` from sums over rows, or ``"cg"``, with block sizes."""

    solver: str
    block_bytes: int = limits.SUMS_BLOCK_BYTES
    n_landmarks: int = 0  # Number of rows in the preconditioner of "cg"
    keep: bool = False  # Whether "cg" keeps the features of all rows


def plan_ridge(problem: RidgeProblem, solver: str, limit: int | None) -> RidgePlan:
    """Return the plan of a fit that allocates at most ``limit`` bytes in addition to the rows."""
    # Blocks of features need memory on top of the Gram matrix.
    fits = limit is None or problem.cholesky_bytes + _LEAST_BLOCK_BYTES <= limit
    obstacle = _obstacle(problem)
    if solver == "cg" and obstacle is not None:
        raise ValueError(f"solver='cg' {obstacle}; use solver='cholesky'.")
    pays = not fits or problem.is_faster_by_passes
    if solver == "cg" or (solver == "auto" and obstacle is None and pays):
        return _iterative(problem, limit)
    if not fits:
        assert limit is not None
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and the Gram matrix of {problem.p} features"
            + (f", {problem.n_checks} of them for intervals," if problem.n_checks else "")
            + f" with its factors needs {in_words(problem.cholesky_bytes + _LEAST_BLOCK_BYTES)}. "
            f"Use fewer n_components"
            + (", or solver='cg'." if obstacle is None else f"; solver='cg' {obstacle}.")
        )
    if limit is None:
        return RidgePlan("cholesky")
    spare = (limit - problem.cholesky_bytes) // 2
    return RidgePlan("cholesky", max(_LEAST_BLOCK_BYTES, min(spare, limits.SUMS_BLOCK_BYTES)))


def _obstacle(problem: RidgeProblem) -> str | None:
    if problem.alpha is None:
        return "needs a number for alpha, because 'evidence' needs the Gram matrix"
    if not problem.is_repeatable:
        return (
            "reads the rows more than once, but an iterator and partial_fit give them once (pass "
            "a list of chunks, or an object whose __iter__ starts again)"
        )
    return None


def _iterative(problem: RidgeProblem, limit: int | None) -> RidgePlan:
    """Return a plan for "cg", which divides memory between stored features and preconditioner."""
    p, size = problem.p, np.dtype(problem.pass_dtype(problem.weight_rms)).itemsize
    # Memory of a few vectors per target and of the blocks.
    vectors = 64 * p * problem.t + 64 * p + _OVERHEAD
    spare = None if limit is None else limit - vectors
    if spare is not None and spare < size * 32 * (p + 32):
        assert limit is not None
        raise ValueError(
            f"memory_limit is {in_words(limit)}, and conjugate gradients on {p} features need at "
            f"least {in_words(vectors + size * 32 * (p + 32))}. Use fewer n_components."
        )
    for_landmarks = _LANDMARK_BYTES if spare is None else min(spare // 3, _LANDMARK_BYTES)
    # The preconditioner takes s (p + s) numbers; more rows s than features do not help.
    budget = for_landmarks / size
    n_landmarks = int((np.sqrt(p**2 + 4.0 * budget) - p) / 2.0)
    n_landmarks = max(1, min(n_landmarks, max(p, 256)))
    feature_budget = limits.CACHED_FEATURES_BYTES if spare is None else spare // 2
    n = problem.n_samples
    return RidgePlan(
        "cg",
        n_landmarks=n_landmarks if n is None else min(n_landmarks, n),
        keep=n is not None and size * n * p <= feature_budget,
    )
