"""Contributions of columns as pictures need them: one output, the largest columns, and texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, MatrixLike, RandomState, as_count
from bochner._base.converted import as_frame
from bochner.comparison.shown import PLAIN_ENTRIES, may_be_years, number
from bochner.files.columns import Column
from bochner.plot.model_inputs import column_of
from bochner.plot.style import FONT, SMALL
from bochner.plot.text_labels import EQUALS, name_axis, panel_points, text_width
from bochner.tables.contributions import Contributions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS = 10
"""Columns with a row of their own: more are read by few, and are small."""

_DIGITS = 3
"""Digits of the largest contribution: a fourth one would be below most standard errors."""

_MOST_DECIMALS = 6
"""Most decimals of a contribution, as of a tick."""

_PAD = 5.0
"""Points between texts on the right and their name: about a character."""

_ONE = 1e-6
"""Distance from one of a sum of probabilities, which are rounded."""

_MINUTE, _SECOND = "%H:%M", ":%S"
"""Formats of a time, and of its seconds where they are not zero."""

_LEAST_SHOWN = 0.5
"""Least contribution in units of the last shown digit: a smaller one would be shown as zero."""


@dataclass(frozen=True, slots=True)
class OneOutput:
    """Contributions (n, d) of named columns to one output, which is called ``label``."""

    names: tuple[str, ...]
    base: float
    values: Array
    prediction: Array
    label: str

    def largest(self, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the numbers of the columns of largest mean size, and of the remaining columns.

        A single remaining column takes as much room as the line that counts it, and is shown.
        """
        order = np.argsort(-np.abs(self.values).mean(axis=0), kind="stable")
        most = as_count("most", most)
        n_shown = most if len(order) > most + 1 else len(order)
        return order[:n_shown], order[n_shown:]


def explained(
    model: BaseEstimator | Contributions, X: object, output: object, random_state: RandomState
) -> OneOutput:
    """Return the contributions to one output, computed at rows ``X`` unless they are given.

    Raises TypeError for models without contributions, and ValueError for an unknown output.
    """
    computed: Any = model
    if not isinstance(model, Contributions):
        if not hasattr(model, "contributions"):
            raise TypeError(
                "Contributions are drawn of a fitted TableRegressor or TableClassifier, or of the "
                f"result of its method contributions, got {type(model).__name__}."
            )
        computed = model.contributions(X, random_state=random_state)
    if computed.classes is None:
        if output is not None:
            raise ValueError(f"output must be None for a single target, got {output!r}.")
        parts = computed.base, computed.values, computed.prediction
        return OneOutput(computed.columns, *parts, "prediction")
    labels = computed.classes.tolist()
    sums = computed.prediction.sum(axis=1)
    are_classes = bool(np.allclose(sums, 1.0, rtol=0.0, atol=_ONE))
    if output is None:
        place = int(computed.prediction.mean(axis=0).argmax()) if are_classes else 0
    elif output in labels:
        place = labels.index(output)
    else:
        known = ", ".join(map(repr, labels))
        raise ValueError(f"output must be one of {known}, got {output!r}.")
    what = "probability" if are_classes else "prediction"
    parts = computed.base[place], computed.values[..., place], computed.prediction[:, place]
    return OneOutput(computed.columns, *parts, f"{what} of {labels[place]}")


def columns_at(names: Sequence[str], X: MatrixLike, numbers: NDArray[np.intp]) -> list[Column]:
    """Return some columns of a table; an array has columns by number."""
    X = as_frame("X", X)
    has_names = hasattr(X, "columns")
    return [column_of(None, X, names[i] if has_names else int(i)) for i in numbers]


def entry_text(column: Column, row: int) -> str:
    """Return an entry as people write it.

    Examples
    --------
    >>> from bochner.files.columns import read_column
    >>> numbers = read_column("x", [1999.0, 12345.678, None, -0.5])
    >>> [entry_text(numbers, row) for row in range(4)]
    ['1,999', '12,346', 'missing', '−0.5']
    >>> entry_text(read_column("year", [1999.0, 2010.0]), 0)
    '1999'
    >>> entry_text(read_column("day", ["2020-03-01", "2020-03-02T14:30"]), 1)
    '2020-03-02 14:30'
    """
    if not column.present[row]:
        return "missing"
    if column.is_time_of_day and column.clock is not None:
        return _time(column.clock[row])
    if column.kind == "date":
        stamp = np.datetime64(column.clock[row] if column.clock is not None else column.raw[row])
        is_day = stamp == stamp.astype("M8[D]")
        day = str(stamp.astype("M8[D]"))
        return day if is_day else f"{day} {_time(stamp)}"
    entry = column.raw[row]
    if column.kind != "numeric" or isinstance(entry, bool | np.bool_):
        return str(entry)
    present = column.values[column.present]
    text = number(float(column.values[row]), plain=PLAIN_ENTRIES).replace("-", "−")
    return text.replace(",", "") if may_be_years(present) else text


def with_entry(name: str, column: Column | None, row: int) -> str:
    """Return the name of a column, and its entry if it is known."""
    return name if column is None else f"{name}{EQUALS}{entry_text(column, row)}"


def decimals_of(contributions: Array) -> int:
    """Return the number of decimals that shows three digits of the largest contribution."""
    largest = float(np.abs(contributions).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return 0
    return int(np.clip(_DIGITS - 1 - np.floor(np.log10(largest)), 0, _MOST_DECIMALS))


def fixed(value: float, decimals: int, sign: str = "") -> str:
    """Return a number with commas between thousands and that many decimals.

    Examples
    --------
    >>> fixed(-1234.5, 0), fixed(0.25, 2, "+"), fixed(-0.001, 2, "+")
    ('−1,234', '+0.25', '0.00')
    """
    if abs(value) * 10.0**decimals < _LEAST_SHOWN:
        return f"{0.0:.{decimals}f}"
    return f"{value:{sign},.{decimals}f}".replace("-", "−")


def name_right(axis: "Axes", texts: Sequence[str], label: str = "") -> float:
    """Write a text on the right of each row, with a name, and return the points that they take."""
    shown = [round(tick) for tick in axis.get_yticks()]  # Some rows only, where room is scarce
    side = axis.secondary_yaxis("right")
    side.set_yticks(shown, [texts[row] for row in shown], parse_math=False)
    side.tick_params(axis="y", length=0.0, labelsize=SMALL, colors=axis.yaxis.label.get_color())
    side.spines["right"].set_visible(False)
    if label:
        name_axis(side.yaxis, label, panel_points(axis)[1])
        side.yaxis.labelpad = _PAD
        side.yaxis.label.set_color(axis.yaxis.label.get_color())
    return max(map(text_width, texts)) + (2.0 * FONT if label else 0.0)


def _time(stamp: np.datetime64) -> str:
    moment: Any = stamp.astype("M8[ms]").item()
    return str(moment.strftime(_MINUTE + (_SECOND if moment.second else "")))
