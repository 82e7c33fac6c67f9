"""``python -m benchmarks NAME``: measure, resuming where an earlier run stopped, and render."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress

import benchmarks
from benchmarks import Cell


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one benchmark and return the exit status: 2 if the request was refused."""
    options = _parser().parse_args(arguments)
    try:
        run_benchmark(
            options.name,
            options.data,
            options.out,
            quick=options.quick,
            only=options.only,
            again=options.again,
        )
    except (ValueError, OSError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


def run_benchmark(
    name: str,
    data: Path | None,
    out: Path,
    *,
    quick: bool,
    only: Sequence[str] = (),
    again: Sequence[str] = (),
    console: Console | None = None,
) -> None:
    """Run a benchmark, write its tables and figures, and print the tables."""
    benchmark = benchmarks.find(name)
    console = console or Console()
    with Progress(console=console) as bar:
        task = bar.add_task(name)

        def report(n_done: int, total: int, cell: Cell | None) -> None:
            description = f"{name}: {cell.dataset}, {cell.method}" if cell else name
            bar.update(task, completed=n_done, total=total, description=description)

        csv = benchmarks.run(
            benchmark, data, out, quick=quick, only=only, again=again, progress=report
        )
    written = benchmarks.render(benchmark, csv)
    console.print(Markdown(written[0].read_text(encoding="utf-8")))
    console.print("Wrote " + ", ".join(map(str, (csv, *written))), markup=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", help=f"one of {', '.join(benchmarks.BENCHMARKS)}")
    folder = os.environ.get("BOCHNER_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) if folder else None,
        help="folder of .npz data sets; BOCHNER_DATA names it, too",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder of the results (results)"
    )
    parser.add_argument("--quick", action="store_true", help="run a small design")
    for name, help_text in (
        ("--only", "measure this method only; repeat for several"),
        ("--again", "remove the rows of this method and measure it again; repeat for several"),
    ):
        parser.add_argument(name, action="append", default=[], metavar="METHOD", help=help_text)
    return parser


if __name__ == "__main__":
    sys.exit(main())
