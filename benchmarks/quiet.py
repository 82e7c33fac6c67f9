"""Warnings that a benchmark of many fits does not show."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning


@contextmanager
def quiet() -> Iterator[None]:
    """Hide the warnings of what is measured here: chains and fits that have not converged."""
    with warnings.catch_warnings():
        for category in (UserWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", category)
        yield
