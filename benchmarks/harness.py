"""Run a benchmark cell by cell into a tidy CSV, and turn that CSV into tables and figures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from benchmarks.environment import environment, summary
from benchmarks.results import Row, Scalar, read_rows
from benchmarks.store import LAST_METRIC, Key, Store, read_environments
from bochner._numerics.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Options:
    """What a benchmark is asked for: the folder of its data, and whether to be quick."""

    data: Path | None = None
    quick: bool = False

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
class Benchmark:
    """A design of cells, how to measure one, and how to show the results.

    Parameters
    ----------
    name : str
        Names the files, so letters, digits and ``-`` only.
    description : str
        One sentence.
    settings : tuple of str
        The keys that every cell's settings have, in the order of the CSV's columns.
    cells : callable
        From the options to the cells, in the order in which they run.
    run : callable
        From a cell and the options to metrics. The wall time is added as ``seconds``, unless the
        metrics have it.
    summarise : callable
        From the rows of the CSV to Markdown.
    """

    name: str
    description: str
    settings: tuple[str, ...]
    cells: Callable[[Options], Iterable[Cell]]
    run: Callable[[Cell, Options], Mapping[str, float]]
    summarise: Callable[[Sequence[Row]], str]


Progress = Callable[[int, int, Cell | None], None]
Plot = Callable[[Sequence[Row]], Mapping[str, "Figure"]]


def run(
    benchmark: Benchmark,
    data: str | Path | None = None,
    out: str | Path = ".",
    *,
    quick: bool = False,
    threads: int | None = 1,
    progress: Progress | None = None,
) -> Path:
    """Measure every cell that the benchmark's CSV does not hold yet.

    Each cell is on the disk before the next one starts, so an interrupted run goes on where it
    stopped. A quick run has a CSV of its own.

    Parameters
    ----------
    benchmark : Benchmark
    data : path, default=None
        Folder of data sets, as for :func:`bochner.datasets.load`.
    out : path, default="."
        Folder of the results, made if need be.
    quick : bool, default=False
        Ask the benchmark for a small design.
    threads : int or None, default=1
        Limit of the native thread pools; ``None`` sets none.
    progress : callable, default=None
        Called with the number of finished cells, the number of cells, and the cell just finished
        (``None`` at the start).

    Returns
    -------
    path : Path
        ``OUT/NAME.csv``, or ``OUT/NAME-quick.csv``.

    Raises
    ------
    ValueError
        If the data folder does not exist, there are no cells, cells repeat or have the wrong
        settings, or the CSV was made by something else.
    """
    options = Options(None if data is None else Path(data), quick)
    _check_run(options, threads)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{benchmark.name}-quick" if quick else benchmark.name
    store = Store(folder / f"{stem}.csv", benchmark.name, options.mode, benchmark.settings)
    cells = _keyed_cells(benchmark, options, store)
    to_do = {key: cell for key, cell in cells.items() if key not in store.finished}
    if to_do:
        store.begin(environment(_command(benchmark, options), threads))
    report = progress or (lambda done, total, cell: None)
    done = len(cells) - len(to_do)
    report(done, len(cells), None)
    for key, cell in to_do.items():
        store.append(key, _measure(benchmark, cell, options, threads))
        done += 1
        report(done, len(cells), cell)
    return store.path


def render(benchmark: Benchmark, path: str | Path, plot: Plot | None = None) -> list[Path]:
    """Write a benchmark's tables and figures, from its CSV alone.

    Parameters
    ----------
    benchmark : Benchmark
    path : path
        The CSV.
    plot : callable, default=None
        From the rows to matplotlib figures by name; see :mod:`benchmarks.figures`.

    Returns
    -------
    written : list of Path
        ``NAME.md``, with a line for every run that says what made it, and ``NAME-FIGURE.svg`` for
        every figure, beside the CSV.

    Raises
    ------
    ValueError
        If the CSV is damaged, empty, or another benchmark's.
    """
    path = Path(path)
    rows = read_rows(path)
    found = sorted({str(row["benchmark"]) for row in rows})
    if found != [benchmark.name]:
        raise ValueError(
            f"{path} must hold results of {benchmark.name!r} only; "
            f"it holds {', '.join(found) or 'none'}."
        )
    table = path.with_suffix(".md")
    with replacing(table) as fresh:
        text = f"{benchmark.summarise(rows).rstrip()}\n\n{_provenance(path, rows)}\n"
        fresh.write_text(text, encoding="utf-8")
    figures = {} if plot is None else plot(rows)
    return [table, *(_save(figure, path, name) for name, figure in figures.items())]


def _check_run(options: Options, threads: int | None) -> None:
    if options.data is not None and not options.data.is_dir():
        raise ValueError(f"data must name an existing folder, got {str(options.data)!r}.")
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, or None for no limit, got {threads}.")


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
    # The folder's own path says nothing to anybody else.
    data = " --data DIR" if options.data else ""
    quick = " --quick" if options.quick else ""
    return f"python -m benchmarks {benchmark.name}{data}{quick}"


def _provenance(path: Path, rows: Sequence[Row]) -> str:
    records = read_environments(path)
    used = [
        records[run] for run in dict.fromkeys(str(row["run"]) for row in rows) if run in records
    ]
    made_by = (f"`{record['command']}` ({summary(record)})" for record in used)
    return "\n".join((f"From `{path.name}`, made by", "", *(f"- {text}" for text in made_by)))


def _save(figure: "Figure", path: Path, name: str) -> Path:
    import matplotlib as mpl

    target = path.with_name(f"{path.stem}-{name}.svg")
    # Fixed identifiers and no date: the same rows give the same file.
    with replacing(target) as fresh, mpl.rc_context({"svg.hashsalt": target.stem}):
        figure.savefig(fresh, format="svg", metadata={"Date": None}, bbox_inches="tight")
    return target
