"""Rows in the partitions of any engine, as users pass them to ``fit``."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, NoReturn

from bochner.distributed.executor import Executor


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedRows:
    """Training rows in the partitions of an engine, for ``fit`` of the ridge models.

    Workers read the partitions several times, and return sums over their rows.

    Parameters
    ----------
    executor : Executor
        The engine, such as :class:`bochner.distributed.ray.RayExecutor`.
    parts : object
        The partitions, in the form that the executor takes. Each is a tuple ``(X, y)`` or
        ``(X, y, sample_weight)`` of NumPy arrays or data frames ``X``; or, with ``target``, a
        pandas data frame.
    target : str or list of str, default=None
        Name of the column of targets in data frames, or names of several.
    sample_weight : str, default=None
        Name of the column of weights in data frames. All columns but these are inputs.

    Raises
    ------
    TypeError
        If the executor lacks ``map`` or ``tree_reduce``.
    ValueError
        If there is ``sample_weight`` without ``target``.
    """

    executor: Executor
    parts: Any
    _: KW_ONLY
    target: str | list[str] | None = None
    sample_weight: str | None = None

    def __post_init__(self) -> None:
        for name in ("map", "tree_reduce"):
            if isinstance(self.executor, type) or not callable(getattr(self.executor, name, None)):
                raise TypeError(
                    f"executor must be an object with the methods map and tree_reduce, got "
                    f"{self.executor!r}; pass RayExecutor(), for instance."
                )
        if self.sample_weight is not None and self.target is None:
            raise ValueError(
                "sample_weight is the name of a column of data frames, which also need target. "
                "Weights of arrays are in the partitions: (X, y, sample_weight)."
            )

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        # NumPy calls this wherever an array is expected.
        raise TypeError(
            "PartitionedRows can only be passed to fit of KreinRidge and KreinRidgeClassifier. "
            "Elsewhere an array is expected; to predict, call the model's predict on each "
            "partition, on the workers."
        )
