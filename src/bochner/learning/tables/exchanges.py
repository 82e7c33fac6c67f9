r"""Means of laws at mixed rows, whose groups of columns come from several rows.

An exchange of columns changes the distance of a row to a training row by a term that depends on
these columns only. The time for kernel values at many exchanged rows therefore does not grow with
the number of all columns; see :mod:`bochner.learning.tables.exchange_sums`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array, row_blocks, steps
from bochner._numerics.distances import Metric, distances
from bochner._numerics.threads import in_order, single_threaded_blas
from bochner.kernels import Laplacian
from bochner.learning.tables.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.learning.tables.exchange_sums import (
    ABSOLUTE,
    MAPPED,
    SQUARED,
    ExchangeMemory,
    ExponentialProfile,
    Integers,
    Mixed,
    Training,
    add_kernel_sums,
)
from bochner.learning.tables.kernel_laws import KernelLaw
from bochner.learning.tables.kernel_sums import profile_of
from bochner.learning.tables.laws import Laws
from bochner.learning.tables.tree_laws import TreeLaw

_BLOCK = 512
"""Mixed rows that a thread evaluates at once: the first one of a block costs as much as dozens."""

_FEWEST_COLUMNS, _MOST_LEVELS = 3, 256
"""Fewest columns of a group and most distinct entries for distances by level: a look-up takes as
long as two columns, and a table of levels fits the first cache."""

_SEED = 0
"""Seed of the projection by which rows with equal entries are found."""


@dataclass(frozen=True, slots=True, eq=False)
class MixedRows:
    """Rows whose groups of columns come from several rows of a pool."""

    pool: Array  # (r, d)
    sources: NDArray[np.intp]  # (q, g): Row of the pool from which each group comes
    owners: NDArray[np.intp]  # (d,): Group of each column

    def __len__(self) -> int:
        return len(self.sources)

    def blocks(self, size: int) -> Iterator["MixedRows"]:
        """Yield blocks of consecutive rows."""
        for part in steps(len(self), size):
            yield replace(self, sources=self.sources[part])

    def encoded(self) -> Array:
        """Return the rows (q, d)."""
        return self.pool[self.sources[:, self.owners], np.arange(len(self.owners))]


MeanOfMixed = Callable[[MixedRows], Array]
"""A law's means (q, t) at mixed rows."""


@dataclass(frozen=True, slots=True, eq=False)
class LawsOfMixed:
    """Laws whose means are evaluated at mixed rows, with the interface of :class:`Laws`."""

    laws: Laws
    prepared: Callable[[KernelLaw | TreeLaw], MeanOfMixed]

    def used(self, weights: Array) -> tuple["LawsOfMixed", Array]:
        """Return the laws with nonzero weights, and their weights."""
        laws, weights = self.laws.used(weights)
        return replace(self, laws=laws), weights

    def means(self, mixed: MixedRows) -> Array:
        """Return the laws' means (q, K, t) at mixed rows."""
        # Exchanges between equal entries are then recognised as no change.
        mixed = _with_first_sources(mixed)
        means = [self.prepared(law) for law in self.laws.members]

        def block(part: MixedRows) -> Array:
            return np.stack([mean(part) for mean in means], axis=1)

        # Blocks of successive rows, which differ in few groups.
        parts = list(mixed.blocks(_BLOCK))
        with single_threaded_blas() as n_threads:
            return np.concatenate([part for _, part in in_order(block, parts, n_threads)])


SumHead = TypeVar("SumHead", bound=SumOfLaws | SoftmaxOfLaws)


def at_mixed_rows(head: SumHead, owners: NDArray[np.intp]) -> SumHead:
    """Return a sum of laws that predicts at :class:`MixedRows` with the owners (d,) of columns."""
    prepared = cache(partial(_prepared, rows=head.laws.rows, owners=owners))
    return replace(head, laws=cast(Laws, LawsOfMixed(head.laws, prepared)))


def _prepared(law: KernelLaw | TreeLaw, rows: Array, owners: NDArray[np.intp]) -> MeanOfMixed:
    """Return the means of a law: by exchanges if the kernel has a closed form, else by rows."""
    # Trees and other kernels evaluate the encoded rows.
    if isinstance(law, KernelLaw) and (profile := profile_of(law.found.kernel)) is not None:
        return _KernelSums.of(law, profile, rows, owners)

    def mean(mixed: MixedRows) -> Array:
        blocks = row_blocks(len(mixed), 8 * (mixed.pool.shape[1] + len(rows)))
        encoded = (replace(mixed, sources=mixed.sources[part]).encoded() for part in blocks)
        return np.concatenate([law.mean(X, rows) for X in encoded])

    return mean


class _Part(NamedTuple):
    """Columns of one group, as columns or by levels."""

    columns: NDArray[np.intp]  # (c,): Positions among the columns of the law
    levels: Array  # (l, c): Distinct entries; empty unless distances are looked up by level


