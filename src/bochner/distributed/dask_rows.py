"""Rows of Dask collections, read for a fit."""

from typing import Any

from bochner.distributed.collected import Collected
from bochner.distributed.partitions import is_frame, partitions_of
from bochner.distributed.passes import DaskExecutor
from bochner.distributed.reading import Check, TupleParts


def collect(X: Any, y: Any, sample_weight: Any, *, numeric: bool) -> Collected:
    """Return the rows of Dask collections; every pass reads and checks them."""
    parts = partitions_of(X, y, sample_weight)
    meta = X._meta if is_frame(X) else None
    return Collected.of(DaskExecutor(), parts, Check(TupleParts(), numeric), meta)
