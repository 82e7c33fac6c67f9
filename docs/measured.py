"""Figures on pages: a role and blocks that read the committed results of the benchmarks.

The role takes the name of a benchmark, the conditions on its columns, and a format::

    {measured}`published: dataset=yacht, method=bochner, part=splits, metric=rmse; .3g`

It shows the mean of all values that fulfil the conditions. A name such as ``median`` or ``max``
before the format replaces the mean, and ``100 *`` or ``1000 *`` before that name scales it.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.real.comparison import KINDS, behind, mean_errors  # noqa: E402
from benchmarks.real.design import AUTOGLUON, CATBOOST, LIGHTGBM, METHODS, ONE_FOLD, OURS  # noqa: E402
from benchmarks.results import Row, read_rows  # noqa: E402

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


def ratios_to_best(metric: str) -> dict[str, tuple[float, str]]:
    """Return our mean error over that of the best other method, and its name, by table.

    A method that was fitted to the first fold only is compared on this fold.
    """
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    ratios: dict[str, dict[str, float]] = {}
    for method in METHODS:
        shared = min(method, OURS, key=lambda name: name not in ONE_FOLD)
        for table, errors in mean_errors(rows, metric, shared).items():
            if method != OURS and method in errors and OURS in errors:
                ratios.setdefault(table, {})[method] = errors[OURS] / errors[method]
    best = {table: max(by_method, key=by_method.__getitem__) for table, by_method in ratios.items()}
    return {table: (ratios[table][method], method) for table, method in best.items()}


def tables_summary() -> str:
    """Return how often our error is the lowest on real tables, and the coverage of intervals."""
    ratios = [ratio for metric in KINDS for ratio, _ in ratios_to_best(metric).values()]
    lowest = sum(ratio < 1.0 for ratio in ratios)
    near = sum(abs(ratio - 1.0) < 0.01 for ratio in ratios)
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    coverages = [means[OURS] for means in mean_errors(rows, "coverage", OURS).values()]
    return (
        f"bochner has the lowest error on {lowest} of {len(ratios)} tables. On the others its "
        f"error is up to {100.0 * (max(ratios) - 1.0):.0f} % higher than that of the best other "
        f"method; on {near} tables the two differ by less than 1 %. Its 90 % intervals contain "
        f"{100.0 * min(coverages):.0f} to {100.0 * max(coverages):.0f} % of the test values of "
        f"each of {len(coverages)} regressions."
    )


def tables_chart() -> str:
    """Return the chart of real tables as HTML in a page, in the colours of the page."""
    from charts import ratios_of

    from bochner.plot import to_svg
    from bochner.plot.style import MODEL

    charts = []
    for metric, kind in KINDS.items():
        lines = (
            f"{table}: {100.0 * (ratio - 1.0):+.1f} % ({other})"
            for table, (ratio, other) in ratios_to_best(metric).items()
        )
        title = f"Errors of bochner relative to the best other method, {kind}"
        svg = to_svg(ratios_of(metric), title=title, description="; ".join(lines))
        svg = svg.replace(MODEL.lower(), f"var(--chart-blue, {MODEL})")
        charts.append(f"<div>{' '.join(svg.split())}</div>")
    return "\n".join(("```{raw} html", '<div class="charts">', *charts, "</div>", "```"))


def _range_of(metric: str, method: str) -> str:
    """Return the least and the greatest mean of a metric of a method over the real tables."""
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    means = [of_method[method] for of_method in mean_errors(rows, metric, method).values()]
    return (
        f"{min(means):.2g} to {max(means):.0f}"
        if max(means) > 100
        else (f"{min(means):.2g} to {max(means):.2g}")
    )


def _series_of_others() -> str:
    """Return the kinds of series on which another method has a lower error, with both errors."""
    figures = []
    for dataset in dict.fromkeys(str(row["dataset"]) for row in rows_of("competitions")):
        methods = dict.fromkeys(
            str(row["method"]) for row in rows_of("competitions") if row["dataset"] == dataset
        )
        errors = {
            method: float(
                np.mean(values("competitions", dataset=dataset, method=method, metric="mase"))
            )
            for method in methods
        }
        best = min(errors, key=errors.__getitem__)
        if best != OURS:
            figures.append(f"{dataset} {errors[best]:.2f} ({best}), bochner {errors[OURS]:.2f}")
    return "; ".join(figures)


def other_choices() -> str:
    """Return the problems for which other libraries are better, with the measured figures."""
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    pairs = [errors for metric in KINDS for errors in mean_errors(rows, metric, AUTOGLUON).values()]
    n_lower = sum(errors[AUTOGLUON] < errors[OURS] for errors in pairs)
    lines = [
        (
            "A fit in less than two seconds",
            "boosted trees",
            f"LightGBM fits each of {len(pairs)} tables in {_range_of('fit_seconds', LIGHTGBM)} s, "
            f"bochner in {_range_of('fit_seconds', OURS)} s",
        ),
        (
            "The lowest error of a large ensemble",
            "AutoGluon",
            f"Its error is lower than bochner's on {n_lower} of {len(pairs)} tables; its models "
            f"take {_range_of('megabytes', AUTOGLUON)} MB, bochner's "
            f"{_range_of('megabytes', OURS)} MB",
        ),
    ]
    if series := _series_of_others():
        lines.append(
            (
                "Many short business series",
                "statsforecast",
                f"Mean absolute scaled errors: {series}",
            )
        )
    lines += [
        ("Images, sound or long text", "a neural network", "Its embeddings are a good table"),
        ("Latent variables", "PyMC, Stan or NumPyro", "bochner has no language for models"),
    ]
    return "\n".join(f"- **{need}**: {choice}. {reason}." for need, choice, reason in lines)


def kernel_strips(group: str) -> str:
    """Return pictures of stationary or of other kernels."""
    import kernel_pictures

    is_stationary = group == "STATIONARY"
    return kernel_pictures.strips(getattr(kernel_pictures, group), is_stationary=is_stationary)


def verdict(name: str) -> str:
    """Return a block of the page of results."""
    import verdicts

    return getattr(verdicts, name)()


BLOCKS: dict[str, Callable[[], str]] = {
    **{
        f"verdict_{name}": partial(verdict, name)
        for name in ("numbers", "classes", "series", "gram", "seconds", "coverage", "opponents")
    },
    "kernels": partial(kernel_strips, "STATIONARY"),
    "other_kernels": partial(kernel_strips, "OTHERS"),
    "real": real_summary,
    "tables": tables_summary,
    "chart": tables_chart,
    "others": other_choices,
}
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
        if _BLOCK.search(source[0]) or "{measured}`" in source[0]:
            # A page is read again if figures or the code of its charts change
            for path in (*RESULTS.glob("*.csv"), *Path(__file__).parent.glob("*.py")):
                app.env.note_dependency(str(path), docname=docname)
        source[0] = filled(source[0])

    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(filled(readme.read_text(encoding="utf-8")), encoding="utf-8")
    from charts import write_readme_chart

    write_readme_chart(ROOT / "docs" / "_static" / "tables.svg")
