"""Check the built site: links, no network, the search, and words that pages for users avoid."""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(sys.argv[1]).resolve()

# Each query must lead to one of these pages by titles or texts.
SEARCHES = {
    ("feature", "importance"): ("guide/tables", "gallery/plot_07_single_prediction"),
    ("prediction", "interval"): ("guide/tables", "gallery/plot_05_intervals_conformal"),
    ("categorical",): ("guide/tables", "guide/migration"),
    ("gaussian", "process"): ("guide/gaussian_processes",),
    ("forecast",): ("guide/series", "gallery/plot_08_co2"),
    ("count",): ("guide/likelihoods", "gallery/plot_17_counts_and_censoring"),
    ("class", "probabilities"): ("gallery/plot_04_credit_probabilities", "guide/tables"),
}
STEM = 6  # Letters of a word that its stem in the index has, too

# Methods that the page of a class must have, inherited ones as well.
METHODS = {
    "bochner.TableRegressor": "fit predict predict_interval importance effect contributions report",
    "bochner.TableClassifier": "fit predict predict_proba importance effect contributions report",
    "bochner.Forecaster": "fit predict predict_interval components cross_validate",
}

# Words on how the project came about, and turns of phrase that readers stumble over.
AVOIDED = re.compile(
    r"\b(as asked|was asked|planted here|in sight of"
    r"|sphinx_gallery_\w+)\b",
    re.IGNORECASE,
)
NOTES = ("adr/", "about/changelog", "_modules/")  # Pages about the design itself


class Page(HTMLParser):
    """The links, the identifiers and the text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.names: set[str] = set()
        self.text: list[str] = []
        self._skip = 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Collect what a tag refers to."""
        found = dict(attrs)
        self.names |= {value for key in ("id", "name") if (value := found.get(key))}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in ("script", "img", "iframe") and found.get("src"):
            self.sources.append(found["src"])
        if tag == "link" and found.get("href") and "stylesheet" in found.get("rel", ""):
            self.sources.append(found["href"])
        self._skip += tag in ("script", "style")

    def handle_endtag(self, tag):
        """Leave a script or a style."""
        self._skip -= tag in ("script", "style")

    def handle_data(self, data):
        """Collect text that is shown."""
        if not self._skip:
            self.text.append(data)


def problems():
    """Yield a line for everything that is wrong."""
    files = (path for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts)
    pages = {path: Page(path) for path in files}
    if not pages:
        yield f"{SITE} holds no pages"
    for path, page in pages.items():
        name = path.relative_to(SITE).as_posix()
        for source in page.sources:
            if urlsplit(source).netloc:
                yield f"{name}: {source} needs a network"
        for link in [*page.links, *page.sources]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if not target.exists():
                yield f"{name}: {link} does not exist"
            elif target in pages and not name.startswith("_modules/"):
                place = unquote(parts.fragment)
                if place and place not in pages[target].names:
                    yield f"{name}: {link} names no place on its page"
        if not name.startswith(NOTES):
            for found in AVOIDED.finditer(" ".join(page.text)):
                yield f"{name}: avoid {found[0]!r}"
    yield from unlisted(pages)
    yield from unanswered()


def unlisted(pages):
    """Yield the methods that are missing on the pages of their classes."""
    for name, methods in METHODS.items():
        page = pages[SITE / "api" / "generated" / f"{name}.html"]
        kind = name.rpartition(".")[2]
        for method in methods.split():
            if not any(anchor.endswith(f"{kind}.{method}") for anchor in page.names):
                yield f"{name}: the page has no method {method}"


def unanswered():
    """Yield the queries that the search does not answer."""
    text = (SITE / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])
    documents = index["docnames"]

    def having(word):
        found = set()
        for table in (index["terms"], index["titleterms"]):
            for term, places in table.items():
                if term.startswith(word[:STEM]):
                    found |= set(places if isinstance(places, list) else [places])
        return {documents[place] for place in found}

    for words, wanted in SEARCHES.items():
        common = set.intersection(*(having(word) for word in words))
        missing = [page for page in wanted if page not in common]
        if missing:
            yield f"a search for {' '.join(words)!r} does not find {', '.join(missing)}"


if __name__ == "__main__":
    lines = list(dict.fromkeys(problems()))
    print(*lines, sep="\n")
    print(f"{len(lines)} problems on the site.")
    sys.exit(bool(lines))
