"""`bochner explain`: shows a model file, or contributions of columns to predictions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bochner._base.arrays import Array
from bochner._base.file_writing import replacing
from bochner._base.number_texts import entry, number, percent
from bochner.cli.json_documents import shares_record
from bochner.cli.model_files import Fresh, load_any, load_model, read_for, target_names
from bochner.cli.output import (
    cells_table,
    check_outputs,
    facts_table,
    is_standard_output,
    plain_text,
    print_blocks,
    reporting,
    write_csv,
    write_json,
)
from bochner.cli.screen import print_shares, share_blocks
from bochner.cli.stored_summary import print_summary
from bochner.comparison.forecast_words import model_facts, shown_times
from bochner.comparison.outcomes import METRICS, SHARES
from bochner.comparison.study import Model, shares_of
from bochner.comparison.verdict import FUNCTIONS
from bochner.files.columns import read_column
from bochner.files.errors import InputError
from bochner.plot.style import RASTER_DPI
from bochner.series.forecaster import Forecaster
from bochner.tables.contributions import Contributions
from bochner.tables.sensitivity import Effect, VarianceShares
from bochner.tables.table_model import TableModel
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_MOST_COLUMNS = 10
"""Largest number of columns whose contributions to a prediction are listed."""

_VALUE_LETTERS = 24
"""Letters of an entry, next to which the name of its column fits a line of 80."""

_ROWS = 50
"""Number of rows that are sampled for mean absolute contributions, to take a few seconds."""


_VALUES, _LINE = 16, 30
"""Most values of an effect, which fit a screen, and characters of its drawing in a line of 80."""

_NOT_SHOWN = ("fingerprint", "layout", "summary")
"""Facts of a fit that are for the commands only."""

_KINDS = {
    "numeric": "numbers",
    "date": "dates",
    "text": "text",
    "constant": "constant, not used",
    "empty": "empty, not used",
    "identifier": "identifiers, not used",
}
"""Display names for the kinds of encoded columns."""

_TESTED = ("rmse", "mae", "coverage", "log_loss", "error")
"""Labels of the test errors in the summary of a model, by their keys in the record."""


def explain_model(options: SimpleNamespace) -> None:
    """Show a model file, one effect, or contributions of columns to predictions of a table."""
    if options.file is not None:
        if options.column or options.plot:
            raise InputError("--column shows the effect in the model: leave out the table.")
        explain_table(options)
        return
    if options.row:
        raise InputError("--row is for predictions of a table: name its FILE after the model.")
    if options.plot and not options.column:
        raise InputError("--plot draws the effect of a column: give its name as --column.")
    if options.out and not options.column:
        raise InputError("--out needs --column, or a table after the model.")
    model = load_any(options.model)
    if isinstance(model, Forecaster):
        if options.column or options.as_json:
            raise InputError("--column and --json are for models of tables, not of series.")
        Console().print(facts_table({"model": "Forecaster", **series_facts(model)}))
    elif options.column:
        _explain_column(model, options)
    elif options.as_json:
        facts = {key: value for key, value in model.record_.items() if key not in _NOT_SHOWN}
        shares = {name: shares_record(each) for name, each in shares_of(model).items()}
        write_json({"model": str(options.model), "record": facts, **shares})
    else:
        blocks = summary_blocks(model, *shares_of(model).values())
        print_summary(options.model, blocks)


def summary_blocks(
    model: TableModel, importance: VarianceShares, pairs: VarianceShares | None
) -> list[Table | Text]:
    """Return tables and sentences on a model, the first of which are its facts."""
    return [*contents(model), *share_blocks(importance, pairs)]


def _explain_column(model: TableModel, options: SimpleNamespace) -> None:
    """Print the effect of one column, or write it as CSV, picture or JSON."""
    check_outputs({"table": options.out, "picture": options.plot}, options.model)
    effect = model.effect(options.column, n_values=_VALUES)
    if options.plot is not None:
        form = options.plot.suffix[1:].lower() or "png"
        about = {"Software" if form == "png" else "Creator": "bochner"}
        with replacing(options.plot) as file:
            effect.plot().figure_.savefig(file, format=form, dpi=RASTER_DPI, metadata=about)
    if options.out is not None:
        inputs = [state["name"] for state in model.encoder_.columns_]
        write_csv(effect.to_frame(), options.out, inputs=inputs)
    if options.as_json:
        points = effect.to_frame().to_json(orient="records", date_format="iso")
        write_json({"model": str(options.model), "effect": json.loads(points)})
    elif not is_standard_output(options.out):
        Console().print(_effect_table(effect, target_names(model)))


def _effect_table(effect: Effect, targets: Sequence[str]) -> Table:
    """Return averages and quartiles by values of a column, each row with a drawing."""
    heading, rows = effect.cells()
    parts, ends = effect.mean, effect.mean
    if effect.classes is None:
        heading, ends = [heading[0], f"average {targets[0]}", "lower", "upper"], effect.lower
    elif len(effect.classes) == 2:  # The second class is drawn
        parts = ends = effect.mean[:, 1]
    if parts.ndim == 1:
        upper = effect.upper if effect.classes is None else parts
        low, high = float(min(parts.min(), ends.min())), float(max(parts.max(), upper.max()))
        lines = [_drawn(*row, low, high) for row in zip(ends, parts, upper, strict=True)]
        start = number(low)
        heading = [*heading, f"{start}{number(high):>{_LINE - len(start)}}"]
        rows = [[*row, line] for row, line in zip(rows, lines, strict=True)]
    table = cells_table(heading, rows)
    table.columns[-1].justify = "left" if parts.ndim == 1 else "right"  # Keeps trailing spaces
    return table


def _drawn(lower: float, mean: float, upper: float, low: float, high: float) -> str:
    """Return a line of characters from ``low`` to ``high`` with a mean between two quartiles."""
    scale = (_LINE - 1) / (high - low or 1.0)
    first, place, last = (round((value - low) * scale) for value in (lower, mean, upper))
    line = [" "] * _LINE
    line[first : last + 1] = "-" * (last + 1 - first)
    line[place] = "o"
    return "".join(line)


def explain_table(options: SimpleNamespace) -> None:
    """Show or write the contributions of columns to the predictions of rows."""
    check_outputs({"table": options.out}, options.model, options.file)
    writes_rows = is_standard_output(options.out)  # Standard output then holds the CSV table only
    if writes_rows and options.as_json:
        raise InputError("--json and --out - both write standard output: give one of them.")
    with reporting() as progress:
        progress(f"reading {options.file}")
        model = load_model(options.model)
        fresh = read_for(model, options)
        rows = _chosen(len(fresh.features), options)
        progress(f"explaining {len(rows)} predictions")
        contributions = model.contributions(fresh.features.iloc[rows], random_state=0)
    if options.out is not None:
        write_csv(_frame(model, contributions, rows), options.out)
        if writes_rows:
            return
    if options.as_json:
        write_json(_record(model, options.model, contributions, rows))
        return
    console = Console()
    if options.row:
        for place, row in enumerate(rows):
            _print_row(console, model, fresh, contributions, place, int(row))
    else:
        print_shares(console, *shares_of(model).values())
        command = f"bochner explain {options.model} {options.file} --row 1"
        print_blocks(console, plain_text(f"For single predictions: {command}"))
    if options.out is not None:
        console.print(plain_text(f"Wrote {options.out}"))


def _chosen(n_rows: int, options: SimpleNamespace) -> Any:
    """Return the indices, counted from 0, of the rows to explain."""
    if not options.row:
        most = n_rows if options.out is not None else _ROWS
        return np.sort(np.random.default_rng(0).permutation(n_rows)[:most])
    if wrong := [row for row in options.row if not 1 <= row <= n_rows]:
        raise InputError(
            f"--row {wrong[0]} is not in the table, which has {n_rows} rows, counting from 1 below "
            "the header."
        )
    return np.array(options.row) - 1


def _outputs(model: Model) -> list[str]:
    """Return the names of the model's outputs: the classes, or the targets."""
    if hasattr(model, "classes_"):
        return [str(label) for label in model.classes_]
    return target_names(model)


