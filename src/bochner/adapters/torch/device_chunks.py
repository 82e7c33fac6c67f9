"""Chunks of rows on their way to a device."""

# Annotations stay text: the documentation is built with a stand-in for torch.
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

Sent = tuple[Any, Any]
"""A chunk whose rows are copied to the device, and the event at the end of the copy, or None."""


@dataclass(frozen=True)
class DeviceChunks:
    """Chunks of rows on a device; the next chunk is copied during computation on the current one.

    ``fit`` of :class:`bochner.KreinRidge` and :class:`bochner.KreinRidgeClassifier` takes them in
    place of the chunks, so that rows that do not fit on a GPU, or into memory, are learned from on
    the GPU. On CUDA rows go through pinned memory, and the copy of a chunk runs next to the
    arithmetic of the one before; two chunks are on the device at a time.

    Parameters
    ----------
    chunks : iterable of (X, y) or (X, y, sample_weight)
        Such as a list, :class:`bochner.datasets.ParquetChunks`, or a generator; it is read again
        for each pass if possible. Rows ``X`` (n, d) are NumPy arrays or memory maps. Targets and
        weights stay on the host.
    device : torch.device or str
    dtype : torch.dtype, default=None
        Type of the rows on the device; ``None`` keeps float32 and float64.

    Raises
    ------
    TypeError
        If rows are not numeric arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import sklearn
    >>> from bochner import KreinRidge
    >>> from bochner.adapters.torch import DeviceChunks
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> chunks = [(X[:500], X[:500, 0]), (X[500:], X[500:, 0])]
    >>> with sklearn.config_context(array_api_dispatch=True):  # doctest: +SKIP
    ...     model = KreinRidge(random_state=0).fit(DeviceChunks(chunks, "cuda"))
    """

    chunks: Iterable[tuple[Any, ...]]
    device: torch.device | str
    dtype: torch.dtype | None = None

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        device = torch.device(self.device)
        stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        ahead: Sent | None = None
        for chunk in self.chunks:
            sent = self._sent(chunk, device, stream)
            if ahead is not None:
                yield _arrived(ahead, device)
            ahead = sent
        if ahead is not None:
            yield _arrived(ahead, device)

    def _sent(
        self, chunk: tuple[object, ...], device: torch.device, stream: torch.cuda.Stream | None
    ) -> Sent:
        """Start the copy of a chunk to the device, and return the chunk."""
        rows = np.ascontiguousarray(chunk[0])
        if rows.dtype.kind not in "fiu":
            raise TypeError(
                f"Rows of chunks must be arrays of numbers, got {rows.dtype}; encode them first."
            )
        if rows.dtype.kind != "f":
            rows = rows.astype(np.float64)
        if not rows.flags.writeable:  # torch would warn of a map that cannot be written to
            rows = rows.copy()
        host = torch.from_numpy(rows)
        if stream is None:
            return (host.to(device, self.dtype), *chunk[1:]), None
        with torch.cuda.stream(stream):
            moved = host.pin_memory().to(device, self.dtype, non_blocking=True)
            event = torch.cuda.Event()
            event.record(stream)
        return (moved, *chunk[1:]), event


def _arrived(sent: Sent, device: torch.device) -> tuple[object, ...]:
    """Return a chunk that the device's work may use: it waits for the copy, the host does not."""
    chunk, event = sent
    if event is not None:
        current = torch.cuda.current_stream(device)
        current.wait_event(event)
        # Its memory is not given to other copies before this work is done.
        chunk[0].record_stream(current)
    arrived: tuple[Any, ...] = chunk
    return arrived
