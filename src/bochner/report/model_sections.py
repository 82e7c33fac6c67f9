"""Report sections on the data, the model, and how to reproduce the model."""

import re
from collections.abc import Sequence
from datetime import date

import numpy as np

from bochner._base.names import listed
from bochner._base.number_texts import counted, duration, number, percent
from bochner.comparison.study import PACKAGES, Study, versions
from bochner.comparison.verdict import FUNCTIONS
from bochner.report.html_blocks import MOST_UNFOLDED, Block, Section, Table, cells, counts, shares
from bochner.report.name_texts import cut, plain, quoted
from bochner.report.subject import Subject
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.weighted_sum import SoftmaxOfLaws, SumOfLaws

_DECIMALS = re.compile(r"\d+\.\d{3,}")
"""Numbers with three decimals or more, such as a share of a time limit."""

_TRANSFORMED = {"log": "the logarithm", "sqrt": "the square root", "rank": "the ranks"}
"""Transformations of the target in words."""

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
            f"The test rows belong to {counted(count, 'group')}; standard errors are over groups."
        )
    blocks: list[Block] = [" ".join(texts)]
    if table.notes:
        blocks.append([plain(note) for note in table.notes])
    return Section("data", "The data", [*blocks, _columns_table(study)])


def _columns_table(study: Study) -> Table:
    columns = study.table.columns[:_MOST_COLUMNS]
    n_unlisted = len(study.table.columns) - len(columns)
    note = f"{counted(n_unlisted, 'more column')} not listed." if n_unlisted else ""
    missing = [column.n_missing / max(study.table.n_rows, 1) for column in columns]
    entries_or_texts = [c.summary if c.kind == "numbers" else cut(c.summary) for c in columns]
    table = {
        "column": cells(cut(column.name) for column in columns),
        "kind": cells(column.kind for column in columns),
        "missing": shares(missing),
        "distinct": counts(column.n_distinct for column in columns),
        "range, or most frequent texts": cells(entries_or_texts),
    }
    return Table.of("Columns", table, note=note, is_folded=len(columns) > MOST_UNFOLDED)


def model_section(subjects: Sequence[Subject]) -> Section:
    """Return the section on the model: what was chosen, and a table of its parts."""
    model, head = subjects[0].study.model, subjects[0].study.model.head_
    blocks: list[Block] = [f"{_model_sentences(subjects[0])} {_expected(subjects)}".strip()]
    blocks.append(_laws_table(head, subjects))
    settings = _DECIMALS.sub(lambda found: number(float(found[0])), " ".join(repr(model).split()))
    blocks.append({"parameters": plain(settings)})
    return Section("model", "The model", blocks)


def _model_sentences(subject: Subject) -> str:
    """Return sentences on the rows, the parts of the model and the transformation of the target."""
    study, members = subject.study, subject.study.model.head_.laws.members
    others = list(dict.fromkeys(plain(m.kind) for m in members if not isinstance(m, KernelLaw)))
    n_kernels = sum(isinstance(member, KernelLaw) for member in members)
    is_sum = isinstance(study.model.head_, SumOfLaws)
    kind = counted(n_kernels, "Gaussian process", "Gaussian processes")
    if not is_sum:
        kind = "kernel regression" + f" with {n_kernels} kernels" * (n_kernels > 1)
    parts = [kind] * bool(n_kernels) + others
    seconds = study.own.seconds
    took = f" in {duration(seconds)}" if np.isfinite(seconds) else ""
    texts = [f"The model was fitted to {counted(subject.n_fit, 'row')}{took}."]
    if is_sum:
        texts.append(f"Its prediction is a weighted average of {listed(parts)}.")
        uses = "the kernels, the weights and the width of the intervals"
    else:
        texts.append(f"Its class probabilities combine the scores of {listed(parts)}.")
        uses = "the kernels and their weights"
    texts.append(f"Errors on rows left out of the fit decided on {uses}.")
    transformation = getattr(study.model, "transformation_", None)
    if transformation is not None:
        texts.append(f"The model is fitted to {_TRANSFORMED[transformation.name]} of the target.")
    return " ".join(texts)


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
    weights = weights.reshape(len(head.laws.members), -1)
    members = head.laws.members
    columns = {
        "functions": cells(FUNCTIONS.get(law.name, law.name) for law in members),
        "kernel": cells(law.kind for law in members),
    }
    for subject in subjects:
        name = "weight" if len(subjects) == 1 else f"weight for {subject.name}"
        of_target = weights[:, subject.study.number if sums else 0]
        columns[name] = shares(of_target / max(float(of_target.sum()), 1e-300))
    return Table.of("Parts of the model", columns)


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
