"""Docstrings of papers name functions of the library and parts of benchmarks that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from bochner import papers

PAPERS = [name for name in papers.__all__ if not name.startswith("_")]
RESULTS = Path(__file__).parents[2] / "docs" / "results"


def resolve(name, module):
    """The object with a name, which is absolute or of a module."""
    if not name.startswith("bochner."):
        value, rest = module, name.split(".")
    else:
        value, rest = import_module("bochner"), name.split(".")[1:]
    for part in rest:
        try:
            value = getattr(value, part)
        except AttributeError:
            value = import_module(f"{value.__name__}.{part}")
    return value


@pytest.mark.parametrize("paper", PAPERS)
def test_what_a_paper_is_mapped_to_exists(paper):
    module = getattr(papers, paper)
    names = re.findall(r":(?:class|func|meth):`~?([\w.]+)`", module.__doc__)
    assert len(names) >= 4
    for name in names:
        assert resolve(name, module) is not None


@pytest.mark.parametrize("paper", PAPERS)
def test_benchmarks_have_their_parts(paper):
    text = getattr(papers, paper).__doc__
    named = re.findall(r"benchmark ``(\w+)``(?:, part ``(\w+)``)?", text)
    assert named
    for benchmark, part in named:
        table = (RESULTS / f"{benchmark}.csv").read_text()
        assert not part or f",{part}," in table, (benchmark, part)
