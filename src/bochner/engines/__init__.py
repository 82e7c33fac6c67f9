"""Rows in the partitions of Dask, Ray, Spark, or another engine: see :doc:`/guide/dask`."""

from bochner.engines.executor import Executor, RayExecutor, SparkExecutor
from bochner.engines.partition_rows import PartitionedRows

__all__ = ["Executor", "PartitionedRows", "RayExecutor", "SparkExecutor"]
