"""Summaries in model files, which are printed without an import of the models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bochner.cli.output import cells_table, facts_table, plain_text, print_blocks
from bochner.files.safetensors_container import read


def stored(blocks: Sequence[Table | Text]) -> str:
    """Return tables and texts for a terminal as JSON."""
    return json.dumps([_content(block) for block in blocks], ensure_ascii=False)


def _content(block: Table | Text) -> object:
    if isinstance(block, Text):
        return block.plain
    columns = [[str(column.header), *map(str, column.cells)] for column in block.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def print_stored(path: Path) -> bool:
    """Print the summary in a model file; return whether it holds one."""
    tree, _ = read(path)
    try:
        contents = json.loads(tree["attributes"]["record_"]["items"]["summary"])
        blocks = [_block(content) for content in contents]
    except (KeyError, TypeError, ValueError):  # Not by `bochner fit`: the model is examined
        return False
    print_summary(path, blocks)
    return True


def print_summary(path: Path, blocks: Sequence[Table | Text]) -> None:
    """Print tables and sentences on the model of a file, and the command for more."""
    console, more = Console(), f"For the effect of a column: bochner explain {path} --column NAME"
    console.print(blocks[0])
    print_blocks(console, *blocks[1:])
    console.print(plain_text(f"\n{more}"), soft_wrap=True)


def _block(content: str | list[list[str]]) -> Table | Text:
    if isinstance(content, str):
        return plain_text(content)
    heading, *rows = content
    return cells_table(heading, rows) if any(heading) else facts_table(dict(rows))
