"""Errors of forecasts from past origins, next to repetitions of the last season."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bochner._base.arrays import Array, as_array
from bochner.comparison.contenders import OURS
from bochner.series.forecaster import Forecaster
from bochner.series.rolling_origins import FEWEST_BEFORE, season_steps, seasonal_scale
from bochner.series.series_rows import read_series

if TYPE_CHECKING:
    import pandas as pd

SEASON_REPEATED, LAST_REPEATED = "last season repeated", "last value repeated"

_MOST_ORIGINS = 3
"""Origins: each is a fit, so that the comparison takes at most three times as long as the fit."""


@dataclass(frozen=True, slots=True, eq=False)
class OriginScores:
    """Errors of forecasts of one series from past origins.

    ``errors`` and ``scaled`` hold the errors (n,) of each method, and these divided by the mean
    absolute seasonal difference of the training values; ``covered`` (n,) tells which values the
    intervals contain, and ``origins`` (n,) the origin of the forecast of each value. Unknown values
    are left out.
    """

    horizon: int
    n_origins: int
    season: int  # Steps of the season that is repeated; one for the last value
    errors: dict[str, Array]
    scaled: dict[str, Array]
    covered: Array
    origins: NDArray[Any]

    @property
    def other(self) -> str:
        """Name of the method that the forecasts are compared with."""
        return SEASON_REPEATED if self.season > 1 else LAST_REPEATED

    def mae(self, method: str) -> float:
        """Return the mean absolute error of a method."""
        return float(np.abs(self.errors[method]).mean())

    def mase(self, method: str) -> float:
        """Return the mean absolute scaled error of a method, NaN if no difference scales it."""
        return float(np.abs(self.scaled[method]).mean())

    @property
    def coverage(self) -> float:
        """Share of the values within the intervals."""
        return float(self.covered.mean())


def origin_scores(
    model: Forecaster, y: pd.Series, X: pd.DataFrame | None, horizon: int, level: float
) -> OriginScores | None:
    """Return the errors from up to three origins, or ``None`` if the series is too short for one.

    Origins are ``horizon`` values apart. Values before the first origin are at least as many as
    those of a forecast.
    """
    origins_and_season = _origins_and_season(y, horizon)
    if origins_and_season is None:
        return None
    n_origins, season = origins_and_season
    try:
        table = model.cross_validate(y, horizon, n_origins, X, level=level, season_length=season)
    except ValueError:  # Values before the first origin are constant or too few
        return None
    return _scores(y, table, horizon, n_origins, season)


def joint_scores(
    model: Forecaster,
    y: Mapping[str, pd.Series],
    X: Mapping[str, pd.DataFrame | None],
    horizon: int,
    level: float,
) -> dict[str, OriginScores]:
    """Return the errors of series of one index that are forecast together, by name.

    Origins are those of `origin_scores`. There are no errors if the series are too short.
    """
    origins_and_season = _origins_and_season(next(iter(y.values())), horizon)
    if origins_and_season is None:
        return {}
    n_origins, season = origins_and_season
    try:
        table = model.cross_validate(
            dict(y), horizon, n_origins, dict(X), level=level, season_length=season
        )
    except ValueError:  # As in `origin_scores`
        return {}
    rows = dict(list(table.groupby("series", sort=False)))
    return {
        name: _scores(one, rows[name], horizon, n_origins, season)
        for name, one in y.items()
        if np.isfinite(rows[name]["observed"]).any()
    }


def _origins_and_season(y: pd.Series, horizon: int) -> tuple[int, int] | None:
    """Return the number of origins and the season in steps; None if the series is too short."""
    n_origins = min(_MOST_ORIGINS, (len(y) - max(horizon, FEWEST_BEFORE)) // horizon)
    if n_origins < 1:
        return None
    season = season_steps(read_series(y, None, None))
    return n_origins, season if len(y) - n_origins * horizon > season else 1


def _scores(
    y: pd.Series, table: pd.DataFrame, horizon: int, n_origins: int, season: int
) -> OriginScores:
    """Return the errors of the table of `bochner.Forecaster.cross_validate` for one series."""
    values = y.to_numpy(dtype=np.float64)
    observed = table["observed"].to_numpy()
    is_known = np.isfinite(observed)
    repeated, scales = [], []
    for origin in dict.fromkeys(table["origin"].tolist()):
        repeated.append(repeated_season(values[:origin], horizon, season))
        scales.append(np.full(horizon, seasonal_scale(values[:origin], season)))
    other = SEASON_REPEATED if season > 1 else LAST_REPEATED
    predicted = {OURS: table["predicted"].to_numpy(), other: np.concatenate(repeated)}
    errors = {name: (observed - values)[is_known] for name, values in predicted.items()}
    scale = np.concatenate(scales)[is_known]
    return OriginScores(
        horizon,
        n_origins,
        season,
        errors,
        {name: error / scale for name, error in errors.items()},
        as_array(table["covered"])[is_known],
        table["origin"].to_numpy()[is_known],
    )


def repeated_season(values: Array, horizon: int, season: int) -> Array:
    """Return forecasts (horizon,) that repeat the last ``season`` values.

    Unknown values are replaced by the last known one of the same step of the season, and by the
    last known value of all where there is none.
    """
    known_values = values[np.isfinite(values)]
    pattern = []
    for step in range(season):
        same = values[::-1][season - 1 - step :: season]
        same = same[np.isfinite(same)]
        pattern.append(same[0] if len(same) else known_values[-1])
    return np.resize(pattern, horizon)


def mean_mase(scores: Collection[OriginScores], method: Any = None) -> float:
    """Return the mean over series of the scaled error, by default of the other method."""
    errors = [each.mase(each.other if method is None else method) for each in scores]
    return float(np.nanmean(errors)) if np.isfinite(errors).any() else np.nan
