"""The Python of the pages about torch runs, and what it asserts holds."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs/guide/torch.md"
BLOCK = re.compile(r"^```\{code-block\} python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_blocks_run(capsys):
    names = {}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == 2
    for number, code in enumerate(blocks, start=1):
        exec(compile(code, f"{PAGE.name}, block {number}", "exec"), names)
    loss, first, second = map(float, re.findall(r"\d+\.\d+(?:e-\d+)?", capsys.readouterr().out))
    assert loss < 1e-2
    assert second > 1.2 * first
