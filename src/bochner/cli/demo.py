"""`bochner demo`: fits a model to a bundled table of life expectancy, and predicts with it."""

import shlex
from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from bochner import datasets
from bochner._base.file_writing import replacing
from bochner.cli.output import check_folder, check_outputs, plain

_ABOUT = """\
Life expectancy in 142 countries, every fifth year from 1952 to 2007
(gapminder.org, CC BY 3.0), from country, continent, year, population and
income per person (gdpPercap)."""

LATER = """\
country,continent,year,pop,gdpPercap
Japan,Asia,2012,127467972,31656
Brazil,Americas,2012,190010647,9066
Botswana,Africa,2012,1639131,12570
Estonia,Europe,2012,1315912,19967
"""
"""Rows to predict: five years after the last rows, with their population and income. Estonia is not
in the table."""

_LOOK = """\
What to look at
1. {page} in a browser. "Errors" compares all methods on test rows.
2. "Effects of columns" in that page: life expectancy rises by ten years up to
   an income of 10,000 dollars, and by four beyond. In Africa it hardly rises
   after 1992.
3. The predictions for 2012 above: the interval (lower, upper) of Botswana is
   five times as wide as that of Japan, because life expectancy in Botswana
   rose by 16 years and then fell by 17 in the AIDS epidemic."""


def run_demo(out: Path, run: Callable[[list[str]], int | None]) -> None:
    """Write the bundled table, and run the commands that fit a model to it and predict."""
    check_folder(out)
    console = Console()
    path, model, page = (out / f"gapminder{end}" for end in (".csv", ".bochner", ".html"))
    later = out / "gapminder_2012.csv"
    for file, data in (
        (path, datasets.table_file("gapminder").read_bytes()),
        (later, LATER.encode()),
    ):
        check_outputs({"table": file})
        with replacing(file) as fresh:
            fresh.write_bytes(data)
    console.print(Text(_ABOUT))
    for words in (
        ["fit", path, "--target", "lifeExp", "--out", model, "--report", page],
        ["predict", model, later, "--interval", "90", "--keep", "all"],
    ):
        command = [str(word) for word in words]
        console.print(Text(f"\n$ bochner {plain(shlex.join(command))}\n"), soft_wrap=True)
        if code := run(command):  # Refused or interrupted
            raise typer.Exit(code)
    console.print(Text(f"\n{_LOOK.format(page=plain(str(page)))}"), soft_wrap=True)