def _print_row(
    console: Console, model: Model, fresh: Fresh, contributions: Contributions, place: int, row: int
) -> None:
    """Print the contributions to one prediction, the largest first."""
    values, errors, predictions, bases = _by_output(contributions)
    is_classes = hasattr(model, "classes_")
    # For two classes the second suffices; for more, the predicted class is most informative.
    shown = [int(np.argmax(predictions[place]))] if is_classes else range(len(bases))
    for output in shown:
        name = repr(_outputs(model)[output])
        name = f"the probability of {name}" if is_classes else name
        text = (
            f"Row {row + 1}: {name} is predicted as {number(predictions[place, output])}; the "
            f"average prediction is {number(bases[output])}."
        )
        console.print(plain_text(text, "bold"))
        sizes, std_errors = values[place, :, output], errors[place, :, output]
        order = np.argsort(-np.abs(sizes), kind="stable")
        n_shown = len(order) if len(order) <= _MOST_COLUMNS + 1 else _MOST_COLUMNS
        cells = [
            (
                contributions.columns[i],
                _entry(fresh.features[contributions.columns[i]], row),
                _signed(sizes[i]),
                number(std_errors[i], 2) if std_errors[i] > 0.0 else "exact",
            )
            for i in order[:n_shown]
        ]
        if n_others := len(order) - n_shown:
            rest = float(sizes[order[n_shown:]].sum())
            cells.append((f"{n_others} more together", "", _signed(rest), ""))
        console.print(cells_table(("column", "value", "contribution", "std error"), cells))
        console.print()


def _by_output(contributions: Contributions) -> tuple[Array, Array, Array, Array]:
    """Return contributions and their errors (n, d, t), predictions (n, t) and averages (t,)."""
    n, d = contributions.values.shape[:2]
    values, errors = (
        part.reshape(n, d, -1) for part in (contributions.values, contributions.std_error)
    )
    return values, errors, contributions.prediction.reshape(n, -1), np.ravel(contributions.base)


