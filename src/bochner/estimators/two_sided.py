"""What estimators on kernels of two different arguments share."""

from abc import ABC
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from bochner._numerics.arrays import Array, stacked_rows
from bochner.features.approximation import Recipe, approximate
from bochner.features.length_scales import AnyKernel, resolve_kernel
from bochner.features.parameters import count_frequencies, generators
from bochner.features.region import Region
from bochner.frequencies import Frequencies
from bochner.sampling import Scheme
from bochner.spectral import Decomposition


class TwoSidedEstimator(BaseEstimator, ABC):
    """An estimator on the left and right features of a kernel."""

    if TYPE_CHECKING:  # Parameters of subclasses: annotations at run time are learned attributes.
        kernel: AnyKernel | str
        length_scale: Any
        scheme: str | Scheme
        weights: str
        decomposition: str | Decomposition
        masses: str
        random_state: Any

    kernel_: AnyKernel
    frequencies_: Frequencies
    signature_: Array
    _region: Region | None

    def _approximate(
        self, X: Any, right: Any, n_components: int, weight: Array | None = None
    ) -> np.random.Generator:
        """Set the kernel and its ``n_components`` features; return a generator for later draws.

        ``right`` (n2, d2) holds rows of the right argument, ``None`` means ``X`` (n, d); the
        median distance is that of all rows together. Rows or pairs without weight are ignored.
        """
        recipe = Recipe(
            count_frequencies(n_components),
            self.scheme,
            self.weights,
            self.decomposition,
            masses=self.masses,
        )
        kernel_rng, draw_rng, data_rng, further_rng = generators(self.random_state, 4)
        all_rows, all_weights = X, weight
        if right is not None and right.shape[1] == X.shape[1]:
            all_rows = stacked_rows(X, right)
            all_weights = None if weight is None else np.tile(weight, 2)
        kernel = resolve_kernel(self.kernel, self.length_scale, all_rows, kernel_rng, all_weights)
        if weight is not None:
            X, right = (None if rows is None else rows[weight > 0] for rows in (X, right))
        found = approximate(kernel, X, recipe, draw_rng, data_rng, right=right)
        self.kernel_, self.frequencies_, self._region = kernel, found.frequencies, found.region
        self.signature_ = found.frequencies.signature
        return further_rng

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
