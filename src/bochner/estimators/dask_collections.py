"""Dask collections, told from other data without importing Dask."""

from typing import Any

from numpy.typing import NDArray


def lazily(model: Any, method: str, X: Any, columns: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return a Dask array of what a method of a model makes of the rows of a Dask collection.

    See :func:`bochner.distributed.predicting.lazily`.
    """
    from bochner.distributed import predicting

    lazy: NDArray[Any] = predicting.lazily(model, method, X, columns, dtype)
    return lazy


def is_dask(X: Any) -> bool:
    """Return whether ``X`` is a Dask array or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def refuse_std(return_std: bool) -> None:
    """Refuse standard deviations beside lazy predictions."""
    if return_std:
        raise ValueError(
            "Predictions for Dask collections have no standard deviations; call predict on rows in "
            "memory, partition by partition."
        )
