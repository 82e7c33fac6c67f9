"""Pictures of the home page and the README, drawn anew by ``python docs/home_pictures.py``.

Writes ``_static/countries*.png`` from a fit of life expectancy, and ``_static/report*.png`` from
the report of ``bochner demo``, which Chromium draws.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import MultipleLocator
from PIL import Image

from bochner import TableRegressor, datasets, read_table
from bochner.plot.style import BLUE, SKY, styled

STATIC = Path(__file__).parent / "_static"
COUNTRIES = ("Japan", "Brazil", "Rwanda", "Botswana")
SIZE = "840,1005"  # Pixels: a page and a half of the report's width
SHOWN = "nav { display: none !important } main > section:not(#effects) { display: none }"
INPUTS = ["country", "continent", "year", "pop", "gdpPercap"]


def paths(table: pd.DataFrame, country: str) -> pd.DataFrame:
    """Return rows of a country for each year to 2012; population and income are interpolated."""
    rows = table[table["country"] == country]
    years = np.arange(1952, 2013)
    columns = {name: np.interp(years, rows["year"], rows[name]) for name in ("pop", "gdpPercap")}
    return pd.DataFrame(
        {"country": country, "continent": rows["continent"].iloc[0], "year": years, **columns}
    )


def draw_countries() -> None:
    """Draw the prediction and the interval of four countries, next to observed values."""
    table = read_table(datasets.table_file("gapminder"))
    test = table.sample(frac=0.2, random_state=0)
    train = table.drop(test.index)
    model = TableRegressor(random_state=0).fit(train[INPUTS], train["lifeExp"])
    lines = {country: paths(table, country) for country in COUNTRIES}
    bands = {
        country: (model.predict(rows), *model.predict_interval(rows, level=0.9))
        for country, rows in lines.items()
    }
    for theme, suffix in (("light", ""), ("dark", "_dark")):
        with styled(theme):
            figure, axes = plt.subplots(2, 2, figsize=(5.2, 4.0), sharex=True, layout="constrained")
            for ax, country in zip(axes.flat, COUNTRIES, strict=True):
                years, (mean, lower, upper) = lines[country]["year"], bands[country]
                color = SKY if suffix else BLUE
                band = ax.fill_between(years, lower, upper, color=color, alpha=0.3, linewidth=0)
                (line,) = ax.plot(years, mean, color=color)
                fitted = train[train["country"] == country]
                held = test[test["country"] == country]
                ink = plt.rcParams["text.color"]
                dots = ax.plot(fitted["year"], fitted["lifeExp"], ".", color=ink)
                rings = ax.plot(held["year"], held["lifeExp"], "o", color=ink, mfc="none")
                ax.set_title(country)
                ax.xaxis.set_major_locator(MultipleLocator(20))
            figure.supylabel("life expectancy (years)", fontsize=plt.rcParams["axes.labelsize"])
            labels = ("prediction", "90 % interval", "fitted rows", "test rows")
            figure.legend([line, band, *dots, *rings], labels, loc="outside lower center", ncols=4)
            figure.savefig(STATIC / f"countries{suffix}.png", dpi=200)
            plt.close(figure)


def draw_report() -> None:
    """Draw the head and the first effects of the demo's report."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("Chromium draws the report: install it.")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bochner", "demo", "--out", "demo"]
        subprocess.run(command, cwd=folder, check=True)
        page = Path(folder) / "demo" / "gapminder.html"
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</head>", f"<style>{SHOWN}</style></head>"), encoding="utf-8")
        for scheme, suffix in (("1", ""), ("0", "_dark")):
            options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
            options += [f"--window-size={SIZE}", f"--blink-settings=preferredColorScheme={scheme}"]
            target = STATIC / f"report{suffix}.png"
            subprocess.run(
                [chromium, *options, f"--screenshot={target}", page.as_uri()], check=True
            )
            with Image.open(target) as picture:
                reduced = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
            reduced.save(target, optimize=True)


if __name__ == "__main__":
    if "report" not in sys.argv[1:]:
        draw_countries()
    draw_report()
