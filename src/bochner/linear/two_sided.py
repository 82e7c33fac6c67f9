"""Base of the ridge regressions on left and right features of a kernel."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags

from bochner._base.arrays import Array, InputRows, as_flag, stacked_rows
from bochner.features.approximation import Region, approximate
from bochner.features.median_length_scales import AnyKernel
from bochner.features.parameters import (
    KERNEL_CHECKS,
    Check,
    KernelParameters,
    check_each,
    count_frequencies,
    generators,
    resolve_kernel,
)
from bochner.features.transformer import FourierFeatures
from bochner.linear.inputs import (
    checked_alpha,
    checked_weight,
    described_features,
    drawing_options,
    features_check,
)
from bochner.linear.predictions import LinearAttributes, offered
from bochner.spectral.frequencies import Frequencies


@dataclass(eq=False, repr=False)
class TwoSidedRidge(RegressorMixin, LinearAttributes, KernelParameters, BaseEstimator, ABC):
    """Ridge regression on the left and right features of a kernel."""

    _checks: ClassVar[Mapping[str, Check]] = {
        **KERNEL_CHECKS,
        "alpha": lambda _, value: checked_alpha(value),
        "features": features_check("auto", "median"),
    }

    kernel: AnyKernel | str = "gaussian"
    n_components: int = 256
    alpha: float | str = 1.0
    features: FourierFeatures | None = None
    _: KW_ONLY
    fit_intercept: bool = False
    random_state: Any = None

    kernel_: AnyKernel = field(init=False)
    frequencies_: Frequencies = field(init=False)
    signature_: Array = field(init=False)
    _region: Region | None = field(init=False)

    def _check_parameters(self) -> None:
        """Raise an error for an unusable parameter; also of a model from a file."""
        check_each(self, self._checks)
        described_features(self)

    def _approximate(
        self, X: InputRows, right: InputRows | None, weight: Array | None
    ) -> np.random.Generator:
        """Set the kernel and its features; return a generator for later draws.

        The median distance is that of all rows together. Rows of weight zero are ignored.
        """
        self._check_parameters()
        description = described_features(self)
        kernel_rng, draw_rng, data_rng, further_rng = generators(self.random_state, 4)
        all_rows, all_weights = X, weight
        if right is not None and right.shape[1] == X.shape[1]:
            all_rows = stacked_rows(X, right)
            all_weights = None if weight is None else np.tile(weight, 2)
        names = getattr(self, "feature_names_in_", None)
        kernel = resolve_kernel(
            description.kernel,
            description.length_scale,
            all_rows,
            kernel_rng,
            all_weights,
            names=names,
        )
        if weight is not None:
            X, right = X[weight > 0], None if right is None else right[weight > 0]
        approximation = approximate(
            kernel,
            X,
            count_frequencies(description.n_components),
            draw_rng,
            data_rng,
            right,
            **drawing_options(description),
        )
        self.kernel_, self.frequencies_, self._region = (
            kernel,
            approximation.frequencies,
            approximation.region,
        )
        self.signature_ = approximation.frequencies.signature
        return further_rng

    def _prepared(
        self, X: InputRows, y: Array, right: InputRows | None, sample_weight: ArrayLike | None
    ) -> tuple[float | None, Array | None, Array, np.random.Generator]:
        """Set the kernel and its features, and return the validated arguments of a solver.

        Returns ``alpha`` (``None`` for evidence), weights (n,) (``None`` for equal weights),
        targets (n, t) minus their origin, and a generator. ``right`` has the right rows of pairs,
        or is ``None``.
        """
        alpha, fit_intercept = (
            checked_alpha(self.alpha),
            as_flag("fit_intercept", self.fit_intercept),
        )
        weight = checked_weight(sample_weight, X)
        targets = y.astype(np.float64).reshape(len(y), -1)
        rng = self._approximate(X, right, weight)
        self._single_target = y.ndim == 1
        # Sums of squares about an origin far away would cancel; an intercept may move it.
        origin = np.average(targets, axis=0, weights=weight) if fit_intercept else 0.0
        self._target_origin = np.broadcast_to(origin, targets.shape[1:]).copy()
        return alpha, weight, targets - self._target_origin, rng

    @property
    def noise_variance_(self) -> Any:
        """Maximum-likelihood noise variance; not for solutions without a likelihood."""
        return self._squeezed(offered(self.posterior_, "noise_variance")[None])[0]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
