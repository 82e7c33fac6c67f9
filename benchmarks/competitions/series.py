"""Series of the competitions from a folder of data sets, and one of the package."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.competitions.design import BUNDLED, KINDS, Kind
from bochner import datasets
from bochner._base.arrays import Array


class Contest(NamedTuple):
    """Values before an origin (n,) and after it (h,), with the kind of the series."""

    kind: Kind
    past: Array
    future: Array

    @property
    def scale(self) -> float:
        """Mean absolute seasonal difference of the past values, the unit of the MASE."""
        season = self.kind.season if len(self.past) > self.kind.season else 1
        return float(np.mean(np.abs(self.past[season:] - self.past[:-season])))


def contest(name: str, number: int, folder: Path | None) -> Contest:
    """Return a series of a kind by its number."""
    if name == BUNDLED:
        values = datasets.load("mauna_loa_co2_weekly").y
        values = values[np.isfinite(values)][-120:]
        return Contest(Kind(1, 13, "W", "1999-01-03"), values[:-13], values[-13:])
    return _contests(name, folder)[number]


def count(name: str, folder: Path | None) -> int:
    """Return the number of series of a kind that are measured."""
    return len(_contests(name, folder))


@cache
def _contests(name: str, folder: Path | None) -> list[Contest]:
    """Return every second series of a kind: priors were learned from the others."""
    if folder is None:
        raise ValueError("The competitions' series are in a folder of data sets: pass --data.")
    file, kind = np.load(folder / "m3.npz", allow_pickle=False), KINDS[name]
    is_kind = (file["season"] == kind.season) & (file["horizon"] == kind.horizon)
    contests = []
    for place in np.flatnonzero(is_kind)[1::2]:
        start = file["ends"][place - 1] if place else 0
        values = file["values"][start : file["ends"][place]].astype(np.float64)
        contests.append(Contest(kind, values[: -kind.horizon], values[-kind.horizon :]))
    return contests
