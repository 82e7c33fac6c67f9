"""Small studies of every kind, fitted once."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from bochner import TableClassifier, TableEncoder, TableRegressor
from bochner.comparison import study as studies
from bochner.comparison.contenders import LINEAR
from bochner.comparison.outcomes import outcome
from bochner.comparison.split import split_rows

RECORD = {"command": "bochner fit table.csv --target y", "seed": 7, "python": "3.99.1"}


def table(n=260, seed=0):
    """A table whose target follows the hour, a number and a colour, but not the other columns."""
    rng = np.random.default_rng(seed)
    hours = rng.integers(0, 24 * 60, n)
    frame = pd.DataFrame(
        {
            "when": np.datetime64("2024-03-01T00") + hours.astype("m8[h]"),
            "size": rng.normal(size=n).round(3),
            "colour": rng.choice(["red", "green", "blue"], n),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "cycle": np.sin(2.0 * np.pi * rng.permutation(n) / 12.0),
        }
    )
    wave = 3.0 * np.sin(2.0 * np.pi * hours / 24.0)
    y = wave + frame["size"] + 2.0 * (frame["colour"] == "red") + 0.5 * rng.normal(size=n)
    return frame, pd.Series(np.asarray(y), name="y")


def build(model, frame, target, task, kind="random", *, names=("y",), fit=(), notes=(), **sides):
    """Fit a model and the linear one, and return a study of each target."""
    reason = f"The test rows were chosen as {kind}."
    split = replace(split_rows(frame, target, task, 0.3, 0, **sides), kind=kind, reason=reason)
    model.fit(split.X, split.y, split.weight, **dict(fit))
    found = studies.own_outcomes(model, split, seconds=1.5)
    head = LinearRegression() if task == "regression" else LogisticRegression(max_iter=500)
    for number, of_target in enumerate(found):
        part = split.of_target(number)
        other = make_pipeline(TableEncoder(), head).fit(part.X, part.y)
        of_target[LINEAR] = outcome(other, part)
    facts = studies.table_facts(frame, "table.csv", notes)
    shares = model.importance(), model.interactions()
    return [
        studies.Study(
            model, name, facts, split.of_target(number), own, *shares, RECORD, number=number
        )
        for number, (name, own) in enumerate(zip(names, found, strict=True))
    ]


@cache
def of_laws():
    """A sum of laws on the whole table, with a note of its reading."""
    frame, y = table()
    model = TableRegressor(effort="quick", random_state=0)
    return build(model, frame, y, "regression", notes=("3 rows were left out.",))


@cache
def of_times():
    """Later rows, by a column of numbers."""
    frame, y = table(200)
    frame = frame.assign(step=np.arange(len(frame), dtype=np.float64))
    steps = frame["step"].to_numpy()
    return build(quick_model(), frame, y, "regression", "time", time=steps)


@cache
def of_groups():
    """Rows of new groups, with weights."""
    frame, y = table(240)
    groups, weight = np.arange(240) // 8, np.linspace(0.5, 1.5, 240)
    sides = {"groups": groups, "weight": weight}
    return build(quick_model(), frame, y, "regression", "group", **sides)


@cache
def of_targets():
    """Two targets."""
    frame, y = table(200)
    both = pd.DataFrame({"y": y, "other <b>": -2.0 * y + frame["gaps"].fillna(0.0)})
    return build(quick_model(), frame, both, "regression", names=tuple(both))


@cache
def of_classes(count):
    """As many classes, by intervals of a number."""
    frame, y = table(max(200, 20 * count), seed=1)
    y = y.rank(pct=True).sub(1e-9).mul(count).astype(int)
    labels = pd.Series([f"class {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[i]}" for i in y], name="y")
    model = TableClassifier(effort="quick", random_state=0)
    return build(model, frame, labels, "classification")


def quick_model():
    """A model that is fitted in a fraction of a second."""
    return TableRegressor(effort="quick", random_state=0)


@cache
def of_file():
    """What `bochner evaluate` knows: rows of a file, and the model alone."""
    (study,) = of_laws()
    split = study.split
    X, y = split.X_test, split.y_test
    rows = type(split)(X, y, X, y, "regression", kind="file", reason="The test rows are all rows.")
    facts = studies.table_facts(rows.X, "new.csv")
    return [
        studies.Study(
            study.model,
            "y",
            facts,
            rows,
            studies.own_outcomes(study.model, rows)[0],
            study.importance,
            study.interactions,
            {"command": "bochner evaluate MODEL new.csv"},
        )
    ]


KINDS = {
    "laws": of_laws,
    "times": of_times,
    "groups": of_groups,
    "targets": of_targets,
    "two classes": lambda: of_classes(2),
    "26 classes": lambda: of_classes(26),
    "file": of_file,
}


@cache
def page(kind):
    """The report of a kind of study."""
    from bochner.report import page as report

    return report.html(KINDS[kind]())


class Proportional:
    """A model whose quantiles are normal, with the intervals of an outcome at their level."""

    def __init__(self, model, outcome):
        self.model, self.outcome = model, outcome

    def __getattr__(self, name):
        return getattr(self.__dict__["model"], name)

    def predict_quantiles(self, rows, levels):
        own = self.outcome
        scale = 0.5 * (own.upper - own.lower) / norm.ppf(0.5 + 0.5 * own.level)
        return own.prediction[:, None] + scale[:, None] * norm.ppf(levels)


def with_quantiles(study):
    """Return a study whose model has the intervals of its outcome."""
    own = study.outcomes["bochner"]
    return study if own.lower is None else replace(study, model=Proportional(study.model, own))
