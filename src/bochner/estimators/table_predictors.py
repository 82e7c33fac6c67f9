"""Predictions of fitted heads in the units of a table's targets."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.promises import NotPromisedError
from bochner.estimators.table_functions import TableFunctions
from bochner.estimators.table_heads import ClassHead, NumberHead
from bochner.estimators.table_targets import ScaledTargets
from bochner.learning.tables.ensemble import SumOfLaws
from bochner.learning.tables.predictive import Pair, Predictive
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
        """Return the inverse of the scaled means, without the effect of the spread on means."""
        return self.targets.inverse(as_array(self.head.predict(X)))

    def predictive(self, X: Array, weight: Array | None = None) -> Predictive:
        """Return the distributions of new targets with weights (n,), by default one."""
        mean, std = self.head.components(X, weight)
        targets = self.targets
        return Predictive.of_rows(mean, std, self.head.law, targets.inverse, targets.slope)

    def mean(self, X: Array, weight: Array | None = None) -> Array:
        """Return predictive means (n, *t)."""
        if self.targets.slope is None:
            return self.predictive(X, weight).mean_and_std()[0]
        # Means of laws alone: their variances take longer.
        return self.targets.inverse(as_array(self.head.predict(X, sample_weight=weight)))

    def covariances(self, X: Array, weight: Array | None = None) -> Pair:
        """Return predictive means (n, *t) and covariances (n, n, *t)."""
        if self.targets.transformation is not None:
            raise NotPromisedError(
                "return_cov=True needs untransformed targets, and these are transformed "
                f"({self.targets.transformation.name!r}): take return_std=True, covariances of "
                "sample_functions, or transformation='none'."
            )
        scaled_mean, scaled_cov = cast(
            Pair, self.head.predict(X, return_cov=True, sample_weight=weight)
        )
        if self.targets.slope is not None:
            return self.targets.inverse(scaled_mean), self.targets.slope**2 * scaled_cov
        # A floor narrows deviations; correlations are those without it.
        mean, std = self.predictive(X, weight).mean_and_std()
        scaled_std = np.sqrt(np.einsum("ii...->i...", scaled_cov))
        ratio = std / np.maximum(scaled_std, np.finfo(np.float64).tiny)
        return mean, scaled_cov * ratio * ratio[:, None]

    def functions(self, encoders: list[TableEncoder], count: int, rng: Generator) -> TableFunctions:
        """Return functions of tables with these encoders, drawn from the posterior."""
        shift, scale = self.targets.mean, self.targets.scale
        drawn = self.head.functions(count, rng).transformed(shift, scale)
        of_targets = {"transformation": self.targets.transformation, "floor": self.targets.floor}
        functions = TableFunctions(encoders, drawn, **of_targets)
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
