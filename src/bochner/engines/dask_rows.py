"""Rows of Dask collections, read for a fit."""

from typing import Any

from bochner.engines.collected import Collected
from bochner.engines.partition_rows import Check, TupleParts
from bochner.engines.partitions import is_frame, partitions_of
from bochner.engines.passes import DaskExecutor


def collect(X: Any, y: Any, sample_weight: Any, *, numeric: bool) -> Collected:
    """Return the rows of Dask collections; every pass reads and checks them."""
    parts = partitions_of(X, y, sample_weight)
    meta = X._meta if is_frame(X) else None
    return Collected.of(DaskExecutor(), parts, Check(TupleParts(), numeric), meta)
