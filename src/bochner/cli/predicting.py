"""`bochner predict`: predictions of a table as CSV."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from rich.console import Console
from sklearn.base import BaseEstimator

from bochner._base.arrays import Array, as_array
from bochner._base.number_texts import counted
from bochner.cli.model_files import Fresh, fitted_rows, load_model, read_for, target_names
from bochner.cli.options import fraction, fraction_option
from bochner.cli.output import check_csv_output, is_standard_output, plain_text, write_csv
from bochner.comparison.outcomes import METRICS, Outcome
from bochner.comparison.study import Model, own_outcomes
from bochner.comparison.verdict import metric_text
from bochner.files.errors import InputError
from bochner.tables.table_classifier import TableClassifier
from bochner.tables.table_regressor import TableRegressor

_SHARE_OF_ERROR, _FEWEST_DIGITS, _MOST_DECIMALS = 2, 4, 300
"""Power of ten by which rounding is finer than the expected error, so that it adds less than 0.5 %
of it; digits of any number; and decimals of doubles, after which they are zero."""

_PROBABILITY_DECIMALS = 6
"""Decimals of probabilities: the rows of a million are still ranked."""


def predict_table(options: SimpleNamespace) -> None:
    """Write predictions as CSV to a file or standard output, and errors to standard error."""
    interval, out = options.interval, options.out
    level = None if interval is None else fraction_option("--interval", interval)
    check_csv_output(out, options.model, options.file)
    model = load_model(options.model)
    fresh = read_for(model, options)
    predicted = _predictions(model, fresh.features, level, options)
    predictions = pd.concat([_kept(model, fresh, options.keep, predicted), predicted], axis=1)
    write_csv(predictions, out, is_safe=options.safe_csv)
    messages = Console(stderr=True, soft_wrap=True)
    if out is not None and not is_standard_output(out):
        messages.print(plain_text(f"Table  {out}: {counted(len(predictions), 'row')}"))
    for line in (*fresh.notes, *_scored(model, fresh)):
        messages.print(plain_text(line))


def _kept(model: Model, fresh: Fresh, keep: str, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of the input table that precede the predictions in the output."""
    identity = model.record_.get("id", "")
    names = list(fresh.frame.columns) if keep == "all" else []
    if keep == "id" and identity in fresh.frame.columns:
        names = [identity]
    if clashing := [name for name in names if name in predicted.columns]:
        raise InputError(
            f"--keep {keep} keeps a column {clashing[0]!r}, which predictions have, too: rename "
            "it, or use --keep none."
        )
    return fresh.frame[names].reset_index(drop=True)


def _scored(model: Model, fresh: Fresh) -> list[str]:
    """Return sentences on the errors of each target, if the table contains targets."""
    if fresh.targets is None or len(fresh.rows_with_targets) < 2:
        return []
    note, is_fitted = fitted_rows(model, fresh)
    lines = []
    outcomes = own_outcomes(model, fresh.split(model))
    for name, of_target in zip(target_names(model), outcomes, strict=True):
        (outcome,) = of_target.values()
        lines.append(
            f"Errors at {len(fresh.rows_with_targets):,} rows with {name!r}: {_errors(outcome)}."
        )
        if new_rows := of_new_rows(outcome, fresh, is_fitted):
            lines.append(
                f"Of these, {len(new_rows.y):,} rows were not fitted: {_errors(new_rows)}."
            )
    return [*lines, note] if note else lines


def of_new_rows(
    outcome: Outcome, fresh: Fresh, is_fitted: NDArray[np.bool_] | None
) -> Outcome | None:
    """Return the outcome of the rows that were not used in the fit; None for fewer than two."""
    if is_fitted is None:
        return None
    rows = np.flatnonzero(~is_fitted[fresh.rows_with_targets])
    return outcome.part(rows) if len(rows) > 1 else None


def _errors(outcome: Outcome) -> str:
    scores = outcome.scores()
    return ", ".join(f"{METRICS[n]} {metric_text(n, scores[n])}" for n in outcome.metrics)


def _predictions(
    model: BaseEstimator, frame: pd.DataFrame, level: float | None, options: SimpleNamespace
) -> pd.DataFrame:
    if isinstance(model, TableClassifier):
        for name in ("interval", "quantiles"):
            if getattr(options, name) not in (False, None):
                raise InputError(
                    f"--{name} is for regression, and this model classifies: leave it out; the "
                    "columns that begin with 'p_' are the probabilities of the classes."
                )
        probability = model.predict_proba(frame).round(_PROBABILITY_DECIMALS)
        columns = {"prediction": model.classes_[probability.argmax(axis=1)]}
        named = zip(model.classes_, probability.T, strict=True)
        return pd.DataFrame(columns | {f"p_{name}": values for name, values in named})
    assert isinstance(model, TableRegressor)  # The only other kind of table model
    columns = {"prediction": np.asarray(model.predict(frame))}
    if level is not None:
        ends = model.predict_interval(frame, level)
        columns |= zip(("lower", "upper"), ends, strict=True)
    if options.quantiles is not None:
        levels = _levels(options.quantiles)
        quantiles = model.predict_quantiles(frame, list(levels.values()))
        columns |= {f"q{level}": quantiles[..., i] for i, level in enumerate(levels)}
    columns = {name: rounded(values, model.score_) for name, values in columns.items()}
    if not np.ndim(model.target_mean_):
        return pd.DataFrame(columns)
    targets = enumerate(target_names(model))
    return pd.DataFrame(
        {f"{name}_{kind}": values[:, i] for i, name in targets for kind, values in columns.items()}
    )


def rounded(values: Array, error: ArrayLike) -> Array:
    """Round numbers (n,) or (n, t) to a hundredth of an error () or (t,), and to four digits.

    >>> rounded(np.array([28.817982, 0.00123456, 1234567.8]), 1.4).tolist()
    [28.82, 0.001235, 1234567.8]
    """
    tiny = np.finfo(np.float64).tiny
    sizes = np.where(values, np.abs(values), 1.0)
    powers = np.log10(np.maximum([np.broadcast_to(error, values.shape), sizes], tiny))
    digits = np.array([_SHARE_OF_ERROR, _FEWEST_DIGITS - 1]).reshape(2, *[1] * values.ndim)
    decimals = np.clip((digits - np.floor(powers)).max(axis=0), 0, _MOST_DECIMALS)
    texts = map("{:.{}f}".format, values.ravel().tolist(), decimals.ravel().astype(int).tolist())
    return as_array(list(map(float, texts))).reshape(values.shape)


def _levels(text: str) -> dict[str, float]:
    """Parse comma-separated levels; numbers of one or more are per cent."""
    try:
        levels = {level.strip(): fraction(float(level)) for level in text.split(",")}
    except ValueError:
        levels = {}
    if not levels or not all(0.0 < level < 1.0 for level in levels.values()):
        raise InputError(
            f"--quantiles must be numbers between 0 and 1, separated by commas, such as "
            f"0.1,0.5,0.9, or per cent, such as 10,50,90, got {text!r}."
        )
    return levels
