"""One pass over partitions: a function of each on its worker, and a sum in a fixed order."""

import pickle
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any
from uuid import uuid4

from dask.base import compute
from dask.delayed import Delayed, delayed
from dask.sizeof import sizeof

from bochner._base.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.features.stats import FeatureSums

_FAN_IN = 4
"""Number of terms that one task adds. With two there are three times the tasks; with eight a
worker holds twice the sums."""


class DaskExecutor:
    """Executor for ``Delayed`` parts, which Dask recomputes in every pass unless persisted."""

    def map(self, function: Callable[[int, Any], Any], parts: Sequence[Delayed]) -> list[Delayed]:
        """Return the values of the function at every part, not yet computed."""
        return mapped(function, range(len(parts)), parts)

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Sequence[Delayed]) -> Any:
        """Compute the values and return their sum."""
        return summed(handles, plus) if handles else None


def mapped(
    function: Callable[..., object], parts: Sequence[object], *columns: Sequence[object]
) -> list[Delayed]:
    """Return ``function(part, *shares)`` of every part, not yet computed.

    The graph holds the function as bytes, which later changes of its arrays do not reach.
    """
    sent = delayed(pickle.dumps(function, protocol=5), name=f"sent-{uuid4().hex}")
    return [
        delayed(applied, pure=False)(sent, *shares) for shares in zip(parts, *columns, strict=True)
    ]


def summed(terms: Sequence[Delayed], plus: Callable[[Any, Any], Any] = add) -> Any:
    """Return the sum of the terms; workers add a few at a time, always in the same order."""
    return compute(lazy_sum(terms, plus))[0]


def lazy_sum(terms: Sequence[Delayed], plus: Callable[[Any, Any], Any] = add) -> Delayed:
    """Return the sum of the terms, at least one, not yet computed."""
    while len(terms) > 1:
        terms = [
            delayed(_added, pure=False)(plus, *terms[first : first + _FAN_IN])
            for first in range(0, len(terms), _FAN_IN)
        ]
    return terms[0]


def applied(sent: bytes, part: object, *shares: object) -> Any:
    """Call a function that was sent as bytes."""
    with single_threaded_blas():
        return pickle.loads(sent)(part, *shares)


def _added(plus: Callable[[Any, Any], Any], *terms: object) -> Any:
    return reduce(plus, terms)


@sizeof.register(Chunk)  # type: ignore[untyped-decorator]
def _bytes_of_rows(chunk: Chunk) -> int:
    """Return the size from which Dask estimates the cost of moving a chunk."""
    return sum(0 if part is None else part.nbytes for part in (chunk.X, chunk.y, chunk.weight))


@sizeof.register(FeatureSums)  # type: ignore[untyped-decorator]
def _bytes_of_sums(sums: FeatureSums) -> int:
    return sums.gram.nbytes + sums.cross.nbytes + sums.features.nbytes
