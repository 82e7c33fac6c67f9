"""Validation of the series, times and known inputs that users pass to a forecaster."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bochner._base.arrays import Array
from bochner._base.checks import (
    check_targets,
    not_numbers,
    refuse_complex,
    refuse_lazy,
    refuse_masked,
)
from bochner._base.frames import of_arrow
from bochner.series.timelines import Future, Timeline, Times, steps, timed
from bochner.series.value_transformations import TRANSFORMATIONS

_MOST_LEARNED = 10_000
"""Largest number of rows used for a fit, the latest rows; such a fit takes minutes."""

_FEWEST = 8
"""Smallest number of known values that determine a line, its noise and their correlation time."""

_MOST_STEPS = 1e7
"""Longest span of a series in median steps: the search for periods needs memory for it."""

_SAME = 1e-7
"""Smallest distance of two times, in median steps; closer times may coincide after rounding."""

_CONSTANT = 1e-13
"""Relative standard deviation below which values count as constant."""


class SeriesRows(NamedTuple):
    """A series: times (n,), values (n,) (NaN if unknown), known inputs (n, d) and a timeline.

    ``clock`` (n,) is local time minus time; None without a time zone.
    """

    times: Array
    values: Array
    inputs: Array
    timeline: Timeline
    input_names: list[str] | None
    clock: Array | None = None

    @property
    def learned(self) -> "SeriesRows":
        """The rows used for the fit: the latest, from the first to the last known value."""
        return self._part(learned_rows(self.values))

    @property
    def earlier(self) -> "SeriesRows":
        """The rows before the rows used for the fit."""
        return self._part(slice(0, learned_rows(self.values).start))

    def _part(self, which: slice) -> "SeriesRows":
        clock = None if self.clock is None else self.clock[which]
        times, values, inputs = (part[which] for part in (self.times, self.values, self.inputs))
        return SeriesRows(times, values, inputs, self.timeline, self.input_names, clock)


def learned_rows(values: Array) -> slice:
    """Return the slice of the values (n,) that are used for a fit; unknown values are NaN."""
    known = np.flatnonzero(np.isfinite(values))
    n_until_last = int(known[-1]) + 1 if len(known) else len(values)
    latest = known[known >= n_until_last - _MOST_LEARNED]
    return slice(int(latest[0]) if len(latest) else 0, n_until_last)


def indexed(y: Any) -> Any:
    """Return the series of a pandas data frame with the columns ``ds`` and ``y``, else ``y``."""
    if not hasattr(y, "iloc") or set(getattr(y, "columns", ())) != {"ds", "y"}:
        return y
    from pandas import DatetimeIndex

    return y["y"].set_axis(y["ds"] if y["ds"].dtype.kind in "iuf" else DatetimeIndex(y["ds"]))


def several(y: Any) -> dict[str, Any] | None:
    """Return series by name if ``y`` is a mapping or a data frame; ``None`` for a single series."""
    refuse_lazy("y", y)
    y = of_arrow(y) if hasattr(y, "column_names") else y
    if isinstance(y, Mapping):
        named_series = {str(name): series for name, series in y.items()}
    elif hasattr(y, "columns"):
        is_pandas = hasattr(y, "iloc")
        pairs = enumerate(y.columns)
        named_series = {str(name): y.iloc[:, i] if is_pandas else y[name] for i, name in pairs}
    else:
        return None
    if not named_series:
        raise ValueError("y must hold at least one series, got none.")
    if len(named_series) < len(_names(y)):
        raise ValueError("Names of series must differ from each other as text; some are repeated.")
    return named_series


def labels_of(y: Any) -> dict[str, Any]:
    """Return the names of several series that are numbers or tuples of a table, by their text."""
    labels = [name.item() if isinstance(name, np.generic) else name for name in _names(y)]
    return {str(label): label for label in labels if _is_kept(label)}


def _names(y: Any) -> list[Any]:
    return list(y) if isinstance(y, Mapping) else list(getattr(y, "columns", ()))


def _is_kept(label: object) -> bool:
    """Return whether a name that is no text can be stored in a file."""
    if isinstance(label, tuple):
        return all(isinstance(part, str) or _is_kept(part) for part in label)
    return type(label) in (bool, int, float)


def inputs_by_text(X: Any, names: Iterable[str]) -> Any:
    """Return inputs of several series by the texts of their names, or raise ValueError."""
    if not isinstance(X, dict):
        return X
    by_text = {str(name): inputs for name, inputs in X.items()}
    if unknown := sorted(by_text.keys() - set(names)):
        raise ValueError(
            f"X holds inputs of the series {unknown[0]!r:.60}, which is not among the series "
            f"({', '.join(map(repr, names))!s:.60}): name the inputs like the series."
        )
    return by_text


def read_series(y: object, X: object, times: object) -> SeriesRows:
    """Return a series with its times and inputs, or raise TypeError or ValueError."""
    values = series_values(y)
    row_times = _times(y, times, len(values))
    if row_times.numbers.shape != values.shape:
        raise ValueError(
            f"times must have one entry for each value: got {len(row_times.numbers)} times and "
            f"{len(values)} values."
        )
    where = getattr(y, "index", None) if times is None else times
    _check_order(row_times.numbers, where)
    used = learned_rows(values)
    _check_span(row_times.numbers, where, used)
    known_values = values[used][np.isfinite(values[used])]
    if len(known_values) < _FEWEST:
        where_from = f" in its last {_MOST_LEARNED:,} rows" if len(values) > _MOST_LEARNED else ""
        raise ValueError(
            f"A series needs at least {_FEWEST} known values to learn from{where_from}, got "
            f"{len(known_values)}."
        )
    if known_values.std() <= _CONSTANT * np.abs(known_values).max():
        raise ValueError(
            f"The series is constant: all known values are {known_values[0]:g}, up to rounding. "
            "There is nothing to learn; forecast that value."
        )
    inputs, names = _inputs(X, y, len(values))
    return SeriesRows(row_times.numbers, values, inputs, row_times.timeline, names, row_times.clock)


def check_taken(transformation: str, values: Array) -> None:
    """Raise ValueError if training values (n,) are outside the domain of a transformation."""
    function = TRANSFORMATIONS.get(transformation)
    if function is None or np.isnan(values).all():  # "auto" skips transformations that do not apply
        return
    learned = values[learned_rows(values)]
    outside = learned[np.isfinite(learned) & ~function.domain(learned)]
    if len(outside):
        needed = "of zero or more" if function.takes_least else "above zero"
        raise ValueError(
            f"transformation={transformation!r:.60} needs {function.numbers} {needed}, and one "
            f"value is {outside.min():.4g}: use transformation='none', or 'auto', which compares "
            "those that the values allow."
        )


def taken_series(
    y: object, X: object, times: object, transformation: str, name: str | None
) -> SeriesRows:
    """Return a series that suits a transformation, as `read_series`; errors begin with a name."""
    try:
        series = read_series(y, X, times)
        check_taken(transformation, series.values)
    except (TypeError, ValueError) as error:
        if name is None:
            raise
        raise type(error)(f"Series {name!r:.60}: {error}") from error
    return series


def future_inputs(X: object, future: Future, n_inputs: int, names: list[str] | None) -> Array:
    """Return the inputs (h, d) at the times of a forecast, or raise ValueError."""
    count = len(future.numbers)
    if not n_inputs:
        raise ValueError("X was given, but the model was fitted without inputs: leave it out.")
    if X is None:
        raise ValueError(
            f"The model was fitted with {n_inputs} inputs: pass their values at the {count} times "
            "to predict at as X."
        )
    inputs, given_names = _matrix(X)
    if inputs.shape != (count, n_inputs):
        raise ValueError(
            f"X must hold {n_inputs} inputs at each of the {count} times to predict at, shape "
            f"{(count, n_inputs)}, got {inputs.shape}. Known inputs limit the horizon."
        )
    if names is not None and given_names is not None and given_names != names:
        raise ValueError(f"X must have columns {names!r:.99} in order, got {given_names!r:.99}.")
    index: Any = getattr(X, "index", None)
    if future.index is not None and hasattr(index, "equals") and not index.equals(future.index):
        raise ValueError(
            f"X must be at the times to predict at, which begin with {future.index[0]}; its index "
            f"begins with {index[0]}."
        )
    return inputs


def series_values(y: object) -> Array:
    """Return values (n,), NaN if unknown or masked; raise TypeError or ValueError if invalid."""
    refuse_complex("y", y if hasattr(y, "dtype") else np.asarray(y))
    if foreign_entries := not_numbers(y):
        raise TypeError(
            f"y must be a series of numbers, got {foreign_entries}. Make dates the index, as in "
            "df.set_index('date')['sales']; for several series df.pivot(index=, columns=, values=)."
        )
    values: Array
    try:
        if hasattr(y, "to_numpy") and hasattr(y, "index"):
            values = y.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.ma.array(y, dtype=np.float64).filled(np.nan)
    except (TypeError, ValueError) as error:
        raise TypeError(f"y must be a series of numbers: {error}") from error
    except OverflowError as error:
        raise ValueError(f"y must be a series of numbers that fit into a float: {error}") from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"y must have shape (n,), got {values.shape}: pass several series as a data frame, or "
            "as a mapping from names to series."
        )
    check_targets(values[np.isfinite(values)])
    if np.isinf(values).any():
        raise ValueError("y must be finite, or NaN where a value is unknown; some are infinite.")
    return values


def _times(y: object, times: object, count: int) -> Times:
    if times is not None:
        refuse_masked("times", times)
        refuse_complex("times", times)
        return timed(times)
    index = getattr(y, "index", None)
    return timed(index) if hasattr(index, "get_indexer") and count else steps(count)


def _check_span(numbers: Array, where: Any, used: slice) -> None:
    """Raise ValueError if times span too many median steps, as with a default date among them."""
    lengths = np.diff(numbers[used])
    if not len(lengths) or np.sum(lengths) <= _MOST_STEPS * np.median(lengths):
        return
    listed = (where if hasattr(where, "get_indexer") else np.asarray(where).ravel())[used]
    place = int(np.argmax(lengths))
    raise ValueError(
        f"Times span {np.sum(lengths) / np.median(lengths):.3g} steps of their median length; at "
        f"most {_MOST_STEPS:g} are possible. The longest gap is from {listed[place]} to "
        f"{listed[place + 1]}: remove times that are wrong, or fit the series after the gap."
    )


def _check_order(numbers: Array, where: Any) -> None:
    wrong = np.flatnonzero(np.diff(numbers) <= 0.0)
    listed = where if hasattr(where, "get_indexer") else np.asarray(where).ravel()
    if not len(wrong):
        lengths = np.diff(numbers)
        closest = int(np.argmin(lengths)) if len(lengths) else 0
        if len(lengths) and lengths[closest] < _SAME * np.median(lengths):
            raise ValueError(
                f"Times must be further apart; {listed[closest]} and {listed[closest + 1]} are "
                f"closer than {_SAME:g} of the usual step. Sum or average their values first."
            )
        return
    first, second = listed[int(wrong[0])], listed[int(wrong[0]) + 1]
    if first == second:
        raise ValueError(
            f"Times must be increasing; {first} occurs twice. Sum or average the values of each "
            "time first."
        )
    if first < second:
        raise ValueError(
            f"Times must be further apart; {first} and {second} are the same in double precision. "
            "Pass numbers in a smaller unit that begin near zero."
        )
    raise ValueError(f"Times must be increasing; {second} follows {first}. Sort the series.")


def _inputs(X: object, y: object, count: int) -> tuple[Array, list[str] | None]:
    if X is None:
        return np.zeros((count, 0)), None
    inputs, names = _matrix(X)
    if len(inputs) != count:
        raise ValueError(f"X must have a row for each value, {count} rows, got {len(inputs)}.")
    ours: Any = getattr(y, "index", None)
    theirs: Any = getattr(X, "index", None)
    if hasattr(ours, "equals") and hasattr(theirs, "equals") and not ours.equals(theirs):
        raise ValueError("X and y must have the same index.")
    return inputs, names


def _matrix(X: Any) -> tuple[Array, list[str] | None]:
    X = of_arrow(X) if hasattr(X, "column_names") else X
    refuse_masked("X", X)
    refuse_complex("X", X)
    if text := not_numbers(X):
        raise TypeError(
            f"X must hold numbers, as indicators of classes do (pandas.get_dummies), got {text}."
        )
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    try:
        matrix = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"X must hold numbers, as indicators of classes do (pandas.get_dummies): {error}"
        ) from error
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise ValueError(
            "X must have shape (n, d) and finite entries: inputs have to be known at all times."
        )
    return matrix, names
