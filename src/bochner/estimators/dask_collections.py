"""Dask collections, told from other data without importing Dask."""

from typing import Any

from numpy.typing import NDArray


def lazily(model: Any, method: str, X: Any, columns: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Call :func:`bochner.distributed.partitions.lazily`."""
    from bochner.distributed import partitions

    lazy: NDArray[Any] = partitions.lazily(model, method, X, columns, dtype)
    return lazy


def is_dask(X: Any) -> bool:
    """Return whether ``X`` is a Dask array or data frame."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def refuse_std(return_std: bool) -> None:
    """Raise ``ValueError`` for standard deviations of lazy predictions."""
    if return_std:
        raise ValueError(
            "Predictions for Dask collections have no standard deviations; call predict on rows in "
            "memory, partition by partition."
        )
