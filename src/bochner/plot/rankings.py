"""Ranked bars and dots: relevant columns, pairs that interact, and errors of methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import number
from bochner.comparison.outcomes import METRICS, Outcome, Score
from bochner.plot import axis_texts, style
from bochner.plot.display import Display, PanelLayout
from bochner.plot.drawn_inputs import input_names
from bochner.tables.sensitivity import VarianceShares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 20
"""Largest number of bars by default."""

_LEAST_PAIR = 0.005
"""Smallest share of a pair for a visible bar."""

_VARIANCE, _CURVATURE = "share of variance (%)", "share of squared second derivatives (%)"

_GREATER_IS_BETTER = ("r2", "auc", "accuracy")
"""Metrics for which larger values are better."""


@dataclass(frozen=True, slots=True, eq=False)
class SharesDisplay(Display):
    """Bars of shares of named columns or pairs, the largest on top."""

    names: Sequence[str]
    share: Array  # (k,), as fractions and not in per cent
    std_error: Array | None = None  # (k,), nan where unknown
    n_left_out: int = 0
    share_left_out: float = 0.0  # Sum of the omitted shares, an upper bound of their joint share
    xlabel: str = _VARIANCE
    nothing: str = "no column"  # Text shown without bars

    @classmethod
    def largest(
        cls,
        names: Sequence[str],
        share: Array,
        std_error: Array | None = None,
        *,
        most: int = MOST_BARS,
        xlabel: str = _VARIANCE,
        nothing: str = "no column",
    ) -> Self:
        """Return the largest of k shares, and the sum of the remaining shares."""
        order = np.argsort(-share, kind="stable")
        shown = order if len(order) <= most else order[: most - 1]
        others = order[len(shown) :]
        errors = None if std_error is None else std_error[shown]
        parts = [names[i] for i in shown], share[shown], errors
        return cls(*parts, len(others), float(share[others].sum()), xlabel, nothing)

    def describe(self) -> str:
        shown = zip(self.names, self.share, strict=True)
        parts = ", ".join(f"{name} {100.0 * share:.1f} %" for name, share in shown)
        return f"{self.xlabel.removesuffix(' (%)').capitalize()}: {parts or self.nothing}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=axis_texts.rows_height(len(self._rows())))

    def _rows(self) -> list[str]:
        if not self.n_left_out:
            return list(self.names) or [self.nothing]
        most = number(100.0 * min(self.share_left_out, 1.0), 2)
        return [*self.names, f"{self.n_left_out} more, together ≤ {most} %"]

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        (axis,) = axes
        places, bars = np.arange(len(self.names)), 100.0 * self.share
        axis.barh(places, bars, height=0.7, color=style.MODEL, alpha=0.85)
        if self.std_error is not None:
            error = 100.0 * np.nan_to_num(self.std_error)
            axis.errorbar(bars, places, xerr=error, fmt="none", ecolor=theme.ink, elinewidth=0.9)
        axis_texts.name_rows(axis, self._rows())
        if self.n_left_out:
            axis.get_yticklabels()[-1].set_fontstyle("italic")
        axis.set_xlim(0.0, axis.get_xlim()[1] if bars.any() else 1.0)
        axis_texts.finish(axis, self.xlabel, "", ticks="x")


def relevance(
    model: BaseEstimator,
    *,
    names: Sequence[str] | None = None,
    most: int = MOST_BARS,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> SharesDisplay:
    """Draw the share of the variance of predictions that involves each column.

    Parameters
    ----------
    model : fitted estimator or VarianceShares
        A table model, whose ``importance()`` is computed; the result of ``importance()``; or a
        model with learned draws, whose ``relevance_.inclusion`` is drawn.
    names : sequence of d str, default=None
        Names of the inputs of a model with learned draws; by default those of the table at fit, or
        x0, x1, ...
    most : int, default=20
        Most rows. If there are more columns, the last row has the number of omitted columns and
        the sum of their shares.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 1])
    >>> plot.relevance(model).names[0]
    'x1'
    """
    shares, label = _shares(model, "relevance", names)
    parts = list(map(str, shares.columns)), shares.share, shares.std_error
    return SharesDisplay.largest(*parts, most=most, xlabel=label).plot(ax, theme=theme)


def interactions(
    model: BaseEstimator,
    *,
    names: Sequence[str] | None = None,
    most: int = MOST_BARS,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> SharesDisplay:
    """Draw the share of the variance of predictions that involves pairs of columns together.

    Pairs of less than half a per cent are left out.

    Parameters
    ----------
    model : fitted estimator or VarianceShares
        A table model, whose ``interactions()`` are computed; the result of ``interactions()``; or a
        model with learned draws, whose ``interactions_`` are drawn: shares of the mean squares of
        second derivatives.
    names, most, ax, theme
        As in :func:`relevance`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X, X[:, 0] * X[:, 2])
    >>> plot.interactions(model).names[0]
    'x0 × x2'
    """
    shares, label = _shares(model, "interactions", names)
    strong = np.flatnonzero(shares.share >= _LEAST_PAIR)
    pairs = [" × ".join(shares.columns[i]) for i in strong]
    parts = pairs, shares.share[strong], shares.std_error[strong]
    display = SharesDisplay.largest(*parts, most=most, xlabel=label, nothing="no pair")
    return display.plot(ax, theme=theme)


def _shares(model: Any, wanted: str, names: Sequence[str] | None) -> tuple[VarianceShares, str]:
    """Return shares of columns or pairs, and what they are shares of, or raise TypeError."""
    method = "importance" if wanted == "relevance" else wanted
    shares = getattr(model, method)() if hasattr(model, method) else model
    if isinstance(shares, VarianceShares):
        return shares, _VARIANCE
    learned = getattr(model, "relevance_", None)
    if learned is None:
        raise TypeError(
            f"{wanted} takes a fitted table model, VarianceShares, or a model with learned draws, "
            f"got {type(model).__name__}."
        )
    if wanted == "relevance":
        share, label = learned.inclusion, _VARIANCE
        columns: list[Any] = input_names(model, names, len(share))
    else:
        matrix, label = learned.interactions, _CURVATURE
        columns = list(combinations(input_names(model, names, len(matrix)), 2))
        share = 2.0 * matrix[np.triu_indices(len(matrix), 1)]  # Symmetric
    return VarianceShares(tuple(columns), share, np.full(len(share), np.nan)), label


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonDisplay(Display):
    """Errors of methods, from top to bottom, as dots, with standard errors as whiskers."""

    methods: Sequence[str]
    values: Array  # (k,)
    std_error: Array  # (k,), nan if unknown
    xlabel: str = "error"

    def describe(self) -> str:
        shown = zip(self.methods, self.values, strict=True)
        return f"{self.xlabel}: {', '.join(f'{name} {value:.4g}' for name, value in shown)}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=axis_texts.rows_height(len(self.methods)))

    def _draw(self, axes: "Sequence[Axes]", theme: style.Theme) -> None:
        (axis,) = axes
        for row, look in enumerate(style.looks_of(list(self.methods))):
            axis.errorbar(
                self.values[row], row, xerr=np.nan_to_num(self.std_error[row]), color=look.color,
                marker=look.marker, mfc=look.line()["mfc"], ms=4.5, elinewidth=1.2,
            )  # fmt: skip
        axis.margins(x=0.08)
        axis_texts.name_rows(axis, list(self.methods))
        axis_texts.finish(axis, self.xlabel, "", ticks="x")


def comparison(
    results: Mapping[str, object],
    metric: str = "rmse",
    *,
    xlabel: str | None = None,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> ComparisonDisplay:
    """Draw the errors of methods with their standard errors, the best on top.

    Parameters
    ----------
    results : mapping of str to number, sequence of numbers, Score, Outcome or mapping
        Result of each method: the value of the metric; its values on several splits, whose mean and
        standard error are drawn; a score; an outcome with predictions of test rows; or a mapping
        from names of metrics to values, splits or scores. Methods without the metric are left out.
    metric : str, default="rmse"
        Name of the metric, such as ``"rmse"``, ``"log_loss"`` or ``"auc"``.
    xlabel : str, default=None
        Label of the errors; by default the metric's name.
    ax, theme
        As in :func:`predictions`.

    Examples
    --------
    >>> from bochner import plot
    >>> display = plot.comparison({"linear model": [3.0, 5.0], "bochner": [1.0, 2.0]})
    >>> display.methods, display.std_error.tolist()
    (['bochner', 'linear model'], [0.5, 1.0])
    """
    scores = {name: score for name, result in results.items() if (score := _score(result, metric))}
    if not scores:
        raise ValueError(f"No method has the metric {metric!r:.60}: {', '.join(results)}.")
    sign = -1.0 if metric in _GREATER_IS_BETTER else 1.0
    order = sorted(scores, key=lambda name: sign * scores[name].value)
    values, errors = (
        as_array([getattr(scores[name], part) for name in order]) for part in ("value", "std_error")
    )
    label = METRICS.get(metric, metric.replace("_", " ")) if xlabel is None else xlabel
    return ComparisonDisplay(order, values, errors, label).plot(ax, theme=theme)


def _score(result: Any, metric: str) -> Score | None:
    """Return the metric of one method, or None if the method lacks the metric."""
    if isinstance(result, Outcome):
        return result.scores().get(metric)
    if isinstance(result, Mapping):
        return _score(result[metric], metric) if metric in result else None
    if isinstance(result, Score):
        return result
    values = np.atleast_1d(as_array(result))
    if len(values) < 2:
        return Score(float(values[0])) if len(values) else None
    return Score(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))
