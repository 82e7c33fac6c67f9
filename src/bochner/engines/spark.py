"""Partitions of Spark RDDs and data frames: ``pip install 'bochner[spark]'``."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from operator import itemgetter
from typing import Any

from pyspark import RDD

__all__ = ["SparkExecutor"]

FAN_IN = 8
"""Number of values that one task adds: it holds as many in memory. With fewer there are more
shuffles, each of which takes some tenths of a second."""


class SparkExecutor:
    """Spark, for :class:`bochner.engines.PartitionedRows` in an RDD or a data frame.

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

    def map(self, function: Callable[[int, Any], Any], parts: object) -> Any:
        """Return an RDD of the values of the function, one in every partition, not computed yet."""
        pieces = parts if isinstance(parts, RDD) else _pieces(parts)
        return pieces.mapPartitionsWithIndex(partial(_applied, function))

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Any) -> Any:
        """Compute the values and return their sum; tasks add a few neighbours each."""
        # Spark's treeReduce adds values in the order in which a shuffle delivers them.
        count = handles.getNumPartitions()
        if not count:
            return None
        while count > 1:
            n_groups = -(-count // FAN_IN)
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
        yield index // FAN_IN, (index, value)


def _added(
    plus: Callable[[Any, Any], Any], keyed: Iterable[tuple[int, tuple[int, Any]]]
) -> Iterator[Any]:
    terms = sorted((term for _, term in keyed), key=itemgetter(0))
    yield reduce(plus, (value for _, value in terms))


def _pieces(table: Any) -> RDD[Any]:
    """Return an RDD of pandas frames, of some rows each, in the partitions of a data frame."""
    pieces: RDD[Any] = table.mapInArrow(_pickled, "rows binary").rdd.map(_unpickled)
    return pieces


def _pickled(batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    for batch in batches:
        if batch.num_rows:
            content = pickle.dumps(batch.to_pandas(), protocol=5)
            yield pa.RecordBatch.from_arrays([pa.array([content], pa.binary())], ["rows"])


def _unpickled(row: Any) -> Any:
    return pickle.loads(row[0])
