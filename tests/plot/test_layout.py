"""No picture has texts that collide or leave it, legends over data, or more than six curves."""

from itertools import islice

import numpy as np
import pytest
from plot.layout import faults

from bochner import plot
from bochner.plot.class_errors import CalibrationDisplay, ConfusionDisplay, RocDisplay
from bochner.plot.effects import EffectDisplay
from bochner.plot.kernel_curves import KernelDisplay, SpectrumDisplay
from bochner.plot.regression_errors import PredictionsDisplay, ResidualsDisplay
from bochner.plot.series_plots import ForecastDisplay
from bochner.tables.sensitivity import Effect, VarianceShares

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(0)
NAMES = {
    "short": "c{}",
    "long": "mean_concentration_of_suspended_particles_at_the_north_station_{}",
    "medium": "temperature_{}",
    "odd": "price ($) of\nitem_{} in € × 10^{{-3}} & <b>",
}
"""Names of columns: also those that matplotlib would read as formulas or lines."""


def names_of(kind, count):
    return [NAMES[kind].format(i) for i in range(count)]


def shares(kind, count, pairs=False):
    names = names_of(kind, count + 1)
    columns = tuple((names[i], names[i + 1]) for i in range(count)) if pairs else names[:count]
    share = np.sort(RNG.dirichlet(np.full(count, 0.3)))[::-1]
    return VarianceShares(tuple(columns), share, 0.1 * share)


def effect(kind, *sides, classes=None):
    """Return random averages along columns: "number", "date", or a number of levels."""
    values = []
    for side in sides:
        if side == "number":
            values.append(np.append(np.sort(RNG.normal(0, 1e5, 20)), np.nan))
        elif side == "date":
            values.append(np.linspace(2019.2, 2021.1, 20))
        else:
            values.append(np.array([*names_of(kind, side - 1), "<unknown>"], dtype=object))
    shape = tuple(map(len, values))
    labels = None if classes is None else np.array(names_of(kind, classes))
    mean = RNG.normal(size=shape if classes is None else (*shape, classes))
    if classes is not None:
        mean = np.exp(mean) / np.exp(mean).sum(axis=-1, keepdims=True)
    columns = tuple(names_of(kind, len(sides)))
    found = Effect(columns, tuple(values), mean, mean - 0.2, mean + 0.2, labels)
    dates = [name for name, side in zip(columns, sides, strict=True) if side == "date"]
    label = "average prediction" if classes is None else "average probability"
    return EffectDisplay(found, dates, label)


def classes(kind, count, n=600):
    """Return observed classes, probabilities and all classes."""
    known = np.array(names_of(kind, count))
    probability = RNG.dirichlet(np.full(count, 0.5), n)
    drawn = [RNG.choice(count, p=row) for row in probability]
    return known[drawn], probability, known


def numbers(n=300, scale=1.0):
    observed = scale * RNG.normal(size=n)
    predicted = observed + 0.3 * scale * RNG.normal(size=n)
    return observed, predicted, predicted - 0.5 * scale, predicted + 0.5 * scale


def curves(kind, count, labels):
    lags = np.tile(np.linspace(0.0, 3.0, 50), (count, 1))
    values = np.exp(-(lags**2))
    parts = np.stack([values] * len(labels), axis=1)
    return KernelDisplay(names_of(kind, count), lags, parts, [labels] * count)


SIDES = [("number",), ("date",), (3,), (24,), ("number", "number"), ("date", 5), ("number", 14),
         ("date", "number"), (14, 24), (4, 14)]  # fmt: skip
SERIES = np.arange("2019-01", "2023-01", dtype="M8[M]").astype("M8[D]")


def pictures(kind):
    """Yield a name and a display for every kind of picture."""
    for count in (1, 3, 15, 60):
        yield f"relevance {count}", plot.relevance(shares(kind, count))
        yield f"interactions {count}", plot.interactions(shares(kind, count, pairs=True))
    yield "no interactions", plot.interactions(shares(kind, 0, pairs=True))
    for sides in SIDES:
        yield f"effect {sides}", effect(kind, *sides)
        for count in (2, 26):
            yield f"effect {sides} of {count}", effect(kind, *sides, classes=count)
    for count in (2, 3, 26, 60):
        y, probability, known = classes(kind, count)
        of_classes = y, probability, known
        yield f"reliability {count}", CalibrationDisplay.from_probabilities(*of_classes)
        yield f"roc {count}", RocDisplay.from_probabilities(*of_classes)
        predicted = known[np.argmax(probability, axis=1)]
        yield f"confusion {count}", ConfusionDisplay.from_predictions(y, predicted)
    for scale in (1e-7, 1.0, 12345.0, 3e8):
        yield f"predictions {scale:g}", PredictionsDisplay(*numbers(scale=scale), unit="kWh")
        observed, predicted, *_ = numbers(scale=scale)
        yield f"residuals {scale:g}", ResidualsDisplay(observed - predicted, predicted)
    yield "many predictions", PredictionsDisplay(*numbers(3000))
    observed, predicted, *_ = numbers(len(SERIES))
    yield "residuals in time", ResidualsDisplay(observed, SERIES, names_of(kind, 1)[0])
    levels = np.array([*names_of(kind, 30), None] * 5, dtype=object)
    yield "residuals by level", ResidualsDisplay(RNG.normal(size=len(levels)), levels)
    ends = predicted[:, None] - [0.1, 0.5], predicted[:, None] + [0.1, 0.5]
    yield "coverage", CalibrationDisplay.from_intervals(observed, *ends, [0.3, 0.8])
    for times in (SERIES, np.linspace(1980.0, 2000.0, len(SERIES))):
        bands = [(level, predicted - level, predicted + level) for level in (0.5, 0.9)]
        past, held_out = (times[:20], observed[:20]), (times[20:], observed[20:])
        yield (
            f"forecast {times.dtype}",
            ForecastDisplay(
                times,
                predicted,
                bands,
                past,
                held_out,
                times[20],
                names_of(kind, 1)[0],
                "CO₂ (ppm)",
            ),
        )
    for count in (1, 2, 3, 6, 8):
        yield f"kernel {count}", curves(kind, count, ["kernel"])
        yield f"local kernel {count}", curves(kind, count, ["at −1.25", "at 0.125", "at 1.25"])
        frequencies, weights = RNG.normal(size=(400, count)) ** 3, np.full(400, 1.0 / 400)
        names = names_of(kind, count)
        yield f"spectrum {count}", SpectrumDisplay(names, frequencies, weights, 1e4, "years")
    methods = ["bochner", "CatBoost", *names_of(kind, 10)]
    yield "comparison", plot.comparison({name: [1e5, 1.2e5] for name in methods})


@pytest.mark.parametrize(
    ("kind", "part"),
    [("short", slice(0, None, 2)), ("long", slice(None)), ("odd", slice(1, None, 2))],
    ids=["short", "long", "odd"],
)
def test_no_picture_has_faults(kind, part):
    """Every picture with long names, and with short or odd ones."""
    found = {}
    for name, display in islice(pictures(kind), part.start, None, part.step):
        figure = display.figure_ or display.plot().figure_
        if wrong := faults(figure):
            found[name] = wrong
    assert not found
