"""Report section on residuals and their dependence on columns, time and the prediction."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_law

from bochner._base.arrays import Array, as_array, times_of
from bochner._base.names import listed
from bochner._base.number_texts import counted, entries, number, percent, with_errors
from bochner.files.columns import Column
from bochner.plot.drawn_inputs import drawn_values
from bochner.plot.regression_errors import PredictionsDisplay, ResidualsDisplay
from bochner.report.html_blocks import (
    Block,
    Figure,
    Section,
    Table,
    cells,
    cut,
    drawn,
    quoted,
    shares,
    short,
)
from bochner.report.subject import Subject

_MOST_BINS = 8
"""Largest number of bins of a numeric column."""

_FEWEST_ROWS = 25
"""Smallest number of rows in a bin, for which a mean residual is approximately normal."""

_FALSE_ALARMS = 0.01
"""Family-wise false alarm rate over all columns tested in a report."""

_LEAST_SHARE = 0.01
"""Smallest relevant share of the squared error that bin means explain."""

_LEAST_REST = 1e-12
"""Lower bound of the unexplained share of the squares, against division by rounding errors."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Mean residuals over k bins of a column, with the p-value of equal means.

    ``share`` is the share of the squared residuals that the means explain.
    """

    column: str
    labels: Sequence[str]
    mean: Array
    std_error: Array
    count: NDArray[np.int64]
    p_value: float
    share: float

    def is_certain(self, n_tests: int) -> bool:
        """Whether the drift is significant after ``n_tests`` tests, and relevant in size."""
        return self.p_value < _FALSE_ALARMS / n_tests and self.share > _LEAST_SHARE

    @property
    def extremes(self) -> tuple[int, int]:
        """Indices of the bins with the smallest and the largest mean."""
        return int(np.argmin(self.mean)), int(np.argmax(self.mean))

    @property
    def ends(self) -> str:
        """Smallest and largest mean with their bins, such as "from -2 (1 to 5) to 3 (8 to 9)"."""
        low, high = (f"{number(float(self.mean[k]), 3)} ({self.labels[k]})" for k in self.extremes)
        return f"from {low} to {high}"


def drift(
    column: Column,
    residuals: Array,
    clusters: NDArray[np.generic] | None = None,
    are_classes: bool = False,
) -> Drift | None:
    """Return mean residuals over bins of a column; None for fewer than two bins."""
    codes, names = _bins(column)
    if len(names) < 2:
        return None
    used = codes >= 0
    used_clusters = None if clusters is None else clusters[used]
    tested = _tested(column.name, names, codes[used], residuals[used], used_clusters)
    if not are_classes:
        return tested
    # p (1 - p), because a residual is 1 - p or -p; without it, bins without a hit look certain.
    sizes = np.minimum(np.abs(residuals[used]), 1.0)
    stated = np.sqrt(np.bincount(codes[used], sizes * (1.0 - sizes))) / tested.count
    return replace(tested, std_error=np.maximum(tested.std_error, stated))


def _tested(
    name: str,
    names: Sequence[str],
    codes: NDArray[np.intp],
    residuals: Array,
    clusters: NDArray[np.generic] | None,
) -> Drift:
    """Return mean residuals of bins, with Hotelling's test of equal means."""
    q = len(names) - 1
    centred = residuals - residuals.mean()
    members = np.eye(len(names))[codes]
    counts = members.sum(axis=0)
    mean = as_array(members.T @ residuals / counts)
    terms = (members - members.mean(axis=0)) * centred[:, None]
    within_bins = members * (residuals - members @ mean)[:, None]
    if clusters is not None:
        numbers = np.unique(clusters, return_inverse=True)[1]
        terms, within_bins = (
            as_array([np.bincount(numbers, column) for column in part.T]).T
            for part in (terms, within_bins)
        )
    sums, n_parts = members.T @ centred, len(terms)
    products = terms.T @ terms
    # The sums over bins add up to zero, so the covariance matrix is singular.
    about_zero = float(sums @ np.linalg.pinv(products, hermitian=True) @ sums)
    p_value = 1.0
    if n_parts > q + 1:
        # Convert to the covariance about the mean (Sherman-Morrison): with the covariance about
        # zero, the statistic could not exceed the number of clusters, and lacks power for few.
        statistic = about_zero / max(1.0 - about_zero / n_parts, _LEAST_REST)
        scaled = statistic * (n_parts - q) / (q * n_parts)
        p_value = float(f_law.sf(scaled, q, n_parts - q))
    explained = float(np.sum(sums**2 / counts)) / max(float(centred @ centred), 1e-300)
    squares = np.sum(within_bins**2, axis=0) * n_parts / max(n_parts - 1, 1)
    errors = as_array(np.sqrt(squares) / counts)
    return Drift(name, names, mean, errors, counts.astype(int), p_value, explained)


