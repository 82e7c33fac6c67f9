"""Rows in memory, and the same rows as Dask collections."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

N = 240
X = np.random.default_rng(0).normal(size=(N, 3))
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
Y = SIGNAL + 0.2 * np.random.default_rng(1).normal(size=N)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.5, 0.5])]
WEIGHT = np.random.default_rng(2).integers(0, 4, size=N).astype(float)
NEW = np.random.default_rng(3).normal(size=(15, 3))


def arrays(y, weight=None, rows=90):
    """Chunks of rows and of columns; targets and weights are cut otherwise."""
    return (
        da.from_array(X, chunks=(rows, 2)),
        da.from_array(y, chunks=-1 if y.ndim == 1 else (100, 1)),
        None if weight is None else da.from_array(weight, chunks=70),
    )


def frames(y, weight=None, n_partitions=3):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        y=y, weight=1.0 if weight is None else weight
    )
    made = dd.from_pandas(table, npartitions=n_partitions)
    return made[["a", "b", "c"]], made["y"], None if weight is None else made["weight"]


def relative_error(found, expected):
    return np.max(np.abs(found - expected)) / np.max(np.abs(expected))
