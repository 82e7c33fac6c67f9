"""The second part of `bochner demo`: carbon dioxide is forecast for ten years."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.text import Text
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from bochner import datasets
from bochner import files as persist
from bochner._base.arrays import Array, Floats
from bochner._base.file_writing import replacing
from bochner._base.number_texts import percent
from bochner._base.progress import Progress, silent
from bochner.cli.activity import reporting
from bochner.cli.inspecting import forecast_facts
from bochner.cli.output import check_folder, facts_table, plain, results_table
from bochner.comparison.contenders import OURS, TREES
from bochner.comparison.split import Split
from bochner.series.forecaster import Forecaster

LAST_YEAR = "the last year again"
WAVES = "a line and waves of a year"

_HELD_OUT_YEARS = 10.0
"""Last years of the record that are held out: a trend and ten seasons to extrapolate."""

_FIRST_YEARS = 2.0
"""First held-out years whose error is shown separately: a short-term forecast."""

_N_WAVES = 4
"""Harmonics of a year of the linear model: beyond the fourth, the seasons have no power."""

_LEVEL = 0.9
"""Probability of the intervals."""

_WIDTH, _HEIGHTS = 6.9, (2.3, 0.9, 0.9)
"""Inches of the picture's width, that of a page, and of its panels' heights."""

_DPI = 240
"""Dots per inch of the picture, which is 1,656 pixels wide."""

_METRICS = {"first": "RMSE, 2 years (ppm)", "rmse": "10 years (ppm)", "seconds": "seconds"}


def run_demo(out: Path, seed: int, console: Console) -> None:
    """Fit, compare, write ``co2.png`` and ``co2.bochner``, and print the results."""
    check_folder(out)
    split = co2_split()
    with reporting() as progress:
        model = Forecaster(n_jobs=2, random_state=seed)
        results = compare_co2(split, model, progress)
        progress("drawing")
        _draw(split, model, out / "co2.png")
    persist.save(model, out / "co2.bochner")
    console.print(
        f"Carbon dioxide at Mauna Loa, weekly: {len(split.y):,} weeks to learn from, the last ten "
        f"years ({len(split.y_test)} weeks) held out.\nTimes are decimal years. The model is not "
        "told about years: it finds the period of one.\n",
        markup=False,
        highlight=False,
    )
    console.print(facts_table(forecast_facts(model)))
    console.print()
    console.print(results_table(results, _METRICS))
    covered = results[OURS]["coverage"]
    share = percent(covered, digits=1)
    console.print(f"\nThe {percent(_LEVEL)} intervals cover {share} of the ten years' weeks.")
    written = f"Wrote {out / 'co2.png'} and {out / 'co2.bochner'}."
    console.print(Text(plain(written)), soft_wrap=True)


def co2_split() -> Split:
    """Return the weekly record in ppm by decimal years, with its last ten years held out."""
    record = datasets.load("mauna_loa_co2_weekly")
    is_measured = np.isfinite(record.y)
    X, y = record.X[is_measured], record.y[is_measured]
    train = X[:, 0] < X[-1, 0] - _HELD_OUT_YEARS
    return Split(X[train], y[train], X[~train], y[~train], "regression")


def compare_co2(
    split: Split, model: Forecaster, progress: Progress = silent
) -> dict[str, dict[str, float]]:
    """Fit the model, and return errors in the held-out years, of it and of other methods."""
    results = {}
    for name, method in {OURS: _ours(model, progress), **_OTHERS}.items():
        start = perf_counter()
        predicted = method(split)
        seconds = perf_counter() - start
        squares = (split.y_test - predicted) ** 2
        first = split.X_test[:, 0] < split.X_test[0, 0] + _FIRST_YEARS
        results[name] = {
            "first": float(np.sqrt(squares[first].mean())),
            "rmse": float(np.sqrt(squares.mean())),
            "seconds": seconds,
        }
    lower, upper = model.predict_interval(split.X_test[:, 0], _LEVEL)
    results[OURS]["coverage"] = float(np.mean((lower <= split.y_test) & (split.y_test <= upper)))
    return results


def _ours(model: Forecaster, progress: Progress) -> Callable[[Split], Array]:
    def predicted(split: Split) -> Array:
        model.fit(split.y, times=split.X[:, 0], callback=progress.relay)
        predictions: Array = model.predict(split.X_test[:, 0])
        return predictions

    return predicted


def _last_year(split: Split) -> Array:
    """Return the nearest value at the same time of the year in the last known year."""
    years = split.X[:, 0]
    last = years > years[-1] - 1.0
    behind = np.ceil(split.X_test[:, 0] - years[-1])
    predictions: Array = np.interp(split.X_test[:, 0] - behind, years[last], split.y[last])
    return predictions


def _with_waves(X: Floats) -> Array:
    angle = 2.0 * np.pi * X * np.arange(1, _N_WAVES + 1)
    return np.hstack((X, np.cos(angle), np.sin(angle)))


def _line_and_waves(split: Split) -> Array:
    model = LinearRegression().fit(_with_waves(split.X), split.y)
    predictions: Array = model.predict(_with_waves(split.X_test))
    return predictions


def _trees(split: Split) -> Array:
    model = HistGradientBoostingRegressor(random_state=0).fit(_with_waves(split.X), split.y)
    predictions: Array = model.predict(_with_waves(split.X_test))
    return predictions


_OTHERS: Mapping[str, Callable[[Split], Array]] = {
    LAST_YEAR: _last_year,
    WAVES: _line_and_waves,
    TREES: _trees,
}
"""Methods to compare with; the last two are told the length of the year."""


def _draw(split: Split, model: Forecaster, path: Path) -> None:
    from matplotlib.figure import Figure

    from bochner import plot
    from bochner.plot.style import styled

    years = np.concatenate((split.X[:, 0], split.X_test[:, 0]))
    season = model.periods_[0].name
    with styled():
        figure = Figure(figsize=(_WIDTH, sum(_HEIGHTS)), layout="constrained")
        top, *below = figure.subplots(len(_HEIGHTS), 1, height_ratios=_HEIGHTS, sharex=True)
    plot.forecast(
        model,
        split.X_test[:, 0],
        history=(split.X[:, 0], split.y),
        truth=split.y_test,
        xlabel="",
        ylabel="CO₂ (ppm)",
        ax=top,
    )
    parts = plot.components(model, years, names=["trend", season], xlabel="year")
    replace(parts, names=["trend", "season"]).plot(below)
    with replacing(path) as fresh:
        figure.savefig(fresh, format="png", dpi=_DPI)
