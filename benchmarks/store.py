"""The files of one benchmark: a CSV that only grows, and the environments that made its rows.

Every row names its run; ``NAME.environment.json`` holds one record for each run. A cell's rows are
appended in one write and end with the metric ``seconds``, so a cell without it is incomplete.
"""

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.results import Scalar
from bochner._base.file_writing import replacing

LAST_METRIC = "seconds"
Key = tuple[str, ...]


class Store:
    """Results of one benchmark in one mode, open for resuming.

    What an interruption left half-written at the end of the CSV is dropped on opening.

    The CSV at ``path`` is made on the first append; ``settings`` are the benchmark's own columns,
    and ``finished`` the keys (:meth:`key`) of the cells in the file. Raises ``ValueError`` if the
    file is no CSV of this benchmark, mode and columns, or its environment is lost.
    """

    def __init__(self, path: Path, benchmark: str, mode: str, settings: Sequence[str]) -> None:
        self.path = path
        self._identity = (benchmark, mode)
        self._key_columns = ("dataset", "method", *settings, "seed")
        self._header = ("benchmark", "mode", "run", *self._key_columns, "metric", "value")
        rows = self._recover()
        self.finished = {tuple(row[name] for name in self._key_columns) for row in rows}
        self._records = read_environments(path) if rows else {}
        self._run = str(max(map(int, self._records), default=0))
        self._check_rows(rows)

    def key(self, dataset: str, method: str, settings: Iterable[Scalar], seed: int) -> Key:
        """Return the key of a cell, with values formatted as in the file."""
        return tuple(map(_spell, (dataset, method, *settings, seed)))

    def begin(self, record: Mapping[str, Any]) -> None:
        """Start a run: later rows are traced to this record of the environment."""
        self._run = str(int(self._run) + 1)
        self._records[self._run] = dict(record)
        with replacing(environment_path(self.path)) as fresh:
            text = json.dumps({"runs": self._records}, indent=2, ensure_ascii=False)
            fresh.write_text(text + "\n", encoding="utf-8")
        if not self.path.exists():
            self.path.write_text(_line(self._header), encoding="utf-8", newline="")

    def append(self, key: Key, metrics: Mapping[str, float]) -> None:
        """Write a finished cell to the disk."""
        ordered = {name: value for name, value in metrics.items() if name != LAST_METRIC}
        ordered[LAST_METRIC] = metrics[LAST_METRIC]
        text = "".join(
            _line((*self._identity, self._run, *key, _spell(name), repr(float(value))))
            for name, value in ordered.items()
        )
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self.finished.add(key)

    def forget(self, methods: Collection[str]) -> None:
        """Remove the rows of methods, so that their cells are measured again."""
        column = self._header.index("method")
        place = self._key_columns.index("method")
        if any(key[place] in methods for key in self.finished):
            lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
            rows = csv.reader(lines)
            kept_lines = [line for line, row in zip(lines, rows, strict=True)
                    if row[column] not in methods]  # fmt: skip
            with replacing(self.path) as fresh:
                fresh.write_text("".join(kept_lines), encoding="utf-8", newline="")
            self.finished = {key for key in self.finished if key[place] not in methods}

    def _recover(self) -> list[dict[str, str]]:
        content = self.path.read_bytes() if self.path.exists() else b""
        lines = content.splitlines(keepends=True)
        if lines and not lines[-1].endswith(b"\n"):
            lines.pop()
        header = _line(self._header).encode()
        if not lines and header.startswith(content):
            self.path.unlink(missing_ok=True)
            return []
        if not lines or lines[0] != header:
            raise ValueError(
                f"{self.path} does not have the columns {', '.join(self._header)}; it was made by "
                "something else or by another version. Move it away, or choose another folder."
            )
        rows = self._parse(lines[1:])
        while rows and rows[-1]["metric"] != LAST_METRIC:
            rows.pop()
        content_kept = b"".join(lines[: len(rows) + 1])
        if content_kept != content:
            with replacing(self.path) as fresh:
                fresh.write_bytes(content_kept)
        return rows

    def _parse(self, lines: Sequence[bytes]) -> list[dict[str, str]]:
        rows = list(csv.reader(line.decode("utf-8") for line in lines))
        for number, row in enumerate(rows, start=2):
            if len(row) != len(self._header):
                raise ValueError(
                    f"{self.path}, line {number}: expected {len(self._header)} fields, "
                    f"got {len(row)}. The file is damaged; move it away, or repair the line."
                )
        return [dict(zip(self._header, row, strict=True)) for row in rows]

    def _check_rows(self, rows: Iterable[Mapping[str, str]]) -> None:
        for row in rows:
            identity = (row["benchmark"], row["mode"])
            if identity != self._identity:
                raise ValueError(
                    f"{self.path} holds rows of {' / '.join(identity)}, which are never mixed with "
                    f"{' / '.join(self._identity)}; move it away, or choose another folder."
                )
            if row["run"] not in self._records:
                raise ValueError(
                    f"{self.path} names run {row['run']}, which {environment_path(self.path).name} "
                    "does not describe; put that file back, or move both away."
                )


def environment_path(csv_path: Path) -> Path:
    """Return where the environments of a CSV are recorded."""
    return csv_path.with_suffix(".environment.json")


def read_environments(csv_path: Path) -> dict[str, dict[str, Any]]:
    """Return the environment of each run of a CSV; ValueError for a damaged record."""
    path = environment_path(csv_path)
    if not path.exists():
        return {}
    try:
        runs: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is damaged ({error}); restore it, or move it and the CSV away."
        ) from error
    return runs


def _spell(value: Scalar) -> str:
    text = str(value)
    if not text.isprintable():
        raise ValueError(f"Results hold printable text on one line only, got {text!r}.")
    return text


def _line(fields: Iterable[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(fields)
    return buffer.getvalue()
