"""Sequences of different lengths: validation, and storage as one array of all points."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bochner._numerics.arrays import FLOATS, Array
from bochner._numerics.checked import check_size, named
from bochner._numerics.foreign import (
    not_numbers,
    refuse_complex,
    refuse_masked,
    refuse_no_rows,
    shown,
)

EXPECTED = "a list of arrays (T, d), an array (n, T, d) or (n, T), or a list of strings"
"""Description of valid rows in error messages."""


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """Points of all sequences, one after the other.

    ``points`` has shape (total, d), or (total,) for letters: then it holds their places in an
    alphabet, and ``width`` is the number of columns of their one-hot rows. ``lengths`` has shape
    (n,) and sums to ``total``.
    """

    points: NDArray[Any]
    lengths: NDArray[np.intp]
    width: int

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Places of the first points, of shape (n,)."""
        starts: NDArray[np.intp] = np.cumsum(self.lengths) - self.lengths
        return starts

    @property
    def dtype(self) -> Any:
        """Type of features: float32 if all sequences are, and float64 otherwise."""
        return np.dtype(np.float32 if self.points.dtype == np.float32 else np.float64)

    def at(self, places: NDArray[np.intp]) -> Array:
        """Return the points at places of any shape, in float64, with an axis (d,) at the end."""
        chosen = self.points[places]
        if self.points.ndim == 2:
            points: Array = chosen.astype(np.float64, copy=False)
            return points
        one_hot = np.zeros((*places.shape, self.width))
        np.put_along_axis(one_hot, chosen[..., None], 1.0, axis=-1)
        return one_hot

    def some(self, size: int, rng: np.random.Generator) -> "Sequences":
        """Return at most ``size`` random sequences."""
        chosen = rng.permutation(len(self))[:size]
        lengths, starts = self.lengths[chosen], self.starts[chosen]
        shifts = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return Sequences(self.points[np.arange(lengths.sum()) + shifts], lengths, self.width)


def read_sequences(X: object) -> Sequences | list[str]:
    """Return sequences of numbers, or the list of strings unchanged.

    Raises ``TypeError`` if ``X`` holds neither numbers nor strings. Raises ``ValueError`` if there
    are no sequences, if a sequence is empty or of another width, or if a number is not finite.
    """
    items = _items(X)
    if len(items) == 0:
        raise ValueError(f"X has no sequences: expected {EXPECTED}, with at least one.")
    if isinstance(items, np.ndarray):
        cube = items[..., None] if items.ndim == 2 else items
        n, length, width = cube.shape
        return _checked(cube.reshape(n * length, width), np.full(n, length))
    is_text = [isinstance(item, str) for item in items]
    if all(is_text):
        texts: list[str] = items
        _refuse_empty(_lengths(texts))
        return texts
    if any(is_text):
        other = shown(items[is_text.index(False)])
        raise TypeError(f"X mixes strings with other rows, such as {other}: give one kind.")
    parts = list(map(_numbers, range(len(items)), items))
    _check_widths(parts)
    return _checked(np.concatenate(parts), _lengths(parts))


def _checked(points: NDArray[np.floating], lengths: NDArray[np.intp]) -> Sequences:
    _refuse_empty(lengths)
    if points.shape[1] == 0:
        raise ValueError("Sequences of X have no columns.")
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        place = int(np.searchsorted(np.cumsum(lengths), int(np.argmin(finite)), side="right"))
        raise ValueError(
            f"Sequence {place} of X contains NaN or infinity. Interpolate missing points, or leave "
            f"them out."
        )
    check_size("X", points)
    if points.dtype not in FLOATS:
        points = points.astype(np.float64)
    return Sequences(points, lengths, points.shape[1])


def _lengths(items: list[Any]) -> NDArray[np.intp]:
    return np.array(list(map(len, items)), dtype=np.intp)


def _refuse_empty(lengths: NDArray[np.intp]) -> None:
    if (lengths == 0).any():
        raise ValueError(f"Sequence {int(np.argmin(lengths))} of X is empty: leave it out.")


def alphabet_of(texts: list[str]) -> str:
    """Return the letters of strings in order, each once."""
    return "".join(sorted(set().union(*texts)))


def coded(texts: list[str], alphabet: str) -> Sequences:
    """Encode strings as indices into an alphabet; unknown letters share the last index."""
    letters = _code_points(alphabet)
    codes = _code_points("".join(texts))
    places = np.minimum(np.searchsorted(letters, codes), len(letters) - 1)
    places = np.where(letters[places] == codes, places, len(letters))
    return Sequences(places, _lengths(texts), len(alphabet) + 1)


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _items(X: object) -> Any:
    """Return an array of numbers with two or three axes, or a list of rows."""
    refuse_no_rows("X", X)
    refuse_masked("X", X)
    if isinstance(X, str | bytes) or sparse.issparse(X) or not isinstance(X, Iterable):
        raise TypeError(f"X is of type {type(X).__name__}: expected {EXPECTED}.")
    if isinstance(X, Iterator):
        raise TypeError("X can be read only once, as a generator: give a list of it, list(X).")
    if isinstance(X, Set):
        raise TypeError(f"X is of type {type(X).__name__}, which has no order: give a list.")
    if not hasattr(X, "__array__"):
        return list(X)
    X = np.asarray(X)
    refuse_complex("X", X)
    if X.ndim == 1 and X.dtype.kind in "OU":
        return X.tolist()
    if X.ndim not in (2, 3):
        raise ValueError(
            f"X is an array of shape {X.shape}: expected {EXPECTED}. Give [X] if it is one "
            f"sequence."
        )
    return X if X.dtype.kind in "biuf" else list(X)


def _numbers(place: int, item: object) -> NDArray[Any]:
    """Return one row as an array (T, d) of numbers."""
    name = f"Sequence {place} of X"
    refuse_masked(name, item)
    if sparse.issparse(item):
        raise TypeError(f"{name} is sparse: expected an array (T, d). Give its toarray().")
    with named(name):
        if (foreign_entries := not_numbers(item)) is not None:
            raise ValueError(
                f"{name} must hold numbers, got {foreign_entries}. Strings are whole rows."
            )
        values = np.asarray(item)
        refuse_complex(name, values)
        if values.dtype.kind not in "biuf":
            values = values.astype(np.float64)
    if values.ndim not in (1, 2) or 0 in values.shape[1:]:
        raise ValueError(
            f"{name} has shape {values.shape}: expected (T, d), or (T,) for one column."
        )
    return values[:, None] if values.ndim == 1 else values


def _check_widths(parts: list[NDArray[np.generic]]) -> None:
    widths = np.array([part.shape[1] for part in parts])
    if (other := np.flatnonzero(widths != widths[0])).size:
        raise ValueError(
            f"Sequence {other[0]} of X has {widths[other[0]]} columns and sequence 0 has "
            f"{widths[0]}: all need the same columns."
        )
