"""The live page computes in JavaScript what the library computes in Python."""

import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from docs.test_pages import ROOT

from bochner import GaussianProcessRegressor, kernels
from bochner.spectral.frequencies import Frequencies

STATIC = ROOT / "docs" / "_static"
MATH = STATIC / "live_math.js"
NODE = shutil.which("node")

KERNELS = {
    "gaussian": kernels.Gaussian,
    "matern12": lambda scale: kernels.Matern(scale, nu=0.5),
    "matern32": lambda scale: kernels.Matern(scale, nu=1.5),
    "matern52": lambda scale: kernels.Matern(scale, nu=2.5),
    "rational": lambda scale: kernels.RationalQuadratic(scale, alpha=1.0),
    "periodic": lambda scale: kernels.Periodic(5.5, scale),
    "difference": lambda scale: kernels.Gaussian(scale) - 0.6 * kernels.Gaussian(2.0 * scale),
}
SCALES = (0.3, 1.0, 2.7)
LAGS = np.array([0.0, 0.1, 0.7, 1.3, 4.0])
PLACES = np.linspace(0.0, 10.0, 23)
POINTS = np.array([[0.8, 0.4], [1.7, 1.3], [2.3, 1.0], [3.1, -0.4], [4.0, -1.2], [7.2, 1.1]])
NOISE = 0.1

node = pytest.mark.skipif(NODE is None, reason="needs node")


def computed(expression):
    """Return the value of an expression in JavaScript, where ``live`` is the page's module."""
    script = f"const live = require({str(MATH)!r}); console.log(JSON.stringify({expression}))"
    run = subprocess.run(
        [NODE, "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(run.stdout)


@pytest.mark.thorough_cases(r"2\.7-matern12")
@node
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("scale", SCALES)
def test_kernels_have_the_values_of_the_library(name, scale):
    found = computed(f"{LAGS.tolist()}.map((t) => live.FAMILIES.{name}.kernel(t, {scale}))")
    expected = KERNELS[name](scale)(LAGS[:, None], [[0.0]])[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.thorough
@node
@pytest.mark.parametrize("name", KERNELS)
def test_estimates_are_unbiased_and_those_of_the_librarys_frequencies(name):
    drawn = computed(f"live.sample('{name}', 0.7, 256, 1)")
    omega = np.array([[f["omega"]] for f in drawn])
    weight = np.array([f["weight"] for f in drawn])
    found = computed(
        f"{LAGS.tolist()}.map((t) => live.estimate(live.sample('{name}', 0.7, 256, 1), t))"
    )
    gram = Frequencies(omega, weight).gram(LAGS[:, None], [[0.0]])[:, 0]
    np.testing.assert_allclose(found, gram, atol=1e-12)
    mean = computed(
        f"{LAGS.tolist()}.map((t) => {{ let sum = 0; for (let s = 1; s <= 60; s++) "
        f"sum += live.estimate(live.sample('{name}', 0.7, 256, s), t); return sum / 60; }})"
    )
    # A deviation of a mean of 60 estimates is at most 1.6 / sqrt(2 * 256 * 60) = 0.0092
    exact = KERNELS[name](0.7)(LAGS[:, None], [[0.0]])[:, 0]
    np.testing.assert_allclose(mean, exact, atol=0.035)


@node
@pytest.mark.parametrize("name", sorted(KERNELS.keys() - {"difference"}))
def test_posteriors_are_those_of_the_library(name):
    points = json.dumps([{"x": x, "y": y} for x, y in POINTS.tolist()])
    found = computed(
        f"(() => {{ const p = live.condition((t) => live.FAMILIES.{name}.kernel(t, 0.7), {points},"
        f" {NOISE}); return {PLACES.tolist()}.map((x) => [p.mean(x), p.std(x)]); }})()"
    )
    model = GaussianProcessRegressor(KERNELS[name](0.7), alpha=NOISE**2, optimizer=None)
    mean, std = model.fit(POINTS[:, :1], POINTS[:, 1]).predict(PLACES[:, None], return_std=True)
    np.testing.assert_allclose(found, np.column_stack([mean, std]), rtol=1e-6, atol=1e-7)


def test_the_page_has_every_family_and_asks_no_server():
    page = (STATIC / "live_page.js").read_text(encoding="utf-8")
    text = MATH.read_text(encoding="utf-8") + page
    assert not [word for word in ("http", "fetch(", "import(", "XMLHttpRequest") if word in text]
    assert len(text.encode()) < 40_000
    assert all(f"    {name}: {{" in text for name in KERNELS)
    parts = set(re.findall(r'(?:part|press|frame)\("(\w+)"', page))
    assert len(parts) > 10
    markup = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
    assert not [name for name in parts if f'data-live="{name}"' not in markup]
