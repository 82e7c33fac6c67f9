"""Report sections on the data, the model, and how to reproduce the model."""

from collections.abc import Sequence
from datetime import date

import numpy as np

from bochner._base.names import listed
from bochner._base.number_texts import counted, number, percent
from bochner.comparison.study import PACKAGES, ColumnFacts, Study, versions
from bochner.comparison.verdict import FUNCTIONS
from bochner.report.html_blocks import (
    MOST_UNFOLDED,
    Block,
    Cell,
    Section,
    Table,
    count_cell,
    number_cell,
    share_cell,
)
from bochner.report.name_texts import cut, plain, quoted
from bochner.report.subject import Subject
from bochner.tables.base_laws import TableLaw
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.tree_laws import TreeLaw
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_MOST_COLUMNS = 200
"""Largest number of listed columns, which limits the file size."""


def data_section(subject: Subject) -> Section:
    """Return the section on the table and the choice of test rows."""
    study = subject.study
    table = study.table
    kinds = [column.kind for column in table.columns]
    counts = [f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds)]
    targets = "target" if subject.n_targets == 1 else "targets"
    missing = table.share_missing
    texts = [
        f"{plain(table.source)} has {counted(table.n_rows, 'row')} and "
        f"{counted(len(kinds), 'column')} besides the {targets}: {listed(counts, len(counts))}.",
        f"{percent(missing)} of the entries are missing." if missing else "No entry is missing.",
        plain(study.split.reason),
    ]
    if study.split.weight is not None:
        texts.append("Rows have weights in the fit; errors on test rows are not weighted.")
    if study.own.clusters is not None:
        count = len(np.unique(study.own.clusters))
        texts.append(
            f"The test rows belong to {counted(count, 'group')}, and standard errors are those of "
            "groups."
        )
    blocks: list[Block] = [" ".join(texts)]
    if table.notes:
        blocks.append([plain(note) for note in table.notes])
    return Section("data", "The data", [*blocks, _columns_table(study)])


def _columns_table(study: Study) -> Table:
    columns = study.table.columns
    shown = columns[:_MOST_COLUMNS]
    n_unlisted = len(columns) - len(shown)
    note = f"{counted(n_unlisted, 'more column')} not listed." if n_unlisted else ""
    heads = ("column", "kind", "missing", "distinct", "range, or most frequent texts")
    rows = [_column_row(column, study.table.n_rows) for column in shown]
    return Table("Columns", heads, rows, note, is_folded=len(rows) > MOST_UNFOLDED)


def _column_row(column: ColumnFacts, n_rows: int) -> list[Cell]:
    share = column.n_missing / max(n_rows, 1)
    is_number = column.kind == "numbers"
    return [
        Cell(cut(column.name)),
        Cell(column.kind),
        Cell(percent(share) if share else "0", share),
        count_cell(column.n_distinct),
        Cell(column.summary if is_number else cut(column.summary)),
    ]


def model_section(subjects: Sequence[Subject]) -> Section:
    """Return the section on the model: a sentence and a table of its parts."""
    subject = subjects[0]
    model, head = subject.study.model, subject.study.model.head_
    blocks: list[Block] = [f"{_model_sentence(subject)} {_expected(subjects)}".strip()]
    blocks.append(_laws_table(head, subjects))
    blocks.append({"parameters": plain(" ".join(repr(model).split()))})
    return Section("model", "The model", blocks)


def _model_sentence(subject: Subject) -> str:
    members = subject.study.model.head_.laws.members
    others = dict.fromkeys(plain(law.kind) for law in members if not isinstance(law, KernelLaw))
    n_kernels = sum(isinstance(law, KernelLaw) for law in members)
    text, uses = "The model's class probabilities are the softmax of", "give the weights"
    count = counted(n_kernels, "kernel regression") + " of the classes' indicators"
    if isinstance(subject.study.model.head_, SumOfLaws):
        text, uses = "The model is a weighted sum of", f"{uses} and calibrate the intervals"
        count = counted(n_kernels, "Gaussian process", "Gaussian processes")
    parts = f"{count} and of {listed(list(others))}" if others else count
    return (
        f"{text} {parts}, fitted to {counted(subject.n_fit, 'row')}. Kernels minimise the errors "
        f"of rows that are left out; such rows also {uses}."
    )


def _expected(subjects: Sequence[Subject]) -> str:
    """Return a sentence on the expected error on new rows, estimated by leaving out rows."""
    study = subjects[0].study
    if study.model.score_ is None:
        return ""
    scores = np.atleast_1d(study.model.score_)
    each = [number(float(scores[subject.study.number])) for subject in subjects]
    if len(subjects) > 1:
        each = [f"{n} for {quoted(s.study.target)}" for n, s in zip(each, subjects, strict=True)]
    name = "log loss" if study.is_classification else "RMSE"
    return f"The expected {name} on new rows, from rows left out of the fit, is {listed(each)}."


def _laws_table(head: SumOfLaws | SoftmaxOfLaws, subjects: Sequence[Subject]) -> Table:
    """Return a table of the kernels in a sum, with their weights for each target."""
    sums = isinstance(head, SumOfLaws)
    weights = head.weights if isinstance(head, SumOfLaws) else head.softmax.weights
    cell = share_cell if sums else number_cell
    weights = weights.reshape(len(head.laws.members), -1)
    names = ["weight"] if len(subjects) == 1 else [f"weight for {s.name}" for s in subjects]
    encoders = subjects[0].study.model._encoders()[:2]  # Weights of kernels only
    widths = [len(encoder.get_feature_names_out()) for encoder in encoders]
    rows = []
    for law, member_weights in zip(head.laws.members, weights, strict=True):
        inputs = _inputs(law, widths[0], sum(widths))
        cells = [Cell(text) for text in (FUNCTIONS.get(law.name, law.name), inputs, law.kind)]
        values = (float(member_weights[s.study.number if sums else 0]) for s in subjects)
        rows.append([*cells, *map(cell, values)])
    return Table("Parts of the sum", ("functions", "inputs", "kernel", *names), rows)


def _inputs(law: TableLaw, n_standardised: int, n_encoded: int) -> str:
    """Describe the encoded columns of a member of the sum; normal quantiles come last."""
    if isinstance(law, TreeLaw):
        return "all columns"
    name, width = "both encodings", n_encoded
    if law.columns.max() < n_standardised:
        name, width = "standardised columns", n_standardised
    elif law.columns.min() >= n_standardised:
        name, width = "normal quantiles", n_encoded - n_standardised
    return name if len(law.columns) == width else f"{name}, without trends"


def reproduction_section(subject: Subject) -> Section:
    """Return the section with the command or call, seed, versions, date and row counts."""
    study = subject.study
    record = {str(name): value for name, value in study.record.items()}
    command = record.pop("command", None)
    seed_of_model = f"random_state={study.model.random_state!r}"
    facts = {
        "random seed": plain(record.pop("seed", seed_of_model)),
        "rows": f"{subject.n_fit:,} to fit, {len(study.own.y):,} to test",
        "date of the report": date.today().isoformat(),
    }
    recorded = {name: record.pop(name) for name in ("python", *PACKAGES) if name in record}
    facts["versions"] = ", ".join(
        f"{name.replace('python', 'Python')} {number}"
        for name, number in (versions() | recorded).items()
    )
    facts |= {name.replace("_", " "): plain(value) for name, value in record.items()}
    blocks: list[Block] = [] if command is None else [("Command", plain(command))]
    return Section("reproduction", "How to reproduce it", [*blocks, facts])
