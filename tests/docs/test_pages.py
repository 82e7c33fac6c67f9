"""The Python of the pages runs and prints what they show, and the files that they name exist."""

import doctest
import re
from functools import partial
from pathlib import Path

import distributed
import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README = ROOT / "README.md"


def blocks_of(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def repeats_readme(page):
    """Whether all blocks of another page are the first ones of README, which run there."""
    blocks = blocks_of(page)
    return page != README and blocks == blocks_of(README)[: len(blocks)]


PAGES = [
    page
    for page in (README, *sorted((ROOT / "docs").rglob("*.md")))
    if blocks_of(page) and not repeats_readme(page)
]


NUMBER = re.compile(r"-?\d+\.\d+|-?\d+(?=\s?%)")
SHARE = 0.1  # Share of a measured number by which another processor's may differ
UNITS = 2  # In its last digit


class Checker(doctest.OutputChecker):
    """Takes decimal numbers and percentages as equal that differ as two processors may."""

    def check_output(self, want, got, flags):
        """Compare texts as usual, and then all but their numbers."""
        if super().check_output(want, got, flags):
            return True
        shown, found = NUMBER.findall(want), NUMBER.findall(got)
        texts = NUMBER.sub("#", want), NUMBER.sub("#", got)
        return (
            len(shown) == len(found) > 0
            and super().check_output(*texts, flags)
            and all(map(self.near, shown, found))
        )

    @staticmethod
    def near(shown, found):
        """Return whether a number is that of a page, up to a share of it and its last digit."""
        digits = len(shown.partition(".")[2])
        margin = max(UNITS * 10.0**-digits, SHARE * abs(float(shown)))
        return abs(float(shown) - float(found)) <= margin * (1 + 1e-9)


def failures(code, names, label):
    """Run one block, a script or a session; return the failures of a session."""
    if not code.startswith(">>>"):
        exec(compile(code, label, "exec"), names)
        return ""
    said = []
    session = doctest.DocTestParser().get_doctest(code, {}, label, label, 0)
    session.globs = names
    doctest.DocTestRunner(checker=Checker(), optionflags=FLAGS).run(
        session, out=said.append, clear_globs=False
    )
    return "".join(said)


@pytest.mark.thorough_cases(but="files|similarities")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Processes take most of the time of a page, and have tests of their own.
    in_threads = partial(distributed.LocalCluster, processes=False)
    monkeypatch.setattr(distributed, "LocalCluster", in_threads)
    names = {}
    for number, code in enumerate(blocks_of(page), start=1):
        failed = failures(code, names, f"{page.name}, block {number}")
        assert not failed, failed


def test_files_of_the_architecture():
    files = re.compile(r"`((?:\w+/)+[\w*]+\.py)`").findall
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    places = ROOT, ROOT / "src/bochner"
    assert not [name for name in files(page) if not any(any(p.glob(name)) for p in places)]
    for walk in page.partition("## Walks")[2].split("\n**")[1:]:
        assert len(set(files(walk))) == len(files(walk)) > 8


def test_pages_that_readme_links_to_are_markdown():
    """A code host shows them: their links are no roles, and cards of the site are not in them."""
    pages = {
        ROOT / name for name in re.findall(r"\]\((docs/[^)#]*\.md)", README.read_text("utf-8"))
    }
    assert len(pages) > 20
    for page in pages:
        text = page.read_text(encoding="utf-8")
        roles = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`>]*)", text)
        assert all("gallery/" in role or "api/" in role for role in roles), (page, roles)
        assert not re.search(r"^:{3}", text, re.MULTILINE), page
