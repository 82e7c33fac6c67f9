"""The two operations that an engine needs for fitting models to its rows."""

from collections.abc import Callable
from typing import Any, Protocol


class Executor(Protocol):
    """An engine that applies functions to partitions on its workers, and adds up the results.

    :class:`bochner.engines.ray.RayExecutor` and
    :class:`bochner.engines.spark.SparkExecutor` are executors; any class with these two methods
    is also an executor. Functions can be pickled, have no side effects, and may be called again for
    a partition whose worker was lost.

    Examples
    --------
    An executor in this process:

    >>> from functools import reduce
    >>> import numpy as np
    >>> from bochner import KreinRidge
    >>> from bochner.engines import PartitionedRows
    >>> class Here:
    ...     def map(self, function, parts):
    ...         return [function(index, part) for index, part in enumerate(parts)]
    ...
    ...     def tree_reduce(self, plus, handles):
    ...         return reduce(plus, handles) if handles else None
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> parts = [(X[:50], X[:50, 0]), (X[50:], X[50:, 0])]
    >>> model = KreinRidge(n_components=64, random_state=0).fit(PartitionedRows(Here(), parts))
    >>> model.sums_.n_samples
    100
    """

    def map(self, function: Callable[[int, Any], Any], parts: Any) -> Any:
        """Return handles of ``function(index, part)`` for every part; the values stay on workers.

        Indices count the parts from zero in a fixed order. A part is described in
        :class:`PartitionedRows`, or is a list of such pieces, empty if it has no rows.
        """

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Any) -> Any:
        """Return the sum of the values of :meth:`map`, or ``None`` without values.

        ``plus`` is associative up to rounding, and not commutative: neighbours are added in the
        order of the parts, as in ``plus(plus(a, b), plus(c, d))``. If which values are added does
        not depend on which are ready first, results repeat to the last bit.
        """
