"""Data on one target of a report: its study, the columns of the test rows, and residuals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bochner._base.arrays import Array, as_array
from bochner.comparison.outcomes import Outcome
from bochner.comparison.study import Study
from bochner.files.columns import Column, read_column
from bochner.plot.drawn_inputs import series_of
from bochner.report.html_blocks import short
from bochner.tables.encodings import output_names


@dataclass(frozen=True, eq=False)
class Subject:
    """A target of a model, with the data that the sections of a report need."""

    study: Study
    n_targets: int = 1

    @property
    def name(self) -> str:
        """The target's name, shortened and with control characters escaped."""
        return short(self.study.target)

    def titled(self, title: str) -> str:
        """Return a figure title, with the target's name if the model has several targets."""
        return title if self.n_targets == 1 else f"{title}, {self.name}"

    @property
    def named(self) -> Study:
        """The study with shortened, escaped names of the target and of leaks for sentences."""
        leaks = [replace(leak, column=short(leak.column)) for leak in self.study.leaks]
        return replace(self.study, target=self.name, leaks=leaks)

    @property
    def n_fit(self) -> int:
        """Number of rows that the model was fitted to."""
        n_samples = self.study.model.record_.get("n_samples", len(self.study.split.y))
        return int(n_samples)

    def row_name(self, place: int) -> str:
        """Return the name of a test row."""
        names = self.study.row_names
        return short(names[place]) if len(names) else f"row {place + 1:,} of the test rows"

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The columns of the test rows that the model uses, by name."""
        states = {s["name"]: s for s in self.study.model.encoder_.columns_ if output_names(s)}
        series = dict(series_of(self.study.split.X_test))
        return {
            name: read_column(name, series[name], keep_text=state["kind"] == "text")
            for name, state in states.items()
        }

    @cached_property
    def residuals(self) -> Array:
        """Residuals (n,): observed minus predicted values, or occurrence minus probability.

        The occurrence is that of the second of two classes, and of the predicted one of several.
        """
        outcome = self.study.own
        if outcome.classes is None:
            return as_array(outcome.y - outcome.prediction)
        if outcome.probability is None:
            return as_array((outcome.y == outcome.prediction).astype(np.float64))
        if len(outcome.classes) == 2:
            return as_array((outcome.y == outcome.classes[1]) - outcome.probability[:, 1])
        return as_array((outcome.y == outcome.prediction) - outcome.probability.max(axis=1))

    @cached_property
    def by_kind(self) -> Mapping[str, Outcome]:
        """Outcomes by kind of test rows, see :attr:`Study.by_kind`."""
        return self.study.by_kind

    @property
    def important(self) -> list[str]:
        """Columns by decreasing importance, or in the order of the table if it is unknown."""
        if self.study.importance is None:
            return list(self.columns)
        return [str(name) for name in self.study.importance.columns if name in self.columns]

    @cached_property
    def time_columns(self) -> list[str]:
        """Names of time-like columns: dates, and the column by which the rows were split."""
        dates = [name for name, column in self.columns.items() if column.kind == "date"]
        split = self.study.split
        if split.time is None:
            named = str(self.study.model.record_.get("time"))
            return dates + [named] * (named in self.columns and named not in dates)
        table = dict(series_of(split.X))
        numeric = [name for name, column in self.columns.items() if column.kind == "numeric"]
        fitted = [read_column(name, table[name]) for name in numeric]
        return dates + [c.name for c in fitted if np.array_equal(c.values, split.time)]


def subjects_of(studies: Sequence[Study]) -> list[Subject]:
    """Return the targets of studies of one model, or raise ValueError."""
    if not studies:
        raise ValueError("A report needs at least one study, got none.")
    if any(study.model is not studies[0].model for study in studies):
        raise ValueError("The studies of a report are those of one model: write a report for each.")
    scale = getattr(studies[0].model, "target_scale_", 1.0)
    return [Subject(study, int(np.size(scale))) for study in studies]
