"""The version and the placeholders of a release agree wherever they are written."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import bochner

ROOT = Path(__file__).parents[1]


def test_the_version_has_one_value():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    page = (ROOT / "docs/about/citing.md").read_text(encoding="utf-8")
    found = {
        project["version"],
        version("bochner"),
        bochner.__version__,
        re.search(r"^version: (.+)$", citation, re.MULTILINE)[1],
        re.search(r"version = \{(.+)\}", page)[1],
    }
    assert found == {project["version"]}


def test_addresses_are_marked_as_placeholders():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all("REPLACE-WITH-THE-REPOSITORY" in url for url in project["urls"].values())
