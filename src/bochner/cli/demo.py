"""`bochner demo`: a model of a table of weather, and a forecast of carbon dioxide for ten years."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.text import Text

from bochner import datasets
from bochner._base.arrays import Array
from bochner._base.file_writing import replacing
from bochner._base.number_texts import number, percent
from bochner.cli.explaining import series_facts
from bochner.cli.output import check_folder, facts_table, plain
from bochner.cli.progress_line import reporting
from bochner.files.model_file import save
from bochner.series.forecaster import Forecaster

_HELD_OUT_YEARS = 10.0
"""Last years of the record that are held out: a trend and ten seasons to extrapolate."""

_LEVEL = 0.9
"""Probability of the intervals."""

_WIDTH, _HEIGHTS = 6.9, (2.3, 0.9, 0.9)
"""Inches of the picture's width, that of a page, and of its panels' heights."""

_DPI = 240
"""Dots per inch of the picture, which is 1,656 pixels wide."""


def run_demo(out: Path, run: Callable[[list[str]], object]) -> None:
    """Write a table, its model and report, and the picture and the model of a forecast.

    ``run`` runs a command.
    """
    check_folder(out)
    console = Console()
    _fit_weather(out, console, run)
    times, values, is_held_out = co2_record()
    console.print(
        Text(
            f"\nCarbon dioxide at Mauna Loa, weekly: {np.sum(~is_held_out):,} weeks to learn from, "
            f"the last ten years ({np.sum(is_held_out)} weeks) held out. Times are decimal years. "
            "The model is not told about years: it finds the period of one.\n"
        )
    )
    with reporting() as progress:
        past, future = times[~is_held_out], times[is_held_out]
        model = Forecaster(n_jobs=2, random_state=0)
        model.fit(values[~is_held_out], times=past, callback=progress.relay)
        progress("drawing")
        _draw(model, times, values, is_held_out, out / "co2.png")
    save(model, out / "co2.bochner")
    truth = values[is_held_out]
    lower, upper = model.predict_interval(future, _LEVEL)
    error = float(np.sqrt(np.mean((np.asarray(model.predict(future)) - truth) ** 2)))
    covered = float(np.mean((lower <= truth) & (truth <= upper)))
    years_ahead = np.ceil(future - past[-1])
    last_year = np.interp(future - years_ahead, past, values[~is_held_out])
    other_error = float(np.sqrt(np.mean((last_year - truth) ** 2)))
    console.print(facts_table(series_facts(model)))
    console.print(
        Text(
            f"\nThe error of the ten years (RMSE) is {number(error, 3)} ppm; it is "
            f"{number(other_error, 3)} ppm if the last known year is repeated. The "
            f"{percent(_LEVEL)} intervals cover {percent(covered, digits=1)} of the weeks."
        )
    )
    written = f"Wrote {out / 'co2.png'} and {out / 'co2.bochner'}."
    console.print(Text(plain(written)), soft_wrap=True)


def _fit_weather(out: Path, console: Console, run: Callable[[list[str]], object]) -> None:
    """Write a bundled table, and run the command that fits a model to it."""
    path, model, page = (out / f"seattle_weather{end}" for end in (".csv", ".bochner", ".html"))
    with replacing(path) as fresh:
        fresh.write_bytes(datasets.table_file("seattle_weather").read_bytes())
    words = ["fit", path, "--target", "temp_max", "--out", model, "--report", page]
    command = [str(word) for word in words]
    console.print("The weather of Seattle by day (NOAA, public domain): the highest temperature.")
    console.print(Text(f"\n$ bochner {plain(shlex.join(command))}\n"), soft_wrap=True)
    run(command)


def co2_record() -> tuple[Array, Array, np.ndarray]:
    """Return decimal years (n,), ppm (n,), and whether a week is in the last ten years (n,)."""
    record = datasets.load("mauna_loa_co2_weekly")
    is_measured = np.isfinite(record.y)
    times, values = record.X[is_measured, 0], record.y[is_measured]
    return times, values, times >= times[-1] - _HELD_OUT_YEARS


def _draw(
    model: Forecaster, times: Array, values: Array, is_held_out: np.ndarray, path: Path
) -> None:
    from matplotlib.figure import Figure

    from bochner import plot
    from bochner.plot.style import styled

    season = model.periods_[0].name
    with styled():
        figure = Figure(figsize=(_WIDTH, sum(_HEIGHTS)), layout="constrained")
        top, *below = figure.subplots(len(_HEIGHTS), 1, height_ratios=_HEIGHTS, sharex=True)
    plot.forecast(
        model,
        times[is_held_out],
        history=(times[~is_held_out], values[~is_held_out]),
        truth=values[is_held_out],
        xlabel="",
        ylabel="CO₂ (ppm)",
        ax=top,
    )
    parts = plot.components(model, times, names=["trend", season], xlabel="year")
    replace(parts, names=["trend", "season"]).plot(below)
    with replacing(path) as fresh:
        figure.savefig(fresh, format="png", dpi=_DPI)
