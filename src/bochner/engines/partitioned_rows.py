"""Rows in the partitions of any engine, as users pass them to ``fit``."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, NoReturn

from bochner.engines.executor import Executor
from bochner.engines.partition_rows import PieceSplit, refusal


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedRows:
    """Rows in the partitions of an engine, for ``fit`` of ridge models and of models of tables.

    Workers read the partitions several times, and return sums over their rows. :meth:`apply` calls
    a fitted model where the rows are.

    Raises ``TypeError`` if the executor lacks ``map`` or ``tree_reduce``, or ``parts`` can be read
    only once. Raises ``ValueError`` if there is ``sample_weight`` without ``target``.

    Parameters
    ----------
    executor : Executor
        The engine, such as :class:`RayExecutor`.
    parts : object
        The partitions, in the form that the executor takes. Each is a tuple ``(X, y)`` or
        ``(X, y, sample_weight)`` of NumPy arrays or data frames ``X``; or, with ``target``, a
        data frame of pandas or polars.
    target : str or list of str, default=None
        Name of the column of targets in data frames, or names of several.
    sample_weight : str, default=None
        Name of the column of weights in data frames. All columns but these are inputs.
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
        if isinstance(self.parts, Iterator):
            raise TypeError(
                f"parts is a {type(self.parts).__name__}, which can be read once, and workers read "
                f"the partitions several times: pass list(parts)."
            )
        if self.sample_weight is not None and self.target is None:
            raise ValueError(
                "sample_weight is the name of a column of data frames, which also need target. "
                "Weights of arrays are in the partitions: (X, y, sample_weight)."
            )

    def apply(self, method: Callable[..., object], **options: object) -> Any:
        """Return ``method(X, **options)`` at the inputs of every partition, left on the workers.

        Parameters
        ----------
        method : callable
            A method of a fitted model, such as ``model.predict``, or any function of inputs that
            can be pickled.
        **options : dict
            Its further arguments, such as ``return_std=True``.

        Returns
        -------
        handles : object
            What the executor's ``map`` returns: object references of Ray, an RDD of Spark. A
            partition without rows has the value ``None``.

        Notes
        -----
        Partitions to predict may lack targets: arrays or data frames ``X`` alone, whose columns
        ``target`` and ``sample_weight`` are dropped if they are there. Data that the method
        refuses raise its error on the worker, with the number of the partition.
        """
        applied = partial(_applied, partial(method, **options), self.split)
        return self.executor.map(applied, self.parts)

    @property
    def split(self) -> PieceSplit:
        """Splits pieces into rows, targets and weights."""
        return PieceSplit(self.target, self.sample_weight)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        # NumPy calls this wherever an array is expected.
        raise TypeError(
            "PartitionedRows can only be passed to fit of ridge models and models of tables. "
            "Elsewhere an array is expected; to predict, call rows.apply(model.predict), which "
            "predicts each partition on a worker."
        )


def _applied(method: Callable[[Any], Any], split: PieceSplit, index: int, part: object) -> Any:
    """Return the value of a method at the inputs of a part, or raise with the part's number."""
    try:
        X = split.inputs(part)
        return None if X is None else method(X)
    except (TypeError, ValueError) as error:
        raise refusal(index, error) from error
