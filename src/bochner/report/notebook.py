"""Reports on given test rows, shown in notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from bochner._base.checks import check_targets, labels, numbers
from bochner._base.file_writing import as_path, replacing
from bochner._base.frames import as_frame
from bochner._base.number_texts import counted
from bochner.comparison.split import Split
from bochner.comparison.study import Model, Study, own_outcomes, studies_of, table_facts
from bochner.report.page import html
from bochner.tables.table_classifier import TableClassifier

_HEIGHT = 720
"""Pixels of the frame that a notebook shows: most of a laptop's screen."""


@dataclass(frozen=True, eq=False)
class Report:
    """A report on a fitted model, which notebooks show and :meth:`save` writes.

    ``studies`` are the studies in the report, one for each target, and ``html`` is the page.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
    >>> report = model.report(X[400:], y[400:])
    >>> len(report.studies), report.html[-8:].strip()
    (1, '</html>')
    """

    studies: Sequence[Study] = field(repr=False)
    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page into a file, which it replaces once it is complete."""
        with replacing(as_path(path)) as fresh:
            fresh.write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return a frame with the page, so that its styles do not change the notebook's."""
        return (
            f'<iframe title="Report" srcdoc="{escape(self.html)}" '
            f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8886" '
            'sandbox="allow-scripts allow-popups"></iframe>'
        )


def report_of(model: Model, X: Any, y: object) -> Report:
    """Return a report on a fitted model and rows with known targets.

    Parameters
    ----------
    model : TableRegressor or TableClassifier
    X : table or array-like of shape (n, d)
        Rows, preferably rows that were not used to fit the model.
    y : array-like of shape (n,) or (n, t)
        Targets of the rows; a Series or a DataFrame also gives their names.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If there are no rows, or if a row has no target that the model can predict.
    """
    check_is_fitted(model, "head_")
    X = as_frame("X", X)
    is_class = isinstance(model, TableClassifier)
    targets = np.asarray(labels(y) if is_class else numbers(y))
    if targets.shape[:1] != (len(X),) or not len(targets):
        raise ValueError(
            f"y must have one entry for each of the {len(X)} rows of X, at least one, got shape "
            f"{targets.shape}."
        )
    if is_class and (unknown := np.setdiff1d(targets, model.classes_)).size:
        raise ValueError(f"y has the class {unknown[0]!r}, which the model does not know.")
    if not is_class:
        if not np.isfinite(targets).all():
            raise ValueError("y must be finite; some entries are infinite or missing. Drop them.")
        check_targets(targets)
    rows = counted(len(targets), "row")
    split = Split(X, targets, X, targets, "classification" if is_class else "regression")
    importance, interactions = model.importance(), model.interactions()
    studies = studies_of(
        model,
        _names(model, y, targets),
        table_facts(_frame(X, model), "The data frame"),
        split,
        own_outcomes(model, split),
        importance=importance,
        interactions=interactions,
        kind="file",
        reason=f"Predictions are compared with known targets of {rows}.",
        record={"call": "model.report(X, y)"},
        row_names=[f"row {label}" for label in getattr(X, "index", ())],
    )
    return Report(studies, html(studies))


def _names(model: Model, y: object, targets: np.ndarray) -> list[str]:
    """Return the names of the targets, taken from ``y`` or else from the fit."""
    count = 1 if targets.ndim == 1 else targets.shape[1]
    if count == 1 and targets.ndim == 1:
        series_name = getattr(y, "name", None)
        named = (
            [series_name] if series_name is not None else [model.record_.get("target", "target")]
        )
    else:
        named = list(getattr(y, "columns", model.record_.get("target", ())))
    names = [str(name) for name in named if isinstance(name, str)]
    return names if len(names) == count else [f"target {number}" for number in range(count)]


def _frame(X: Any, model: Model) -> pd.DataFrame:
    """Return a table as a pandas frame."""
    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "columns"):
        return pd.DataFrame({str(name): X[name].to_numpy() for name in X.columns})
    array = np.asarray(X)
    return pd.DataFrame({f"x{i}": column for i, column in enumerate(array.T)})
