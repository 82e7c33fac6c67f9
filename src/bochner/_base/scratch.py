"""Scratch memory that successive blocks reuse."""

from threading import local
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Scratch(local):
    """Memory for blocks, each thread's own.

    The operating system maps new memory page by page, which may take longer than the computation.
    """

    def __init__(self) -> None:
        self._memory = np.empty(0, dtype=np.byte)

    def block(self, n: int, p: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return an array (n, p) in C order, which overwrites the thread's earlier blocks."""
        n_bytes = n * p * np.dtype(dtype).itemsize
        if len(self._memory) < n_bytes:
            self._memory = np.empty(n_bytes, dtype=np.byte)
        return np.asarray(self._memory[:n_bytes].view(dtype).reshape(n, p))
