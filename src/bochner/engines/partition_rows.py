"""Engines, the rows that they hold in partitions, and the checks of rows on the workers."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial, reduce
from operator import add
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from bochner._base.arrays import FLOATS, Array, InputRows
from bochner._base.checks import (
    check_classes,
    check_rows_given,
    check_targets,
    check_weights,
    column_names,
    labels,
    numbers,
    refuse_lazy,
    refuse_masked,
)
from bochner._base.frames import of_arrow, stacked
from bochner._base.names import refuse_repeated
from bochner.features.chunks import Chunk

Names = tuple[str, ...] | None
"""Names of the columns of a data frame; ``None`` for an array, whose columns have no names."""


class Executor(Protocol):
    """An engine that applies functions to partitions on its workers, and adds up the results.

    Any class with these two methods is an executor. Functions can be pickled, have no side effects,
    and may be called again for a partition whose worker was lost.

    Examples
    --------
    An executor in this process:

    >>> from functools import reduce
    >>> import numpy as np
    >>> from bochner import KreinRidge
    >>> from bochner.engines import PartitionedRows
    >>> class Here:
    ...     def map(self, function, parts):
    ...         return [function(index, part) for index, part in enumerate(parts)]
    ...
    ...     def tree_reduce(self, plus, handles):
    ...         return reduce(plus, handles) if handles else None
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> parts = [(X[:50], X[:50, 0]), (X[50:], X[50:, 0])]
    >>> model = KreinRidge(n_components=64, random_state=0).fit(PartitionedRows(Here(), parts))
    >>> model.sums_.n_samples
    100
    """

    def map(self, function: Callable[[int, Any], Any], parts: Any) -> Any:
        """Return handles of ``function(index, part)`` for every part; the values stay on workers.

        Indices count the parts from zero in a fixed order. A part is described in
        :class:`PartitionedRows`, or is a list of such pieces, empty if it has no rows.
        """

    def tree_reduce(self, plus: Callable[[Any, Any], Any], handles: Any) -> Any:
        """Return the sum of the values of :meth:`map`, or ``None`` without values.

        ``plus`` is associative up to rounding, and not commutative: neighbours are added in the
        order of the parts, as in ``plus(plus(a, b), plus(c, d))``. Results repeat to the last bit
        if the grouping of the values does not depend on which values are ready first.
        """


@dataclass(frozen=True, slots=True)
class PieceSplit:
    """Splits a piece of a part, a tuple or a data frame, into inputs, targets and weights."""

    target: str | list[str] | None = None
    weight: str | None = None

    def __call__(self, piece: Any) -> tuple[Any, Any, Any]:
        """Return the inputs, targets and weights (or ``None``) of a piece; raise if unsupported."""
        if self.target is None:
            if not (isinstance(piece, tuple) and len(piece) in (2, 3)):
                raise TypeError(
                    f"Expected a tuple (X, y) or (X, y, sample_weight), got {type(piece).__name__}."
                    f" For data frames, name the column of targets: PartitionedRows(executor, "
                    f"parts, target='y')."
                )
            return piece if len(piece) == 3 else (*piece, None)
        refuse_lazy("A part", piece)
        piece = of_arrow(piece)
        if not hasattr(piece, "columns") or not hasattr(piece, "drop"):
            raise TypeError(
                f"target is given, so that a data frame was expected, got "
                f"{type(piece).__name__}. Leave target out for tuples (X, y)."
            )
        if absent := [name for name in self._named() if name not in piece.columns]:
            raise ValueError(
                f"There is no column {absent[0]!r:.60}; the columns are "
                f"{', '.join(map(repr, piece.columns))}."
            )
        y = piece[self.target if isinstance(self.target, str) else list(self.target)]
        weight = None if self.weight is None else piece[self.weight]
        return _without(piece, self._named()), y, weight

    def inputs(self, part: Any) -> Any:
        """Return the inputs of a piece or a list of pieces; ``None`` if there are no rows."""
        pieces = [self._inputs(piece) for piece in (part if isinstance(part, list) else [part])]
        pieces = [piece for piece in pieces if len(piece)]
        return reduce(stacked, pieces) if pieces else None

    def _inputs(self, piece: Any) -> Any:
        if isinstance(piece, tuple):
            return piece[0]
        named = [name for name in self._named() if name in getattr(piece, "columns", ())]
        return _without(piece, named) if named else piece

    def _named(self) -> list[str]:
        targets = [self.target] if isinstance(self.target, str) else list(self.target or ())
        return targets if self.weight is None else [*targets, self.weight]


def _without(piece: Any, columns: list[str]) -> Any:
    # Polars accepts only names.
    return piece.drop(columns=columns) if hasattr(piece, "iloc") else piece.drop(columns)


@dataclass(frozen=True, slots=True)
class Check:
    """Reads and checks the rows of a part, which is a piece or a list of pieces."""

    split: PieceSplit
    numeric: bool  # whether targets are numbers, not labels

    def __call__(self, part: Any) -> tuple[Chunk | None, Names]:
        """Return the checked rows, ``None`` if there are no pieces, and the names of columns."""
        pieces = [self.split(piece) for piece in (part if isinstance(part, list) else [part])]
        if not pieces:
            return None, None
        names = column_names(pieces[0][0])
        chunk = reduce(add, [self._checked(*piece) for piece in pieces])
        return chunk, None if names is None else tuple(names)

    def _checked(self, X: Any, y: Any, weight: object) -> Chunk:
        X = check_rows_given(X, dtype=FLOATS, ensure_min_samples=0)
        y = checked_part_targets(y, X, numeric=self.numeric, single=not self.numeric)
        return Chunk(X, y, checked_part_weights(weight, X))


def checked_part_targets(
    y: object, X: InputRows, *, numeric: bool, single: bool
) -> NDArray[np.generic]:
    """Return checked targets: numbers or labels (n,), or (n, t) if not ``single``."""
    y = np.asarray(numbers(y) if numeric else labels(y))
    y = column_or_1d(y) if single or y.ndim == 1 else y
    _check_length("y", y, X)
    y = y.astype(np.float64) if numeric else y
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains numbers that are not finite.")
    if numeric:
        check_targets(y)
    elif len(y):
        check_classes(y)
    targets: NDArray[np.generic] = y
    return targets


def checked_part_weights(weight: Any, X: InputRows) -> Array | None:
    """Return weights (n,), or ``None``; raise if values are not valid weights of rows."""
    if weight is None:
        return None
    refuse_masked("sample_weight", weight)
    weight = column_or_1d(np.asarray(weight)).astype(np.float64)
    _check_length("sample_weight", weight, X)
    if not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError("sample_weight must be finite and not negative.")
    check_weights(weight)
    weights: Array = weight
    return weights


def refusal(index: int, error: TypeError | ValueError) -> TypeError | ValueError:
    """Return ``error`` with the number of its partition in front of its message."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"In partition {index}: {error}")


