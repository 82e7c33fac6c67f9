"""Options of `bochner evaluate`: each is stated here, and nowhere else."""

from dataclasses import dataclass
from typing import Annotated

import typer

from bochner.cli.options import (
    Analysis,
    Interval,
    Json,
    MissingWords,
    Report,
    SkippedLines,
    TableName,
    fraction_option,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """Options of `bochner evaluate`."""

    group: Annotated[
        str | None, typer.Option(help="Column of groups whose errors are shown one by one.")
    ] = None
    interval: Interval = None
    table: TableName = None
    missing: MissingWords = None
    skip: SkippedLines = None
    report: Report = None
    analysis: Analysis = True
    as_json: Json = False

    @property
    def level(self) -> float | None:
        """Level of the prediction intervals between 0 and 1, if one is given."""
        if self.interval is None:
            return None
        return fraction_option("--interval", self.interval)
