"""A summary of a fitted model of a table in HTML, for notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from html import escape
from time import perf_counter
from typing import Any

import numpy as np

from bochner._base.arrays import Array
from bochner.kernels import Matern
from bochner.tables.base_laws import TableLaw
from bochner.tables.encodings import output_names
from bochner.tables.estimator_laws import ResidualLaw
from bochner.tables.sensitivity import VarianceShares
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_FEW_ROWS, _MOST_SECONDS = 64, 0.3
"""Rows for shares of columns, to a fifth, and the seconds in which a summary must appear."""

_TIMED_ROWS = 4
"""Number of background rows that predict the time for all rows, at a sixteenth of the time."""

_MOST_BARS, _MOST_CLASSES = 6, 8
"""Largest numbers of columns with a bar and of named classes, so that the summary fits a screen."""

_MOST_CHARACTERS = 60
"""Largest number of characters of a name: two lines on a phone."""

_LEVEL = 0.9
"""Level of the interval that is described, the default of ``predict_interval``."""

_LEAST_SHARE = 0.005
"""Smallest share that has a bar: it is displayed as one per cent."""

_STYLE = """
.bochner{max-width:46em;box-sizing:border-box;padding:.6em 1em .8em;border:1px solid #8886;
border-radius:.4em;font:.9em/1.5 system-ui,sans-serif;color:inherit;text-align:left}
.bochner .row{display:flex;flex-wrap:wrap;gap:0 1em;margin-top:.35em}
.bochner .key{flex:0 0 8em;opacity:.7}
.bochner .cell{flex:1 1 21em;min-width:0;overflow-wrap:anywhere}
.bochner .bar{display:grid;grid-template-columns:minmax(0,1fr) 26% 3em;gap:.8em;align-items:center}
.bochner .track{height:.55em;border-radius:.2em;background:#8883}
.bochner .part{display:block;height:100%;border-radius:.2em;background:#4a8fc7}
.bochner .size{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.bochner .note{opacity:.7;font-size:.9em}
"""
"""Text has the colour of the page and greys are transparent, for light and dark pages."""


def html_summary(model: Any) -> str:
    """Return self-contained HTML with facts about the fit and bars of columns' importance."""
    states = model.encoder_.columns_
    kinds = Counter(state["kind"] if output_names(state) else "not used" for state in states)
    counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    table = f"{model.record_['n_samples']:,} rows; columns: {counts}"
    rows = {"predicts": _text(_predicted(model)), "fitted to": _text(table)}
    if (score := getattr(model, "score_", None)) is not None:
        error = "log loss" if hasattr(model, "classes_") else "root mean square error"
        scores = ", ".join(f"{value:.4g}" for value in np.ravel(score))
        rows["expected error"] = _text(f"{scores} ({error} of new rows, from rows left out)")
    rows["calibration"] = _text(_calibration(model))
    rows["weights of laws"] = _kernels(model)
    if (shares := _shares_in_time(model)) is not None:
        n_bars = min(_MOST_BARS, int(np.sum(shares.share >= _LEAST_SHARE)))
        bars = _bars(shares.columns[:n_bars], shares.share[:n_bars])
        note = f"Shares of the variance of predictions, from {_FEW_ROWS} rows; see importance()."
        rows["importance"] = f'{bars}<div class="note">{_text(note)}</div>'
    lines = (
        f'<div class="row"><div class="key">{key}</div><div class="cell">{cell}</div></div>'
        for key, cell in rows.items()
    )
    head = f"<strong>{_text(type(model).__name__)}</strong>"
    return f'<style>{_STYLE}</style><div class="bochner">{head}{"".join(lines)}</div>'


def _predicted(model: Any) -> str:
    target = f" of {_short(model.record_['target'])}" if "target" in model.record_ else ""
    classes = getattr(model, "classes_", None)
    if classes is None:
        n_targets = np.size(model._output_unit())
        return f"{n_targets} targets" if n_targets > 1 else f"numbers{target}"
    named = ", ".join(map(_short, classes[:_MOST_CLASSES]))
    ellipsis = ", ..." if len(classes) > _MOST_CLASSES else ""
    return f"{len(classes)} classes{target}: {named}{ellipsis}"


def _calibration(model: Any) -> str:
    """Return the calibration of intervals or probabilities in words."""
    head = model.head_
    if isinstance(head, SoftmaxOfLaws):
        return "probabilities fitted to rows left out"
    law = head.law
    ends = law.quantiles(np.array([0.5 - 0.5 * _LEVEL, 0.5 + 0.5 * _LEVEL]))
    relative = (ends / np.expand_dims(law.std, -1)).reshape(-1, 2)
    widths = " and ".join(f"{lower:.2f} to +{upper:.2f}" for lower, upper in relative)
    return (
        f"{_LEVEL:.0%} intervals of {widths} standard deviations, from errors at "
        f"{len(head.scores):,} rows left out"
    )


def _kernels(model: Any) -> str:
    head = model.head_
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    weights = weights.reshape(len(weights), -1).mean(axis=1)
    shares = weights / max(float(weights.sum()), np.finfo(np.float64).tiny)
    widths = [len(encoder.get_feature_names_out()) for encoder in model._encoders()[:2]]
    order = [i for i in np.argsort(-shares, kind="stable") if shares[i] > 0.0]
    names = [_kernel(head.laws.members[i], widths) for i in order]
    return _bars(names, shares[order])


def _kernel(law: TableLaw, widths: Sequence[int]) -> str:
    """Return the name of a kernel and its inputs, given the column counts of both encodings."""
    if isinstance(law, ResidualLaw):
        return law.kind
    kernel, first, last = law.found.kernel, law.columns.min(), law.columns.max()
    name = f"{type(kernel).__name__}{f' {kernel.nu:g}' if isinstance(kernel, Matern) else ''}"
    inputs, width = "both encodings", sum(widths)
    if last < widths[0]:
        inputs, width = "standardised", widths[0]
    elif first >= widths[0]:
        inputs, width = "normal quantiles", widths[1]
    trends = ", without trends" if len(law.columns) < width else ""
    mapped = "" if law.found.matrix is None else ", linear map"
    return f"{name}, {inputs}{trends}{mapped}"


def _shares_in_time(model: Any) -> VarianceShares | None:
    """Return importance computed on few rows, or None if it would take long."""
    dependence_of_all = model._dependence(model._output_unit())
    dependence, few = (
        replace(dependence_of_all, X=dependence_of_all.X[:count])
        for count in (_FEW_ROWS, _TIMED_ROWS)
    )
    few.importance()  # Compiles and prepares, which is needed once for all rows
    began = perf_counter()
    few.importance()
    seconds = (perf_counter() - began) * len(dependence.X) / len(few.X)
    return dependence.importance() if seconds < _MOST_SECONDS else None


def _bars(names: Iterable[object], shares: Array) -> str:
    """Return a line with a bar for each name."""
    return "".join(
        f'<div class="bar"><span title="{_text(name)}">{_text(_short(name))}</span>'
        f'<span class="track"><span class="part" style="width:{min(share, 1.0):.0%}"></span></span>'
        f'<span class="size">{share:.0%}</span></div>'
        for name, share in zip(names, shares, strict=True)
    )


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."


def _text(text: object) -> str:
    """Return text with escaped HTML markup."""
    return escape(str(text), quote=True)
