"""Rows in the partitions of an engine: Dask, Ray, Spark, or any other that maps and reduces.

Estimators take Dask arrays and data frames in ``fit``; ridge models also take
:class:`PartitionedRows`: see :doc:`/guide/dask`. :func:`plan` predicts what a fit takes, on one
machine or on a cluster.
"""

from bochner.distributed.cost import Machine
from bochner.distributed.executor import Executor
from bochner.distributed.partitioned_rows import PartitionedRows
from bochner.distributed.planning import plan
from bochner.distributed.ridge_cost import FitCost

__all__ = ["Executor", "FitCost", "Machine", "PartitionedRows", "plan"]