def _bins(column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return the bin index of each row, -1 without a bin, and the names of the bins."""
    codes, missing = np.full(len(column.raw), -1, dtype=np.intp), ~column.present
    if column.kind in ("numeric", "date"):
        values = column.values[column.present].astype(np.float64)
        few = column.kind == "numeric" and len(np.unique(values)) <= _MOST_BINS
        texts = np.array(entries(values.tolist())) if few else None
    else:
        texts = column.texts()[column.present].astype(str)
    found = _number_bins(values, column.kind == "date") if texts is None else _level_bins(texts)
    codes[column.present], names = found
    if missing.sum() >= _FEWEST_ROWS:
        codes[missing] = len(names)
        names.append("missing")
    return codes, names


def _number_bins(values: Array, are_dates: bool) -> tuple[NDArray[np.intp], list[str]]:
    """Return bins of numbers (n,), or of dates as decimal years, of about equal size."""
    n_bins = int(np.clip(len(values) // (_FEWEST_ROWS + 1), 1, _MOST_BINS))
    # Equal numbers share a bin, which may then have more rows than others.
    ends = np.unique(np.quantile(values, np.linspace(0.0, 1.0, n_bins + 1)[1:], method="lower"))
    bins = np.searchsorted(ends, values)
    starts = [float(values[bins == k].min()) for k in range(len(ends))]
    edges = np.concatenate([starts, ends])
    texts = entries(edges.tolist())
    if are_dates:
        texts = [str(time.astype("M8[D]")) for time in times_of(edges)]
    pairs = zip(texts[: len(ends)], texts[len(ends) :], strict=True)
    return bins, [a if a == b else f"{a} to {b}" for a, b in pairs]


def _level_bins(texts: NDArray[np.str_]) -> tuple[NDArray[np.intp], list[str]]:
    """Return bins of the most frequent texts (n,), a bin of the others, and their names."""
    levels, numbers, sizes = np.unique(texts, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[:_MOST_BINS]
    frequent = [i for i in order if sizes[i] >= _FEWEST_ROWS]
    place = np.full(len(levels), len(frequent))
    place[frequent] = np.arange(len(frequent))
    bins, names = place[numbers], [cut(levels[i]) for i in frequent]
    if np.sum(bins == len(frequent)) >= _FEWEST_ROWS:
        return bins, [*names, "other levels"]
    return np.where(bins == len(frequent), -1, bins), names


_ENDS = ("lowest where", "mean residual"), ("highest where", "mean residual there")
"""Headings of the bins with the smallest and the largest mean residual, and of these means."""

MOST_COLUMNS = 8
"""Largest number of columns tested against residuals, in order of importance."""


def drifts(subject: Subject) -> list[Drift]:
    """Return mean residuals along time-like columns and the most important columns."""
    names = dict.fromkeys([*subject.time_columns, *subject.important])
    chosen = list(names)[: MOST_COLUMNS + len(subject.time_columns)]
    shared = subject.residuals, subject.study.own.clusters, subject.study.is_classification
    column_drifts = (drift(subject.columns[name], *shared) for name in chosen)
    return [each for each in column_drifts if each is not None]


def residuals_section(subject: Subject, column_drifts: Sequence[Drift], most: int) -> Section:
    """Return the section with tests of residuals and, for numbers, pictures of dependences."""
    blocks: list[Block] = [_text(subject, column_drifts)]
    if not subject.study.is_classification and len(subject.study.own.y) > 1:
        blocks.append(_figures(subject, column_drifts, most))
    if column_drifts:
        blocks.append(_table(column_drifts))
    return Section("residuals", "Residuals", blocks)


def certain(column_drifts: Sequence[Drift]) -> list[Drift]:
    """Return the columns on which residuals depend significantly, the strongest first."""
    return sorted(
        (each for each in column_drifts if each.is_certain(len(column_drifts))),
        key=lambda each: -each.share,
    )


def _text(subject: Subject, column_drifts: Sequence[Drift]) -> str:
    outcome = subject.study.own
    text = "Residuals are observations minus predictions."
    if outcome.classes is not None:
        one = "the predicted class is right"
        if len(outcome.classes) == 2:
            one = f"the class is {quoted(outcome.classes[1])}"
        text = (
            f"A residual is 1 if {one} and 0 if not, minus the predicted probability of that class."
        )
    if not column_drifts:
        return f"{text} There are too few test rows to tell whether they depend on a column."
    strong = certain(column_drifts)
    found = "show no significant dependence"
    if strong:
        found = f"depend significantly on {listed([quoted(each.column) for each in strong])}"
    return f"{text} {counted(len(column_drifts), 'column')} are examined: residuals {found}."


def _figures(subject: Subject, column_drifts: Sequence[Drift], most: int) -> list[Figure]:
    """Return figures of residuals against predictions, and against columns with a dependence."""
    figures = [_against_predictions(subject)]
    for each in certain(column_drifts)[:most]:
        column = subject.columns[each.column]
        display = ResidualsDisplay(subject.residuals, drawn_values(column), column.name)
        title = subject.titled(f"Residuals against {short(column.name)}")
        figures.append(drawn(display, title, f"{sentence(each)}{beyond_axes(display)}"))
    return figures


def _against_predictions(subject: Subject) -> Figure:
    outcome = subject.study.own
    display = ResidualsDisplay(subject.residuals, outcome.prediction.astype(np.float64))
    sizes = np.abs(subject.residuals)
    worst = int(np.argmax(sizes))
    caption = (
        f"Half of the residuals are less than {number(float(np.median(sizes)), 3)} in size. The "
        f"largest, {number(float(subject.residuals[worst]), 3)}, belongs to a row with prediction "
        f"{number(float(outcome.prediction[worst]), 3)}.{beyond_axes(display)}"
    )
    return drawn(display, subject.titled("Residuals against predictions"), caption)


def beyond_axes(display: ResidualsDisplay | PredictionsDisplay) -> str:
    """Return a sentence on rows beyond the axes of a figure, or an empty text."""
    if display.n_beyond < 2:
        return " One row lies beyond the axes: a triangle at the edge." * display.n_beyond
    return f" {display.n_beyond:,} rows lie beyond the axes: triangles at the edge."


def sentence(column_drift: Drift) -> str:
    """Describe the range of mean residuals along a column, and the share of the error."""
    return (
        f"Along {quoted(column_drift.column)}, mean residuals range {column_drift.ends}: "
        f"{percent(column_drift.share)} of the squared error."
    )


def _table(column_drifts: Sequence[Drift]) -> Table:
    ends = [each.extremes for each in column_drifts]
    columns = {"column": cells(cut(each.column) for each in column_drifts)}
    for place, (where, mean) in enumerate(_ENDS):
        bins = [(each, pair[place]) for each, pair in zip(column_drifts, ends, strict=True)]
        means = [float(each.mean[k]) for each, k in bins]
        columns[where] = cells(cut(each.labels[k]) for each, k in bins)
        errors = [float(each.std_error[k]) for each, k in bins]
        columns[mean] = cells(with_errors(means, errors), means)
    columns["share of squared error"] = shares(each.share for each in column_drifts)
    p_values = [each.p_value for each in column_drifts]
    columns["p"] = cells([f"{p:.3f}" if p >= 1e-3 else "< 0.001" for p in p_values], p_values)
    note = (
        "Columns are cut into at most eight bins. The share of the squared error is the part that "
        "the means of the bins explain; some of it is chance. p is the p-value of equal means, by "
        "Hotelling's test. A dependence is reported if p is below 0.01 divided by the "
        f"number of columns ({len(column_drifts)}) and the share is above 1 %."
    )
    return Table.of("Mean residuals by column", columns, note=note, is_folded=True)
