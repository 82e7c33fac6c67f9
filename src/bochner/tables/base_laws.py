"""Fitted base models of a table with prepared kernel sums, and their left-out predictions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from bochner._base.arrays import Array, Floats, as_array, steps
from bochner._base.registry import register
from bochner._base.threads import in_order, single_threaded_blas
from bochner.tables.estimator_laws import EstimatorLaw
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.kernel_loops import Codes, Columns, add_kernel_products, scratch_of
from bochner.tables.landmark_fits import Blocks, LoopedKernel, suffices_single
from bochner.tables.observations import Chosen
from bochner.tables.tree_laws import TreeLaw
from bochner.tables.trees import TreeInputs, none

_LEAST_SINGLE_ROWS = 1000
"""Fewest rows of a law in single precision: it saves two microseconds a prediction with fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelSums:
    """A fitted kernel (law) that is prepared for compiled sums over its training rows."""

    law: KernelLaw
    kernel: LoopedKernel
    of_means: Columns
    of_variances: Columns  # The first rows only
    factor: Floats  # Factor of ``law``, in the precision of kernel values

    @classmethod
    def of(cls, law: KernelLaw, rows: Array, blocks: Blocks) -> "KernelSums | None":
        """Prepare a law with training rows (n, d); return None if its kernel has no closed form."""
        kernel = LoopedKernel.of(law.found, law.columns, rows.shape[1], blocks)
        if kernel is None:
            return None
        single: DTypeLike = np.float64 if len(law.coef) < _LEAST_SINGLE_ROWS else np.float32
        noise = np.sqrt(law.found.alpha * as_array(law.signal))
        of_means = single if suffices_single(law.coef, noise) else np.float64
        n, m = len(law.coef), len(law.factor)
        means = kernel.rows(rows[:n], blocks.codes[:n], of_means)
        factor = law.factor.astype(np.result_type(law.factor, single), copy=False)
        variances = kernel.rows(rows[:m], blocks.codes[:m], factor.dtype)
        return cls(law, kernel, means, variances, factor)

    def mean(self, X: Array, levels: Codes, are_similar: bool) -> Array:
        """Return means (n', t) at encoded rows (n', d), given the level codes of all blocks."""
        means, dtype = np.zeros((len(X), self.law.coef.shape[1])), self.of_means.values.dtype
        arguments = self.kernel.arguments(X, levels, dtype)
        coef, no_values = np.array(self.law.coef.T, dtype, order="C"), np.empty((len(X), 0), dtype)
        add_kernel_products(
            self.of_means, *arguments, coef, scratch_of(dtype), means, no_values, are_similar
        )
        return means

    def latent(self, X: Array, levels: Codes) -> Array:
        """Return variances (n',) of the function at rows, divided by the signal variance."""
        factor = self.factor
        dtype, n_landmarks = factor.dtype, len(factor)
        values, none = np.empty((len(X), n_landmarks), dtype), np.empty((0, n_landmarks), dtype)
        arguments = self.kernel.arguments(X, levels, dtype)
        means = np.empty((len(X), 0))
        memory = scratch_of(dtype)
        add_kernel_products(self.of_variances, *arguments, none, memory, means, values, False)
        # Squares are summed in float64: the variance is one minus a sum that is close to one.
        explained = np.sum((values @ factor) ** 2, axis=1, dtype=np.float64)
        return np.maximum(1.0 - explained, 0.0)

    def variance(self, X: Array, levels: Codes, weight: Array) -> Array:
        """Return variances (n', t) of new targets; ``weight`` (n',) divides the noise variance."""
        noise = self.law.found.alpha / weight
        return as_array(self.law.signal * (noise + self.latent(X, levels))[:, None])


TableLaw = KernelLaw | TreeLaw | EstimatorLaw
"""A base model of a table."""

_ROWS_OF_A_BLOCK = 256
"""Rows that a thread predicts at once."""


