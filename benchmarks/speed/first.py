"""The seconds of the first features of a process, right after installation and later."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory

from benchmarks.results import Row
from benchmarks.speed.part import DOUBLE, SINGLE, Place, by_method, speed_part

INSTALLED, LATER = "right after installation", "later"

_CALL = """
from time import perf_counter
import numpy as np
from bochner import FourierFeatures
X = np.ones(({n}, {d}), "{dtype}")
features = FourierFeatures("gaussian", {p}, length_scale=1.0, random_state=0).fit(X)
start = perf_counter()
features.transform(X)
print(perf_counter() - start)
"""


def first_metrics(
    method: str, n: int, d: int, p: int, dtype: str, seed: int
) -> Mapping[str, float]:
    """Return ``first_seconds`` of the first call of ``transform`` in a new process."""
    code = _CALL.format(n=n, d=d, p=p, dtype=dtype)
    with TemporaryDirectory() as folder:
        # An empty folder of compiled loops is what an installation begins with.
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        for _ in range(1 if method == INSTALLED else 2):
            ended = subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
    return {"first_seconds": float(ended.stdout)}


def _places(quick: bool) -> Sequence[Place]:
    n, d, p = (100, 3, 64) if quick else (1_000, 20, 1_024)
    dtypes = (DOUBLE,) if quick else (DOUBLE, SINGLE)
    return [
        Place(method, n, d, p, dtype, repetitions=1 if quick else 5)
        for dtype in dtypes
        for method in (INSTALLED, LATER)
    ]


def _page(rows: Sequence[Row]) -> Sequence[str]:
    return (
        "**The first call of a process**, which compiles the loops right after "
        "installation, and loads them later.",
        by_method(rows, "first_seconds"),
    )


FIRST = speed_part("first", _places, first_metrics, _page)
