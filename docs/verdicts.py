"""The page "How good is it?": for each claim what is worse, and a chart, from committed figures."""

import json
from collections.abc import Callable, Iterable

import matplotlib.pyplot as plt
import numpy as np
from charts import TABLE_LIMITS, draw_ratios
from measured import RESULTS, ratios_to_best, rows_of

from benchmarks.real.comparison import mean_errors
from benchmarks.real.design import AUTOGLUON, CATBOOST, LIGHTGBM, OURS, SHAPES, TREES
from bochner.plot import to_svg
from bochner.plot.style import DARK, GREEN, METHODS, MODEL, ORANGE, PALE, SKY, styled

WIDTH = 3.8
"""Inches of a chart: its texts are large enough on a phone, and as large as a page's elsewhere."""

Means = dict[str, dict[str, float]]
"""Means by data set and method."""


def means(benchmark: str, metric: str, *, by: Iterable[str] = ("dataset",), **only: str) -> Means:
    """Return means over the other columns, by the columns ``by`` and the method."""
    cells: dict[str, dict[str, list[float]]] = {}
    for row in rows_of(benchmark):
        if row["metric"] == metric and all(str(row[name]) == some for name, some in only.items()):
            cell = ", ".join(str(row[name]) for name in by)
            cells.setdefault(cell, {}).setdefault(str(row["method"]), []).append(
                float(row["value"])
            )
    return {
        cell: {method: float(np.mean(some)) for method, some in methods.items()}
        for cell, methods in cells.items()
    }


def series_ratios() -> dict[str, tuple[float, str]]:
    """Return our scaled error over that of the best other method, and its name, by data set."""
    ratios = {}
    for benchmark in ("forecasts", "competitions"):
        for dataset, errors in means(benchmark, "mase").items():
            best = min(errors.keys() - {OURS}, key=errors.__getitem__)
            ratios[dataset] = errors[OURS] / errors[best], best
    return ratios


def worse(ratios: dict[str, tuple[float, str]], what: str) -> str:
    """Return a sentence that names where another method is better, the worst first."""
    cases = sorted(
        ((ratio, name, best) for name, (ratio, best) in ratios.items() if ratio >= 1.0),
        reverse=True,
    )
    named = "; ".join(
        f"*{name.replace('_', ' ')}* +{100.0 * (ratio - 1.0):.1f} % ({best})"
        for ratio, name, best in cases
    )
    return (
        f"**Worse on {len(cases)} of {len(ratios)} {what}**: {named}. On the other "
        f"{len(ratios) - len(cases)} the error is lower than that of every other method."
    )


def _drawn(draw: Callable, size: tuple[float, float], title: str, text: str) -> str:
    """Return a chart as HTML in the colours of the page."""
    with styled():
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        draw(ax)
        svg = to_svg(figure, title=title, description=text)
        plt.close(figure)
    svg = svg.replace(MODEL.lower(), f"var(--chart-blue, {MODEL})")
    chart = f'<div class="charts single"><div>{" ".join(svg.split())}</div></div>'
    return f"```{{raw}} html\n{chart}\n```"


def _ratio_chart(ratios: dict, limits: tuple[float, float], title: str) -> str:
    text = "; ".join(
        f"{name}: {100.0 * (ratio - 1.0):+.1f} % ({other})"
        for name, (ratio, other) in ratios.items()
    )
    size = (WIDTH, 0.9 + 0.17 * len(ratios))  # Inches: a line of text for each row
    return _drawn(lambda ax: draw_ratios(ax, ratios, "", limits), size, title, text)


def numbers() -> str:
    """Return the verdict and the chart of tables with numbers to predict."""
    ratios = ratios_to_best("rmse")
    chart = _ratio_chart(ratios, TABLE_LIMITS, "Errors of numbers")
    return f"{worse(ratios, 'tables')}\n\n{chart}"


