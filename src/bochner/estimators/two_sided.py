"""What estimators on kernels of two different arguments share."""

from abc import ABC
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

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


@dataclass(eq=False, repr=False)
class TwoSidedEstimator(BaseEstimator, ABC):
    """An estimator on the left and right features of a kernel."""

    _: KW_ONLY
    length_scale: Any = "median"
    scheme: str | Scheme = "orthogonal"
    weights: str = "sampled"
    decomposition: str | Decomposition = "auto"
    masses: str = "exact"
    random_state: Any = None

    kernel_: AnyKernel = field(init=False)
    frequencies_: Frequencies = field(init=False)
    signature_: Array = field(init=False)
    _region: Region | None = field(init=False)

    def _approximate(
        self,
        given: AnyKernel | str,
        n_components: int,
        X: Any,
        right: Any,
        weight: Array | None = None,
    ) -> np.random.Generator:
        """Set the kernel and its ``n_components`` features; return a generator for later draws.

        ``given`` is the parameter ``kernel``. ``right`` (n2, d2) holds rows of the right argument,
        ``None`` means ``X`` (n, d); the median distance is that of all rows together. Rows or pairs
        without weight are ignored.
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
        kernel = resolve_kernel(given, self.length_scale, all_rows, kernel_rng, all_weights)
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
