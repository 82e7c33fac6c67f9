"""Tables on a screen show texts as they are."""

import io

from rich.console import Console

from bochner.cli.output import cells_table, facts_table, results_table


def test_names_are_no_markup():
    """Headings, cells and facts; rich would read a colour's end, a style, a picture, an escape."""
    names = ["[/red]no", "[bold]yes", ":smile:", "a\x1b[31m"]
    tables = (
        cells_table(names, [names]),
        facts_table(dict(zip(names, names, strict=True))),
        results_table({name: {} for name in names}, dict(zip(names, names, strict=True))),
    )
    for table in tables:
        console = Console(file=io.StringIO(), width=200)
        console.print(table)
        for name in ("[/red]no", "[bold]yes", ":smile:", "a\\x1b[31m"):
            assert console.file.getvalue().count(name) == 2
