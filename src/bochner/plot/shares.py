"""Bars of the columns, and of the pairs of columns, that predictions depend on."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array
from bochner._base.arrays import as_array as as_numbers
from bochner.plot.display import Display, PanelLayout
from bochner.plot.model_inputs import input_names
from bochner.plot.style import MODEL, Theme
from bochner.plot.text_labels import finish, name_rows, per_cent, rows_height
from bochner.tables.sensitivity import VarianceShares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 20
"""Most rows of bars: a picture of one column's width is then about as high as wide."""

_LEAST_PAIR = 0.005
"""Least share of a pair that gets a bar; a smaller bar would be invisible."""

_VARIANCE, _CURVATURE = "share of variance (%)", "share of squared second derivatives (%)"


@dataclass(frozen=True, slots=True, eq=False)
class SharesDisplay(Display):
    """Base of bars of shares, the largest on top."""

    names: Sequence[str]
    share: Array
    std_error: Array | None = None
    n_left_out: int = 0
    share_left_out: float = 0.0
    xlabel: str = _VARIANCE

    @classmethod
    def largest(
        cls,
        names: Sequence[str],
        share: Array,
        std_error: Array | None = None,
        *,
        most: int = MOST_BARS,
        xlabel: str = _VARIANCE,
    ) -> Self:
        """Return the largest of k shares, and the sum of the remaining shares."""
        order = np.argsort(-share, kind="stable")
        shown_order = order if len(order) <= most else order[: most - 1]
        merged_order = order[len(shown_order) :]
        errors = None if std_error is None else std_error[shown_order]
        shown = [names[i] for i in shown_order]
        return cls(
            shown,
            share[shown_order],
            errors,
            len(merged_order),
            float(share[merged_order].sum()),
            xlabel,
        )

    @abstractmethod
    def _nothing(self) -> str:
        """Return the text shown if there are no bars."""

    def describe(self) -> str:
        shown = zip(self.names, self.share, strict=True)
        parts = ", ".join(f"{name} {100.0 * share:.1f} %" for name, share in shown)
        return f"{self.xlabel.removesuffix(' (%)').capitalize()}: {parts or self._nothing()}."

    def _layout(self) -> PanelLayout:
        return PanelLayout(height=rows_height(len(self._rows())))

    def _rows(self) -> list[str]:
        if not self.n_left_out:
            return list(self.names) or [self._nothing()]
        most = per_cent(min(self.share_left_out, 1.0))
        return [*self.names, f"{self.n_left_out} more, together ≤ {most}"]

    def _draw(self, axes: "Sequence[Axes]", theme: Theme) -> None:
        (axis,) = axes
        places, bars = np.arange(len(self.names)), 100.0 * self.share
        axis.barh(places, bars, height=0.7, color=MODEL, alpha=0.85)
        if self.std_error is not None:
            error = 100.0 * np.nan_to_num(self.std_error)
            axis.errorbar(bars, places, xerr=error, fmt="none", ecolor=theme.ink, elinewidth=0.9)
        name_rows(axis, self._rows())
        if self.n_left_out:
            axis.get_yticklabels()[-1].set_fontstyle("italic")
        axis.set_xlim(0.0, axis.get_xlim()[1] if bars.any() else 1.0)
        finish(axis, self.xlabel, "", ticks="x")


class RelevanceDisplay(SharesDisplay):
    """Bars of the columns that predictions depend on, the largest on top.

    :func:`bochner.plot.relevance` returns it, and has an example.

    Parameters
    ----------
    names : sequence of k str
        Names of the columns.
    share : ndarray of shape (k,)
        Shares of the columns, as fractions and not in per cent.
    std_error : ndarray of shape (k,) or None, default=None
        Standard errors; ``nan`` where unknown.
    n_left_out : int, default=0
        Number of further columns, which are mentioned in a line.
    share_left_out : float, default=0.0
        Sum of their shares, an upper bound of their joint share.
    xlabel : str, default="share of variance (%)"
    """

    __slots__ = ()

    def _nothing(self) -> str:
        return "no column"


class InteractionsDisplay(SharesDisplay):
    """Bars of the pairs of columns that act together, the largest on top.

    :func:`bochner.plot.interactions` returns it, and has an example.

    Parameters
    ----------
    names : sequence of k str
        Names of the pairs, such as ``"hour × day"``.
    share, std_error, n_left_out, share_left_out, xlabel
        As in :class:`RelevanceDisplay`.
    """

    __slots__ = ()

    def _nothing(self) -> str:
        return "no pair"


def relevance(
    model: BaseEstimator,
    *,
    names: Sequence[str] | None = None,
    most: int = MOST_BARS,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> RelevanceDisplay:
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
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; ``None`` means a new figure.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    display : RelevanceDisplay

    Raises
    ------
    TypeError
        If the model has neither ``importance()`` nor ``relevance_``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = TableRegressor("gaussian", 64, random_state=0).fit(X, X[:, 1])
    >>> plot.relevance(model).names[0]
    'x1'
    """
    shares = model.importance() if hasattr(model, "importance") else model
    if isinstance(shares, VarianceShares):
        parts = [str(column) for column in shares.columns], shares.share, shares.std_error
        return RelevanceDisplay.largest(*parts, most=most).plot(ax, theme=theme)
    learned = _learned_relevance(model, "relevance")
    all_names = input_names(model, names, len(learned.inclusion))
    display = RelevanceDisplay.largest(all_names, learned.inclusion, most=most)
    return display.plot(ax, theme=theme)


def interactions(
    model: BaseEstimator,
    *,
    names: Sequence[str] | None = None,
    most: int = MOST_BARS,
    ax: "Axes | Sequence[Axes] | None" = None,
    theme: str = "light",
) -> InteractionsDisplay:
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

    Returns
    -------
    display : InteractionsDisplay

    Raises
    ------
    TypeError
        If the model has neither ``interactions()`` nor ``relevance_``.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import TableRegressor, plot
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> model = TableRegressor("gaussian", 128, random_state=0).fit(X, X[:, 0] * X[:, 2])
    >>> plot.interactions(model).names[0]
    'x0 × x2'
    """
    shares = model.interactions() if hasattr(model, "interactions") else model
    label = _VARIANCE
    if isinstance(shares, VarianceShares):
        pairs = [" × ".join(pair) for pair in shares.columns]
        share, error = shares.share, shares.std_error
    else:
        matrix = _learned_relevance(model, "interactions").interactions
        all_names = input_names(model, names, len(matrix))
        first, second = np.triu_indices(len(matrix), 1)
        pairs = [f"{all_names[i]} × {all_names[j]}" for i, j in zip(first, second, strict=True)]
        share, error = 2.0 * matrix[first, second], np.full(len(first), np.nan)  # Both entries
        label = _CURVATURE
    strong = np.flatnonzero(share >= _LEAST_PAIR)
    shown = [pairs[i] for i in strong], as_numbers(share[strong]), error[strong]
    display = InteractionsDisplay.largest(*shown, most=most, xlabel=label)
    return display.plot(ax, theme=theme)


def _learned_relevance(model: BaseEstimator, wanted: str) -> Any:
    learned = getattr(model, "relevance_", None)
    if learned is None:
        raise TypeError(
            f"{wanted} takes a fitted table model, VarianceShares, or a model with learned draws, "
            f"got {type(model).__name__}."
        )
    return learned
