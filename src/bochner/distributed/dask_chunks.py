"""The rows of linear heads, on Dask workers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bochner.distributed.collected import Check, Collected
from bochner.distributed.passes import mapped, summed
from bochner.features.chunks import Chunk, RowChunks

Sum = TypeVar("Sum")
Given = ParamSpec("Given")


@dataclass(frozen=True, slots=True, eq=False)
class DaskChunks(RowChunks):
    """Rows of Dask collections: a chunk in every partition, read again in every pass.

    ``first`` is the sample of the rows, as an estimator has checked it.
    """

    collected: Collected
    first: Chunk

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any,
        check: Callable[[Any, Any, Any, bool], Chunk],
        *,
        numeric: bool,
    ) -> "DaskChunks":
        """Return the rows of Dask collections, after a check of a sample in memory.

        ``numeric`` is whether targets are numbers, not labels. See :meth:`Partitions.of`.
        """
        rules = Check(numeric=numeric, single=not numeric, double=False, positive=False)
        found = Collected.of(X, y, sample_weight, rules, keep=False)
        sample = found.sample
        return cls(found, check(found.frame(), sample.y, sample.weight, True))

    @property
    def head(self) -> Chunk:
        return self.first

    @property
    def n_samples(self) -> None:
        return None

    def labels(self) -> NDArray[Any]:
        """Return the distinct targets, in ascending order."""
        return self.collected.labels()

    def total(
        self,
        function: Callable[Concatenate[Iterable[Chunk], Given], Sum],
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Sum:
        """Return the sum; for a generator among ``args`` every chunk gets a child of its own."""
        parts = self.collected.parts
        rngs = [arg.spawn(len(parts)) for arg in args if isinstance(arg, np.random.Generator)]
        rest = tuple(None if isinstance(arg, np.random.Generator) else arg for arg in args)
        terms = mapped(partial(_called, function, rest, kwargs), parts, *rngs)
        total: Sum | None = summed(terms, _plus)
        if total is None:
            raise ValueError("There are no rows to sum over.")
        return total


def _called(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    chunk: Chunk,
    *rngs: np.random.Generator,
) -> Any:
    """Call a function of chunks with generators in place of ``None``, if the chunk has weight."""
    if not chunk.weights.any():
        return None
    left = iter(rngs)
    given = [next(left, None) if arg is None else arg for arg in args]
    return function([chunk], *given, **kwargs)


def _plus(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return second if first is None else first
    return first + second
