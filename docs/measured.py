"""Figures on pages: a role and blocks that read the committed results of the benchmarks.

The role takes the name of a benchmark, the conditions on its columns, and a format::

    {measured}`published: dataset=yacht, method=bochner, part=splits, metric=rmse; .3g`

It shows the mean of all values that fulfil the conditions. A name such as ``median`` or ``max``
before the format replaces the mean, and ``100 *`` or ``1000 *`` before that name scales it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.real.comparison import KINDS, behind, mean_errors  # noqa: E402
from benchmarks.real.design import CATBOOST, OURS  # noqa: E402
from benchmarks.results import Row, markdown_table, read_rows  # noqa: E402

RESULTS = ROOT / "docs" / "results"
SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": np.mean,
    "median": np.median,
    "min": min,
    "max": max,
    "count": len,
}
_COMMA = re.compile(r", (?=\w+=)")  # Names of data sets may hold commas
_CALL = re.compile(r"^(?:(?P<scale>10*) \* )?(?:(?P<summary>[a-z]+) )?(?P<shape>[^ ]+)$")


@cache
def rows_of(benchmark: str) -> list[Row]:
    """Return the rows of the full run of a benchmark; raise ValueError if there is none."""
    path = RESULTS / f"{benchmark}.csv"
    if not path.is_file():
        raise ValueError(f"There is no benchmark {benchmark!r}: {path.name} is not in {RESULTS}.")
    return [row for row in read_rows(path) if row["mode"] == "full"]


def values(benchmark: str, **conditions: str | Iterable[str]) -> list[float]:
    """Return the values whose columns equal the conditions, or are one of several."""
    allowed = {
        name: {one} if isinstance(one, str) else set(one) for name, one in conditions.items()
    }
    rows = rows_of(benchmark)
    if unknown := allowed.keys() - rows[0].keys():
        raise ValueError(f"{benchmark}.csv has no column {', '.join(sorted(unknown))}.")
    found = [
        float(row["value"])
        for row in rows
        if all(str(row[name]) in some for name, some in allowed.items())
    ]
    if not found:
        raise ValueError(f"No row of {benchmark}.csv has {conditions}.")
    return found


def shown(text: str) -> str:
    """Return the figure that the text of a role asks for."""
    benchmark, _, rest = text.partition(":")
    conditions, _, call = rest.partition(";")
    pairs = dict(part.strip().split("=", 1) for part in _COMMA.split(conditions))
    match = _CALL.match(call.strip())
    if match is None or (match["summary"] or "mean") not in SUMMARIES:
        raise ValueError(
            f"A figure ends in '; [100 *] [mean|median|min|max] FORMAT', got {text!r}."
        )
    summary = SUMMARIES[match["summary"] or "mean"]
    value = float(match["scale"] or 1) * summary(values(benchmark.strip(), **pairs))
    return _plain(value, match["shape"])


def _plain(value: float, shape: str) -> str:
    """Return a number as a page shows it."""
    if np.isnan(value):
        return "–"
    text = format(value, shape).replace("e-0", "e-")
    return text.replace("%", " %").replace("-", "\N{MINUS SIGN}")


def published_table() -> str:
    """Return the table of published splits, in Markdown: a line for each data set."""

    def mean(dataset: str, method: str, metric: str) -> float:
        of = {"dataset": dataset, "method": method, "part": "splits", "metric": metric}
        try:
            return float(np.mean(values("published", **of)))
        except ValueError:
            return float("nan")

    header = (
        *("data set", "bochner", "CatBoost", "boosted trees", "exact GP"),
        *("NLPD", "coverage", "seconds"),
    )
    methods = ("bochner", "CatBoost", "boosted trees", "exact GP")
    lines = []
    for dataset in dict.fromkeys(
        str(row["dataset"]) for row in rows_of("published") if row["part"] == "splits"
    ):
        errors = [mean(dataset, method, "rmse") for method in methods]
        texts = [_plain(error, ".3g") for error in errors]
        texts[int(np.nanargmin(errors))] = f"**{texts[int(np.nanargmin(errors))]}**"
        others = (("nlpd", ".2f"), ("coverage", ".0%"), ("fit_seconds", ".1f"))
        own = [_plain(mean(dataset, "bochner", metric), shape) for metric, shape in others]
        lines.append([dataset.replace("_", " "), *texts, *own])
    return markdown_table(header, lines)


def real_summary() -> str:
    """Return how bochner compares to boosted trees on real tables, in one item of a list."""
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    means = []
    for metric, kind in KINDS.items():
        errors = mean_errors(rows, metric, OURS).values()
        ratios = [own[OURS] / own[CATBOOST] for own in errors]
        mean = float(np.exp(np.mean(np.log(ratios))))
        means.append(f"{mean:.2f} on {len(ratios)} {kind}")
    return (
        f"- On tables with categories, dates and gaps, {next(behind(rows)).rstrip('.:')}. Relative "
        f"to {CATBOOST}, the geometric mean of its errors is {' and '.join(means)}."
    )


BLOCKS: dict[str, Callable[[], str]] = {"published": published_table, "real": real_summary}
_BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def filled(page: str) -> str:
    """Return a page with each block between its markers made anew."""
    return _BLOCK.sub(lambda match: f"{match[1]}\n{BLOCKS[match[2]]()}\n\n{match[3]}", page)


def _measured(name, rawtext, text, lineno, inliner, options=None, content=None):
    """Return the nodes of the role."""
    from docutils import nodes

    try:
        return [nodes.Text(shown(text))], []
    except ValueError as error:
        message = inliner.reporter.error(str(error), line=lineno)
        return [inliner.problematic(rawtext, rawtext, message)], [message]


def setup(app):
    """Add the role to Sphinx, and fill blocks of pages when they are read."""
    app.add_role("measured", _measured)

    def fill(app, docname, source):
        source[0] = filled(source[0])

    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text(encoding="utf-8")), encoding="utf-8")
