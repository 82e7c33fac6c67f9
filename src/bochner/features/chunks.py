"""Rows with targets and weights, which are read chunk by chunk."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from operator import add
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, Mask, as_array
from bochner._base.frames import stacked
from bochner._base.registry import register
from bochner.features.approximation import Region, check_rows


class Targets(ABC):
    """Base of maps from targets, such as labels, to the columns (n, t) of a regression."""

    __slots__ = ()

    @property
    @abstractmethod
    def n_targets(self) -> int:
        """Number of columns, ``t``."""

    @abstractmethod
    def __call__(self, y: NDArray[Any]) -> Array:
        """Return float64 columns (n, t) for the targets of n rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers(Targets):
    """Map from numeric targets to targets minus an origin (t,), which avoids cancellation."""

    origin: Array

    @property
    def n_targets(self) -> int:
        return len(self.origin)

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return ``y`` (n,) or (n, t) minus the origin."""
        columns: Array = y.reshape(len(y), -1).astype(np.float64, copy=False)
        return columns - self.origin if self.origin.any() else columns


@dataclass(frozen=True, slots=True, eq=False)
class Indicators(Targets):
    """Map from labels to a column per class, one for two classes: 1 in the class, -1 outside."""

    classes: NDArray[Any]

    @property
    def n_targets(self) -> int:
        return len(self._columns)

    @property
    def _columns(self) -> NDArray[Any]:
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    def __call__(self, y: NDArray[Any]) -> Array:
        """Return the columns (n, t) for labels ``y`` (n,); ``ValueError`` for an unknown label."""
        unknown = np.setdiff1d(y, self.classes)
        if unknown.size:
            raise ValueError(
                f"y contains labels that were not announced: {unknown[:5].tolist()}; give all of "
                f"them as classes in the first call of partial_fit. Known: {self.classes.tolist()}."
            )
        return np.where(y[:, None] == self._columns, 1.0, -1.0)


MEANINGS = ("precisions", "counts")
"""What a row's weight is: the precision of one observation, or a number of equal observations."""

