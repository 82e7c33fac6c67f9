"""Protocols of the fitted heads of table models, and the heads of a single kernel."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.kernels import Kernel
from bochner.linear.functions import SampledFunctions
from bochner.linear.krein_ridge import KreinRidge
from bochner.linear.krein_ridge_classifier import KreinRidgeClassifier
from bochner.tables.predictive import ErrorLaw, NormalLaw, Pair


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

    @property
    def law(self) -> ErrorLaw:
        """The law of standardised errors of new targets."""

    def components(self, X: Array, sample_weight: Array | None = None) -> Pair:
        """Return means and factors of standardised errors (n, *t)."""

    def growth(self, X: Array, shifted: Array) -> Array:
        """Return by how much variances (n, *t) at ``shifted`` rows exceed those at rows ``X``."""

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

    @property
    def law(self) -> NormalLaw:
        """The normal law of standardised errors."""
        return NormalLaw()

    def components(self, X: Array, sample_weight: Array | None = None) -> Pair:
        """Return means and standard deviations (n, *t) of new targets at encoded rows (n, d)."""
        mean, std = self.predict(X, return_std=True, sample_weight=sample_weight)
        return as_array(mean), as_array(std)

    def growth(self, X: Array, shifted: Array) -> Array:
        """Return by how much variances (n, *t) at ``shifted`` rows exceed those at rows ``X``."""
        (_, before), (_, after) = self.components(X), self.components(shifted)
        return as_array(np.maximum(after**2 - before**2, 0.0))

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