def classes() -> str:
    """Return the verdict and the chart of tables with classes to predict."""
    ratios = ratios_to_best("log_loss")
    chart = _ratio_chart(ratios, TABLE_LIMITS, "Losses of class probabilities")
    return f"{worse(ratios, 'tables')}\n\n{chart}"


SHORT = {
    "DynamicOptimizedTheta": "Theta",
    "electricity demand, hourly": "electricity, hourly",
    "seattle, highest temperature": "seattle, warmest",
}
"""Names that leave no room for the points on the chart of series."""


def series() -> str:
    """Return the verdict and the chart of forecasts."""
    ratios = series_ratios()
    limits = (-90.0, 85.0)  # Per cent: all points with their figures
    shown = {
        SHORT.get(name, name): (ratio, SHORT.get(other, other))
        for name, (ratio, other) in ratios.items()
    }
    chart = _ratio_chart(shown, limits, "Errors of forecasts")
    return f"{worse(ratios, 'sets of series')}\n\n{chart}"


def coverage() -> str:
    """Return the chart of coverage of 90 % intervals on tables of the literature."""
    tables = means("published", "coverage", part="splits")
    tables |= {
        f"{name}, folds" if name in tables else name: own
        for name, own in means("published", "coverage", part="folds").items()
    }
    names = sorted(tables, key=lambda name: tables[name][OURS])

    def draw(ax):
        for method in ("SVGP", "exact GP", OURS):
            places = [place for place, name in enumerate(names) if method in tables[name]]
            values = [100.0 * tables[names[place]][method] for place in places]
            ax.plot(values, places, **METHODS[method].line() | {"ls": "none"}, label=method)
        ax.axvline(90.0, color="0.5", linewidth=0.8)
        ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        ax.set(xlabel="test values in 90 % intervals (%)", xlim=(80.0, 101.0))
        ax.grid(visible=False, axis="y")
        ax.legend(loc="lower right")

    text = "; ".join(f"{name}: {100.0 * tables[name][OURS]:.0f} %" for name in names)
    return _drawn(draw, (WIDTH, 2.9), "Coverage of 90 % intervals", text)


SCHEMES = {
    "RBFSampler": ("RBFSampler of scikit-learn", ORANGE, "s"),
    "iid": ("independent", PALE, "X"),
    "orthogonal": ("orthogonal blocks", SKY, "v"),
    "energy": ("least energy (default)", MODEL, "o"),
}
"""Schemes of frequencies: names on the chart, colours and markers."""


def gram() -> str:
    """Return the chart of errors of Gram matrices, as the mean over three data sets."""
    errors = means("gaussian", "relative_error", by=("features_per_input",))
    counts = sorted(errors, key=int)

    def draw(ax):
        for scheme, (label, color, marker) in SCHEMES.items():
            values = [100.0 * errors[count][scheme] for count in counts]
            ax.plot([int(c) for c in counts], values, f"{marker}-", color=color, label=label)
        ax.set(xscale="log", yscale="log", xlabel="features for each input")
        ax.set(ylabel="error of the Gram matrix (%)")
        ax.set_xticks([int(count) for count in counts], counts)
        ax.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.minorticks_off()
        ax.legend(loc="lower left")

    ratios = [errors[count]["energy"] / errors[count]["RBFSampler"] for count in counts]
    text = (
        f"The error of {{class}}`~bochner.FourierFeatures` is {100.0 * max(ratios):.0f} % of that "
        f"of RBFSampler with {counts[0]} features for each input, and {100.0 * min(ratios):.0f} % "
        f"with {counts[-1]}."
    )
    return f"{text}\n\n{_drawn(draw, (WIDTH, 2.8), 'Errors of Gram matrices', text)}"


FITS = {
    LIGHTGBM: (GREEN, "v"),
    TREES: (PALE, "X"),
    CATBOOST: (ORANGE, "^"),
    AUTOGLUON: (DARK, "P"),
    OURS: (MODEL, "o"),
}
"""Methods whose seconds are shown, with colours and markers."""


