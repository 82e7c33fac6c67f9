"""The commands that pages and helps print run, in their order."""

import re
import shlex
import shutil

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner
from docs.test_pages import ROOT

from bochner.cli.demo import LATER
from bochner.datasets import table_file

BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FAST = {"fit": ("--effort", "quick", "--no-compare"), "forecast": ("--no-compare",)}


def commands(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    shell = [block for kind, block in blocks if kind in ("", "console", "sh", "bash")]
    lines = [line.removeprefix("$ ") for block in shell for line in block.splitlines()]
    return [shlex.split(line.split("  #")[0]) for line in lines if line.startswith("bochner ")]


def is_command(words):
    """Tell a command from a row of printed results, which begins with our method's name."""
    return re.fullmatch(r"[a-z]+|--[a-z-]+", words[1]) is not None


PAGES = {
    page: found
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if "results" not in page.parts and "adr" not in page.parts
    and (found := [words[1:] for words in commands(page) if is_command(words)])
}  # fmt: skip


def demand():
    rng = np.random.default_rng(0)
    hour, day = rng.integers(0, 24, 80), rng.choice(["workday", "weekend"], 80)
    columns = {"hour": hour, "temperature": rng.normal(12.0, 7.0, 80), "day": day}
    return pd.DataFrame(columns | {"demand": hour + rng.normal(size=80)})


def sales():
    months = pd.date_range("2018-01-01", periods=48, freq="MS")
    season = np.sin(np.arange(48.0) * np.pi / 6.0)
    return pd.DataFrame({"month": months, "sales": 10.0 + season + 0.1 * np.arange(48.0)})


@pytest.mark.thorough_cases(but=r"\bquickstart\b")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = "src/bochner/datasets/data"
    for folder, name in (("demo", "gapminder"), (data, "mauna_loa_co2_weekly")):
        (tmp_path / folder).mkdir(parents=True)
        rows = table_file(name).read_bytes().splitlines(keepends=True)[:121]
        (tmp_path / folder / f"{name}.csv").write_bytes(b"".join(rows))
    (tmp_path / "demo" / "gapminder_2012.csv").write_text(LATER, encoding="utf-8")
    demand().to_csv("demand.csv", index=False)
    demand().rename(columns={"demand": "price"}).to_csv("houses.csv", index=False)
    shutil.copy("houses.csv", "new.csv")
    sales().to_csv("sales.csv", index=False)
    regions = sales().rename(columns={"sales": "north"})
    regions.assign(south=30.0 - regions["north"] ** 2 / 9.0).to_csv("regions.csv", index=False)
    for words in PAGES[page]:
        if words[0] == "demo":
            continue  # tests/cli runs it
        result = bochner(*words, *FAST.get(words[0], ()))
        assert result.exit_code == 0, (words, result.output)
        for option in ("--out", "--report"):
            if option in words:
                assert (tmp_path / words[words.index(option) + 1]).stat().st_size > 0
