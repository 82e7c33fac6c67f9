"""The two operations that an engine needs, and the executors of Ray and Spark."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from operator import itemgetter
from typing import Any, Protocol

_FAN_IN = 4  # Number of values that one task adds, all of which it holds in memory
_SPARK_FAN_IN = 8
"""Number of values that one Spark task adds; each level is a shuffle of tenths of a second."""


class Executor(Protocol):
    """An engine that applies functions to partitions on its workers, and adds up the results.

    Any class with these two methods is an executor. Functions can be pickled, have no side effects,
    and may be called again for a partition whose worker was lost.

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
        order of the parts, as in ``plus(plus(a, b), plus(c, d))``. Results repeat to the last bit
        if the grouping of the values does not depend on which values are ready first.
        """


class RayExecutor:
    """Executor of Ray, for rows in its object store; needs ``pip install 'bochner[ray]'``.

    Parts are a list of object references: of tuples ``(X, y)`` or ``(X, y, sample_weight)``, which
    tasks return or ``ray.put`` stores, or of data frames, such as ``dataset.to_pandas_refs()`` of a
    ``ray.data.Dataset``.

    Parameters
    ----------
    max_retries : int, default=3
        Number of times that a task of a lost worker is run again, -1 for any number.
    num_cpus : float, default=1
        Processors that a task occupies; its linear algebra has one thread.

    Examples
    --------
    With a running Ray, ``ray.init()``::

        rows = PartitionedRows(RayExecutor(), [read.remote(path) for path in paths])
        model = KreinRidge().fit(rows)
    """

    def __init__(self, *, max_retries: int = 3, num_cpus: float = 1) -> None:
        import ray

        self._ray = ray
        options = {"max_retries": max_retries, "num_cpus": num_cpus}
        self._apply = ray.remote(**options)(_apply)
        self._add = ray.remote(**options)(added)

    def map(self, function: Callable[[int, Any], Any], parts: Sequence[object]) -> list[Any]:
        """Return references to ``function(index, part)`` of each part, and start to compute it."""
        sent = self._ray.put(function)
        return [self._apply.remote(sent, index, part) for index, part in enumerate(parts)]

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Sequence[object]) -> Any:
        """Return the sum of values; each task adds a few neighbours once they are computed."""
        add = partial(self._add.remote, plus)
        return self._ray.get(added_by_tree(add, handles)) if handles else None


def added_by_tree(add: Callable[..., Any], handles: Sequence[Any]) -> Any:
    """Return the handle of the sum of values, of which each task adds a few neighbours."""
    while len(handles) > 1:
        starts = range(0, len(handles), _FAN_IN)
        handles = [add(*handles[start : start + _FAN_IN]) for start in starts]
    return handles[0]


def _apply(function: Callable[[int, Any], Any], index: int, part: object) -> Any:
    return function(index, part)


def added(plus: Callable[[Any, Any], Any], *values: object) -> Any:
    """Return the sum of some values by ``plus``."""
    return reduce(plus, values)


class SparkExecutor:
    """Executor of Spark, for rows in an RDD or data frame; needs ``pip install 'bochner[spark]'``.

    Parts are an RDD of tuples ``(X, y)`` or ``(X, y, sample_weight)`` of arrays, any number in a
    partition; or a Spark data frame of numeric columns, with the name of its ``target``. Spark
    computes them again in every pass, unless ``persist()`` keeps them, and runs a failed task
    again, ``spark.task.maxFailures`` times in all. RDDs do not exist in Spark Connect.

    Examples
    --------
    With a session ``spark``::

        table = spark.read.parquet("folder/")
        rows = PartitionedRows(SparkExecutor(), table, target="y")
        model = KreinRidge().fit(rows)
    """

    def map(self, function: Callable[[int, Any], Any], parts: Any) -> Any:
        """Return an RDD of ``function(index, part)``, one per partition, not computed yet."""
        pieces = parts if hasattr(parts, "mapPartitionsWithIndex") else _pieces(parts)
        return pieces.mapPartitionsWithIndex(partial(_applied, function))

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Any) -> Any:
        """Compute the values and return their sum; tasks add a few neighbours each."""
        # Spark's treeReduce adds values in the order in which a shuffle delivers them.
        count = handles.getNumPartitions()
        if not count:
            return None
        while count > 1:
            n_groups = -(-count // _SPARK_FAN_IN)
            keyed = handles.mapPartitionsWithIndex(_keyed)
            handles = keyed.partitionBy(n_groups, int).mapPartitions(partial(_added, plus))
            count = n_groups
        return handles.collect()[0]


def _applied(
    function: Callable[[int, Any], Any], index: int, pieces: Iterable[object]
) -> Iterator[Any]:
    yield function(index, list(pieces))


def _keyed(index: int, values: Iterable[object]) -> Iterator[tuple[int, tuple[int, Any]]]:
    for value in values:
        yield index // _SPARK_FAN_IN, (index, value)


def _added(
    plus: Callable[[Any, Any], Any], keyed: Iterable[tuple[int, tuple[int, Any]]]
) -> Iterator[Any]:
    terms = sorted((term for _, term in keyed), key=itemgetter(0))
    yield reduce(plus, (value for _, value in terms))


def _pieces(table: Any) -> Any:
    """Return the rows of a Spark data frame as an RDD of pandas data frames of some rows each."""
    return table.mapInArrow(_pickled, "rows binary").rdd.map(_unpickled)


def _pickled(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            content = pickle.dumps(batch.to_pandas(), protocol=5)
            yield pa.RecordBatch.from_arrays([pa.array([content], pa.binary())], ["rows"])


def _unpickled(row: Any) -> Any:
    return pickle.loads(row[0])