@register(shapes={"rows": "nd"})
@dataclass(frozen=True, eq=False)  # No slots: a cached property needs __dict__
class Laws:
    """Fitted base models (kernels, trees and estimators) of the same targets on the same rows."""

    rows: Array  # (n, d)
    members: list[TableLaw]
    blocks: TreeInputs | None = None  # One-hot columns

    def __post_init__(self) -> None:
        """Raise ValueError if a model uses rows or columns beyond the stored ones."""
        n_rows, dim = self.rows.shape
        if n_rows_of(self.members) > n_rows:
            raise ValueError(f"laws have coefficients of more than the {n_rows} rows")
        for law in self.members:
            if not 0 <= law.columns.min(initial=0) <= law.columns.max(initial=-1) + 1 <= dim:
                raise ValueError(f"laws have columns beyond the {dim} of the rows")

    def means(self, X: Array, are_similar: bool = False) -> Array:
        """Return the means (n', K, t) of all base models at encoded rows (n', d).

        If successive rows ``are_similar``, in all but a few columns, sums over the equal columns
        are computed once, and rounding depends on the rows before.
        """

        def mean(law: Any, part: slice, known: Any) -> Array:
            options = (are_similar,) if isinstance(law, KernelSums) else ()
            return as_array(law.mean(X[part], known, *options))

        return self._stacked(X, mean)

    def used(self, weights: Array) -> tuple["Laws", Array]:
        """Return the base models of nonzero weight (else all), and their weights (K, *t)."""
        is_used = weights.reshape(len(weights), -1).any(axis=1)
        used = np.flatnonzero(is_used | ~is_used.any())
        if len(used) == len(self.members):
            return self, weights
        # Rows after the last coefficient or factor are not needed by the remaining members.
        members = [self.members[i] for i in used]
        return Laws(self.rows[: n_rows_of(members)], members, self.blocks), weights[used]

    def variances(self, X: Array, sample_weight: Array | None = None) -> Array:
        """Return variances (n', K, t) of new targets at rows (n', d), by default of weight one."""
        weight = np.ones(len(X)) if sample_weight is None else sample_weight

        return self._stacked(X, lambda law, part, known: law.variance(X[part], known, weight[part]))

    def _stacked(self, X: Array, values: Callable[[Any, slice, Any], Array]) -> Array:
        """Return values (n', K, t) of base models with the training rows, or of prepared sums."""
        if X.shape[1] != self.rows.shape[1]:
            raise ValueError(f"Rows have {X.shape[1]} columns, expected {self.rows.shape[1]}.")
        blocks_of_levels, all_sums = self._prepared

        def block(part: slice) -> Array:
            levels, of_laws = blocks_of_levels.levels(X[part]), []
            for law, sums in zip(self.members, all_sums, strict=True):
                has_sums = sums is not None and levels is not None
                of_laws.append(
                    values(*((sums, part, levels) if has_sums else (law, part, self.rows)))
                )
            return np.stack(of_laws, axis=1)

        blocks = list(steps(len(X), _ROWS_OF_A_BLOCK))
        # Threads share the blocks of rows, each with a single BLAS thread.
        with single_threaded_blas() as n_threads:
            return np.concatenate([part for _, part in in_order(block, blocks, n_threads)])

    @cached_property
    def _prepared(self) -> tuple[Blocks, list[KernelSums | None]]:
        """Blocks of levels, and sums of the kernels that have compiled loops."""
        one_hot = TreeInputs.of(none(), None) if self.blocks is None else self.blocks
        blocks = Blocks.of(self.rows, one_hot.starts, one_hot.widths)
        sums = [
            KernelSums.of(law, self.rows, blocks) if isinstance(law, KernelLaw) else None
            for law in self.members
        ]
        return blocks, sums

    def __getstate__(self) -> dict[str, object]:
        """Return the fields only: the cached sums would double the size of a pickle."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


def n_rows_of(members: Sequence[TableLaw]) -> int:
    """Return how many of the training rows, from the first on, base models need to predict."""
    kernels = (law for law in members if isinstance(law, KernelLaw))
    return max((max(len(law.coef), len(law.factor)) for law in kernels), default=0)


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLaws:
    """Base models with their predictions of left-out observations."""

    laws: Laws
    scored: Chosen  # (s,): Indices of the observations
    X: Array  # (s, d): Encoded rows of the observations
    columns: TreeInputs  # Inputs that trees compute from the encoded columns
    means: Array  # (s, K, t)
    variances: Array  # (s, K, t): Variances of targets, noise included
    noise: Array  # (s, K, t): The part of the variances that is noise
    new_noise: Array  # (s, K, t): Noise variance of a target of weight one
    groups: Chosen | None = None  # (s,): Indices of groups that are left out together
    times: Chosen | None = None  # (s,): Time indices, if groups are stretches of time

    @property
    def function(self) -> Array:
        """Variances (s, K, t) of the left-out predictions without noise, due to the function."""
        return np.maximum(self.variances - self.noise, 0.0)
