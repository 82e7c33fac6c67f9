"""Addresses of pages that moved lead to pages that exist."""

import sys

import pytest
from docs.test_pages import ROOT

sys.path.insert(0, str(ROOT / "docs"))

import redirects


def source(page):
    """Return the file from which a page of the site is made."""
    folder, _, name = page.rpartition("/")
    if folder == "gallery":
        return ROOT / "examples" / f"{name}.py"
    return ROOT / "docs" / f"{page}.md"


@pytest.mark.parametrize("page", redirects.MOVED)
def test_a_page_that_moved_leads_to_one_that_exists(page):
    assert not source(page).exists()
    folder = (ROOT / page).parent
    target = (folder / redirects.MOVED[page]).resolve().relative_to(ROOT).with_suffix("")
    assert source(target.as_posix()).is_file()
