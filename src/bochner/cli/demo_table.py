"""The first part of `bochner demo`: a model of a bundled table, with its report."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from bochner._base.file_writing import replacing
from bochner.cli.fit_options import FitOptions
from bochner.cli.fitting import fit_table
from bochner.cli.output import check_folder, plain
from bochner.datasets import table_file

_NAME = "seattle_weather"
_TARGET = "temp_max"


def run_table(out: Path, seed: int, console: Console) -> None:
    """Write the table into a folder, fit a model to it, and write the model and its report."""
    check_folder(out)
    path, model, report = (out / f"{_NAME}{end}" for end in (".csv", ".bochner", ".html"))
    with replacing(path) as fresh:
        fresh.write_bytes(table_file(_NAME).read_bytes())
    console.print("The weather of Seattle by day (NOAA, public domain): the highest temperature.")
    command = f"bochner fit {path} --target {_TARGET} --out {model} --report {report}"
    console.print(Text(f"\n$ {plain(command)}\n"), soft_wrap=True)
    options = FitOptions(target=[_TARGET], out=model, report=report, seed=seed)
    fit_table(path, options, console)
    console.print()
