"""Rows in the partitions of an engine: Dask, Ray, Spark, or any other that maps and reduces.

Ridge regression and models of tables take Dask arrays and data frames in ``fit``, and
:class:`PartitionedRows`: see :doc:`/guide/dask`.
"""

from bochner.engines.executor import Executor, RayExecutor, SparkExecutor
from bochner.engines.partition_rows import PartitionedRows

__all__ = ["Executor", "PartitionedRows", "RayExecutor", "SparkExecutor"]
