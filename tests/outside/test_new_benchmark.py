"""A benchmark of a user's own file is measured, resumed and shown by the harness."""

import csv

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

from benchmarks.harness import Benchmark, Part, grid, run

measured = []


def cells(options):
    return grid(("diabetes",), ("linear", "mean"), 1 if options.quick else 2)


def measure(cell, options):
    measured.append((cell.method, cell.seed))
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X[:300], y[:300])
    predictions = model.predict(X[300:]) if cell.method == "linear" else y[:300].mean()
    return {"rmse": float(((y[300:] - predictions) ** 2).mean() ** 0.5)}


def tables(rows):
    yield "\n".join(f"{row['method']}: {row['value']}" for row in rows if row["metric"] == "rmse")


LINES = Benchmark("lines", (), (Part("tables", cells, measure, tables),), "A line and a mean.")


def test_it_is_measured_once_and_has_a_page(tmp_path):
    path = run(LINES, out=tmp_path)
    assert len(measured) == 4
    run(LINES, out=tmp_path)
    assert len(measured) == 4
    with path.open() as file:
        rows = list(csv.DictReader(file))
    errors = {row["method"]: float(row["value"]) for row in rows if row["metric"] == "rmse"}
    assert errors["linear"] < 0.8 * errors["mean"]
    page = LINES.page(rows)
    assert page.startswith("A line and a mean.")
    assert "linear: " in page
