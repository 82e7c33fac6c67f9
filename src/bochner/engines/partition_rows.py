"""Reading and checking of the rows of one partition on its worker."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from bochner._base.frames import of_arrow
from bochner.features.chunks import Chunk

Names = tuple[str, ...] | None
"""Names of the columns of data frames; ``None`` of arrays."""


@dataclass(frozen=True, slots=True)
class TupleParts:
    """Splits parts ``(X, y)`` or ``(X, y, sample_weight)`` into rows, targets and weights."""

    def __call__(self, piece: Any) -> tuple[Any, Any, Any]:
        """Return rows, targets and weights or ``None``; raise TypeError for anything else."""
        if not (isinstance(piece, tuple) and len(piece) in (2, 3)):
            length = f" of length {len(piece)}" if isinstance(piece, tuple) else ""
            raise TypeError(
                f"Expected a tuple (X, y) or (X, y, sample_weight), got {type(piece).__name__}"
                f"{length}. For data frames, name the column of targets: PartitionedRows(executor, "
                f"parts, target='y')."
            )
        X, y, *weight = piece
        return X, y, weight[0] if weight else None


@dataclass(frozen=True, slots=True)
class FrameParts:
    """Splits data frames of pandas or polars into rows, targets and weights by column names."""

    target: str | list[str]
    weight: str | None

    def __call__(self, piece: Any) -> tuple[Any, Any, Any]:
        """Return inputs, targets and weights or ``None``; raise for other objects and names."""
        refuse_lazy("A part", piece)
        piece = of_arrow(piece)
        if not hasattr(piece, "columns") or not hasattr(piece, "drop"):
            raise TypeError(
                f"target is given, so that a data frame was expected, got "
                f"{type(piece).__name__}. Leave target out for tuples (X, y)."
            )
        targets = [self.target] if isinstance(self.target, str) else list(self.target)
        used = targets if self.weight is None else [*targets, self.weight]
        if absent := [name for name in used if name not in piece.columns]:
            raise ValueError(
                f"There is no column {absent[0]!r}; the columns are "
                f"{', '.join(map(repr, piece.columns))}."
            )
        y = piece[self.target] if isinstance(self.target, str) else piece[targets]
        weight = None if self.weight is None else piece[self.weight]
        # Polars accepts only names.
        inputs = piece.drop(columns=used) if hasattr(piece, "iloc") else piece.drop(used)
        return inputs, y, weight


@dataclass(frozen=True, slots=True)
class Check:
    """Checks the rows of a part: a piece, or a list of pieces."""

    split: TupleParts | FrameParts
    numeric: bool  # whether targets are numbers, not labels

    def __call__(self, part: Any) -> tuple[Chunk | None, Names]:
        """Return the checked rows, ``None`` if there are no pieces, and the names of columns."""
        pieces = [self.split(piece) for piece in (part if isinstance(part, list) else [part])]
        if not pieces:
            return None, None
        names = column_names(pieces[0][0])
        chunk = _joined([self._checked(*piece) for piece in pieces])
        return chunk, None if names is None else tuple(names)

    def _checked(self, X: Any, y: Any, weight: object) -> Chunk:
        X = check_rows_given(X, dtype=FLOATS, ensure_min_samples=0)
        y = checked_part_targets(y, X, numeric=self.numeric, single=not self.numeric)
        return Chunk(X, y, checked_part_weights(weight, X))


def checked_part_targets(
    y: object, X: InputRows, *, numeric: bool, single: bool
) -> NDArray[np.generic]:
    """Return targets (n,) or, unless there is a ``single`` one, (n, t): numbers or labels."""
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
    """Return the error for a part that cannot be used."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"In partition {index}: {error}")


def _check_length(name: str, column: NDArray[Any], X: Any) -> None:
    if not column.ndim:
        raise ValueError(f"{name} must be an array with an entry for each row, got {column!r}.")
    if len(column) != len(X):
        raise ValueError(f"X has {len(X)} rows and {name} has {len(column)}.")


def _joined(chunks: Sequence[Chunk]) -> Chunk:
    """Return all rows in one chunk, copied once."""
    if len(chunks) == 1:
        return chunks[0]
    weighted = any(chunk.weight is not None for chunk in chunks)
    return Chunk(
        np.concatenate([chunk.X for chunk in chunks]),
        np.concatenate([chunk.y for chunk in chunks]),
        np.concatenate([chunk.weights for chunk in chunks]) if weighted else None,
    )