_WHOLE = 1e-9
"""Distance from a whole number, as a share of a weight, up to which a weight counts as whole:
products and quotients of whole numbers are off by some spacings of float64, 1e-16."""


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The observations that rows stand for; leave-one-out predictions leave out one observation.

    ``counts`` (n,) are the numbers of equal, independent observations that each row represents, and
    ``weights`` (n,) the precisions of a single observation of each row.
    """

    weights: Array
    counts: Array

    @classmethod
    def of(cls, sample_weight: Array | None, n: int) -> "Units":
        """Return the units of ``n`` rows: weights are counts if all are whole, else precisions."""
        if sample_weight is None:
            return cls(np.ones(n), np.ones(n))
        if are_whole(sample_weight).all():
            return cls(np.ones(n), np.rint(sample_weight))
        return cls(sample_weight, (sample_weight > 0.0).astype(np.float64))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def totals(self) -> Array:
        """Total weights of the rows, of shape (n,)."""
        return as_array(self.weights * self.counts)

    @property
    def n_observations(self) -> float:
        """Total number of observations."""
        return float(self.counts.sum())

    @property
    def are_counts(self) -> bool:
        """Whether every observation has the weight one."""
        return bool((self.weights == 1.0).all())


def are_whole(weights: Array) -> Mask:
    """Return a mask (n,) of the weights that are whole numbers, up to rounding."""
    return np.asarray(np.abs(weights - np.rint(weights)) <= _WHOLE * weights)


Total = TypeVar("Total")
Given = ParamSpec("Given")

NO_ROWS = (
    "There are no chunks of rows: the iterable is empty, or all chunks are empty. An iterator can "
    "be read only once: pass a list, or an object whose __iter__ restarts."
)
"""The error for a stream without rows."""


@register
@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Rows ``X`` (n, d), float32 or float64, with their targets and weights.

    Rows are dense, CSR, or those of a table. Targets ``y`` (n,) or (n, t), as the user gave
    them, and weights (n,), ``None`` for ones, are arrays. ``repeats`` (n,), ``None`` for ones, are
    the numbers of equal rows that are merged into one row with their weight; rows that are being
    forgotten have fractional repeats. With ``are_precisions``, integer weights are also precisions.
    """

    X: Any
    y: NDArray[Any]
    weight: Array | None = None
    repeats: Array | None = None
    are_precisions: bool = False

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> "Chunk":
        """Return the chunk of the rows selected by a slice, mask or indices."""
        weight = None if self.weight is None else self.weight[rows]
        repeats = None if self.repeats is None else self.repeats[rows]
        X = self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]
        return Chunk(X, self.y[rows], weight, repeats, self.are_precisions)

    def __add__(self, other: "Chunk") -> "Chunk":
        """Concatenate the rows of both chunks."""
        weight = _joined(self.weight, other.weight, len(self), len(other))
        repeats = _joined(self.repeats, other.repeats, len(self), len(other))
        targets = np.concatenate((self.y, other.y))
        are_precisions = self.are_precisions or other.are_precisions
        return Chunk(stacked(self.X, other.X), targets, weight, repeats, are_precisions)

    def aged(self, forgetting: float) -> "Chunk":
        """Return the rows with weights times ``forgetting ** age``; the last row has age 0."""
        if forgetting == 1.0:
            return self
        factors = as_array(forgetting ** np.arange(len(self))[::-1])
        repeats = factors if self.repeats is None else factors * self.repeats
        return replace(self, weight=factors * self.weights, repeats=repeats)

    @property
    def weights(self) -> Array:
        """Weights (n,) of the rows; ones if no weights were passed."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def row_weights(self) -> Array:
        """Weights (n,) of the original rows, before equal rows were merged."""
        if self.repeats is None:
            return self.weights
        return as_array(self.weights / np.where(self.repeats > 0.0, self.repeats, 1.0))

    @property
    def units(self) -> Units:
        """The observations that the rows stand for, if this chunk holds all rows."""
        weights = self.row_weights
        units = Units.of(weights, len(self))
        if self.are_precisions:
            units = Units(weights, (weights > 0.0).astype(np.float64))
        if self.repeats is None:
            return units
        return Units(units.weights, self.repeats * units.counts)

    @property
    def n_fractional(self) -> int:
        """Number of rows whose weights are not integers."""
        weights = self.row_weights
        are_counts = are_whole(weights) & (not self.are_precisions)
        return int(np.count_nonzero(~are_counts & (weights > 0.0)))

    @property
    def weight_rms(self) -> float:
        """Root mean square of the weights; one if no weights were passed."""
        return 1.0 if self.weight is None else float(np.sqrt(np.mean(self.weight**2)))


def _joined(first: Array | None, second: Array | None, n: int, m: int) -> Array | None:
    """Concatenate two arrays of weights; ``None`` stands for ones."""
    if first is None and second is None:
        return None
    filled = (np.ones(n) if first is None else first, np.ones(m) if second is None else second)
    return np.concatenate(filled)


ChunkSum = Callable[Concatenate[Iterable[Chunk], Given], Total]


class RowChunks(ABC):
    """Base of data sources: rows with targets, read chunk by chunk."""

    __slots__ = ()

    @property
    @abstractmethod
    def head(self) -> Chunk:
        """The rows used to choose a kernel: all rows in memory, or the first chunk of a stream."""

    @property
    def n_samples(self) -> int | None:
        """Number of rows; ``None`` if it is unknown before reading."""
        return None

    @property
    def is_repeatable(self) -> bool:
        """Whether the rows can be read more than once."""
        return True

    @abstractmethod
    def total(
        self, function: ChunkSum[Given, Total], *args: Given.args, **kwargs: Given.kwargs
    ) -> Total:
        """Return ``function(chunks, *args, **kwargs)`` for the iterator of all chunks."""


@dataclass(frozen=True, slots=True, eq=False)
class ArrayChunks(RowChunks):
    """Rows of an array in memory or memory-mapped, as one chunk."""

    rows: Chunk

    @property
    def head(self) -> Chunk:
        return self.rows

    @property
    def n_samples(self) -> int:
        return len(self.rows)

    def total(
        self, function: ChunkSum[Given, Total], *args: Given.args, **kwargs: Given.kwargs
    ) -> Total:
        return function([self.rows], *args, **kwargs)


class StreamChunks(RowChunks):
    """Rows of an iterable; ``check`` turns each item into a chunk, or ``None`` if it is empty."""

    def __init__(self, stream: Iterable[object], check: Callable[[Any], Chunk | None]) -> None:
        self._stream = stream
        self._check = check
        self._first: tuple[Chunk, Iterator[Chunk]] | None = None

    @property
    def head(self) -> Chunk:
        """The first nonempty chunk; ``ValueError`` if the stream has no more rows."""
        if self._first is None:
            checked = map(self._check, self._stream)
            chunks = (chunk for chunk in checked if chunk is not None)
            first = next(chunks, None)
            if first is None:
                raise ValueError(NO_ROWS)
            self._first = first, chunks
        return self._first[0]

    @property
    def is_repeatable(self) -> bool:
        return not isinstance(self._stream, Iterator)

    def total(
        self, function: ChunkSum[Given, Total], *args: Given.args, **kwargs: Given.kwargs
    ) -> Total:
        first = self.head
        assert self._first is not None
        later_chunks = self._first[1]
        self._first = None
        return function(chain([first], later_chunks), *args, **kwargs)


@dataclass(frozen=True, slots=True, eq=False)
class ValidatedChunks(RowChunks):
    """Rows that are checked, when read, against a kernel's domain and a design's region."""

    rows: RowChunks
    kernel: Any
    region: Region | None

    @property
    def head(self) -> Chunk:
        return self.rows.head

    @property
    def is_repeatable(self) -> bool:
        return self.rows.is_repeatable

    def total(
        self, function: ChunkSum[Given, Total], *args: Given.args, **kwargs: Given.kwargs
    ) -> Total:
        # Delegates to `total` of the rows, so that a cluster checks chunks on its workers.
        check = partial(check_rows, self.kernel, self.region)
        return self.rows.total(_validated, check, function, args, kwargs)


def _validated(
    chunks: Iterable[Chunk], check: Any, function: Callable[..., Total], args: Any, kwargs: Any
) -> Total:
    def passed() -> Iterator[Chunk]:
        for chunk in chunks:
            check(chunk.X)
            yield chunk

    return function(passed(), *args, **kwargs)


@register(shapes={"keys": "s"}, allow_nan=True)
@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    r"""Rows sampled by weight without replacement; samples of disjoint rows can be added.

    Every row of weight :math:`w > 0` has a key, an independent exponential variable of rate
    ``w``, and the ``size`` rows with the least ``keys`` (s,) are kept (bottom-k sampling: Cohen and
    Kaplan, "Summarizing data using bottom-k sketches", 2007). Rows of weight zero are never drawn,
    and equal weights give a uniform sample. ``limit`` is the least key of the rows that are not in
    the sample, infinite if all are; ``n_samples`` and ``square`` are the number and the sum of
    squared weights of all rows, of which ``n_fractional`` have weights that are not integers, and
    ``n_present`` positive weights.
    """

    size: int
    keys: Array
    rows: Chunk
    limit: float
    n_samples: int
    square: float
    n_fractional: int = 0
    n_present: int = 0

    @property
    def unit_weights(self) -> Array:
        """Weights (s,) of one observation of each sampled row; see :class:`Units`."""
        if self.n_fractional:
            return self.rows.weights
        repeats = self.rows.repeats
        return np.ones(len(self.rows)) if repeats is None else repeats

    @property
    def shares(self) -> Array:
        r"""Inverse-probability weights (s,) of the sampled rows, to estimate sums over all rows.

        The weight over the probability :math:`1 - e^{-w \tau}` that the row is kept, where
        :math:`\tau` is ``limit``: sums over the sample with these weights are unbiased.
        """
        weights = self.rows.weights
        return as_array(weights / -np.expm1(-weights * self.limit))

    @property
    def weight_rms(self) -> float:
        """Root mean square of the weights of all rows."""
        return float(np.sqrt(self.square / self.n_samples))

    def weighted(self, factor: float) -> "RowSample":
        """Return the same sample with all weights multiplied by ``factor``."""
        with np.errstate(over="ignore", divide="ignore"):
            keys, limit = self.keys / factor, float(np.float64(self.limit) / factor)
        weights = factor * self.rows.weights
        repeats = np.full(len(keys), factor)
        if self.rows.repeats is not None:
            repeats *= self.rows.repeats
        places = np.flatnonzero((weights > 0.0) & np.isfinite(keys))
        rows = Chunk(self.rows.X, self.rows.y, weights, repeats)[places]
        return replace(
            self, keys=keys[places], rows=rows, limit=limit, square=factor**2 * self.square
        )

    def __add__(self, other: "RowSample") -> "RowSample":
        keys = np.concatenate((self.keys, other.keys))
        places, limit = _least(keys, self.size)
        return RowSample(
            self.size,
            keys[places],
            (self.rows + other.rows)[places],
            min(self.limit, other.limit, limit),
            self.n_samples + other.n_samples,
            self.square + other.square,
            self.n_fractional + other.n_fractional,
            self.n_present + other.n_present,
        )


def sample_rows(chunks: Iterable[Chunk], size: int, rng: np.random.Generator) -> RowSample:
    """Sample at most ``size`` rows of all chunks by weight, without replacement."""
    return reduce(add, (_sample(chunk, size, rng) for chunk in chunks))


def _sample(chunk: Chunk, size: int, rng: np.random.Generator) -> RowSample:
    weights = chunk.weights
    drawable = np.flatnonzero(weights > 0.0)
    keys = -np.log1p(-rng.random(len(chunk)))[drawable] / weights[drawable]
    places, limit = _least(keys, size)
    square = float(weights @ weights)
    n_fractional = chunk.n_fractional
    rows = chunk[drawable[places]]
    n_present = len(drawable)
    return RowSample(size, keys[places], rows, limit, len(chunk), square, n_fractional, n_present)


def _least(keys: Array, size: int) -> tuple[NDArray[np.intp], float]:
    """Return the sorted indices of the ``size`` least keys, and the least remaining key."""
    if len(keys) <= size:
        return np.arange(len(keys)), np.inf
    order = np.argpartition(keys, size)
    return np.sort(order[:size]), float(keys[order[size]])
