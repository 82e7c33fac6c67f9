"""Compilation of loops in a second process, while the first command of an installation fits.

Numba compiles one function at a time and holds the interpreter's lock, so that threads would not
help. The loops of the analysis are needed last: a process compiles and stores them in the meantime.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import cpu_count

from bochner.kernels import Exponential
from bochner.learning.tables.ensemble import SumOfLaws
from bochner.learning.tables.exchange_sums import add_kernel_sums
from bochner.learning.tables.exchanges import MixedRows, at_mixed_rows
from bochner.learning.tables.kernel_laws import KernelLaw
from bochner.learning.tables.laws import Laws
from bochner.learning.tables.leave_one_out import LearnedKernel


def compile_analysis() -> None:
    """Compile and store the loops of importance and effects, by means of a tiny model."""
    rows = np.arange(6.0)[:, None]
    learned = LearnedKernel(Exponential((1.0,)), 1.0)
    law = KernelLaw("law", learned, np.arange(1), np.ones((6, 1)), np.empty((0, 0)), np.ones(1))
    head = SumOfLaws(Laws(rows, [law]), np.ones((1, 1)), np.ones((2, 1)), np.ones(1), np.ones(1))
    mixed = MixedRows(rows, np.arange(6)[:, None], np.zeros(1, dtype=np.intp))
    at_mixed_rows(head, mixed.owners).laws.means(cast(Any, mixed))


def is_compiled() -> bool:
    """Return whether the loops of the analysis are stored, for this or for another processor."""
    folder = Path(add_kernel_sums.stats.cache_path)
    return any(folder.glob("exchange_sums.add_kernel_sums-*.nbi"))


@contextmanager
def compiling_meanwhile(*, is_needed: bool) -> Iterator[None]:
    """Compile the loops of the analysis in a second process inside, if that may save time.

    The process ends by itself within seconds, or with the context. If it fails or is late, the
    loops are compiled where they are needed.
    """
    process = None
    if is_needed and cpu_count() > 1 and sys.executable and not is_compiled():
        with suppress(OSError):  # No memory for a second process, for example
            process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    compile_analysis()
