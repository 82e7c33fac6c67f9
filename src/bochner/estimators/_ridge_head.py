"""What the ridge regressor and classifier share: features, sums and their solution."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from bochner._numerics.arrays import FLOATS, Array, row_blocks
from bochner.estimators._asymmetry import refuse_asymmetric, refuse_two_sided
from bochner.features.approximation import Recipe, approximate
from bochner.features.length_scales import AnyKernel, resolve_kernel
from bochner.features.region import Region, check_rows
from bochner.features.stats import FeatureSums, feature_sums
from bochner.features.transformer import count_frequencies, generators
from bochner.frequencies import Frequencies
from bochner.kernels import KERNELS_BY_DIMENSION, Kernel, named_kernel
from bochner.learning.krein import KreinSolution, fit_krein
from bochner.learning.ridge import RidgePosterior, best_alpha, fit_ridge
from bochner.learning.selection import evidence_problem, select_length_scale
from bochner.sampling import Scheme
from bochner.spectral import Decomposition

HEAD_ATTRIBUTES: Mapping[str, Any] = MappingProxyType(
    {
        "kernel_": Kernel,
        "frequencies_": Frequencies,
        "signature_": Array,
        "_region": Region | None,
        "sums_": FeatureSums,
        "posterior_": RidgePosterior | KreinSolution,
    }
)
"""What every head learns, for model files."""


class RidgeHead(BaseEstimator, ABC):
    """Ridge regression on random features, from sums that can be added to."""

    kernel_: AnyKernel
    frequencies_: Frequencies
    signature_: Array
    _region: Region | None
    sums_: FeatureSums
    posterior_: RidgePosterior | KreinSolution

    def __init__(
        self,
        kernel: AnyKernel | str = "gaussian",
        n_components: int = 512,
        alpha: float | str = 1.0,
        *,
        length_scale: Any = "median",
        scheme: str | Scheme = "auto",
        weights: str = "sampled",
        decomposition: str | Decomposition = "auto",
        fit_intercept: bool = False,
        associated: bool = False,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.alpha = alpha
        self.length_scale = length_scale
        self.scheme = scheme
        self.weights = weights
        self.decomposition = decomposition
        self.fit_intercept = fit_intercept
        self.associated = associated
        self.random_state = random_state

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the head."""

    def _start(self, X: Any, Y: Array, weight: Array | None) -> None:
        """Resolve the kernel, draw the frequencies and forget all earlier rows."""
        n_frequencies = count_frequencies(self.n_components)
        kernel_rng, draw_rng, data_rng = generators(self.random_state, 3)
        self.kernel_ = self._choose_kernel(X, Y, weight, n_frequencies, kernel_rng)
        if not self.associated:
            refuse_asymmetric(self.kernel_)
        recipe = Recipe(n_frequencies, self.scheme, self.weights, self.decomposition)
        rows = X if weight is None else X[weight > 0]
        found = approximate(self.kernel_, rows, recipe, draw_rng, data_rng)
        if not self.associated:
            refuse_two_sided(self.kernel_, found.frequencies)
        self.frequencies_ = found.frequencies
        self.signature_ = self.frequencies_.signature
        self._region = found.region

    def _choose_kernel(
        self, X: Any, Y: Array, weight: Array | None, n_frequencies: int, rng: np.random.Generator
    ) -> AnyKernel:
        kernel = self.kernel
        by_evidence = isinstance(self.length_scale, str) and self.length_scale == "evidence"
        if not (by_evidence and isinstance(kernel, str) and kernel not in KERNELS_BY_DIMENSION):
            return resolve_kernel(kernel, self.length_scale, X, rng, weight)
        problem = evidence_problem(
            X,
            Y,
            weight,
            rng,
            n_frequencies=n_frequencies,
            scheme=self.scheme,
            alpha=self._alpha(),
            fit_intercept=self.fit_intercept,
        )
        return select_length_scale(named_kernel(kernel), problem, rng)

    def _alpha(self) -> float | None:
        return checked_alpha(self.alpha)

    def _add_rows(self, X: Any, Y: Array, weight: Array | None, *, start: bool) -> None:
        """Add rows to the sums (the first ones if ``start``) and solve."""
        alpha = self._alpha()
        if start:
            self._start(X, Y, weight)
        else:
            check_rows(self.kernel_, self._region, X)
        rows = feature_sums(self.frequencies_, X, Y, weight)
        self.sums_ = rows if start else self.sums_ + rows
        self.posterior_ = self._solve(alpha)

    def _solve(self, alpha: float | None) -> RidgePosterior | KreinSolution:
        """Return the posterior, or the stationary point in a Krein space."""
        intercept = self.fit_intercept
        if not (self.associated or (self.signature_ > 0).all()):
            return fit_krein(self.sums_, self.signature_, alpha, fit_intercept=intercept)
        if alpha is None:
            alpha = best_alpha(self.sums_, fit_intercept=intercept)[0]
        return fit_ridge(self.sums_, alpha, fit_intercept=intercept)

    @property
    def alpha_(self) -> float:
        """The regularisation in use."""
        return self.posterior_.alpha

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the training targets; a Krein space has none."""
        return self.posterior_.log_evidence

    def _predict(self, X: Any, *, with_std: bool = False) -> tuple[Array, Array | None]:
        """Return means and, if asked for, standard deviations, both of shape (n, t)."""
        check_is_fitted(self, "posterior_")
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, X)
        mean = np.empty((X.shape[0], self.posterior_.coef.shape[1]))
        std = np.empty_like(mean) if with_std else None
        for rows in row_blocks(len(mean), 16 * self.frequencies_.n_frequencies):
            Z = self.frequencies_.features(X[rows])
            mean[rows] = self.posterior_.mean(Z)
            if std is not None:
                std[rows] = self.posterior_.std(Z)
        return mean, std

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def checked_weight(sample_weight: Any, X: Any) -> Array | None:
    """Return weights of shape (n,), or ``None``; refuse negative ones and all zeros."""
    if sample_weight is None:
        return None
    weight: Array = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    return weight


def checked_alpha(alpha: Any) -> float | None:
    """Return the number that ``alpha`` is, or ``None`` for the evidence's choice."""
    if isinstance(alpha, str) and alpha == "evidence":
        return None
    if isinstance(alpha, Real) and np.isfinite(float(alpha)) and float(alpha) > 0.0:
        return float(alpha)
    raise ValueError(f"alpha must be a positive number or 'evidence', got {alpha!r}.")
