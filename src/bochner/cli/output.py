"""Prints tables, text and progress of the commands, and checks the files to write."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from bochner._base.file_writing import replacing
from bochner.files.errors import InputError
from bochner.files.text_files import BINARY_ENDINGS, COMPRESSIONS
from bochner.files.text_files import TEXT_ENDINGS as CSV_ENDINGS

if TYPE_CHECKING:
    import pandas as pd

    from bochner._base.progress import FitProgress, Progress

_FIRST_SECONDS, _MOST_SECONDS = 5.0, 60.0
"""Shortest and longest interval between two lines in seconds."""

_GROWTH = 0.5
"""Ratio of the interval before the next line to the elapsed time: an hour gives 70 lines."""


_COMPILING = "compiling loops, once after an installation"


@contextmanager
def reporting(*, limit: float | None = None) -> Iterator[Progress]:
    """Show the current step and the time left of a command: a spinner, or lines at intervals."""
    from bochner._base.compiling import is_compiling
    from bochner._base.progress import Progress

    console = Console(stderr=True, soft_wrap=True)
    activity = Activity(limit, is_compiling=is_compiling)
    with console.status(activity) if console.is_terminal else _lines(console, activity):
        yield Progress(activity.note)


@contextmanager
def _lines(console: Console, activity: Activity) -> Iterator[None]:
    """Print the activity at intervals."""
    is_over = Event()

    def work() -> None:
        while not is_over.wait(activity.pause()):
            with suppress(OSError, ValueError):  # Standard error has no reader or is closed
                console.print(Text(str(activity)))

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


class Activity:
    """The current step of a command, with the remaining time if steps are counted."""

    def __init__(
        self,
        limit: float | None = None,
        clock: Callable[[], float] = monotonic,
        is_compiling: Callable[[], bool] = bool,
    ) -> None:
        self._clock, self._limit, self._is_compiling = clock, limit, is_compiling
        self._start = self._last = clock()
        self._began: dict[str, float] = {}
        self._text, self._end = "reading", self._start

    def note(self, step: FitProgress) -> None:
        """Record the current step of a command."""
        now = self._clock()
        seconds = self._seconds_left(step, now)
        self._text, self._end = plain(str(step)), now + seconds

    def _seconds_left(self, step: FitProgress, now: float) -> float:
        """Return the estimated remaining seconds of a stage, or zero if unknown."""
        last, self._last = self._last, now
        if not step.step or step.total is None:
            return 0.0
        # The first message of a stage may come before or after its first step of work.
        seconds = now - self._began.setdefault(step.stage, last)
        return seconds / step.step * (step.total - step.step)

    def pause(self) -> float:
        """Return the seconds until the next line."""
        passed = self._clock() - self._start
        return min(max(_FIRST_SECONDS, _GROWTH * passed), _MOST_SECONDS)

    def __str__(self) -> str:
        """Return "after 12 s: learned kernel 3/8, about 20 s left of this step"."""
        from bochner._base.number_texts import duration  # Not at the start: it imports NumPy

        now = self._clock()
        passed = duration(int(now - self._start))
        limit = "" if self._limit is None else f" of {duration(self._limit)}"
        if self._is_compiling():
            return f"after {passed}{limit}: {_COMPILING}"
        left = self._end - now
        remaining = f", about {duration(round(left))} left of this step" if left >= 1.0 else ""
        return f"after {passed}{limit}: {self._text}{remaining}"

    def __rich__(self) -> Text:
        """Return the current line; called at each turn of the spinner."""
        return Text(str(self))


HTML_ENDINGS = (".html", ".htm")
PICTURE_ENDINGS = (".svg", ".png", ".pdf")

_NO_MODEL = (
    *CSV_ENDINGS, *BINARY_ENDINGS, *COMPRESSIONS, *HTML_ENDINGS,
    ".json", ".jsonl", ".xml", ".md", ".pdf", ".png", ".svg", ".py", ".ipynb",
)  # fmt: skip
"""File endings that are rejected for a model file: those of data, pages, pictures, programs."""


def plain(text: str) -> str:
    """Return a text with control characters escaped, so that a terminal does not execute them."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def plain_text(text: str, style: str = "") -> Text:
    """Return a text for a terminal that is no markup, with control characters escaped."""
    return Text(plain(text), style=style)


def print_blocks(console: Console, *blocks: Table | Text) -> None:
    """Print tables and texts with an empty line before each of them."""
    for block in blocks:
        console.print()
        console.print(block)


def print_files(console: Console, files: Mapping[str, object]) -> None:
    """Print the paths of the files that were written, each after its label."""
    for name, path in files.items():
        if path is not None:
            console.print(plain_text(f"{name:<8}{path}"), soft_wrap=True)


@contextmanager
def noting_warnings() -> Iterator[list[str]]:
    """Collect the library's warnings as texts in a list; other warnings are issued as usual."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notes.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    notes[:] = dict.fromkeys(notes)


def cells_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]], first: JustifyMethod = "left"
) -> Table:
    """Return a display table; columns after the first are right-aligned and never cut."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    heads = list(headings)
    n_lines = max((heading.count("\n") for heading in heads), default=0)
    for number, heading in enumerate(heads):
        justify = "right" if number else first
        text = plain_text("\n" * (n_lines - heading.count("\n")) + heading)
        table.add_column(text, justify=justify, no_wrap=number > 0, overflow="fold")
    for cells in rows:
        table.add_row(*map(plain_text, cells))
    return table


