"""Rows in the partitions of Dask or another engine: see :doc:`/guide/dask`."""

from bochner.engines.partition_rows import Executor, PartitionedRows

__all__ = ["Executor", "PartitionedRows"]
