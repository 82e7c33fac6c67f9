"""Whether residuals depend on a column: means over bins, and a test of their equality."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import f as f_law

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import entries
from bochner.files.columns import Column, labels
from bochner.report.words import short

_MOST_BINS = 8
"""Most bins of numbers: enough to show a bend, few enough to have rows in each."""

_FEWEST_ROWS = 25
"""Fewest rows of a bin: the mean of 25 residuals is about normal unless they are very skewed."""

_FALSE_ALARMS = 0.01
"""Probability of any false alarm among all columns of a report whose residuals depend on none."""

_LEAST_SHARE = 0.01
"""Least share of the squared error that the means of the bins explain: less is of no use to a model
even where many rows make it certain."""


_LEAST_REST = 1e-12
"""Least share of the squares that the means leave: rounding decides below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Drift:
    """Mean residuals over bins of a column.

    ``labels``, ``mean``, ``std_error`` and ``count`` have an entry for each of k bins. ``p_value``
    is the p-value of equal means, and ``share`` is the share of the squared residuals that the
    means explain.
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
        """Bins of the least and of the greatest mean."""
        return int(np.argmin(self.mean)), int(np.argmax(self.mean))


def drift(
    column: Column, residuals: Array, clusters: NDArray[np.generic] | None = None
) -> Drift | None:
    """Return mean residuals (n,) over bins of a column, or ``None`` if rows make up one bin only.

    Rows of a cluster (n,) may be dependent.
    """
    codes, names = _bins(column)
    if len(names) < 2:
        return None
    used = codes >= 0
    used_clusters = None if clusters is None else clusters[used]
    return _tested(column.name, names, codes[used], residuals[used], used_clusters)


def _tested(
    name: str,
    names: Sequence[str],
    codes: NDArray[np.intp],
    residuals: Array,
    clusters: NDArray[np.generic] | None,
) -> Drift:
    """Return the means, and Hotelling's test of their equality.

    Sums over bins of centred residuals have a covariance that the rows, or clusters of them,
    estimate without assuming equal variances.
    """
    k = len(names)
    centred = residuals - residuals.mean()
    members = np.eye(k)[codes]
    shares = members.mean(axis=0)
    terms = (members - shares) * centred[:, None]
    within_bins = members * (residuals - (members @ _means(members, residuals)))[:, None]
    if clusters is not None:
        numbers = np.unique(clusters, return_inverse=True)[1]
        terms, within_bins = (_summed(part, numbers) for part in (terms, within_bins))
    sums, n_parts = members.T @ centred, len(terms)
    products = terms.T @ terms
    # One bin is determined by the remaining bins, because the sum over all bins is zero.
    about_zero = float(sums @ np.linalg.pinv(products, hermitian=True) @ sums)
    q = k - 1
    p_value = 1.0
    if n_parts > q + 1:
        # The covariance about the mean, by Sherman and Morrison: that about zero bounds the
        # statistic by the number of parts, and few clusters would never show a drift.
        statistic = about_zero / max(1.0 - about_zero / n_parts, _LEAST_REST)
        scaled = statistic * (n_parts - q) / (q * n_parts)
        p_value = float(f_law.sf(scaled, q, n_parts - q))
    counts = members.sum(axis=0)
    explained = float(np.sum(sums**2 / counts)) / max(float(centred @ centred), 1e-300)
    errors = np.sqrt(np.sum(within_bins**2, axis=0) * n_parts / max(n_parts - 1, 1)) / counts
    mean = _means(members, residuals)
    return Drift(name, names, mean, as_array(errors), counts.astype(int), p_value, explained)


def _means(members: Array, values: Array) -> Array:
    return as_array(members.T @ values / members.sum(axis=0))


def _summed(terms: Array, numbers: NDArray[np.intp]) -> Array:
    return np.stack([np.bincount(numbers, column) for column in terms.T], axis=1)


def _bins(column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return the number of each row's bin, -1 for none, and the names of the bins."""
    if column.kind in ("numeric", "date"):
        codes, names = _number_bins(column)
    else:
        codes, names = _level_bins(column)
    missing = ~column.present
    if missing.sum() >= _FEWEST_ROWS:
        codes[missing] = len(names)
        names.append("missing")
    return codes, names


def _number_bins(column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return bins of about equally many rows, whose ends are values of the column."""
    codes = np.full(len(column.raw), -1, dtype=np.intp)
    values = column.values[column.present].astype(np.float64)
    least = max(_FEWEST_ROWS, len(values) // _MOST_BINS)
    distinct, first, numbers, sizes = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True
    )
    groups = _groups(sizes, least)
    if not len(groups) or groups[-1] < 1:
        return codes, []
    codes[column.present] = groups[numbers]
    if column.kind == "date":
        texts = [str(time.astype("M8[D]")) for time in column.wall_times()[first]]
    else:
        texts = entries(distinct.tolist())
    ends = [np.flatnonzero(groups == group)[[0, -1]] for group in range(groups[-1] + 1)]
    names = [texts[a] if a == b else f"{texts[a]} to {texts[b]}" for a, b in ends]
    return codes, names


def _groups(sizes: NDArray[np.intp], least: int) -> NDArray[np.intp]:
    """Return the bin of each value, in order: a bin is full once it has ``least`` rows.

    A frequent value forms a separate bin if the values before it fill a bin.
    """
    groups = np.zeros(len(sizes), dtype=np.intp)
    group = filled = 0
    for place, size in enumerate(sizes):
        if filled >= least or (size >= least and filled >= _FEWEST_ROWS):
            group, filled = group + 1, 0
        groups[place] = group
        filled += int(size)
    if group and filled < _FEWEST_ROWS:  # The last bin joins the one before
        groups[groups == group] = group - 1
    return groups


def _level_bins(column: Column) -> tuple[NDArray[np.intp], list[str]]:
    """Return a bin for each of the most frequent levels, and one for all others."""
    codes = np.full(len(column.raw), -1, dtype=np.intp)
    texts = labels(column.raw, column.present)[column.present].astype(str)
    levels, numbers, sizes = np.unique(texts, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: _MOST_BINS - 1]
    frequent = [i for i in order if sizes[i] >= _FEWEST_ROWS]
    place = np.full(len(levels), len(frequent))
    place[frequent] = np.arange(len(frequent))
    bins, names = place[numbers], [short(levels[i], 30) for i in frequent]
    n_others = int(np.sum(bins == len(frequent)))
    if n_others >= _FEWEST_ROWS:
        names.append("other levels")
    else:
        bins[bins == len(frequent)] = -1
    codes[column.present] = bins
    return codes, names
