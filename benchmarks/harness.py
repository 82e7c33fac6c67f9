"""Declare a benchmark, run it cell by cell into a tidy CSV, and render that CSV as a page."""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from benchmarks.environment import environment, summary
from benchmarks.pictures import Picture
from benchmarks.results import Row, Scalar, read_rows
from benchmarks.store import LAST_METRIC, Key, Store, read_environments
from bochner._base.file_writing import replacing
from bochner.plot.display import to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COMMAND = "python -m benchmarks"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a run: an optional folder of data sets, and whether to run the small design."""

    data: Path | None = None
    quick: bool = False

    @property
    def from_folder(self) -> bool:
        """Whether the data sets of the folder are measured, and not bundled ones."""
        return self.data is not None and not self.quick

    @property
    def mode(self) -> str:
        """``"quick"`` or ``"full"``."""
        return "quick" if self.quick else "full"


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement to make: a data set, a method with its settings, and a seed."""

    dataset: str
    method: str
    seed: int
    settings: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """One question of a benchmark: its cells, how to measure one, and the views of their rows.

    ``cells`` maps the options to the cells, most easily by :func:`grid`; they run seed by seed, so
    that an interrupted run has as many of everything. ``measure`` maps a cell and the options to
    metrics; the wall time is added as ``seconds`` unless they have it. ``tables`` maps the part's
    rows, at least one, to paragraphs and tables in Markdown. ``shares`` names other parts whose
    rows are shown with the part's own.
    """

    name: str
    cells: Callable[[Options], Iterable[Cell]]
    measure: Callable[[Cell, Options], Mapping[str, float]]
    tables: Callable[[Sequence[Row]], Iterable[str]]
    pictures: tuple[Picture, ...] = ()
    shares: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The parts of a benchmark, in the order in which the cells of one seed run.

    ``name`` names the files: letters, digits and ``-`` only. ``settings`` are the keys of every
    cell's settings, in the order of the CSV; ``part`` is set to the name of the part. ``order`` has
    the names of the parts in the order of the page, if that is another one.
    """

    name: str
    settings: tuple[str, ...]
    parts: tuple[Part, ...]
    introduction: str = ""
    order: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not re.fullmatch("[A-Za-z0-9-]+", self.name):
            raise ValueError(
                f"The name of a benchmark has letters, digits and - only, got {self.name!r}."
            )
        if not isinstance(self.parts, Sequence) or not all(
            isinstance(part, Part) for part in self.parts
        ):
            raise TypeError(
                f"parts of {self.name!r} must be a tuple of Part, such as (part,), got "
                f"{self.parts!r}."
            )

    def cells(self, options: Options) -> list[Cell]:
        """Return the cells of all parts, seed by seed."""
        cells = (
            replace(cell, settings={**self._part_of(part), **cell.settings})
            for part in self.parts
            for cell in part.cells(options)
        )
        return sorted(cells, key=lambda cell: cell.seed)

    def run(self, cell: Cell, options: Options) -> Mapping[str, float]:
        """Return the metrics of one cell."""
        wanted = cell.settings.get("part", self.parts[0].name)
        (part,) = (part for part in self.parts if part.name == wanted)
        with warnings.catch_warnings():
            # Chains and fits that do not converge are measured like the others.
            warnings.simplefilter("ignore", UserWarning)
            metrics = part.measure(cell, options)
        if not isinstance(metrics, Mapping):
            raise TypeError(
                f"measure of the part {part.name!r} must return a mapping from names of metrics "
                f"to numbers, got {metrics!r}."
            )
        return metrics

    def page(self, rows: Sequence[Row]) -> str:
        """Return the tables of all parts that have rows, and then the pictures, in Markdown."""
        shown = [self.introduction] if self.introduction else []
        for part in sorted(self.parts, key=self._place):
            part_rows = self.rows_of(part, rows)
            shown += _texts(part, part_rows) if part_rows else ()
        quick = "-quick" if rows[0].get("mode") == "quick" else ""
        for picture, _ in self._drawn(rows):
            shown.append(f"![{picture.name}]({self.name}{quick}-{picture.name}.svg)\n\n"
                         f"{picture.caption}")  # fmt: skip
        return "\n\n".join(text for text in shown if text)

    def figures(self, rows: Sequence[Row]) -> dict[str, "Figure"]:
        """Return the figures of all pictures for which there are rows, by name."""
        return {picture.name: picture.draw(values) for picture, values in self._drawn(rows)}

    def _drawn(self, rows: Sequence[Row]) -> Iterator[tuple[Picture, Mapping[Any, float]]]:
        for part in sorted(self.parts, key=self._place):
            part_rows = self.rows_of(part, rows)
            for picture in part.pictures if part_rows else ():
                if values := picture.values(part_rows):
                    yield picture, values

    def _part_of(self, part: Part) -> dict[str, Scalar]:
        return {"part": part.name} if "part" in self.settings else {}

    def rows_of(self, part: Part, rows: Sequence[Row]) -> list[Row]:
        """Return the rows that a part shows."""
        shown = (part.name, *part.shares)
        return [row for row in rows if row.get("part", part.name) in shown]

    def _place(self, part: Part) -> int:
        return self.order.index(part.name) if self.order else 0


def _texts(part: Part, rows: Sequence[Row]) -> list[str]:
    """Return the paragraphs of a part; a single text would be one paragraph for each letter."""
    texts = part.tables(rows)
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise TypeError(
            f"tables of the part {part.name!r} must return a sequence of texts, such as [text], "
            f"got {texts!r}."
        )
    return list(texts)


def grid(
    datasets: Iterable[str], methods: Iterable[str], seeds: int, **settings: Iterable[Any]
) -> list[Cell]:
    """Return a cell for every seed below ``seeds``, data set, combination of settings and method.

    Examples
    --------
    >>> [(cell.dataset, cell.settings["p"]) for cell in grid(["iris"], ["ours"], 1, p=(8, 16))]
    [('iris', 8), ('iris', 16)]
    """
    combinations = product(range(seeds), datasets, product(*settings.values()), methods)
    return [
        Cell(dataset, method, seed, dict(zip(settings, values, strict=True)))
        for seed, dataset, values, method in combinations
    ]


Progress = Callable[[int, int, Cell | None], None]


def run(
    benchmark: Benchmark,
    data: str | Path | None = None,
    out: str | Path = ".",
    *,
    quick: bool = False,
    threads: int | None = 1,
    only: Collection[str] = (),
    again: Collection[str] = (),
    progress: Progress | None = None,
) -> Path:
    """Measure every cell that the benchmark's CSV does not hold yet, and return the CSV.

    Each cell is on the disk before the next one starts, so an interrupted run resumes where it
    stopped. The CSV is ``OUT/NAME.csv``, or ``OUT/NAME-quick.csv`` for the small design. ``data``
    is a folder of data sets, as for :func:`benchmarks.datasets.load`; ``threads`` limits the native
    thread pools (``None`` sets no limit); ``only`` names the methods to measure, if not all;
    ``again`` names those whose rows are removed from the CSV before; ``progress`` is called with
    the number of finished cells, the number of cells, and the cell just finished (``None`` at the
    start).

    Raises ValueError if the data folder does not exist, there are no cells, cells repeat or have
    the wrong settings, a named method has no cells, or the CSV was made by something else.
    """
    options = Options(None if data is None else Path(data), quick)
    _check_run(options, threads)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{benchmark.name}-quick" if quick else benchmark.name
    store = Store(folder / f"{stem}.csv", benchmark.name, options.mode, benchmark.settings)
    cells = _keyed_cells(benchmark, options, store)
    _check_methods((*only, *again), cells.values())
    store.forget(again)
    if only:
        cells = {key: cell for key, cell in cells.items() if cell.method in only}
    to_do = {key: cell for key, cell in cells.items() if key not in store.finished}
    if to_do:
        store.begin(environment(_command(benchmark, options), threads))
    report = progress or (lambda n_done, total, cell: None)
    n_done = len(cells) - len(to_do)
    report(n_done, len(cells), None)
    for key, cell in to_do.items():
        store.append(key, _measure(benchmark, cell, options, threads))
        n_done += 1
        report(n_done, len(cells), cell)
    return store.path


def render(benchmark: Benchmark, path: str | Path) -> list[Path]:
    """Write a benchmark's tables and figures next to its CSV, from it alone; return the files.

    They are ``NAME.tables.md``, with a line for every run that names command and environment, and
    ``NAME-PICTURE.svg`` for every picture. Raises ValueError if the CSV is damaged, empty, or
    another benchmark's.
    """
    path = Path(path)
    rows = read_rows(path)
    names = sorted({str(row["benchmark"]) for row in rows})
    if names != [benchmark.name]:
        raise ValueError(
            f"{path} must hold results of {benchmark.name!r} only; "
            f"it holds {', '.join(names) or 'none'}."
        )
    table = path.with_suffix(".tables.md")
    with replacing(table) as fresh:
        text = f"{benchmark.page(rows).rstrip()}\n\n{_provenance(path, rows)}\n"
        fresh.write_text(text, encoding="utf-8")
    figures = benchmark.figures(rows)
    return [table, *(_save(figure, path, name) for name, figure in figures.items())]


def _check_run(options: Options, threads: int | None) -> None:
    if options.data is not None and not options.data.is_dir():
        raise ValueError(f"data must name an existing folder, got {str(options.data)!r}.")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, or None for no limit, got {threads}.")


def _check_methods(named: Iterable[str], cells: Iterable[Cell]) -> None:
    methods = list(dict.fromkeys(cell.method for cell in cells))
    for method in named:
        if method not in methods:
            raise ValueError(
                f"There is no method {method!r} to measure; there are {', '.join(methods)}."
            )


def _keyed_cells(benchmark: Benchmark, options: Options, store: Store) -> dict[Key, Cell]:
    cells: dict[Key, Cell] = {}
    for cell in benchmark.cells(options):
        if set(cell.settings) != set(benchmark.settings):
            raise ValueError(
                f"A cell of {benchmark.name!r} must have the settings {benchmark.settings}, "
                f"got {cell}."
            )
        values = (cell.settings[name] for name in benchmark.settings)
        key = store.key(cell.dataset, cell.method, values, cell.seed)
        if key in cells:
            raise ValueError(f"{benchmark.name!r} has the same cell twice: {cell}.")
        cells[key] = cell
    if not cells:
        raise ValueError(
            f"{benchmark.name!r} found nothing to measure; name a folder of data sets with data."
        )
    return cells


def _measure(
    benchmark: Benchmark, cell: Cell, options: Options, threads: int | None
) -> dict[str, float]:
    start = perf_counter()
    with threadpool_limits(limits=threads):
        metrics = benchmark.run(cell, options)
    return {LAST_METRIC: perf_counter() - start, **metrics}


def _command(benchmark: Benchmark, options: Options) -> str:
    # The path of the folder means nothing on another machine.
    data = " --data DIR" if options.data else ""
    quick = " --quick" if options.quick else ""
    return f"{COMMAND} {benchmark.name}{data}{quick}"


def _provenance(path: Path, rows: Sequence[Row]) -> str:
    records = read_environments(path)
    runs = dict.fromkeys(str(row["run"]) for row in rows)
    used = [records[run] for run in runs if run in records]
    # Older records name the command by which benchmarks were run before.
    commands = (str(record["command"]).replace("bochner bench", COMMAND) for record in used)
    made_by = (f"`{text}` ({summary(record)})" for text, record in zip(commands, used, strict=True))
    return "\n".join((f"From `{path.name}`, made by", "", *(f"- {text}" for text in made_by)))


def _save(figure: "Figure", path: Path, name: str) -> Path:
    target = path.with_name(f"{path.stem}-{name}.svg")
    with replacing(target) as fresh:
        fresh.write_text(to_svg(figure, standalone=True), encoding="utf-8")
    return target
