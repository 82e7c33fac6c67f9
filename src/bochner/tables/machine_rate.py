"""Speed of a machine, by which fits within a time limit choose their sizes."""

from time import perf_counter

import numpy as np

from bochner._base.threads import single_threaded_blas

_MEASURED, _MEASUREMENTS = 600, 9
"""Number of rows of the matrix products that measure the speed, in some milliseconds each, and of
products: their median does not depend on a short pause of one of them."""


def measured_rate(n_threads: int) -> float:
    """Return the operations per second in products of matrices by some threads.

    One thread is measured: several wait for each other in so short a time if another program runs.
    """
    matrix = np.ones((_MEASURED, _MEASURED))
    seconds = []
    with single_threaded_blas():
        for _ in range(_MEASUREMENTS):
            began = perf_counter()
            matrix @ matrix
            seconds.append(perf_counter() - began)
    return float(n_threads * 2.0 * _MEASURED**3 / np.median(seconds))
