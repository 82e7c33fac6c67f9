"""Rows in the partitions of an engine: Dask, Ray, Spark, or any other that maps and reduces.

Estimators take Dask arrays and data frames in ``fit``; ridge models also take
:class:`PartitionedRows`: see :doc:`/guide/dask`.
"""

from bochner.engines.executor import Executor
from bochner.engines.partitioned_rows import PartitionedRows

__all__ = ["Executor", "PartitionedRows"]
