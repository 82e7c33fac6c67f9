"""Predictions of fitted heads in the units of a table's targets."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.promises import NotPromisedError
from bochner.estimators.table_functions import TableFunctions
from bochner.estimators.table_heads import ClassHead, NumberHead, Pair
from bochner.estimators.table_targets import ScaledTargets
from bochner.learning.tables.ensemble import SumOfLaws
from bochner.tables.encoder import TableEncoder


class Predictor(Protocol):
    """A fitted head whose outputs importance, effects and contributions explain."""

    @property
    def unit(self) -> Any:
        """Standard deviations () or (t,) of the targets, the units to compare several outputs."""

    @property
    def names(self) -> NDArray[Any] | None:
        """Names of the outputs; ``None`` for a single output."""

    def outputs(self, X: Array) -> Array:
        """Return predictions (n,), (n, t) or probabilities (n, C) at encoded rows."""


@dataclass(frozen=True, slots=True, eq=False)
class NumberPredictor:
    """Predicts numbers of shape (n, *t) from encoded rows (n, d)."""

    head: NumberHead
    targets: ScaledTargets

    @property
    def unit(self) -> Any:
        """Standard deviations () or (t,) of the targets."""
        return self.targets.scale

    @property
    def names(self) -> NDArray[Any] | None:
        """Names of several targets; ``None`` for a single target."""
        several = np.array([f"target {number}" for number in range(np.size(self.unit))])
        return several if np.ndim(self.unit) else None

    def outputs(self, X: Array) -> Array:
        """Return the inverse of the scaled means, which are medians of transformed targets."""
        return self.targets.inverse(as_array(self.head.predict(X)))

    def mean(self, X: Array, weight: Array | None = None) -> Array:
        """Return predictive means (n, *t)."""
        if self.targets.transformation is not None:
            return self.moments(X, weight)[0]
        return self.targets.inverse(as_array(self.head.predict(X, sample_weight=weight)))

    def moments(self, X: Array, weight: Array | None = None) -> Pair:
        """Return predictive means and standard deviations (n, *t)."""
        if self.targets.transformation is not None:
            return self.head.mapped_moments(X, self.targets.inverse, weight)
        mean, std = cast(Pair, self.head.predict(X, return_std=True, sample_weight=weight))
        return self.targets.inverse(mean), self.targets.scale * std

    def covariances(self, X: Array, weight: Array | None = None) -> Pair:
        """Return predictive means (n, *t) and covariances (n, n, *t)."""
        if self.targets.transformation is not None:
            raise NotPromisedError(
                "return_cov=True needs untransformed targets, and these are transformed "
                f"({self.targets.transformation.name!r}): take return_std=True, covariances of "
                "sample_functions, or transformation='none'."
            )
        mean, cov = cast(Pair, self.head.predict(X, return_cov=True, sample_weight=weight))
        return self.targets.inverse(mean), self.targets.scale**2 * cov

    def interval(self, X: Array, level: float, weight: Array | None = None) -> Pair:
        """Return lower and upper ends (n, *t) of prediction intervals."""
        lower, upper = self.head.interval(X, level, weight)
        return self.targets.inverse(lower), self.targets.inverse(upper)

    def quantiles(self, X: Array, levels: Array, weight: Array | None = None) -> Array:
        """Return quantiles (n, *t, q) of new targets."""
        return self.targets.inverse(self.head.quantiles(X, levels, weight))

    def sample(self, X: Array, count: int, rng: Generator, weight: Array | None = None) -> Array:
        """Return draws (n, *t, count) of new targets."""
        return self.targets.inverse(self.head.sample(X, count, rng, weight))

    def functions(self, encoders: list[TableEncoder], count: int, rng: Generator) -> TableFunctions:
        """Return functions of tables with these encoders, drawn from the posterior."""
        shift, scale = self.targets.mean, self.targets.scale
        drawn = self.head.functions(count, rng).transformed(shift, scale)
        functions = TableFunctions(encoders, drawn, transformation=self.targets.transformation)
        if isinstance(self.head, SumOfLaws) and any(widths.curves for widths in self.head.widths):
            functions = replace(functions, head=self.head, shift=shift, scale=scale)
        return functions


@dataclass(frozen=True, slots=True, eq=False)
class ClassPredictor:
    """Predicts class probabilities (n, C), in the order of the sorted classes."""

    head: ClassHead

    @property
    def unit(self) -> float:
        """The unit one, because probabilities of different classes are comparable."""
        return 1.0

    @property
    def names(self) -> NDArray[Any]:
        """The sorted classes (C,)."""
        return np.sort(self.head.classes_)

    def outputs(self, X: Array) -> Array:
        """Return class probabilities (n, C)."""
        return as_array(self.head.predict_proba(X)[:, np.argsort(self.head.classes_)])
