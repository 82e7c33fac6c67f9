"""What may come of a call with hostile arguments: a finite answer or a refusal in plain words."""

import signal
import warnings
from contextlib import contextmanager

import numpy as np
import scipy.sparse

BOUND = 60.0
"""Seconds that a case may take: most take less than a tenth, the first ones compile loops."""


class TooLong(BaseException):
    """A case took longer than its bound."""


@contextmanager
def bounded(seconds=BOUND):
    """Raise `TooLong` in the main thread after ``seconds``, and make NumPy's warnings errors."""

    def stop(*_):
        raise TooLong(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            warnings.filterwarnings("ignore", "alpha = ", RuntimeWarning)  # Ours, of a pole
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def finite(value):
    """Return whether numbers are finite, of an array of any kind; labels and text are."""
    if scipy.sparse.issparse(value):
        value = value.data
    value = np.asarray(value)
    return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