def _check_length(name: str, column: NDArray[Any], X: Any) -> None:
    if not column.ndim:
        raise ValueError(f"{name} must be an array with an entry for each row, got {column!r:.60}.")
    if len(column) != len(X):
        raise ValueError(f"X has {len(X)} rows and {name} has {len(column)}.")


@dataclass(frozen=True, slots=True)
class CheckTable:
    """Reads the table rows of positive weight, with targets, from a piece or a list of pieces."""

    split: PieceSplit
    numeric: bool  # Whether targets are numbers, not labels

    def __call__(self, part: Any) -> tuple[Chunk | None, Names]:
        """Return the rows, ``None`` if there are no pieces, and the names of columns."""
        pieces = [self.split(piece) for piece in (part if isinstance(part, list) else [part])]
        if not pieces:
            return None, None
        table = reduce(add, [self._checked(*piece) for piece in pieces])
        names = getattr(table.X, "columns", None)
        return table, None if names is None else tuple(map(str, names))

    def _checked(self, X: Any, y: Any, weight: object) -> Chunk:
        if not hasattr(X, "iloc"):
            X = np.asanyarray(X)
            if X.ndim != 2:
                raise TypeError(
                    "Expected the rows of a partition as a pandas data frame or an array (n, d), "
                    f"got an array of shape {X.shape}."
                )
        else:
            refuse_repeated(list(map(str, X.columns)))
        y = checked_part_targets(y, X, numeric=self.numeric, single=not self.numeric)
        weight = checked_part_weights(weight, X)
        piece = Chunk(X, y, weight)
        return piece if weight is None or weight.all() else piece[np.flatnonzero(weight)]


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
        The engine: an object with the methods of :class:`Executor`.
    parts : object
        The partitions, in the form that the executor takes. Each is a tuple ``(X, y)`` or
        ``(X, y, sample_weight)`` of NumPy arrays or data frames ``X``; or, with ``target``, a
        data frame of pandas or polars.
    target : str or list of str, default=None
        Name of the column of targets in data frames, or names of several.
    sample_weight : str, default=None
        Name of the column of weights in data frames. The remaining columns are inputs.
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
                    f"{self.executor!r:.60}."
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
            What the executor's ``map`` returns. A partition without rows has the value ``None``.

        Notes
        -----
        Partitions to predict may lack targets: arrays or data frames ``X`` alone, whose columns
        ``target`` and ``sample_weight`` are dropped if they are there. Errors of the method are
        raised on the worker, with the number of the partition.
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
    """Return ``method`` of the inputs of a part; an error names the number of the part."""
    try:
        X = split.inputs(part)
        return None if X is None else method(X)
    except (TypeError, ValueError) as error:
        raise refusal(index, error) from error
