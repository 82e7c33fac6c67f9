"""What models of tables share: sums of laws that left-out rows have judged, or a single law."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import (
    Array,
    as_array,
    as_positive_scalar,
)
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas, threads_for
from bochner._numerics.units import rounded
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_parameters import check_name
from bochner.estimators.fixed_tables import ENCODINGS, FixedKernelTable
from bochner.estimators.table_base import RegressionTable
from bochner.estimators.table_rows import TableRows
from bochner.features.parameters import count_frequencies, generators
from bochner.kernels import Kernel
from bochner.learning.ensemble.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.learning.ensemble.learner import EFFORTS, Effort, Judged, Learner
from bochner.learning.ensemble.observations import Observations
from bochner.learning.inference.sizes import TABLE_CHAINS
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import cycle_places, output_names, scale_numbers


@dataclass(eq=False, repr=False)
class LawsTable(FixedKernelTable):
    """A table model that weighs several laws by rows left out, or has a single law."""

    _chain_head: ClassVar[type[BaNK]]

    _: KW_ONLY
    method: str = "auto"
    effort: str = "default"
    time_limit: float | None = None
    n_jobs: int | None = None

    quantile_encoder_: TableEncoder | None = field(init=False, default=None)
    varying_: NDArray[np.int64] | None = field(init=False, default=None)

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns, of the methods ``"fixed"`` and ``"learned"``."""
        if isinstance(getattr(self, "head_", None), SumOfLaws | SoftmaxOfLaws):
            raise AttributeError("A sum of laws has no single kernel: see head_.laws.members.")
        return super().kernel_

    @property
    def _judged_head(self) -> Any:
        """The sum of laws; ``None`` for other methods."""
        check_is_fitted(self, "head_")
        return self.head_ if isinstance(self.head_, SumOfLaws | SoftmaxOfLaws) else None

    @abstractmethod
    def _law_targets(self, rows: TableRows) -> Callable[[NDArray[Any]], Array]:
        """Return the map from targets to those (n, t) of the laws, of mean zero at the rows."""

    def _regressed(self, rows: TableRows) -> Array:
        return self._law_targets(rows)(rows.y)

    def _labels(self, y: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return numbers of classes (n,), or ``None`` for targets that are numbers."""
        return None

    @abstractmethod
    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> Any:
        """Return the head that combines the laws, given weights (n,) of mean one."""

    def _encoders(self) -> list[TableEncoder]:
        quantiles = self.quantile_encoder_
        return [self.encoder_] if quantiles is None else [self.encoder_, quantiles]

    def _used(self, encoded: Array) -> Array:
        return encoded if self.varying_ is None else encoded[:, self.varying_]

    def _learn(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, Any]:
        self._check_parameters()
        self.quantile_encoder_ = self.varying_ = None
        if self.method == "fixed" or self.kernel != "auto":
            return self._fixed(rows, progress)
        if self.method == "learned":
            return self._by_chains(rows, progress)
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        encoders, judged = self._judged(rows, weights, EFFORTS[self.effort], progress)
        self.quantile_encoder_ = encoders[1]
        return encoders[0], _without_unused(self._combined(judged, rows, weights))

    def _judged(
        self, rows: TableRows, weights: Array, effort: Effort, progress: Progress
    ) -> tuple[list[TableEncoder], Judged]:
        """Return encoders, and laws of their columns with predictions at rows left out.

        Weights (n,) have a mean of one.
        """
        progress("encoding the table")
        law_targets = self._law_targets(rows)
        targets = law_targets(rows.y)
        encoders = [TableEncoder(numeric=numeric) for numeric in ENCODINGS]
        removal = rows.removal
        tables = [
            as_array(encoder.fit_transform(rows.X, targets, removal=removal))
            for encoder in encoders
        ]
        ends = np.cumsum([0] + [table.shape[1] for table in tables])
        with single_threaded_blas() as n_threads:
            n_threads = threads_for(self.n_jobs, n_threads)
        (rng,) = generators(self.random_state, 1)
        # In other units the last digits differ, and searches may end elsewhere.
        encoded = rounded(np.hstack(tables))
        others = rows.others
        judged = Learner(effort, n_threads, self.time_limit, progress).fit(
            Observations.of(
                encoded,
                rounded(targets),
                weights,
                removal.groups,
                _scale_numbers(encoders),
                rows.unit,
            ),
            [np.arange(*pair) for pair in pairwise(ends)],
            rng,
            latest=removal.latest,
            trends=_trends(encoded, rows.order),
            with_variance=isinstance(self, RegressionTable),
            elsewhere=None if others is None else others.encoded(encoders, law_targets),
            labels=self._labels(rows.y),
            cycles=_cycles(encoders),
        )
        return encoders, judged

    def _by_chains(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, BaNK]:
        """Return the encoder and a head that learns its frequencies by short Markov chains."""
        if rows.removal.groups is not None:
            raise ValueError(
                "groups and time need rows to be left out, and chains leave none out: leave them "
                "out, or use method='auto'."
            )
        if rows.y.ndim > 1:
            raise ValueError(
                f"method='learned' takes a single target y of shape (n,), got {rows.y.shape}: fit "
                "a model to each, or use method='auto'."
            )
        progress("encoding the table")
        y = self._head_target(rows)
        encoder = TableEncoder()
        encoded = as_array(encoder.fit_transform(rows.X, self._regressed(rows)))
        # Columns for levels that no training row has are constant.
        self.varying_ = np.flatnonzero(np.ptp(encoded, axis=0) > 0.0)
        head = self._chain_head(
            **TABLE_CHAINS[self.effort], time_limit=self.time_limit, random_state=self.random_state
        )
        progress("learning the kernel by short chains")
        head.fit(encoded[:, self.varying_], y, rows.given_weights, callback=progress.relay)
        return encoder, head

    def _check_in_partitions(self, groups: Any, time: Any) -> None:
        self._check_parameters()
        if self.method != "auto" or self.kernel != "auto":
            raise ValueError(
                f"Rows in partitions are fitted by method='auto' with kernel='auto', got "
                f"method={self.method!r} and kernel={self.kernel!r}: leave these out, or pass rows "
                "in memory, such as X.compute()."
            )
        if groups is not None or time is not None:
            raise ValueError(
                "groups and time need rows in memory, and X is in partitions: leave them out, or "
                "pass some of the rows, such as X.sample(frac=0.1).compute()."
            )

    def _check_parameters(self) -> None:
        check_name("method", self.method, ("auto", "learned", "fixed"))
        check_name("effort", self.effort, tuple(EFFORTS))
        count_frequencies(self.n_components)
        if self.time_limit is not None:
            as_positive_scalar("time_limit", self.time_limit)
        if self.method == "learned" and self.kernel != "auto":
            raise ValueError(
                f"method='learned' learns its kernel, and kernel={self.kernel!r} names one: leave "
                "one of them out."
            )
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or not self.n_jobs):
            raise ValueError(
                f"n_jobs must be a nonzero integer or None, got {self.n_jobs!r}. Minus one means "
                "all cores."
            )


def _without_unused(head: SumOfLaws | SoftmaxOfLaws) -> SumOfLaws | SoftmaxOfLaws:
    """Return a head without the laws whose weight is zero, which predictions do not need."""
    if isinstance(head, SumOfLaws):
        laws, weights = head.laws.used(head.weights)
        return replace(head, laws=laws, weights=weights)
    laws, weights = head.laws.used(head.softmax.weights)
    return replace(head, laws=laws, softmax=replace(head.softmax, weights=weights))


def _trends(encoded: Array, order: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return the numbers of the columns (n, d) that only grow or only fall in an order of rows."""
    if order is None:
        return None
    steps = np.diff(encoded[order], axis=0)
    return np.flatnonzero((steps >= 0.0).all(axis=0) | (steps <= 0.0).all(axis=0))


def _scale_numbers(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return a number for the length scale of each column of several encoded tables."""
    of_columns = [scale_numbers(state) for encoder in encoders for state in encoder.columns_]
    ends = np.cumsum([0] + [len(own) for own in of_columns])
    return np.concatenate([end + own for end, own in zip(ends, of_columns, strict=False)])


def _cycles(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return the first column of each cycle (c, 2) of several encoded tables, and its width."""
    found, end = [np.empty((0, 2), dtype=np.intp)], 0
    for state in (state for encoder in encoders for state in encoder.columns_):
        found.append(cycle_places(state) + np.array([end, 0]))
        end += len(output_names(state))
    return np.concatenate(found)
