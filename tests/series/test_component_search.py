"""Which processes are found in series that are made of known ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner.series.component_search import Plan, Searcher, learn, strongest_period
from bochner.series.parameter_posterior import Season

N = 180
T = np.arange(float(N))


def noise(seed, size=0.3, n=N):
    return size * np.random.default_rng(seed).normal(size=n)


def learned(y, *, seasons=(), find=True, inputs=None, transformations=None, times=T):
    def name(period):
        return f"{period:.1f}"

    plan = Plan([(one, name(one)) for one in seasons], name, find, True, transformations)
    inputs = np.zeros((len(y), 0)) if inputs is None else inputs
    return learn(times[: len(y)], y, inputs, plan, np.random.default_rng(0))[0]


def season(period=12.0, shape=(1.0, 0.5)):
    angle = 2.0 * np.pi * T / period
    return sum(size * np.cos((h + 1) * angle + h) for h, size in enumerate(shape))


def cycle(period=15.0, memory=60.0, seed=0):
    """A wave whose amplitude and phase drift."""
    rng, kept = np.random.default_rng(seed), np.exp(-1.0 / memory)
    z, found = rng.normal() + 1j * rng.normal(), []
    for _ in T:
        z = kept * np.exp(2j * np.pi / period) * z
        z += np.sqrt(1.0 - kept**2) * (rng.normal() + 1j * rng.normal())
        found.append(z.real)
    return np.array(found)


def names(law):
    return [period.name for period in law.periods()]


def test_a_season_of_the_calendar_is_kept():
    law = learned(season() + noise(0), seasons=(12.0,))
    assert names(law) == ["12.0"]
    assert_allclose(law.periods()[0].std, season().std(), rtol=0.1)


def test_a_season_that_is_not_there_is_left_out():
    assert names(learned(noise(1) + 0.02 * T, seasons=(7.0,))) == []


@pytest.mark.parametrize("period", [12.0, 31.3])
def test_seasons_are_found(period):
    law = learned(season(period) + noise(2))
    (found,) = law.periods()
    assert_allclose(found.length, period, rtol=0.01)
    assert not found.name.startswith("cycle")


def test_of_a_harmonic_the_fundamental_is_found():
    """The second harmonic is the strongest line."""
    law = learned(season(24.0, (0.4, 1.0)) + noise(3, 0.2))
    assert_allclose(law.periods()[0].length, 24.0, rtol=0.01)


def test_a_cycle_is_told_from_a_season():
    law = learned(cycle() + noise(4, 0.1))
    (found,) = law.periods()
    assert found.name.startswith("cycle of 1")
    assert_allclose(found.length, 15.0, rtol=0.1)
    assert 15.0 < found.memory < 300.0


@pytest.mark.parametrize("seed", range(5))
def test_noise_has_no_periods(seed):
    assert names(learned(noise(10 + seed))) == []


def test_lines_in_noise_are_rare():
    """Two thousand series have at most some, as one in a thousand should."""
    rng, times = np.random.default_rng(0), np.arange(128.0)
    found = [strongest_period(times, rng.normal(size=128), 1.0) for _ in range(2000)]
    assert sum(one is not None for one in found) <= 8


def test_growing_swings_are_logarithms():
    y = np.exp(0.02 * T + 0.2 * season() + noise(5, 0.05))
    law = learned(y, seasons=(12.0,))
    assert law.transformation == "log"
    assert learned(10.0 + season() + noise(6), seasons=(12.0,)).transformation == "none"
    assert learned(y, transformations=["sqrt"]).transformation == "sqrt"


def trend_of(law):
    return max(law.trends(), key=law.trends().get)


def test_trends_are_told_apart():
    assert trend_of(learned(0.05 * T + noise(7))) == "a line whose slope varies"
    level = learned(noise(8)).trends()
    assert level["a level"] + level["a slope that dies out"] > 0.8


@pytest.mark.thorough
def test_effects_of_inputs_are_learned():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(N + 4, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 0.0]
    effect = X @ [0.5, 0.0, -8.0]
    law = learned(season() + effect[:N] + noise(9, 0.1), inputs=X[:N])
    later = law.units.rows(np.arange(N, N + 4.0), np.full(4, np.nan), X[N:])
    found = law.components_at(later)["inputs"].centre()
    expected = effect[N:] - effect[:N].mean()
    assert_allclose(found, expected, atol=0.15)


class FirstStructure(Searcher):
    """Returns the structure in place of its fit."""

    def fit(self, rows, structure, start=None):
        return structure


def test_seasons_have_two_steps_and_occur_one_and_a_half_times():
    """Periods from two steps to two thirds of the range, both of which are included."""
    searcher = FirstStructure(0.125, 0, "{:g}".format)
    periods = [0.2, 0.25, 0.3, 2.0, 2.1]
    seasons = [Season(period, f"{period}") for period in periods]
    first = searcher.first(SimpleNamespace(times=np.linspace(0.0, 3.0, 25)), seasons)
    assert [wave.period for wave in first.seasons] == [0.25, 0.3, 2.0]


def test_rounding_errors_of_steps_lose_no_season():
    """Steps of 0.1 differ in their last digits, and two of them are a period all the same."""
    times = 0.1 * np.arange(31)
    searcher = FirstStructure(float(np.median(np.diff(times))), 0, "{:g}".format)
    assert 2.0 * searcher.step > 0.2
    first = searcher.first(SimpleNamespace(times=times), [Season(0.2, "0.2"), Season(2.0, "2")])
    assert [wave.period for wave in first.seasons] == [0.2, 2.0]
    assert first.seasons[0].n_harmonics == 1
