"""A table of numbers, text, dates and categories, and models that are fitted in a second."""

from itertools import pairwise

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from engines.engines import InProcess, revived
from tables.few_trees import boost_briefly

from bochner import TableClassifier, TableRegressor
from bochner.engines import collected
from bochner.tables import fit_plan, table_model
from bochner.tables import fit_plan as plan

N = 900
CUTS = (0, 5, 300, 300, 301, 650, N)
"""Bounds of partitions, one of them without rows."""


def mixed(n=N):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.choice(["x", "y", "z"], n),
            "c": rng.integers(0, 9, n).astype(float),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "kind": pd.Categorical(rng.choice([1, 2, 3, 4], n)),
        }
    )
    table.loc[::7, "c"] = np.nan
    return table


TABLE = mixed()
NEW = TABLE.iloc[::13]
NOISE = np.random.default_rng(1).normal(size=N)
Y = (TABLE["a"] + (TABLE["b"] == "x") * TABLE["c"].fillna(3.0) + 0.3 * NOISE).to_numpy()
BOTH = np.column_stack((Y, TABLE["a"] ** 2 + 0.1 * NOISE))
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [0.0, 2.0])]
WEIGHT = np.random.default_rng(2).uniform(0.5, 2.0, N)


def parts(*columns, cuts=CUTS):
    """Partitions of several sizes; categories that a partition lacks are no categories of it."""
    made = [tuple(column[a:b] for column in columns) for a, b in pairwise(cuts)]
    return [(_own_categories(X), *rest) for X, *rest in made]


def _own_categories(X):
    found = X.copy()
    for name in X.select_dtypes("category"):
        found[name] = X[name].cat.remove_unused_categories()
    return found


def frame_of(table=TABLE, cuts=CUTS):
    """A Dask data frame whose partitions have these bounds."""
    made = [dask.delayed(table.iloc[a:b]) for a, b in pairwise(cuts)]
    return dd.from_delayed(made, meta=table.iloc[:0])


def on_dask(y, weight=None):
    """Columns of one data frame: inputs, targets and weights."""
    targets = {f"y{i}": column for i, column in enumerate(y.reshape(N, -1).T)}
    made = frame_of(TABLE.assign(**targets, w=1.0 if weight is None else weight))
    given = made["y0"] if y.ndim == 1 else made[list(targets)]
    return made[list(TABLE.columns)], given, None if weight is None else made["w"]


def few_rows(monkeypatch, sample=None):
    """Make fits quick: a kernel by 60 rows, 40 landmarks, few trees; sample so many rows."""
    rough = fit_plan.EFFORTS["quick"].families["rough"][0]
    quick = fit_plan.Effort({"rough": (rough, 2)}, 60, 100, 40)
    monkeypatch.setattr(table_model, "EFFORTS", {"quick": quick})
    boost_briefly(monkeypatch)
    monkeypatch.setattr(plan, "_VARIANCE_LANDMARKS", 30)
    monkeypatch.setattr(plan, "_LEAST_UNSCORED", 30)
    monkeypatch.setattr(plan, "_FEWEST_OTHERS", 50)
    if sample is not None:
        monkeypatch.setattr(collected, "SAMPLE_ROWS", sample)


def regressor(**options):
    return TableRegressor(effort="quick", random_state=0, **options)


def classifier(**options):
    return TableClassifier(effort="quick", random_state=0, **options)


def answer(model, rows=NEW):
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.predict(rows)


def deadly_rows(part, is_deadly, log):
    """Return the rows of a part; one of them kills its worker in the third pass, that of sums."""
    return revived(part[0], log) if is_deadly else part[0]


class Counting(InProcess):
    """An executor that keeps what came to the client."""

    def __init__(self):
        self.came = []

    def tree_reduce(self, plus, handles):
        found = InProcess().tree_reduce(plus, handles)
        self.came.append(found)
        return found