def facts_table(facts: Mapping[str, str]) -> Table:
    """Return a display table with two columns, names and values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(plain_text(name), plain_text(value))
    return table


def is_standard_output(path: Path | None) -> bool:
    """Return whether a path is ``-``, which means standard output for CSV."""
    return str(path) == "-"


_MARKED = 8192  # Bytes at each end of a file among which marks are

_OUTPUTS: Mapping[str, tuple[str, Sequence[str], Sequence[bytes]]] = {
    "model": ("--out", (), (b'{"bochner":',)),
    "report": ("--report", HTML_ENDINGS, (b'name="generator" content="bochner"',)),
    "picture": ("--plot", PICTURE_ENDINGS, (b"(bochner)", b">bochner<", b"\0bochner")),
    "table": ("--out", CSV_ENDINGS, (b"prediction", b"forecast", b"mean", b"gdpPercap")),
}
"""Options and endings of outputs, and marks of those of commands: column names, metadata."""


def check_outputs(outputs: Mapping[str, Path | None], *inputs: Path) -> None:
    """Raise OSError or InputError unless the files to write, by their kinds, can be written.

    A file is replaced only if a command wrote it. Tables may go to standard output.
    """
    given = {kind: path for kind, path in outputs.items() if path is not None}
    if len({path.absolute() for path in given.values()}) < len(given):
        raise InputError("Two outputs have the same file: choose different names.")
    for kind, path in given.items():
        if not (kind == "table" and is_standard_output(path)):
            _check_output(path, kind, inputs)


def _check_output(path: Path, kind: str, inputs: Sequence[Path]) -> None:
    option, endings, marks = _OUTPUTS[kind]
    if kind == "report":  # A missing extra is noticed before the work
        import bochner.report.page  # noqa: F401
    if is_standard_output(path):
        raise InputError(f"{option} - is standard output, which takes CSV only: name a file.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected the name of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} in.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not an ordinary file, and would be replaced: name another.")
    files = [each for each in inputs if not is_standard_output(each) and each.exists()]
    if any(path.exists() and path.samefile(each) for each in files):
        raise OSError(f"{path} is read from, and would be replaced: name another file to write.")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"{path.parent} may not be written to: name another folder.")
    ending = path.suffix.lower()
    if kind == "model" and ending in _NO_MODEL:
        raise InputError(
            f"{path} would be written as a model file, and {ending!r:.60} is the ending of another"
            f" format: give it the ending .bochner, as in {path.with_suffix('.bochner')}."
        )
    if kind != "model" and ending and ending not in endings:
        raise InputError(
            f"{path} would be written as a {kind}: expected an ending of {', '.join(endings)}, or "
            f"none, got {ending!r:.60}."
        )
    if path.exists() and not _is_ours(path, kind, marks):
        raise InputError(
            f"{path} exists, and is no {kind} that bochner wrote: name another file, or delete it."
        )


def _is_ours(path: Path, kind: str, marks: Sequence[bytes]) -> bool:
    """Return whether a file is empty, or has a mark of those that commands write."""
    with path.open("rb") as file:
        start = file.read(_MARKED)
        file.seek(-min(_MARKED, path.stat().st_size), os.SEEK_END)
        marked = start.split(b"\n")[0] if kind == "table" else start + file.read()
    return not start or any(mark in marked for mark in marks)


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""First characters of cells that spreadsheets interpret as formulas."""


def without_formulas(frame: pd.DataFrame) -> pd.DataFrame:
    """Escape texts and column names of a table that spreadsheets would interpret as formulas."""
    from pandas.api.types import is_numeric_dtype

    def quoted(entry: object) -> Any:
        is_formula = isinstance(entry, str) and entry.startswith(_FORMULAS)
        return f"'{entry}" if is_formula else entry

    escaped = frame.rename(columns=quoted)
    for name, column in frame.items():
        if not is_numeric_dtype(column):
            escaped[quoted(name)] = column.map(quoted)
    return escaped


_OF_COMMANDS = re.compile(r"(?:.+_)?(?:prediction|forecast|mean|lower|upper|q[\d.]+)|p_.+")
"""Names of columns that commands write in addition to columns of their input."""


def _refuse_foreign(path: Path, delimiter: str, names: Collection[str]) -> None:
    """Raise InputError if an existing table has a column that no command would write there."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        header = next(csv.reader(file, delimiter=delimiter), [])
    foreign = [name for name in header if not {name, name[1:]} & {*names}]
    if named := [name for name in foreign if not _OF_COMMANDS.fullmatch(name)]:
        raise InputError(
            f"{path} exists, and is no table that bochner wrote from this input, which has no "
            f"column {named[0]!r:.60}: name another file, or delete it."
        )


def write_csv(
    frame: pd.DataFrame, path: Path | None, *, is_safe: bool = False, inputs: Collection[str] = ()
) -> None:
    """Write a table as CSV, or with tabs for .tsv, to a file or to standard output.

    A file is replaced only if its columns are among those of the table, of the ``inputs`` and of
    commands.
    """
    if is_safe:
        frame = without_formulas(frame)
    if path is None or is_standard_output(path):
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # As in files
        frame.to_csv(sys.stdout, index=False)
        return
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    if path.exists():
        _refuse_foreign(path, delimiter, {*map(str, frame.columns), *inputs})
    with replacing(path) as file:
        frame.to_csv(file, index=False, sep=delimiter)


def write_json(record: Mapping[str, object]) -> None:
    """Write a dictionary as JSON to standard output."""
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    sys.stdout.write(json.dumps(record, indent=2, ensure_ascii=not is_unicode) + "\n")


def check_folder(path: Path) -> None:
    """Create a folder, or raise an error if a file has the same path."""
    if is_standard_output(path):
        raise InputError("--out - is standard output, which takes CSV only: name a folder.")
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: expected the name of a folder.")
    path.mkdir(parents=True, exist_ok=True)
