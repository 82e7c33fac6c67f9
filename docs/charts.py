"""Charts of the results, drawn from the committed figures when the site is built."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from measured import ratios_to_best, rows_of

from bochner.plot import to_svg
from bochner.plot.style import MODEL, THEMES, styled

FOLDER = Path(__file__).parent / "results" / "charts"
_SHOWN = {"boosted trees": ("o", "C3"), "exact GP": ("s", "C2"), "bochner": ("D", "C0")}
_ERRORS = {"splits": ("rmse",), "folds": ("rmse", "log_loss")}


def means(part: str, metric: str) -> dict[str, dict[str, float]]:
    """Return means over splits by data set and method."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows_of("published"):
        if row["part"] == part and row["metric"] == metric:
            methods = found.setdefault(str(row["dataset"]), {})
            methods.setdefault(str(row["method"]), []).append(float(row["value"]))
    return {
        name: {method: float(np.mean(values)) for method, values in methods.items()}
        for name, methods in found.items()
    }


def errors():
    """Return the figure of errors relative to those of CatBoost."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
    titles = "error of numbers (RMSE)", "error of probabilities (log loss)"
    for ax, metric, title in zip(axes, ("rmse", "log_loss"), titles, strict=True):
        tables = {}
        for part, metrics in _ERRORS.items():
            if metric in metrics:
                tables |= {
                    f"{n}, folds" if n in tables else n: v for n, v in means(part, metric).items()
                }
        ratios = {
            name: {method: own[method] / own["CatBoost"] for method in _SHOWN if method in own}
            for name, own in tables.items()
        }
        names = sorted(ratios, key=lambda name: -ratios[name]["bochner"])
        for method, (marker, colour) in _SHOWN.items():
            places = [i for i, name in enumerate(names) if method in ratios[name]]
            values = [ratios[names[i]][method] for i in places]
            ax.plot(values, places, marker, color=colour, markersize=5, label=method)
        ax.axvline(1.0, color="0.35", linewidth=0.8)
        ax.set_xscale("log")
        ax.set_yticks(range(len(names)), [name.replace("_", " ") for name in names])
        ax.set(title=title, xlabel="relative to CatBoost")
        ax.grid(axis="y", alpha=0.25)
    axes[0].set_xlim(0.01, 4)
    axes[1].set_xlim(0.1, 10)
    for ax, ticks in zip(axes, ((0.01, 0.1, 0.5, 1, 2), (0.2, 0.5, 1, 2, 5)), strict=True):
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure


def forecasts():
    """Return the figure of errors of forecasts relative to repeating the last season."""
    figure, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows_of("forecasts"):
        if row["metric"] == "mase":
            methods = found.setdefault(str(row["dataset"]), {})
            methods.setdefault(str(row["method"]), []).append(float(row["value"]))
    looks = {
        "AutoARIMA": ("o", "C3"),
        "AutoETS": ("s", "C2"),
        "AutoTheta": ("^", "C1"),
        "MSTL": ("v", "C4"),
        "bochner": ("D", "C0"),
    }
    names = list(found)[::-1]
    for method, (marker, colour) in looks.items():
        places = [i for i, name in enumerate(names) if method in found[name]]
        ratios = [
            np.mean(found[names[i]][method]) / np.mean(found[names[i]]["seasonal naive"])
            for i in places
        ]
        ax.plot(ratios, places, marker, color=colour, markersize=5, label=method)
    ax.axvline(1.0, color="0.35", linewidth=0.8)
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="mean absolute error relative to the last season", xlim=(0, 2.8))
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=5)
    return figure


TABLE_LIMITS = (-17.0, 9.0)
"""Ends in per cent of the axis of tables, with room for the figures next to the points."""


def draw_ratios(ax, errors, title, limits):
    """Draw ratios to the best other method, named on the right, all of them in one colour."""
    ratios = sorted(errors.items(), key=lambda item: -item[1][0])
    percents = [100.0 * (ratio - 1.0) for _, (ratio, _) in ratios]
    places = range(len(ratios))
    ax.hlines(places, 0.0, percents, color=MODEL, linewidth=1.6)
    ax.plot(percents, places, "o", color=MODEL, markersize=4)
    for place, percent in zip(places, percents, strict=True):
        text = f"{percent:+.1f}".replace("-", "\N{MINUS SIGN}")
        side = -1.0 if percent < 0.0 else 1.0
        alignment = "right" if side < 0.0 else "left"
        ax.annotate(
            *(text, (percent, place), (4.0 * side, 0.0)),
            textcoords="offset points",
            ha=alignment,
            va="center",
            fontsize="x-small",
        )
    ax.axvline(0.0, color=THEMES["light"].ink, linewidth=0.8)
    ax.set_yticks(places, [name.replace("_", " ") for name, _ in ratios])
    ax.set(title=title, xlabel="% above the best other method", xlim=limits)
    ax.tick_params(axis="y", length=0.0)
    ax.grid(visible=False, axis="y")
    others = ax.secondary_yaxis("right")
    others.set_yticks(places, [other for _, (_, other) in ratios])
    others.tick_params(length=0.0)
    others.spines["right"].set_visible(False)


RATIOS = {"rmse": "RMSE of numbers", "log_loss": "log loss of classes"}


def ratios_of(metric):
    """Return the figure of one panel of :func:`tables`."""
    with styled():
        figure, ax = plt.subplots(figsize=(3.5, 2.9), layout="constrained")
        draw_ratios(ax, ratios_to_best(metric), RATIOS[metric], TABLE_LIMITS)
    return figure


def tables():
    """Return the figure of errors on real tables relative to the best other method."""
    with styled():
        figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="constrained")
        for ax, (metric, title) in zip(axes, RATIOS.items(), strict=True):
            draw_ratios(ax, ratios_to_best(metric), title, TABLE_LIMITS)
    return figure


_COLOURS = (
    f"<style>svg {{ color: {THEMES['light'].ink} }} @media (prefers-color-scheme: dark) "
    f"{{ svg {{ color: {THEMES['dark'].ink} }} }}</style>"
)


def write_readme_chart(path):
    """Write the chart of the README, in the colours that its reader's system prefers."""
    svg = to_svg(tables(), title="Errors of bochner relative to the best other method")
    start = svg.index(">") + 1
    path.write_text(f"{svg[:start]}{_COLOURS}{svg[start:]}\n", encoding="utf-8")


def draw():
    """Write all charts, as SVG without a date, so that equal figures give equal files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    options = {"svg.hashsalt": "bochner", "text.parse_math": True}
    with styled(), matplotlib.rc_context(options):
        for make in (errors, forecasts, tables):
            figure = make()
            figure.savefig(FOLDER / f"{make.__name__}.svg", metadata={"Date": None})
            plt.close(figure)


def setup(app):
    """Draw the charts before pages are read."""
    app.connect("builder-inited", lambda app: draw())
    return {"parallel_read_safe": True}
