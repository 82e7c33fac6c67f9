"""Series of counts from a folder of data sets, and simulated ones."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.intermittent.design import GROUPS, N_SIMULATED, SIMULATED
from bochner._base.arrays import Array


class Counts(NamedTuple):
    """Dates (n,) and counts (n,) before an origin, and counts after it (h,)."""

    times: NDArray[np.datetime64]
    past: Array
    future: Array


def counts(group: str, number: int, folder: Path | None) -> Counts:
    """Return a series of a group by its number."""
    return _series(None if group == SIMULATED else folder)[group][number]


@cache
def _series(folder: Path | None) -> dict[str, list[Counts]]:
    if folder is None:
        drawn = [_simulated(np.random.default_rng(seed)) for seed in range(N_SIMULATED)]
        return {SIMULATED: drawn}
    file = np.load(folder / "intermittent.npz", allow_pickle=False)
    starts, found = np.concatenate(([0], file["ends"][:-1])), dict[str, list[Counts]]()
    for place, group in enumerate(file["group"].tolist()):
        rows, horizon = slice(starts[place], file["ends"][place]), int(file["horizon"][place])
        values = file["values"][rows].astype(np.float64)
        times = file["times"][rows][:-horizon].astype("M8[D]")
        found.setdefault(group, []).append(Counts(times, values[:-horizon], values[-horizon:]))
    return {
        group: [found[group][i] for i in np.linspace(0, len(found[group]) - 1, count).astype(int)]
        for group, count in GROUPS.items()
    }


def _simulated(rng: np.random.Generator) -> Counts:
    """Return negative binomial counts of 230 days with a slowly varying mean of about 0.5."""
    walk = np.convolve(rng.normal(size=260), np.ones(30) / np.sqrt(30.0), "valid")[:230]
    values = rng.poisson(rng.gamma(1.0, 0.4 * np.exp(0.7 * walk))).astype(np.float64)
    days = np.datetime64("2024-01-01") + np.arange(200)
    return Counts(days, values[:200], values[200:])