def seconds() -> str:
    """Return the verdict and the chart of the seconds of fits."""
    rows = [row for row in rows_of("real") if row["part"] == "tables"]
    fits = {method: mean_errors(rows, "fit_seconds", method) for method in FITS}

    def ratio(method: str) -> float:
        shared = [own for own in fits[method].values() if OURS in own and method in own]
        return float(np.exp(np.mean([np.log(own[OURS] / own[method]) for own in shared])))

    def draw(ax):
        for method, (color, marker) in FITS.items():
            points = [(SHAPES[name][0], own[method]) for name, own in fits[method].items()]
            ax.loglog(*zip(*sorted(points), strict=True), marker, color=color, label=method)
        ax.set(xlabel="rows", ylabel="seconds to fit")
        ax.set_xticks([500, 2000, 10_000, 50_000], ["500", "2,000", "10,000", "50,000"])
        ax.set_yticks([0.1, 1, 10, 60], ["0.1", "1", "10", "60"])
        ax.minorticks_off()
        ax.legend(ncols=2, loc="upper left")
        ax.set_ylim(0.02, 700.0)  # Room for the legend above the slowest fit

    ours = [own[OURS] for own in fits[OURS].values()]
    text = (
        f"**Slower than boosted trees**: a fit takes {min(ours):.0f} to {max(ours):.0f} s, in the "
        f"geometric mean over {len(ours)} tables {ratio(LIGHTGBM):.0f} times as long as LightGBM, "
        f"and {ratio(AUTOGLUON):.1f} times as long as AutoGluon with its limit of 60 s. Points of "
        "CatBoost were measured next to another program and are about twice too high: on an idle "
        "machine bochner takes about twice as long as CatBoost."
    )
    return f"{text}\n\n{_drawn(draw, (WIDTH, 3.0), 'Seconds of fits by rows', text)}"


OPPONENTS = (
    ("CatBoost", ("real", "catboost"), "defaults; text columns as categories"),
    ("LightGBM", ("real", "lightgbm"), "defaults; text columns as categories"),
    ("boosted trees", ("real", "scikit-learn"), "`HistGradientBoosting`, defaults, categories"),
    ("AutoGluon", ("real", "autogluon.tabular"), '`presets="medium_quality"`, 60 s a fit'),
    ("conformal intervals", ("unlike", "mapie"), "CV+, five folds, on `HistGradientBoosting`"),
    ("NGBoost", ("unlike", "ngboost"), "defaults; normal distributions"),
    ("xRFM", ("published", "xrfm"), "as its readme recommends, on published splits"),
    ("exact GP, SVGP", ("published", "gpytorch"), "Gaussian or Matérn 5/2, a scale for each input"),
    ("AutoARIMA, AutoETS, AutoTheta, MSTL, AutoCES", ("forecasts", "statsforecast"),
     "defaults; told the season, which bochner is not"),
    ("RBFSampler", ("gaussian", "scikit-learn"), "the same kernel and number of features"),
)  # fmt: skip
"""Methods, the benchmark and package that give their versions, and their settings."""


def versions(benchmark: str) -> dict[str, str]:
    """Return the versions of packages at all runs of a benchmark, the latest ones if several."""
    path = RESULTS / f"{benchmark}.environment.json"
    runs = json.loads(path.read_text(encoding="utf-8"))["runs"].values()
    return {name: version for run in runs for name, version in run["versions"].items()}


def opponents() -> str:
    """Return the table of the other methods with versions and settings."""
    lines = ["| Method | Package | Version | Settings |", "|---|---|---|---|"]
    for method, (benchmark, package), settings in OPPONENTS:
        version = versions(benchmark).get(package, "not recorded")
        lines.append(f"| {method} | {package} | {version} | {settings} |")
    return "\n".join(lines)
