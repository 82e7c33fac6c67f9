r"""The linear equations of regression on pairs, solved by conjugate gradients.

The p² unknowns of ``A`` solve :math:`\Phi^\top W \Phi\, a + \alpha P a = \Phi^\top W t`. A row of
:math:`\Phi` is :math:`z(x_i) \otimes z'(y_i)`, and ``P`` projects on what is orthogonal to ``S``.
Conjugate gradients need products with the left side alone, which are made from blocks of rows:
:math:`q_i = z(x_i)^\top A\, z'(y_i)` and then :math:`\sum_i w_i q_i z(x_i) z'(y_i)^\top`, at
:math:`4 n p^2` operations and the memory of one block. Were the two rows of a pair independent,
:math:`\Phi^\top W \Phi` would be a Kronecker product of two sums, up to a factor; that is the
preconditioner, which saves nine of ten steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning

from bochner._numerics import limits
from bochner._numerics.arrays import Array, row_blocks
from bochner._numerics.warn import warn_user
from bochner.frequencies import Frequencies

_TOLERANCE = 1e-7
"""Relative residual at which steps end: about six digits of the predictions are exact then. The
number of steps is proportional to the number of digits."""

_MAX_ITERATIONS = 2000
"""Greatest number of steps. A system that needs more is nearly singular: alpha is too small."""

Block = tuple[slice, Array, Array]
"""Indices of some pairs, their left features and their right features."""


@dataclass(frozen=True, slots=True, eq=False)
class PairFeatures:
    """The features of left rows ``X`` (n, d) and right rows ``Y`` (n, d2) in blocks of pairs.

    With ``held=None`` every pass computes the features again.
    """

    frequencies: Frequencies
    X: Any
    Y: Any
    held: tuple[Block, ...] | None = None

    @classmethod
    def of(cls, frequencies: Frequencies, X: Any, Y: Any) -> "PairFeatures":
        """Return the features of pairs, kept in memory if they take at most 256 MiB."""
        made = cls(frequencies, X, Y)
        if 32 * frequencies.n_frequencies * X.shape[0] > limits.CACHED_FEATURES_BYTES:
            return made
        return cls(frequencies, X, Y, tuple(made.blocks()))

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def signature(self) -> Array:
        """Signs of the features, of shape (p,)."""
        return self.frequencies.signature

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks, in order."""
        if self.held is not None:
            yield from self.held
            return
        for rows in row_blocks(len(self), 16 * self.frequencies.n_frequencies):
            yield rows, *self.at(rows)

    def at(self, rows: Any) -> tuple[Array, Array]:
        """Return left and right features of some pairs, in float64."""
        left = self.frequencies.features(self.X[rows]).astype(np.float64, copy=False)
        right = self.frequencies.features_right(self.Y[rows]).astype(np.float64, copy=False)
        return left, right


@dataclass(frozen=True, slots=True, eq=False)
class PairSystem:
    """The equations for ``A``, as products with matrices of shape (p, p).

    ``weight`` has shape (n,) and ``signature`` (p,); ``mean`` is the mean of ``z z'^T`` over pairs,
    zero without an intercept. ``bases`` are the eigenvectors of the sums of ``z z^T`` and of
    ``z' z'^T``, and ``scales`` the eigenvalues of the preconditioner in these bases.
    """

    features: PairFeatures
    weight: Array
    alpha: float
    signature: Array
    mean: Array
    bases: tuple[Array, Array]
    scales: Array

    @classmethod
    def of(
        cls, features: PairFeatures, weight: Array, alpha: float, fit_intercept: bool
    ) -> "PairSystem":
        """Return the equations for weights of shape (n,), with a constant or without."""
        signature = features.signature
        p, total = len(signature), float(weight.sum())
        left_gram, right_gram, mean = (np.zeros((p, p)) for _ in range(3))
        for rows, left, right in features.blocks():
            weighted = left * weight[rows, None]
            left_gram += weighted.T @ left
            right_gram += (right * weight[rows, None]).T @ right
            if fit_intercept:
                mean += weighted.T @ right / total
        values, left_basis = eigh(left_gram)
        others, right_basis = eigh(right_gram)
        products = np.outer(np.maximum(values, 0.0), np.maximum(others, 0.0))
        scales: Array = products / total + alpha
        bases = left_basis, right_basis
        return cls(features, weight, alpha, signature, mean, bases, scales)

    def solve(self, targets: Array) -> tuple[Array, int]:
        """Return ``A`` and the number of steps, for targets (n,) centred if there is a constant."""
        steps: list[None] = []
        solution, failed = cg(
            self._operator(self.product),
            self.adjoint(self.weight * targets).ravel(),
            rtol=_TOLERANCE,
            maxiter=_MAX_ITERATIONS,
            M=self._operator(self.precondition),
            callback=lambda _: steps.append(None),
        )
        if failed:
            warn_user(
                f"Conjugate gradients did not converge in {_MAX_ITERATIONS} steps. Raise alpha, "
                f"which is {self.alpha:.3g}, or lower n_components.",
                ConvergenceWarning,
            )
        coef: Array = np.asarray(solution).reshape(self.shape)
        return coef, len(steps)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (p, p) of ``A``."""
        return self.mean.shape

    def _operator(self, function: Any) -> LinearOperator:
        size = self.mean.size
        return LinearOperator(
            (size, size), matvec=lambda a: function(a.reshape(self.shape)).ravel(), dtype=np.float64
        )

    def adjoint(self, values: Array) -> Array:
        """Return the sum over pairs of ``z z'^T`` times ``values`` (n,)."""
        total = np.zeros(self.shape)
        for rows, left, right in self.features.blocks():
            total += (left * values[rows, None]).T @ right
        return total

    def product(self, coef: Array) -> Array:
        """Return the left side of the equations."""
        along_kernel = np.diagonal(coef) @ self.signature / len(self.signature)
        total: Array = self.alpha * (coef - np.diag(along_kernel * self.signature))
        for rows, left, right in self.features.blocks():
            values = self.weight[rows] * np.sum((left @ coef) * right, axis=1)
            total += (left * values[:, None]).T @ right
        return total - float(self.weight.sum()) * self.mean_value(coef) * self.mean

    def precondition(self, coef: Array) -> Array:
        """Return an approximate solution of the equations."""
        left, right = self.bases
        return left @ ((left.T @ coef @ right) / self.scales) @ right.T

    def mean_value(self, coef: Array) -> float:
        """Return the mean over pairs of the function without its intercept, zero without one."""
        return float(np.sum(coef * self.mean))
