"""Training rows pass through the same functions at fit and at prediction, bit by bit."""

import numpy as np
import pandas as pd
import pytest

from bochner import TableRegressor, load, save
from bochner.tables.learner import Learner

N_ROWS = 1200


def columns(kind, rng):
    """Return a table with a frequent number, whose scaled value has more than eight decimals."""
    numbers = {
        "few_values": rng.integers(0, 6, N_ROWS) / 7.0,
        "many_values": rng.normal(size=N_ROWS),
        "frequent_zero": np.where(rng.random(N_ROWS) < 0.7, 0.0, rng.gamma(1.0, 3.0, N_ROWS)),
        "frequent_third": np.where(rng.random(N_ROWS) < 0.6, 1 / 3, rng.normal(size=N_ROWS)),
    }
    x = numbers[kind]
    return pd.DataFrame(
        {"x": x, "z": rng.normal(size=N_ROWS), "level": rng.choice(list("ab"), N_ROWS)}
    )


def fitted(monkeypatch, model, X, y):
    """Return the fitted model, and the encoded rows of its fits."""
    rows, fit = [], Learner.fit

    def record(self, observations, *args, **options):
        rows.append(observations.X)
        return fit(self, observations, *args, **options)

    monkeypatch.setattr(Learner, "fit", record)
    return model.fit(X, y), rows


thorough = pytest.mark.thorough
KINDS = ("few_values", "many_values", "frequent_zero", "frequent_third")


@pytest.mark.thorough_cases(but="frequent_third-float64")
@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=thorough), np.float64])
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=thorough) for k in KINDS[:3]] + ["frequent_third"]
)
def test_rows_of_fit_and_prediction_have_equal_bits(monkeypatch, tmp_path, kind, dtype):
    check_bits(monkeypatch, tmp_path, kind, dtype)


def check_bits(monkeypatch, folder, kind="frequent_third", dtype=np.float64):
    """Encoded training rows must be the rows of the fit, also after saving and loading."""
    rng = np.random.default_rng(len(kind))
    X = columns(kind, rng).astype({"x": dtype, "z": dtype})
    y = 2.0 * (X.x > X.x.median()) + X.z + 0.3 * rng.normal(size=N_ROWS)
    model = TableRegressor(effort="quick", random_state=0)
    model, rows = fitted(monkeypatch, model, X, y)
    save(model, folder / "model.safetensors")
    for each in (model, load(folder / "model.safetensors")):
        np.testing.assert_array_equal(each.encode(X), rows[-1])


def test_frequent_numbers_stay_on_their_side():
    """Predictions of a frequent number must not depend on its last digits."""
    rng = np.random.default_rng(3)
    X = columns("frequent_zero", rng)
    y = 3.0 * (X.x > X.x.median()) + X.z + 0.1 * rng.normal(size=N_ROWS)
    model = TableRegressor(effort="quick", random_state=0).fit(X, y)
    laws = model.head_.laws
    assert any(law.kind == "boosted trees" for law in laws.members)
    expected = laws.means(model.encode(X))
    for change in (1.0 + 1e-8, 1.0 - 1e-8):
        moved = X.assign(x=(X.x + (X.x == X.x.mode()[0]) * 1e-8) * change)
        np.testing.assert_allclose(laws.means(model.encode(moved)), expected, atol=1e-4)
