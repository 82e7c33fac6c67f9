"""`bochner demo`: fits a model to a bundled weather table."""

import shlex
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from bochner import datasets
from bochner._base.file_writing import replacing
from bochner.cli.output import check_folder, plain


def run_demo(out: Path, run: Callable[[list[str]], object]) -> None:
    """Write a bundled table, and run the command that fits a model to it."""
    check_folder(out)
    console = Console()
    path, model, page = (out / f"seattle_weather{end}" for end in (".csv", ".bochner", ".html"))
    with replacing(path) as fresh:
        fresh.write_bytes(datasets.table_file("seattle_weather").read_bytes())
    words = ["fit", path, "--target", "temp_max", "--out", model, "--report", page]
    command = [str(word) for word in words]
    console.print("The weather of Seattle by day (NOAA, public domain): the highest temperature.")
    console.print(Text(f"\n$ bochner {plain(shlex.join(command))}\n"), soft_wrap=True)
    run(command)
