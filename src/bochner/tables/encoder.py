"""Encoder from a table of numbers, text and dates to real features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from bochner._base.arrays import LARGEST_COUNT, Array, as_scale, rounded_to, steps
from bochner._base.checks import check_choice, is_frame, unfit
from bochner._base.frames import as_frame
from bochner._base.names import naming, refuse_repeated
from bochner._base.registry import register
from bochner.files.columns import Column, read_column, unmasked
from bochner.tables.encodings import (
    KnownEntries,
    State,
    add_means,
    encode,
    fit_state,
    normal_knots,
    output_names,
    recurs,
    refuse_changed_kinds,
    scale_numbers,
    standard_knots,
    tail_state,
    with_parts,
)
from bochner.tables.level_means import Removal, target_columns
from bochner.tables.table_errors import (
    refuse_infinite,
    refuse_long_levels,
    refuse_other_names,
    refuse_small,
    refuse_tiny,
    refuse_unreadable,
    warn_of_identifiers,
    warn_of_written_values,
)
from bochner.tables.text_parts import MANY_LEVELS, TextParts, some_rows, telling
from bochner.tables.trees import TreeInputs

_KNOTS = {"standardize": standard_knots, "normal_quantile": normal_knots}
"""Functions that return the knots of the map of numbers, by the value of ``numeric``."""

_TAILS = "tails"

_MOST_OF_LEVELS, _FEWEST_LEVELS = 50_000_000, 8
"""Most entries of the features of levels at a fit, 400 MB, and fewest levels with a feature: means
of the target are accurate for levels of many rows."""

MOST_ENCODED = 1 << 24
"""Most features of new rows in memory at once, 128 MB, unless a single row has more."""


@register
class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a table as real features, each by the kind of its entries.

    ``fit`` takes a data frame or array, and ``transform`` returns features (n, p) without missing
    entries.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, "red"], [3.0, "blue"]], dtype=object)
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['x0', 'x1_blue', 'x1_red', 'x1_<unknown>']
    >>> encoder.transform(np.array([[2.0, "green"]], dtype=object))
    array([[0., 0., 0., 1.]])

    Parameters
    ----------
    numeric : {"standardize", "normal_quantile", "tails"}, default="standardize"
        Map of numbers: (x - mean)/sd, or Φ⁻¹(F(x)) with F the mid-rank distribution of the
        training column, linear between its values. With ``"tails"`` only columns of numbers and
        dates with values beyond ``clip`` have features: (x - mean)/sd between the least and the
        greatest value, without the bound ``clip``.
    clip : float, default=3.0
        Bound on the absolute value of a numeric feature, in standard deviations.
    max_levels : int, default=256
        Largest number of levels of a text column that have a feature each.
    n_quantiles : int, default=1000
        Largest number of quantiles stored per column for "normal_quantile".

    Attributes
    ----------
    columns_ : list of dict
        Encoding of each column: plain JSON, and arrays for the parts of free text.
    n_features_in_ : int
        Number of columns at fit.
    feature_names_in_ : ndarray of str
        Names of these columns, if `fit` was given a data frame with text names.

    Notes
    -----
    - Numbers (booleans are 0 and 1, durations are days) are standardised, or mapped by quantiles
      to a standard normal, and clipped. Missing numbers take the median, and a 0/1 indicator is
      added if the training column had missing numbers.
    - Dates become decimal years in UTC, then they are treated as numbers. Cosines and sines of the
      local hour, weekday and day of the year are added if these vary and the column covers more
      than one day, week or year. Dates that are all ends of months have no weekday.
    - Text whose entries are all ISO 8601 dates or times is read as dates. A warning names text
      that holds other dates, or numbers with decimal commas: `bochner.read_table` reads both.
    - Other text, and pandas and polars categories, are one-hot encoded, with one feature for
      unknown and missing entries. Levels beyond the ``max_levels`` most frequent ones, or of
      200,000 and more rows beyond those that 50 million entries of features allow, count as
      unknown; if `fit` has a target, they also have a feature with their shrunken mean of the
      target, which `fit_transform` computes for each row from the rows of other folds.
    - Text with more than ``max_levels`` levels, and more levels than half of its entries, is an
      identifier: it has no features, and a warning names the column.
    - If `fit` has a target, identifiers and text with more than 40 levels have thirty components of
      TF-IDF of three and four successive characters, of which texts have at most 20,000, provided
      that they reduce squared errors of left-out rows by two per cent. Levels of fewer than five
      rows then have no feature.
    - Constant columns and columns without entries have no features.
    """

    columns_: list[State]
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]

    def __init__(
        self,
        numeric: Literal["standardize", "normal_quantile", "tails"] = "standardize",
        clip: float = 3.0,
        max_levels: int = 256,
        n_quantiles: int = 1000,
    ) -> None:
        self.numeric = numeric
        self.clip = clip
        self.max_levels = max_levels
        self.n_quantiles = n_quantiles

    def fit(self, X: object, y: object = None) -> Self:
        """Learn the encoding of each column.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame, pyarrow.Table, dict or array-like of shape (n, d)
            Table; a dict maps names to columns. Columns of an array are named x0, x1, ...
        y : array-like of shape (n,) or (n, t), or None, default=None
            Target, numbers or classes, for text with many levels and free text. Training rows
            of a model come from ``fit_transform(X, y)``: `transform` returns level means that
            contain the row's own target.

        Raises
        ------
        ValueError
            If there are fewer than two rows, duplicate names, infinite or complex numbers, a
            column that mixes numbers, text and dates, or no column that varies. The message names
            the columns.
        TypeError
            If entries are neither numbers, text nor dates.
        """
        self._learn(X, y, Removal())
        return self

    def fit_transform(self, X: object, y: object = None) -> Array:
        """Learn the encoding as `fit` does, and return the features (n, d_out) of the table.

        The features differ from the output of `transform` only in means of the target.
        """
        return self.fit_training_rows(X, y, Removal())

    def fit_training_rows(
        self, X: object, y: object, removal: Removal, other: TableEncoder | None = None
    ) -> Array:
        """Learn the encoding; return features (n, d_out) with out-of-fold means of the target.

        The parts of text are those of the ``other`` encoder of the table.
        """
        columns, out_of_fold = self._learn(X, y, removal, other)
        return _features(self.columns_, columns, out_of_fold)

    def _learn(
        self, X: Any, y: object, removal: Removal, other: TableEncoder | None = None
    ) -> tuple[list[Column], dict[str, Array]]:
        """Learn the states of the columns; return the columns and their out-of-fold means."""
        self._check_parameters()
        unfit(self)
        columns = self._read(X, reset=True)
        refuse_unreadable(columns)
        refuse_infinite(columns)
        refuse_tiny(columns)
        if self.numeric == _TAILS:
            self.columns_ = [tail_state(column, float(self.clip)) for column in columns]
            return columns, {}
        knots_of = partial(
            _KNOTS[self.numeric], clip=float(self.clip), n_quantiles=self.n_quantiles
        )
        n_entries = max(sum(column.kind == "text" for column in columns), 1) * len(columns[0].raw)
        max_levels = min(self.max_levels, max(_MOST_OF_LEVELS // n_entries, _FEWEST_LEVELS))
        states = [fit_state(column, knots_of, max_levels) for column in columns]
        out_of_fold = {}
        if y is not None:
            check_consistent_length(columns[0].raw, y)
            for state, column in zip(states, columns, strict=True):
                if state.get("n_rare"):
                    targets = target_columns(y)
                    means = add_means(state, column, targets, float(self.clip), removal)
                    out_of_fold[column.name] = means
            if other is None:
                states = _with_parts(states, columns, out_of_fold, y, removal)
            else:
                states = [
                    with_parts(state, column, known["parts"]) if "parts" in known else state
                    for state, column, known in zip(states, columns, other.columns_, strict=True)
                ]
        if not any(map(output_names, states)):
            raise ValueError(
                f"No column of the table varies: {naming([(s['name'], s['kind']) for s in states])}"
                ". Expected at least one with two values; add a column that differs between rows."
            )
        refuse_long_levels({s["name"]: (*s.get("levels", ()), *s.get("means", ())) for s in states})
        not_numeric, read = warn_of_written_values(columns), zip(states, columns, strict=True)
        warn_of_identifiers([c for s, c in read if s["kind"] == "identifier" and c in not_numeric])
        self.columns_ = states
        return columns, out_of_fold

    def transform(self, X: object) -> Array:
        """Return the features (n, d_out) of a table (n, d) with the columns of the training table.

        Columns of data frames are found by their names. Raises ValueError if columns are missing,
        unexpected, of another kind than at fit, or hold infinite numbers.
        """
        check_is_fitted(self, "columns_")
        return self._encoded(self._read(X, reset=False))

    def _encoded(self, columns: list[Column]) -> Array:
        """Return the features (n, d_out) of the columns of a table."""
        self._check_kinds(columns)
        return _features(self.columns_, columns, {})

    def _check_kinds(self, columns: list[Column]) -> None:
        """Raise ValueError for columns of another kind than at fit, or with infinite numbers."""
        read = [(s, c) for s, c in zip(self.columns_, columns, strict=True) if output_names(s)]
        refuse_changed_kinds(read)
        if any(column.infinite_rows().size for _, column in read):
            refuse_infinite([column for _, column in read])

    def known(self, X: object) -> KnownEntries:
        """Return the entries of rows as numbers, with masks of missing, new and far entries."""
        check_is_fitted(self, "columns_")
        columns = self._read(X, reset=False)
        self._check_kinds(columns)
        return KnownEntries.of(self.columns_, columns)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return names such as "column", "column_<missing>", "column_level", "column_<unknown>".

        ``input_features``, by default the names of the training table, must match them.
        """
        check_is_fitted(self, "columns_")
        names = _check_feature_names_in(self, input_features)
        pairs = zip(self.columns_, names, strict=True)
        out = [name for state, column in pairs for name in output_names(state, str(column))]
        return np.array(out, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _try_out(self) -> None:
        """Raise an error if encodings, such as those of a loaded file, do not fit the columns."""
        encoded_names = [state["name"] for state in self.columns_]
        # scikit-learn stores feature names only if all are texts.
        expected = list(getattr(self, "feature_names_in_", encoded_names))
        if encoded_names != expected:
            raise ValueError(
                f"it encodes the columns {encoded_names}, and the table has {expected}"
            )

    def _check_parameters(self) -> None:
        check_choice("numeric", self.numeric, (*_KNOTS, _TAILS))
        as_scale("clip", self.clip)
        for name, value, least in (
            ("max_levels", self.max_levels, 1),
            ("n_quantiles", self.n_quantiles, 2),
        ):
            if not isinstance(value, Integral) or value < least:
                raise ValueError(f"{name} must be an integer from {least}, got {value!r:.60}.")

    def _read(
        self, X: Any, *, reset: bool, least: int | None = None, keep_text: bool = False
    ) -> list[Column]:
        least = least or (2 if reset else 1)
        if not (of_pandas := is_pandas(X)):
            X = as_frame("X", X)
        if not (of_pandas or is_frame(X)):
            # An array of another dtype would turn the numbers of a list with text into text.
            table = np.asarray(X, dtype=object) if isinstance(X, list | tuple) else unmasked(X)
            options = {"dtype": None, "ensure_all_finite": False, "ensure_min_samples": least}
            with np.errstate(over="ignore", invalid="ignore"):
                series = list(validate_data(self, table, reset=reset, **options).T)
            names = [f"x{i}" for i in range(len(series))]
        else:
            names = list(map(str, X.columns))
            fitted = names if reset else list(getattr(self, "feature_names_in_", names))
            if set(names) != set(fitted):  # Checked first, also for tables without columns
                refuse_other_names(names, fitted)
            if len(X) < least or not names:
                refuse_small(len(X), len(names), least)
            if len(set(names)) < len(names):
                refuse_repeated(names)
            if names != fitted:
                places, names = [names.index(name) for name in fitted], fitted
                X = X.iloc[:, places] if hasattr(X, "iloc") else X[:, places]
            validate_data(self, X, reset=reset, skip_check_array=True)
            of_pandas = hasattr(X, "iloc")  # True for pandas-like frames
            series = [s for _, s in X.items()] if of_pandas else [X[name] for name in names]
        # A later table may hold only texts that can be read as dates; the column stays text.
        is_text = [
            keep_text or (not reset and self.columns_[i]["kind"] == "text")
            for i in range(len(names))
        ]
        read = zip(names, series, is_text, strict=True)
        return [read_column(name, some, keep_text=text) for name, some, text in read]


def is_pandas(X: object) -> bool:
    """Return whether a table is a data frame of pandas, which needs no conversion."""
    return type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "iloc")


def _features(
    states: Sequence[State], columns: Sequence[Column], means: Mapping[str, Array]
) -> Array:
    """Return the features (n, d_out) of columns; ``means`` has out-of-fold means of rare levels."""
    widths = [len(output_names(state)) for state in states]
    features, first = np.empty((len(columns[0].raw), sum(widths))), 0
    for state, column, width in zip(states, columns, widths, strict=True):
        if width:
            features[:, first : first + width] = encode(state, column, means.get(column.name))
        first += width
    return features


def _with_parts(
    states: list[State],
    columns: Sequence[Column],
    means: Mapping[str, Array],
    y: object,
    removal: Removal,
) -> list[State]:
    """Return the states, with the parts of text that predict left-out targets."""
    parts: dict[int, TextParts] = {}
    for number, (state, column) in enumerate(zip(states, columns, strict=True)):
        has_many = len(state.get("levels", ())) > MANY_LEVELS and not recurs(column)
        is_candidate = has_many or state["kind"] == "identifier"
        if is_candidate and (of_column := TextParts.of(column)) is not None:
            parts[number] = of_column
    if not parts:
        return states
    rows = some_rows(len(columns[0].raw))
    is_all = len(rows) == len(columns[0].raw)  # Then parts are not counted again
    part = columns if is_all else [column.at_rows(rows) for column in columns]
    base = _features(states, part, {name: of_rows[rows] for name, of_rows in means.items()})
    scores = {number: text(part[number])[0] for number, text in parts.items()}
    inputs = TreeInputs.of(np.arange(base.shape[1]), scale_numbers(states))
    groups = removal.part(rows).labels(len(rows))
    chosen = telling(scores, (inputs, base), target_columns(y)[rows], groups)
    return [
        with_parts(state, columns[number], parts[number]) if number in chosen else state
        for number, state in enumerate(states)
    ]


def side_by_side(encoders: Sequence[TableEncoder], X: object) -> Array:
    """Return the joined features (n, d_out) of several encoders of a table, which is read once."""
    return read_rows(encoders, X)[0]


def read_rows(encoders: Sequence[TableEncoder], X: object) -> tuple[Array, KnownEntries]:
    """Return the features (n, d_out) of new rows, and their `KnownEntries`."""
    return next(read_parts(encoders, X, LARGEST_COUNT)[1])


def read_parts(
    encoders: Sequence[TableEncoder], X: object, most: int
) -> tuple[list[slice], Iterator[tuple[Array, KnownEntries]]]:
    """Return parts of new rows of at most ``most`` features, and what `read_rows` has of each."""
    for encoder in encoders:
        check_is_fitted(encoder, "columns_")
    columns = encoders[0]._read(X, reset=False)
    for encoder in encoders:
        encoder._check_kinds(columns)
    width = sum(len(output_names(state)) for encoder in encoders for state in encoder.columns_)
    n_rows = len(columns[0].raw)
    places = list(steps(n_rows, max(most // max(width, 1), 1)))

    def part(rows: slice) -> tuple[Array, KnownEntries]:
        some = columns if len(places) == 1 else [column.at_rows(rows) for column in columns]
        features = joined([_features(encoder.columns_, some, {}) for encoder in encoders])
        return features, KnownEntries.of(encoders[0].columns_, some)

    return places, map(part, places)


def column_blocks(encoders: Sequence[TableEncoder]) -> list[npt.NDArray[np.intp]]:
    """Return the encoded columns of each column of a table, joined as by `joined`."""
    states = [state for encoder in encoders for state in encoder.columns_]
    sources = np.array([state["name"] for state in states for _ in output_names(state)])
    return [np.flatnonzero(sources == state["name"]) for state in encoders[0].columns_]


def joined(tables: list[Array]) -> Array:
    """Concatenate the columns of encoded tables, rounded to eight decimals, to one table (n, d)."""
    features = np.empty((len(tables[0]), sum(table.shape[1] for table in tables)))
    first = 0
    while tables:
        table = tables.pop(0)
        rounded_to(table, features[:, first : first + table.shape[1]])
        first += table.shape[1]
    return features


def read_columns(X: object) -> list[Column]:
    """Read the columns of a table as the encoder does; raise if ``X`` is not a table."""
    return TableEncoder()._read(X, reset=True)


def read_part(X: object) -> list[Column]:
    """Read the columns of some rows (at least one) of a table; texts of dates stay text."""
    columns = TableEncoder()._read(X, reset=True, least=1, keep_text=True)
    refuse_unreadable(columns)
    refuse_infinite(columns)
    return columns
