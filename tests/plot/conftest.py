"""Pictures that leave no figure of pyplot open, and models to draw."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from bochner import TableClassifier, TableRegressor


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    assert pyplot.get_fignums() == []


@pytest.fixture(scope="session")
def table():
    """Numbers with gaps, dates and text, and two targets that depend on all of them."""
    rng, n = np.random.default_rng(0), 400
    X = pd.DataFrame(
        {
            "day": pd.date_range("2020-01-01", periods=n, freq="D"),
            "kind": rng.choice(["plain", "striped", "dotted"], n),
            "width": rng.normal(10.0, 2.0, n),
            "height": rng.normal(5.0, 1.0, n),
        }
    )
    X.loc[::4, "width"] = np.nan  # Fewer gaps have entries of other rows
    y = np.sin(np.arange(n) / 30.0) + (X["kind"] == "dotted") * X["height"]
    return X, (y + 0.2 * X["width"].fillna(10.0) + 0.1 * rng.normal(size=n)).to_numpy()


@pytest.fixture(scope="session")
def regressor(table):
    X, y = table
    return TableRegressor(effort="quick", random_state=0).fit(X[::2], y[::2])


@pytest.fixture(scope="session")
def test_rows(table):
    X, y = table
    return X[1::2], y[1::2]


@pytest.fixture(scope="session")
def classifier(table):
    X, y = table
    return TableClassifier(effort="quick", random_state=0).fit(X[::2], _labels(y)[::2])


@pytest.fixture(scope="session")
def test_labels(test_rows):
    return test_rows[0], _labels(test_rows[1])


def _labels(y):
    return np.array(["low", "middle", "high"])[np.digitize(y, [2.0, 4.0])]
