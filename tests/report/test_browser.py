"""The page in a headless Chromium: it draws, sorts, fits a phone, and asks for nothing."""

import re
from dataclasses import replace

import pytest
from report.browser import Browser, find_browser
from report.studies import of_classes, page

from bochner.report import page as report

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(find_browser() is None, reason="no Chromium on this machine"),
]

KINDS = ("laws", "26 classes", "targets")

SIZES = """[...document.querySelectorAll('svg')].map((svg) => {
  const box = svg.getBoundingClientRect();
  return [box.width, box.height];
})"""

CONTRASTS = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)|transparent/.test(color)) return parse(color);
    }
    return [255, 255, 255];
  };
  const found = [];
  const own = 'p, h1, h2, h3, li, th, td, figcaption, dt, dd, a, button, summary, svg text';
  for (const element of document.querySelectorAll(own)) {
    const style = getComputedStyle(element);
    const ink = parse(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(element))].sort((x, y) => y - x);
    if (element.textContent.trim()) found.push([(a + 0.05) / (b + 0.05), element.outerHTML]);
  }
  return found;
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driven = Browser(tmp_path_factory.mktemp("profile"))
    yield driven
    driven.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("reports")
    for kind in KINDS:
        (made / f"{kind}.html").write_text(page(kind), encoding="utf-8")
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1300, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_drawn(browser, folder, kind, width, dark):
    browser.open(folder / f"{kind}.html", width, dark=dark)
    assert browser.complaints() == []
    assert browser.run("document.documentElement.scrollWidth") == width
    sizes = browser.run(SIZES)
    assert len(sizes) > 5
    assert all(200 < w <= width and h > 40 for w, h in sizes)
    addresses = browser.requests()
    assert [a for a in addresses if not a.startswith("file:") or "favicon" in a] == []
    assert len(addresses) == 1
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 200) == dark
    # The ratio of large text, and of pictures, by the guidelines for accessible pages
    worst, element = min(browser.run(CONTRASTS))
    assert worst > 3.0, element


def test_tables_are_sorted_by_mouse_and_keyboard(browser, folder):
    browser.open(folder / "laws.html")
    cells = """(column) => [...[...document.querySelectorAll('table')].find((table) =>
      table.caption.textContent === 'Columns').tBodies[0].rows].map((row) =>
      [row.cells[column].textContent, row.cells[column].dataset.value])"""
    heads = """[...[...document.querySelectorAll('table')].find((table) =>
      table.caption.textContent === 'Columns').querySelectorAll('thead th')]"""
    before = browser.run(f"({cells})(0)")
    browser.run(f"{heads}[0].querySelector('button').click()")
    names = [name for name, _ in browser.run(f"({cells})(0)")]
    assert names == sorted(name for name, _ in before) != [name for name, _ in before]
    assert browser.run(f"{heads}[0].getAttribute('aria-sort')") == "ascending"
    browser.run(f"{heads}[3].querySelector('button').focus()")
    for order in ("descending", "ascending"):
        browser.press("Enter", 13, "\r")
        values = [float(value) for _, value in browser.run(f"({cells})(3)")]
        assert values == sorted(values, reverse=order == "descending")
        assert browser.run(f"{heads}[3].getAttribute('aria-sort')") == order
        assert browser.run(f"{heads}[0].getAttribute('aria-sort')") is None


def test_the_first_key_skips_the_contents(browser, folder):
    browser.open(folder / "laws.html")
    browser.press("Tab", 9)
    assert browser.run("document.activeElement.className") == "skip"
    assert browser.run("document.activeElement.getBoundingClientRect().left") >= 0
    browser.press("Enter", 13, "\r")
    assert browser.run("document.activeElement.id") == "main"


def test_nothing_of_a_name_is_run(browser, tmp_path):
    (study,) = of_classes(2)
    target = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
    path = tmp_path / "report.html"
    split = replace(study.split, reason=target)
    report.write([replace(study, target=target, split=split)], path)
    browser.open(path)
    assert browser.complaints() == []
    assert browser.run("window.hit") is None
