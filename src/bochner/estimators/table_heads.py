"""Protocols of the fitted heads of table models, and the heads of a single kernel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtri

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.normal import normal_half_width
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.kernels import Kernel
from bochner.learning.chains.functions import SampledFunctions
from bochner.registry import register

Pair = tuple[Array, Array]

_MAPPED_LEVELS = (np.arange(100) + 0.5) / 100
"""Levels of the quantiles that approximate a normal distribution in means of functions."""


class NumberHead(Protocol):
    """A fitted model of encoded rows (n, d) and scaled targets of shape (n, *t).

    ``*t`` is empty for a single target, else the number of targets. The noise variance of new
    targets is divided by their weights (n,).
    """

    @property
    def left_out_rmse(self) -> Array | float | None:
        """Expected root mean square errors (*t); ``None`` if no rows were left out."""

    def predict(
        self,
        X: Array,
        return_std: bool = False,
        return_cov: bool = False,
        sample_weight: Array | None = None,
    ) -> Array | Pair:
        """Return means (n, *t), and standard deviations (n, *t) or covariances (n, n, *t)."""

    def mapped_moments(
        self, X: Array, inverse: Callable[[Array], Array], sample_weight: Array | None = None
    ) -> Pair:
        """Return means and standard deviations (n, *t) of an increasing function of new targets."""

    def interval(self, X: Array, level: float, sample_weight: Array | None = None) -> Pair:
        """Return lower and upper ends (n, *t) of prediction intervals."""

    def quantiles(self, X: Array, levels: Array, sample_weight: Array | None = None) -> Array:
        """Return quantiles (n, *t, q) of new targets."""

    def sample(
        self, X: Array, n_samples: int, rng: Generator, sample_weight: Array | None = None
    ) -> Array:
        """Return draws (n, *t, n_samples) of new targets."""

    def functions(self, count: int, rng: Generator) -> SampledFunctions:
        """Return functions drawn from the posterior, of the shape (count,) or (t, count)."""


class ClassHead(Protocol):
    """A fitted model of encoded rows (n, d) and classes."""

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels (C,) in the order of the probabilities."""

    @property
    def left_out_log_loss(self) -> float | None:
        """Expected log loss in nats; ``None`` if no rows were left out."""

    def predict_proba(self, X: Array) -> Array:
        """Return class probabilities (n, C)."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class OneKernelRegression:
    """A ridge regression on features of one kernel, with normal predictive distributions."""

    model: KreinRidge

    left_out_rmse: ClassVar[None] = None

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns."""
        return cast(Kernel, self.model.kernel_)

    def predict(
        self,
        X: Array,
        return_std: bool = False,
        return_cov: bool = False,
        sample_weight: Array | None = None,
    ) -> Any:
        """Return means (n, *t) at encoded rows (n, d), and optionally their spread.

        Standard deviations have the shape (n, *t) and covariances (n, n, *t), noise included.
        Raises ValueError for weights of new targets, and for standard deviations or covariances of
        an indefinite kernel.
        """
        if sample_weight is not None:
            raise ValueError(
                "sample_weight of new targets needs kernel='auto': leave it out, or divide the "
                "variance head_.model.noise_variance_ yourself."
            )
        return self.model.predict(X, return_std=return_std, return_cov=return_cov)

    def mapped_moments(
        self, X: Array, inverse: Callable[[Array], Array], sample_weight: Array | None = None
    ) -> Pair:
        """Return means and standard deviations (n, *t) of an increasing function of new targets."""
        values = inverse(self.quantiles(X, _MAPPED_LEVELS, sample_weight))
        return as_array(values.mean(axis=-1)), as_array(values.std(axis=-1))

    def interval(self, X: Array, level: float, sample_weight: Array | None = None) -> Pair:
        """Return lower and upper ends (n, *t) of normal prediction intervals."""
        mean, std = self.predict(X, return_std=True, sample_weight=sample_weight)
        half = normal_half_width(level) * std
        return mean - half, mean + half

    def quantiles(self, X: Array, levels: Array, sample_weight: Array | None = None) -> Array:
        """Return normal quantiles (n, *t, q) of new targets."""
        mean, std = self.predict(X, return_std=True, sample_weight=sample_weight)
        return as_array(mean[..., None] + std[..., None] * ndtri(levels))

    def sample(
        self, X: Array, n_samples: int, rng: Generator, sample_weight: Array | None = None
    ) -> Array:
        """Return independent normal draws (n, *t, n_samples) of new targets."""
        mean, std = self.predict(X, return_std=True, sample_weight=sample_weight)
        return as_array(
            mean[..., None] + std[..., None] * rng.normal(size=(*mean.shape, n_samples))
        )

    def functions(self, count: int, rng: Generator) -> SampledFunctions:
        """Return functions drawn from the posterior, of the shape (count,) or (t, count)."""
        return self.model.sample_functions(count, int(rng.integers(np.iinfo(np.int32).max)))


@register
@dataclass(frozen=True, slots=True, eq=False)
class OneKernelClassification:
    """A ridge regression of class indicators on features of one kernel, with a softmax.

    The model is fitted to class numbers; ``classes_`` has the labels by number.
    """

    model: KreinRidgeClassifier
    classes_: NDArray[Any]

    left_out_log_loss: ClassVar[None] = None

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns."""
        return cast(Kernel, self.model.kernel_)

    def predict_proba(self, X: Array) -> Array:
        """Return class probabilities (n, C) of encoded rows (n, d)."""
        return self.model.predict_proba(X)