@dataclass(frozen=True, slots=True, eq=False)
class _KernelSums:
    """The sum of kernel values at the training rows of a law, prepared for exchanges of columns."""

    law: KernelLaw
    profile: ExponentialProfile
    training: Training
    blocks: list[_Part]  # Groups with levels, in the order of the training rows' codes
    order: NDArray[np.intp]  # Columns of the law in groups without levels, by group
    centre: Array  # (d',): Of scaled columns
    sizes: Integers  # (g,): Numbers of columns

    @classmethod
    def of(
        cls, law: KernelLaw, profile: ExponentialProfile, rows: Array, owners: NDArray[np.intp]
    ) -> "_KernelSums":
        """Return the sum of a law, given its rows and the groups of encoded columns."""
        matrix, groups = law.found.matrix, owners[law.columns]
        Z = rows[: len(law.coef), law.columns] / _scales(law)
        # Squared distances of images lose fewer digits around the mean of the rows.
        centre = np.zeros(Z.shape[1])
        if matrix is not None:
            centre = Z.mean(axis=0)
        parts = [
            _part(Z, np.flatnonzero(groups == group), matrix is None)
            for group in range(int(owners.max()) + 1)
        ]
        singles = [part.columns[: 0 if len(part.levels) else None] for part in parts]
        blocks = [part for part in parts if len(part.levels)]
        order = np.concatenate(singles)
        codes = [_codes(Z[:, part.columns])[1] for part in blocks]
        values, images, kind = Z[:, order], Z[:, :0], SQUARED
        if isinstance(law.found.kernel, Laplacian):
            kind = ABSOLUTE
        if matrix is not None:
            kind, images = MAPPED, _images(law, Z - centre)
            values = (images @ _map(law).T)[:, order]
        training = Training(
            kind,
            np.ascontiguousarray(values.T),
            _starts([len(columns) for columns in singles]),
            np.array(codes, dtype=np.int64).reshape(len(blocks), len(Z)),
            _starts([int(len(part.levels) > 0) for part in parts]),
            _starts([len(part.levels) for part in blocks]),
            np.ascontiguousarray(images.T),
            np.ascontiguousarray(law.coef.T, dtype=np.float64),
        )
        sizes = np.bincount(groups, minlength=len(parts)).astype(np.int64)
        return cls(law, profile, training, blocks, order, centre, sizes)

    def __call__(self, mixed: MixedRows) -> Array:
        """Return the law's means (q, t)."""
        sources = mixed.sources[:, : len(self.sizes)]
        # Only rows of the pool that are used get values and distances to levels.
        is_source = np.zeros(len(mixed.pool), dtype=bool)
        is_source[sources] = True
        sources = (np.cumsum(is_source, dtype=np.int64) - 1)[sources]
        pool = mixed.pool[np.ix_(is_source, self.law.columns)] / _scales(self.law) - self.centre
        metric: Metric = "cityblock" if self.training.kind == ABSOLUTE else "sqeuclidean"
        levels = [distances(pool[:, part.columns], part.levels, metric) for part in self.blocks]
        images = np.zeros((len(mixed), 0))
        if self.training.kind == MAPPED:
            owners = mixed.owners[self.law.columns]
            images = _images(self.law, pool[sources[:, owners], np.arange(len(owners))])
        mixed_rows = Mixed(
            sources,
            np.ascontiguousarray(pool[:, self.order]),
            np.hstack([np.zeros((len(pool), 0)), *levels]),
            images,
            np.sum(images**2, axis=1),
        )
        means = np.zeros((len(mixed), len(self.training.coef)))
        scratch = ExchangeMemory.of(len(mixed))
        add_kernel_sums(self.training, self.profile, mixed_rows, self.sizes, scratch, means)
        return means


def _scales(law: KernelLaw) -> Any:
    """Return the divisors of columns: length scales, or one if a linear map contains them."""
    return 1.0 if law.found.matrix is not None else as_array(law.found.kernel.length_scale)


def _map(law: KernelLaw) -> Array:
    """Return the linear map (d', d') of columns to units of length scales."""
    return law.found.map_in_scales(len(law.columns))


def _images(law: KernelLaw, X: Array) -> Array:
    return np.ascontiguousarray(X @ _map(law))


def _part(Z: Array, columns: NDArray[np.intp], has_levels: bool) -> _Part:
    """Return some columns of training rows, grouped by levels if there are few levels."""
    first = np.empty(0, dtype=np.intp)
    if has_levels and len(columns) >= _FEWEST_COLUMNS:
        first, _ = _codes(Z[:, columns])
    is_few = len(first) <= min(_MOST_LEVELS, len(Z) // 2)
    return _Part(columns, Z[np.ix_(first[: None if is_few else 0], columns)])


def _codes(X: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each set of equal rows (l,), and the set (n,) to which each row belongs.

    Rows are compared by a random projection. If unequal rows have the same projection, every row
    is its own set.
    """
    # A matrix product may round equal rows differently; sums along rows do not.
    projection = np.sum(X * np.random.default_rng(_SEED).normal(size=X.shape[1]), axis=1)
    _, first, codes = np.unique(projection, return_index=True, return_inverse=True)
    if not np.array_equal(X[first[codes]], X):
        return np.arange(len(X)), np.arange(len(X))
    return first, codes


def _with_first_sources(mixed: MixedRows) -> MixedRows:
    """Return the same rows, with sources replaced by the first pool row of equal columns.

    Equal sources then have the same number, so that exchanges between them cost nothing.
    """
    sources = np.empty_like(mixed.sources)
    for group in range(sources.shape[1]):
        first, codes = _codes(mixed.pool[:, mixed.owners == group])
        sources[:, group] = first[codes][mixed.sources[:, group]]
    return replace(mixed, sources=sources)


def _starts(sizes: list[int]) -> Integers:
    """Return the starts of consecutive ranges of the given sizes, and the end of the last range."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)
