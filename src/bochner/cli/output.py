"""Tables, progress and warnings that the commands print, and checks of files to write."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console, JustifyMethod
from rich.table import Table


@contextmanager
def reporting(console: Console) -> Iterator[Callable[[str], None]]:
    """Show a spinner with the last line of progress."""
    with console.status("reading") as status:
        yield lambda message: status.update(message)


def cells_table(
    headings: Iterable[str], rows: Iterable[Iterable[str]], first: JustifyMethod = "left"
) -> Table:
    """Return a table of texts; columns after the first are flush right."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number else first)
    for cells in rows:
        table.add_row(*cells)
    return table


def results_table(results: Mapping[str, Mapping[str, float]], columns: Mapping[str, str]) -> Table:
    """Return the table of methods by metrics, given the metrics' headings."""
    rows = (
        (method, *(f"{metrics[name]:.4g}" if name in metrics else "" for name in columns))
        for method, metrics in results.items()
    )
    return cells_table(("method", *columns.values()), rows)


def facts_table(facts: Mapping[str, str]) -> Table:
    """Return a table of names and values."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, value)
    return table


def counted(number: int, noun: str) -> str:
    """Return "1 column" or "2 columns"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def check_output(path: Path, *inputs: Path) -> None:
    """Raise before any work if ``path`` cannot become a file, or is one of the inputs."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: expected the name of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} in.")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not an ordinary file, and would be replaced: name another.")
    if any(given.exists() and path.exists() and path.samefile(given) for given in inputs):
        raise OSError(f"{path} is read from, and would be replaced: name another file to write.")


def check_folder(path: Path) -> None:
    """Make a folder to write in, or raise if a file is in its place."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: expected the name of a folder.")
    path.mkdir(parents=True, exist_ok=True)
