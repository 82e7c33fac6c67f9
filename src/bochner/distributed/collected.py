"""Checked rows of Dask collections, kept on the workers, and a sample of them here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d

from bochner._numerics.arrays import Array
from bochner.distributed.chunked_rows import ChunkedRows, Prepared, Problem, Size
from bochner.distributed.local_order import LocalOrder
from bochner.distributed.partitions import Partitions
from bochner.distributed.passes import gathered, kept, mapped, summed
from bochner.learning.inference.plan import Data
from bochner.learning.inference.preparation import Scaling, Trend

SAMPLE_ROWS = 100_000
"""So many rows are brought here, for all that is not a sum over rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """Checked rows of positive weight, in the units of the user.

    Parameters
    ----------
    X : ndarray of shape (k, d)
    y : ndarray of shape (k,)
    weight : ndarray of shape (k,) or None
    """

    X: Array
    y: NDArray[Any]
    weight: Array | None

    def __len__(self) -> int:
        return len(self.y)

    def __sizeof__(self) -> int:
        return self.X.nbytes + self.y.nbytes + (0 if self.weight is None else self.weight.nbytes)


@dataclass(frozen=True, slots=True, eq=False)
class Preparation:
    """Makes of rows in the user's units what chains want.

    Parameters
    ----------
    scaling : Scaling
    trend : Trend
    dtype : numpy.dtype
        Of the features.
    targets : callable
        Returns columns (k, t) of targets (k,).
    unit : float
        By which weights are divided.
    """

    scaling: Scaling
    trend: Trend
    dtype: np.dtype[Any]
    targets: Callable[[NDArray[Any]], Array]
    unit: float

    def __call__(self, given: Given) -> Prepared:
        scaled = self.scaling.apply(given.X)
        return Prepared(
            np.ascontiguousarray(scaled.T.astype(self.dtype, copy=False)),
            np.ascontiguousarray(self.targets(given.y).T),
            np.ascontiguousarray(self.trend.columns(scaled).T),
            None if given.weight is None else given.weight / self.unit,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Collected:
    """Rows of Dask collections to learn a kernel from.

    Parameters
    ----------
    parts : tuple of Delayed
        Of :class:`Given`.
    lengths : tuple of int
        Of the parts.
    sample : Given
        At most :data:`SAMPLE_ROWS` rows, drawn without replacement, in order: all of them where
        there are no more.
    meta : pandas.DataFrame or None
        Without rows, where the rows come from a data frame.
    """

    parts: tuple[Delayed, ...]
    lengths: tuple[int, ...]
    sample: Given
    meta: Any

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, *, numeric: bool) -> "Collected":
        """Return the rows of Dask collections.

        Raises
        ------
        ValueError
            If the data are unusable.
        """
        partitions = Partitions.of(X, y, sample_weight)
        parts = kept(mapped(_Check(numeric), partitions.parts))
        lengths = gathered(mapped(len, parts))
        if not sum(lengths):
            raise ValueError("There are no rows of positive weight.")
        return cls(parts, lengths, _sample(parts, lengths), partitions.meta)

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all rows."""
        return len(self.sample) == sum(self.lengths)

    def labels(self) -> NDArray[Any]:
        """Return all different targets, in ascending order."""
        labels: NDArray[Any] = summed(mapped(_labels, self.parts), np.union1d)
        return labels

    def frame(self) -> Any:
        """Return the inputs of the sample, as a data frame if they come from one."""
        if self.meta is None:
            return self.sample.X
        return type(self.meta)(self.sample.X, columns=self.meta.columns)

    def learnable(
        self, columns: Sequence[Data], problems: Any, scaling: Scaling, trend: Trend
    ) -> list[Data]:
        """Return the data of every problem, its chains to end with all rows.

        Parameters
        ----------
        columns : sequence of Data
            The sample's distinct rows and the targets of each problem.
        problems : Problems
            That they are made of.
        scaling : Scaling
        trend : Trend
        """
        dtype = columns[0].X.dtype
        preparation = Preparation(scaling, trend, dtype, problems.targets, problems.unit)
        prepared = kept(mapped(preparation, self.parts))
        return [
            replace(data, elsewhere=self._rows(prepared, data, column, problems))
            for column, data in enumerate(columns)
        ]

    def _rows(
        self, prepared: tuple[Delayed, ...], data: Data, column: int, problems: Any
    ) -> ChunkedRows:
        parts = tuple(mapped(Problem(column, data.target_factor), prepared))
        if not self.is_whole:
            return ChunkedRows(parts, Size(sum(self.lengths), data.fixed.shape[1], data.X.dtype))
        here, sample = data.rows(), self.sample
        given = (sample.X, problems.targets.codes(sample.y), sample.weight)
        order = LocalOrder.of(here, (problems.X, problems.codes), given, self.lengths)
        return ChunkedRows(parts, Size(here.n_samples, here.n_fixed, here.dtype), order)


@dataclass(frozen=True, slots=True)
class _Check:
    numeric: bool

    def __call__(self, part: tuple[int, Any, Any, Any]) -> Given:
        index, X, y, weight = part
        try:
            return _checked(X, y, weight, numeric=self.numeric)
        except (TypeError, ValueError) as error:
            raise type(error)(f"In partition {index}: {error}") from error


def _checked(X: Any, y: Any, weight: Any, *, numeric: bool) -> Given:
    X = check_array(X, dtype=np.float64, ensure_min_samples=0, input_name="X")
    y = column_or_1d(np.asarray(y))
    if numeric:
        y = y.astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError("y contains numbers that are not finite.")
    if weight is None:
        return Given(X, y, None)
    weight = column_or_1d(np.asarray(weight)).astype(np.float64)
    if not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError("sample_weight must be finite and not negative.")
    present = weight > 0.0
    return Given(X[present], y[present], weight[present])


def _picked(given: Given, chosen: NDArray[np.intp] | None) -> Given:
    if chosen is None:
        return given
    weight = None if given.weight is None else given.weight[chosen]
    return Given(given.X[chosen], given.y[chosen], weight)


def _sample(parts: Sequence[Delayed], lengths: Sequence[int]) -> Given:
    n, bounds = sum(lengths), np.cumsum([0, *lengths])
    chosen: list[NDArray[np.intp] | None] = [None] * len(parts)
    if n > SAMPLE_ROWS:
        rows = np.sort(np.random.default_rng(n).choice(n, size=SAMPLE_ROWS, replace=False))
        cuts = np.searchsorted(rows, bounds)
        chosen = [rows[cuts[i] : cuts[i + 1]] - bounds[i] for i in range(len(parts))]
    picked = gathered(mapped(_picked, parts, chosen))
    weights = [part.weight for part in picked]
    return Given(
        np.concatenate([part.X for part in picked]),
        np.concatenate([part.y for part in picked]),
        None if weights[0] is None else np.concatenate(weights),
    )


def _labels(given: Given) -> NDArray[Any]:
    return np.unique(given.y)
