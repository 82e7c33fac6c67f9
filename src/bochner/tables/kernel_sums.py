"""Laws prepared for new rows: kernel values by compiled loops, in float32 if it suffices."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from bochner._base.arrays import Array, Floats, as_array
from bochner.tables.kernel_columns import Blocks, LoopedKernel, suffices_single
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.kernel_loops import Codes, Columns, add_kernel_products, scratch_of

_LEAST_SINGLE_ROWS = 2000
"""Rows of a law from which kernel values are computed in single precision. For fewer rows it saves
less than ten microseconds a prediction, and both precisions would be compiled at the first fit."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelSums:
    """A law whose training rows are stored as columns of numbers and of codes of levels."""

    law: KernelLaw
    kernel: LoopedKernel
    of_means: Columns
    of_variances: Columns  # Of the first rows
    factor: Floats  # The law's, in the precision of the kernel values

    @classmethod
    def of(cls, law: KernelLaw, rows: Array, blocks: Blocks) -> "KernelSums | None":
        """Return the sums of a law given its rows (n, d), if the kernel has a closed form."""
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

    def mean(self, X: Array, levels: Codes) -> Array:
        """Return means (n', t) of encoded rows (n', d) with their levels of all blocks."""
        means = np.zeros((len(X), self.law.coef.shape[1]))
        arguments = self.kernel.arguments(X, levels, self.of_means.values.dtype)
        dtype = arguments[2].dtype
        coef, memory = np.array(self.law.coef.T, dtype, order="C"), scratch_of(dtype)
        add_kernel_products(
            self.of_means, *arguments, coef, *memory, means, np.empty((len(X), 0), dtype)
        )
        return means

    def latent(self, X: Array, levels: Codes) -> Array:
        """Return variances (n',) of the function, relative to the signal's."""
        factor = self.factor
        dtype, n_landmarks = factor.dtype, len(factor)
        values, none = np.empty((len(X), n_landmarks), dtype), np.empty((0, n_landmarks), dtype)
        arguments = self.kernel.arguments(X, levels, dtype)
        means = np.empty((len(X), 0))
        add_kernel_products(self.of_variances, *arguments, none, *scratch_of(dtype), means, values)
        # Squares are summed in float64: the variance is a small difference from one.
        explained = np.sum((values @ factor) ** 2, axis=1, dtype=np.float64)
        return np.maximum(1.0 - explained, 0.0)

    def variance(self, X: Array, levels: Codes, weight: Array) -> Array:
        """Return variances (n', t) of new targets with a noise of ``weight`` (n',)."""
        noise = self.law.found.alpha / weight
        return as_array(self.law.signal * (noise + self.latent(X, levels))[:, None])
