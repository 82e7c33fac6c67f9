"""Screen output of studies: the table, the verdict, errors, calibration and columns."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bochner._base.number_texts import counted, percent
from bochner.cli.output import cells_table, plain_text, print_blocks
from bochner.comparison.contenders import OURS
from bochner.comparison.outcomes import METRICS, OF_CLASSES, OF_NUMBERS, Outcome
from bochner.comparison.study import Study, TableFacts
from bochner.comparison.verdict import (
    LEAST_PAIR,
    calibration,
    metric_texts,
    no_pairs,
    of_used_columns,
    seconds_texts,
    sum_of_shares,
    verdict,
    without_probabilities,
)
from bochner.tables.sensitivity import VarianceShares

_FEWEST_SHOWN, _MOST_SHOWN, _LEAST_SHARE = 3, 10, 0.005
"""Numbers of listed columns, and share of the variance below which more are only counted."""

_SHOWN_PAIRS = 4
"""Number of listed pairs of columns, by decreasing share."""

_MOST_CLASSES = 12
"""Largest number of classes of a printed confusion matrix, which then fits 100 characters."""

_HEADINGS = {
    **METRICS,
    "r2": "explained",
    "average_precision": "average\nprecision",
    "top_tenth": "in riskiest\ntenth",
}
_WITH_ERROR = ("rmse", "log_loss", "error", "auc", "top_tenth")
"""Metrics that are shown with their standard error: a line has 80 characters."""

_GAP = 2
"""Number of spaces between columns of a table."""


def print_studies(console: Console, studies: Sequence[Study], warned: Sequence[str] = ()) -> None:
    """Print the table facts, the results of each target, and the importance of columns."""
    first = studies[0]
    _print_table_facts(console, first, warned)
    for study in studies:
        print_errors(console, study)
        print_checks(console, study)
    print_shares(console, first.importance, first.interactions)


def print_errors(console: Console, study: Study) -> None:
    """Print the verdict on a model, errors of all methods, and calibration."""
    table = scores_table(study.outcomes, console.width)
    notes = [
        plain_text(note) for note in (without_probabilities(study), calibration(study)) if note
    ]
    print_blocks(console, plain_text(verdict(study), "bold"), table, *notes)


def print_checks(console: Console, study: Study) -> None:
    """Print the titles of the checks that need attention, as in a report."""
    from bochner.report.diagnostics import checks

    titles = [finding.title for finding in checks(study) if finding.weight == "check"]
    if titles:
        print_blocks(console, _labelled({"To look at": titles}))


def _labelled(parts: Mapping[str, Sequence[str]]) -> Table:
    """Return a display table of texts, with a label before the first text of each part."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")  # Do not break long paths
    for label, texts in parts.items():
        for place, text in enumerate(texts):
            grid.add_row("" if place else label, plain_text(text))
    return grid


def print_shares(
    console: Console, importance: VarianceShares | None, pairs: VarianceShares | None
) -> None:
    """Print the importance of columns and the interactions of pairs, if they are computed."""
    print_blocks(console, *share_blocks(importance, pairs))


def share_blocks(
    importance: VarianceShares | None, pairs: VarianceShares | None
) -> list[Table | Text]:
    """Return tables of the importance of columns and of interactions, and notes on them."""
    if importance is None:
        return []
    importance = of_used_columns(importance)
    notes = [sum_of_shares(float(importance.share.sum()))]
    if pairs is not None and not (pairs.share >= LEAST_PAIR).any():
        notes.insert(0, no_pairs(pairs))
    return [*share_tables(importance, pairs), *(plain_text(note) for note in notes if note)]


def _print_table_facts(console: Console, study: Study, warned: Sequence[str]) -> None:
    facts = study.table
    n_test = len(study.own.y)
    split = f"{len(study.split.y):,} rows to fit, {n_test:,} to test. {study.split.reason}"
    about = [_read_line(facts), *facts.notes, *warned]
    console.print(_labelled({"Table": about, "Rows": [split]}))


def _read_line(facts: TableFacts) -> str:
    """Return "bikes.csv: 120 rows, 5 columns (3 of numbers, 2 of text), 1.2 % missing"."""
    kinds = Counter(column.kind for column in facts.columns)
    listed = ", ".join(f"{count} of {kind}" for kind, count in kinds.most_common())
    missing = f", {percent(facts.share_missing)} missing" if facts.share_missing else ""
    columns = counted(len(facts.columns), "column")
    return f"{facts.source}: {facts.n_rows:,} rows, {columns} ({listed}){missing}."