def _entry(series: pd.Series, row: int) -> str:
    column = read_column(str(series.name), series.iloc[[row]])
    if not column.present[0]:
        return "missing"
    if column.is_time_of_day and column.clock is not None:
        return str(column.clock[0]).split("T")[1].split(".")[0]
    if column.kind == "date":
        return shown_times(pd.DatetimeIndex(column.wall_times()))[0]
    raw = column.raw[0]
    if column.kind != "numeric" or isinstance(raw, bool | np.bool_):
        text = str(raw)
        return text if len(text) <= _VALUE_LETTERS else f"{text[: _VALUE_LETTERS - 1]}…"
    return entry(float(column.values[0]))


def _signed(value: float) -> str:
    return f"{'+' if value > 0.0 else ''}{number(value)}"


def _frame(model: Model, contributions: Contributions, rows: object) -> pd.DataFrame:
    """Return a data frame of contributions, one row per table row and model output."""
    names, parts = _outputs(model), []
    values, _, predictions, bases = _by_output(contributions)
    for output, name in enumerate(names):
        part = pd.DataFrame(values[..., output], columns=list(contributions.columns))
        part.insert(0, "prediction", predictions[:, output])
        part.insert(0, "average", bases[output])
        if len(names) > 1:
            part.insert(0, "output", name)
        part.insert(0, "row", np.asarray(rows) + 1)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _record(model: Model, path: Path, contributions: Contributions, rows: Any) -> dict[str, object]:
    """Return the dictionary that `bochner explain --json` prints."""
    values, errors, predictions, bases = _by_output(contributions)
    return {
        "model": str(path), "outputs": _outputs(model), "columns": list(contributions.columns),
        "average": bases.tolist(),
        "rows": [
            {"row": int(row) + 1, "prediction": predictions[place].tolist(),
             "contributions": values[place].T.tolist(), "std_errors": errors[place].T.tolist()}
            for place, row in enumerate(rows)
        ],
    }  # fmt: skip


def contents(model: TableModel) -> list[Table]:
    """Return display tables: summary of the model, its kernels, and the kinds of its columns."""
    kinds = {
        state["name"]: _KINDS.get(state["kind"], state["kind"]) for state in model.encoder_.columns_
    }
    return [_card(model), _laws_table(model.head_), cells_table(("column", "kind"), kinds.items())]


def _card(model: TableModel) -> Table:
    """Return a summary of a table model: target, training data and test scores."""
    record = model.record_
    target = record.get("target", "unknown")
    named = target if isinstance(target, str) else ", ".join(target)
    source = f" of {record['source']}" if "source" in record else ""
    facts = {
        "model": type(model).__name__,
        "target": named,
        "rows": f"{record['n_samples']:,}{source}",
    }
    roles = {"weight": "weights", "group": "groups", "time": "times", "id": "names of rows"}
    facts |= {role: str(record[name]) for name, role in roles.items() if name in record}
    if record.get("dropped"):
        facts["left out"] = ", ".join(record["dropped"])
    tested = [
        f"{METRICS[key]} {_shown(record[f'test_{key}'], is_share=key in SHARES)}"
        for key in _TESTED
        if f"test_{key}" in record and not (key == "error" and "test_rmse" in record)
    ]
    if tested:
        before = ", before the fit to all rows" if record.get("refitted") else ""
        facts["tested"] = f"on {record['n_test_samples']:,} rows{before}: {', '.join(tested)}"
    if (score := getattr(model, "score_", None)) is not None:
        metric = "log loss" if hasattr(model, "classes_") else "RMSE"
        facts["expected"] = f"{metric} {_shown(score)} on new rows, from rows left out of the fit"
    if hasattr(model, "classes_"):
        facts["classes"] = ", ".join(map(str, model.classes_))
    return facts_table(facts)


def _shown(values: ArrayLike, *, is_share: bool = False) -> str:
    """Return one or several numbers, or shares of rows, as text."""
    shown = partial(percent, digits=1) if is_share else number
    return ", ".join(shown(float(value)) for value in np.ravel(values))


def series_facts(model: Forecaster) -> dict[str, str]:
    """Return a display table of the seasons, trends and transformation of each series."""
    facts: dict[str, str] = {}
    for name, series in model.series_.items():
        before, law = "" if model.is_single_ else f"{name}: ", series.law
        facts |= {f"{before}{head.lower()}": text for head, text in model_facts(series).items()}
        sizes = [f"{each.name} {number(each.std, 3)}" for each in law.periods()]
        if sizes:
            facts[f"{before}standard deviation"] = ", ".join(sizes)
    return facts


def _laws_table(head: SumOfLaws | SoftmaxOfLaws) -> Table:
    """Return a display table of the kernels in a sum, with their weights."""
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    rows = zip(head.laws.members, weights, strict=True)
    cells = [
        (FUNCTIONS.get(law.name, law.name), law.kind, f"{len(law.columns):,}", _shown(weight))
        for law, weight in rows
    ]
    return cells_table(("functions", "kernel", "inputs", "weight"), cells)
