"""One style: colours that everyone can tell apart, and nothing of a user's is changed."""

import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from bochner import plot
from bochner.kernels import Gaussian
from bochner.plot.axis_texts import number_ticks
from bochner.plot.regression_errors import PredictionsDisplay
from bochner.plot.style import PALETTE, THEMES


def linear(color):
    c = np.array(to_rgb(color))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize(("paper", "least"), [("white", 2.5), ("#14161a", 3.0)])
def test_colours_stand_out_from_light_and_dark_pages(paper, least):
    def luminance(color):
        return np.dot([0.2126, 0.7152, 0.0722], linear(color))

    for color in PALETTE:
        dark, light = sorted([luminance(color), luminance(paper)])
        assert (light + 0.05) / (dark + 0.05) >= least


@pytest.mark.parametrize("theme", THEMES)
def test_parameters_of_matplotlib_stay_as_they_are(theme):
    before = dict(mpl.rcParams)
    with mpl.rc_context({"font.size": 30.0, "axes.grid": True}):
        within = dict(mpl.rcParams)
        display = plot.kernel(Gaussian(), theme=theme)
        plot.to_svg(display)
        assert dict(mpl.rcParams) == within
        assert display.ax_.xaxis.label.get_fontsize() == 8.0  # Nor do a user's change the style
    assert dict(mpl.rcParams) == before
    assert to_hex(display.ax_.xaxis.label.get_color()) == THEMES[theme].ink.lower()


@pytest.mark.thorough
def test_matplotlib_is_needed_when_something_is_drawn():
    code = (
        "import sys; import bochner.plot; assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "from bochner import kernels, plot\n"
        "try:\n    plot.kernel(kernels.Gaussian())\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("run pip install 'bochner[plot]'.")


NAMES = ["<b> & price ($)", "a*b_{c}^2 $x$"]
CONTROL = "a\x00b\x1b"


def svgs():
    rng = np.random.default_rng(0)
    y, mean = rng.normal(size=(2, 3000))
    yield plot.to_svg(plot.kernel(Gaussian((1.0, 2.0)), names=NAMES))
    yield plot.to_svg(plot.kernel(Gaussian((1.0, 2.0)), names=NAMES, theme="dark"), title="dark")
    yield plot.to_svg(PredictionsDisplay(y, mean, mean - 1.0, mean + 1.0).plot())
    yield plot.to_svg(plot.comparison({"bochner": 1.0}).figure_, title="a <title>")


@pytest.mark.thorough
def test_several_pictures_are_one_valid_page():
    page = ET.fromstring(f"<div>{''.join(svgs())}</div>")
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r'(?:url\(|href=")#([\w-]+)', "".join(svgs())))
    assert used
    assert used <= set(ids)
    for picture in page:
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert picture.get("role") == "img"
        title, description = list(picture)[:2]
        assert picture.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text
        assert description.text.endswith(".")
    texts = {"".join(element.itertext()) for element in page.iter() if element.tag.endswith("text")}
    assert {f"lag in {name}" for name in NAMES} <= texts
    assert page[3][0].text == "a <title>"


@pytest.mark.thorough
def test_the_same_picture_is_the_same_svg():
    assert list(svgs()) == list(svgs())
    assert len({len(svg) for svg in svgs()}) > 1


def test_characters_that_xml_does_not_allow_are_replaced():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The font has no glyph for them
        svg = plot.to_svg(plot.kernel(Gaussian(), names=[CONTROL]), title=CONTROL)
    assert ET.fromstring(svg)[0].text == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("high", "texts"),
    [
        (0.5, ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]),
        (20_000.0, ["0", "5000", "10000", "15000", "20000"]),
        (5e6, ["0", "1M", "2M", "3M", "4M", "5M"]),
        (2e-5, ["0.0", "0.5", "1.0", "1.5", "2.0"]),  # And 1e−5 at the end of the axis
        (2e9, ["0.0", "0.5", "1.0", "1.5", "2.0"]),
    ],
)
def test_ticks_are_short_and_differ(high, texts):
    axis = Figure().subplots()
    axis.set_ylim(0.0, high)
    number_ticks(axis.yaxis, 200.0)
    axis.figure.draw_without_rendering()
    assert [text.get_text() for text in axis.get_yticklabels()] == texts
