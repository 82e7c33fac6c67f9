"""Partitions in the object store of Ray: ``pip install 'bochner[ray]'``."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import ray

__all__ = ["RayExecutor"]

FAN_IN = 4
"""Number of values that one task adds: it holds as many in memory."""


class RayExecutor:
    """Ray, for :class:`bochner.engines.PartitionedRows` in its object store.

    Parts are a list of object references: of tuples ``(X, y)`` or ``(X, y, sample_weight)``, which
    tasks return or ``ray.put`` stores, or of data frames, such as ``dataset.to_pandas_refs()`` of a
    ``ray.data.Dataset``. Ray runs a task again if its worker is lost, up to ``max_retries`` times.

    Parameters
    ----------
    max_retries : int, default=3
        Number of times that a task is run again, -1 for any number.
    num_cpus : float, default=1
        Processors that a task occupies; its linear algebra has one thread.

    Examples
    --------
    With a running Ray, ``ray.init()``::

        rows = PartitionedRows(RayExecutor(), [read.remote(path) for path in paths])
        model = KreinRidge().fit(rows)
    """

    def __init__(self, *, max_retries: int = 3, num_cpus: float = 1) -> None:
        options = {"max_retries": max_retries, "num_cpus": num_cpus}
        self._apply = ray.remote(**options)(_apply)
        self._add = ray.remote(**options)(_add)

    def map(self, function: Callable[[int, Any], Any], parts: Sequence[object]) -> list[Any]:
        """Return references to the values of the function, which Ray computes at once."""
        sent = ray.put(function)
        return [self._apply.remote(sent, index, part) for index, part in enumerate(parts)]

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Sequence[object]) -> Any:
        """Return the sum of values; each task adds a few neighbours once they are computed."""
        if not handles:
            return None
        while len(handles) > 1:
            handles = [
                self._add.remote(plus, *handles[first : first + FAN_IN])
                for first in range(0, len(handles), FAN_IN)
            ]
        return ray.get(handles[0])


def _apply(function: Callable[[int, Any], Any], index: int, part: object) -> Any:
    return function(index, part)


def _add(plus: Callable[[Any, Any], Any], *values: object) -> Any:
    return reduce(plus, values)
