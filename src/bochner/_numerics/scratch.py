"""Memory that is used again for one block after the other."""

from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Scratch(local):
    """Memory for blocks, of each thread its own.

    What is new for every block is met page by page, which may take longer than to compute what is
    written there.
    """

    def __init__(self) -> None:
        self._memory = np.empty(0, dtype=np.byte)

    def block(self, n: int, p: int, dtype: Any = np.float64) -> NDArray[Any]:
        """Return an array of shape (n, p) in C order; what earlier blocks held is lost."""
        n_bytes = n * p * np.dtype(dtype).itemsize
        if len(self._memory) < n_bytes:
            self._memory = np.empty(n_bytes, dtype=np.byte)
        block: NDArray[Any] = self._memory[:n_bytes].view(dtype).reshape(n, p)
        return block
