"""Predictions at the rows of Dask collections, made where these are, when they are asked for."""

import pickle
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from bochner.distributed.partitions import blocks_of_rows
from bochner.distributed.passes import applied


def lazily(model: Any, method: str, X: Any, columns: tuple[int, ...], dtype: Any) -> Any:
    """Return a Dask array of what a method of the model makes of the rows.

    Parameters
    ----------
    model : estimator
        Fitted.
    method : str
        Its name.
    X : dask.array.Array or dask.dataframe.DataFrame
        The sizes of a frame's partitions are unknown, and so are those of the predictions.
    columns : tuple of int
        Shape of the prediction at one row.
    dtype : numpy.dtype
    """
    sent = delayed(pickle.dumps(getattr(model, method), protocol=5))
    blocks = blocks_of_rows(X)
    lengths = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(blocks)
    return da.concatenate(
        [
            da.from_delayed(delayed(applied)(sent, block), (length, *columns), dtype)
            for block, length in zip(blocks, lengths, strict=True)
        ]
    )
