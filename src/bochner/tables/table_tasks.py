"""Tasks of table models: regression and classification."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import column_or_1d

from bochner._base.arrays import Array, MatrixLike, as_array
from bochner._base.checks import check_classes, check_targets, labels, numbers, of_numpy, shown
from bochner.tables.base_laws import ScoredLaws
from bochner.tables.encoder import read_columns
from bochner.tables.predictive import Predictive
from bochner.tables.row_keys import row_keys
from bochner.tables.table_rows import TableRows
from bochner.tables.target_scales import CentredIndicators, ScaledTargets, Transformation, plain
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

TargetMap = TypeVar("TargetMap", bound=Callable[[NDArray[Any]], Array])
"""A map from targets, or class numbers, to the scaled targets (n, t) of a fit."""

LawSum = TypeVar("LawSum", bound=SumOfLaws | SoftmaxOfLaws)


class TableTask(ABC, Generic[TargetMap, LawSum]):
    """Checks targets, scales them, and makes heads that predict them."""

    is_numeric: ClassVar[bool]

    @abstractmethod
    def read(self, y: ArrayLike) -> Any:
        """Return targets as the user passed them, with the types of NumPy, or raise ValueError."""

    @abstractmethod
    def checked(self, y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
        """Return validated targets; raise ValueError with the model's ``name`` if invalid."""

    @abstractmethod
    def coded(
        self, X: MatrixLike, y: NDArray[np.generic], weights: Array | None
    ) -> tuple[NDArray[np.generic], NDArray[np.generic] | None]:
        """Return the targets of a fit and, for classes, the labels (C,) by class number."""

    @abstractmethod
    def targets(self, rows: TableRows) -> TargetMap:
        """Return the map to the targets (n, t) of a fit, of mean zero at the rows."""

    @abstractmethod
    def numbers_of_classes(self, rows: TableRows) -> NDArray[np.int64] | None:
        """Return the class numbers (n,) of the rows; ``None`` for a regression."""

    @abstractmethod
    def sum_of_laws(
        self, scored_laws: ScoredLaws, rows: TableRows, weights: Array, targets: TargetMap
    ) -> tuple[LawSum, float | Array | None]:
        """Return the head with a weighted sum of base models, without models of weight zero.

        Weights (n,) have a mean of one. The second value is the expected error in the unit of the
        table's targets, or ``None`` if the head has the same unit.
        """


@dataclass(frozen=True, slots=True)
class RegressionTask(TableTask[ScaledTargets, SumOfLaws]):
    """Task of numeric targets (n,) or (n, t), which are standardised for the fit."""

    is_numeric: ClassVar[bool] = True

    transformation: Transformation | None = None

    def read(self, y: ArrayLike) -> Any:
        return of_numpy(y)

    def checked(self, y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
        targets = as_array(numbers(y))
        check_targets(targets)
        return targets

    def coded(
        self, X: MatrixLike, y: NDArray[np.generic], weights: Array | None
    ) -> tuple[NDArray[np.generic], NDArray[np.generic] | None]:
        return y, None

    def targets(self, rows: TableRows) -> ScaledTargets:
        return ScaledTargets.of(rows.y, rows.weights, self.transformation)

    def numbers_of_classes(self, rows: TableRows) -> NDArray[np.int64] | None:
        return None

    def sum_of_laws(
        self, scored_laws: ScoredLaws, rows: TableRows, weights: Array, targets: ScaledTargets
    ) -> tuple[SumOfLaws, float | Array | None]:
        head, (mean, std) = SumOfLaws.with_left_out(scored_laws, targets.scaled(rows.y), weights)
        error = None
        if targets.slope is None:
            # The expected error is in the unit of the targets, so predictions are mapped back.
            left_out = Predictive.of_rows(mean, std, head.law, targets.inverse)
            expected, _ = left_out.mean_and_std()
            squares = (rows.y[scored_laws.scored] - expected) ** 2
            error = plain(np.sqrt(np.mean((squares.T * weights[scored_laws.scored]).T, axis=0)))
        laws, of_laws = head.laws.used(head.weights)
        return replace(head, laws=laws, weights=of_laws), error


@dataclass(frozen=True, slots=True)
class ClassificationTask(TableTask[CentredIndicators, SoftmaxOfLaws]):
    """Task of labels (n,), which are fitted as class indicators."""

    is_numeric: ClassVar[bool] = False

    def read(self, y: ArrayLike) -> Any:
        return labels(y)

    def checked(self, y: NDArray[np.generic], name: str) -> NDArray[np.generic]:
        y = np.asarray(column_or_1d(labels(y), warn=True))
        check_classes(y)
        if len(np.unique(y)) < 2:
            raise ValueError(f"{name} needs at least two classes, got 1 class: {shown(y[0])}.")
        return y

    def coded(
        self, X: MatrixLike, y: NDArray[np.generic], weights: Array | None
    ) -> tuple[NDArray[np.generic], NDArray[np.generic] | None]:
        """Return class numbers and labels, in an order of classes that is independent of labels.

        Heads assign random numbers to classes in this order. Classes are in descending order of
        weight. Among classes of equal weight, the class with the smallest key of a row is first,
        which does not depend on the order of the rows.
        """
        names, first, number = np.unique(y, return_index=True, return_inverse=True)
        total = np.bincount(number, weights)
        keys = np.zeros(len(names), dtype=np.uint64)
        if len(np.unique(total)) < len(total):
            keys += np.iinfo(np.uint64).max
            np.minimum.at(keys, number, row_keys(read_columns(X), np.empty((len(y), 0))))
        order = np.lexsort((first, keys, -total))
        return np.argsort(order)[number], names[order]

    def targets(self, rows: TableRows) -> CentredIndicators:
        return CentredIndicators.of(rows.y, rows.weights)

    def numbers_of_classes(self, rows: TableRows) -> NDArray[np.int64] | None:
        return np.unique(rows.y, return_inverse=True)[1].astype(np.int64)

    def sum_of_laws(
        self, scored_laws: ScoredLaws, rows: TableRows, weights: Array, targets: CentredIndicators
    ) -> tuple[SoftmaxOfLaws, float | Array | None]:
        present, numbers = np.unique(rows.y, return_inverse=True)
        head = SoftmaxOfLaws.of(scored_laws, rows.labels(present), numbers, weights)
        laws, of_laws = head.laws.used(head.softmax.weights)
        return replace(head, laws=laws, softmax=replace(head.softmax, weights=of_laws)), None
