"""What a model of hourly bike demand has learned, for a picture of the documentation.

``python -m benchmarks.bike_demand FOLDER`` fits the table model to a random four fifths of the
17,379 hours of ``bike_hourly`` in a folder of data sets, which takes about half a minute, and
writes ``docs/results/bike_demand.csv``. Data: Fanaee-T and Gama, UCI, CC BY 4.0.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import datasets
from bochner import TableRegressor

OUT = Path(__file__).parent.parent / "docs" / "results" / "bike_demand.csv"
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)  # Probabilities of intervals, from narrow to the default
WORKINGDAY = ("free day", "working day")


def quantities(folder: Path) -> Iterator[tuple[str, str, str, float]]:
    """Yield quantities, each with its name, two keys and a value."""
    table = datasets.load("bike_hourly", folder=folder).to_frame()
    test = np.random.default_rng(0).random(len(table)) < 0.2
    inputs, bikes = table.drop(columns="target"), table["target"]
    model = TableRegressor(random_state=0).fit(inputs[~test], bikes[~test])
    yield "r2", "", "", float(model.score(inputs[test], bikes[test]))
    for level in LEVELS:
        lower, upper = model.predict_interval(inputs[test], level)
        inside = (lower <= bikes[test]) & (bikes[test] <= upper)
        yield "coverage", f"{level:g}", "", float(inside.mean())
    shares = model.importance()
    for column, share in zip(shares.columns, shares.share, strict=True):
        yield "share", column, "", float(share)
    typical = inputs[~test].sample(500, random_state=0)
    for hour in range(24):
        for workingday in (0, 1):
            mixed = typical.assign(hour=float(hour), workingday=float(workingday))
            mean = float(np.mean(model.predict(mixed)))
            yield "effect", str(hour), WORKINGDAY[workingday], mean


if __name__ == "__main__":
    rows = list(quantities(Path(sys.argv[1])))
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("quantity", "of", "and", "value"))
        writer.writerows((*names, f"{value:.6g}") for *names, value in rows)
