"""`bochner bench`."""

from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress

from bochner import benchmarks
from bochner.benchmarks import Cell
from bochner.report.benchmarks import FIGURES


def run_benchmark(
    name: str, data: Path | None, out: Path, *, quick: bool, console: Console
) -> None:
    """Run a benchmark, write its tables and figures, and print the tables."""
    benchmark = benchmarks.find(name)
    with Progress(console=console) as bar:
        task = bar.add_task(name)

        def report(done: int, total: int, cell: Cell | None) -> None:
            what = f"{name}: {cell.dataset}, {cell.method}" if cell else name
            bar.update(task, completed=done, total=total, description=what)

        csv = benchmarks.run(benchmark, data, out, quick=quick, progress=report)
    written = benchmarks.render(benchmark, csv, FIGURES.get(name))
    console.print(Markdown(written[0].read_text(encoding="utf-8")))
    console.print("Wrote " + ", ".join(map(str, (csv, *written))), markup=False)