def scores_table(outcomes: Mapping[str, Outcome], width: int = 80) -> Table:
    """Return a table of the errors of methods with standard errors, the smallest error first.

    Methods without any of the metrics of the first outcome are left out, and so are the columns
    that do not fit the width, the last metrics first.
    """
    shown = next(iter(outcomes.values())).metrics
    used = [name for name, outcome in outcomes.items() if {*shown} & outcome.scores().keys()]
    order = sorted(used, key=lambda name: _rank(outcomes[name], shown))
    seconds = [outcomes[name].seconds for name in order]
    texts_of = _columns([outcomes[name] for name in order], shown)
    by_heading = dict(zip([_HEADINGS[name] for name in shown], texts_of, strict=True))
    if np.isfinite(seconds).any():
        by_heading["seconds"] = seconds_texts(seconds)
    words = " ".join(["method", *order]).split()  # Names of methods break between words
    while len(by_heading) > 1 and width < max(map(len, words)) + sum(
        _GAP + max(len(line) for text in (heading, *texts) for line in text.split("\n"))
        for heading, texts in by_heading.items()
    ):
        by_heading.popitem()
    table = cells_table(["method", *by_heading], [])
    columns = [order, *by_heading.values()]
    for name, cells in zip(order, zip(*columns, strict=True), strict=True):
        style = "bold" if name == OURS and len(order) > 1 else ""
        table.add_row(*map(plain_text, cells), style=style)
    return table


def _metrics(outcomes: Collection[Outcome]) -> list[str]:
    """Return the names of the metrics to show: those that some outcomes have."""
    known = {name for outcome in outcomes for name in outcome.metrics}
    return [name for name in (*OF_NUMBERS, *OF_CLASSES) if name in known]


def _rank(outcome: Outcome, metrics: Sequence[str]) -> tuple[bool, float]:
    scores = outcome.scores()
    first = next(name for name in (*metrics, "error") if name in scores)
    return first != metrics[0], scores[first].value


def _columns(outcomes: Sequence[Outcome], metrics: Sequence[str]) -> list[list[str]]:
    """Return the texts of each metric of outcomes."""
    scores = [outcome.scores() for outcome in outcomes]
    return [
        metric_texts(name, [each.get(name) for each in scores], errors=name in _WITH_ERROR)
        for name in metrics
    ]


def share_tables(importance: VarianceShares, pairs: VarianceShares | None) -> list[Table]:
    """Return tables of the most important columns and of interacting pairs."""
    n_shown = int(np.sum(importance.share[:_MOST_SHOWN] >= _LEAST_SHARE))
    n_shown = max(n_shown, min(_FEWEST_SHOWN, len(importance.columns)))
    n_shown += n_shown == len(importance.columns) - 1  # List a single remaining one
    cells = _share_cells(importance, n_shown)
    if n_others := len(importance.columns) - n_shown:
        rest = float(importance.share[n_shown:].sum())
        cells.append((f"{n_others} more", f"{100.0 * rest:.1f} % together", ""))
    tables = [cells_table(("important columns", "share of variance", "std error"), cells)]
    if pairs is not None and (n_pairs := int(np.sum(pairs.share >= LEAST_PAIR))):
        headings = "interacting pairs", "share of variance", "std error"
        tables.append(cells_table(headings, _share_cells(pairs, min(_SHOWN_PAIRS, n_pairs))))
    return tables


def _share_cells(shares: VarianceShares, most: int) -> list[tuple[str, str, str]]:
    rows = zip(shares.columns[:most], shares.share, shares.std_error, strict=False)
    return [
        (
            joined(name),
            f"{100.0 * share:.1f} %",
            "" if np.isnan(error) else f"{100.0 * error:.1f} %",
        )
        for name, share, error in rows
    ]


def joined(name: str | Iterable[str]) -> str:
    """Return the name of a column, or the two names of a pair joined by ×."""
    return name if isinstance(name, str) else " × ".join(name)


def confusion_table(outcome: Outcome) -> Table | Text:
    """Return the confusion matrix as a display table, or a note on too many classes."""
    assert outcome.classes is not None
    if len(outcome.classes) > _MOST_CLASSES:
        return plain_text("Too many classes for a table of them: see --json.")
    names = [str(name) for name in outcome.classes]
    counts = outcome.confusion().astype(str).tolist()
    rows = [[name, *row] for name, row in zip(names, counts, strict=True)]
    return cells_table(["true \\ predicted", *names], rows)


def groups_table(groups: Mapping[str, Outcome], name: str, left_out: Collection[str] = ()) -> Table:
    """Return a table of row counts and errors by group, without the metrics in ``left_out``."""
    shown = [metric for metric in _metrics(groups.values()) if metric not in left_out]
    counts = [f"{len(outcome.y):,}" for outcome in groups.values()]
    columns = [list(groups), counts, *_columns(list(groups.values()), shown)]
    heads = [name, "rows", *(_HEADINGS[metric] for metric in shown)]
    return cells_table(heads, list(map(list, zip(*columns, strict=True))))
