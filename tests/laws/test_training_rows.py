"""Training rows pass through the same functions at fit and at prediction, bit by bit.

scikit-learn's own models, recorded while they are fitted, are the oracle of trees and base models.
"""

import numpy as np
import pandas as pd
import pytest

from bochner import TableClassifier, TableRegressor, load, save
from bochner.tables import table_partitions, trees
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
    """Return the fitted model, the encoded rows of the fit, and scikit-learn's predictions."""
    seen = {"rows": [], "trees": []}
    fit, of_models = Learner.fit, trees.Trees.fitted.__func__

    def record(self, observations, *args, **options):
        seen["rows"].append(observations.X)
        return fit(self, observations, *args, **options)

    def record_trees(cls, models, inputs, n_blocks, weights):
        made = of_models(cls, models, inputs, n_blocks, weights)
        if n_blocks == 0:  # Otherwise inputs are coded anew
            raw = [np.asarray(each._raw_predict(inputs)) for each, _ in models]
            seen["trees"].append((made, inputs, np.column_stack(raw)))
        return made

    monkeypatch.setattr(Learner, "fit", record)
    monkeypatch.setattr(trees.Trees, "fitted", classmethod(record_trees))
    return model.fit(X, y), seen


thorough = pytest.mark.thorough
KINDS = ("few_values", "many_values", "frequent_zero", "frequent_third")


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
    model, seen = fitted(monkeypatch, model, X, y)
    save(model, folder / "model.safetensors")
    for each in (model, load(folder / "model.safetensors")):
        np.testing.assert_array_equal(each.encode(X), seen["rows"][-1])


@thorough
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_trees_predict_what_scikit_learn_predicts(monkeypatch, kind, task):
    rng = np.random.default_rng(len(kind))
    X = columns(kind, rng)[["x", "z"]]
    y = 2.0 * (X.x > X.x.median()) + X.z + 0.3 * rng.normal(size=N_ROWS)
    made = TableRegressor if task == "numbers" else TableClassifier
    model = made(effort="quick", random_state=0)
    _, seen = fitted(monkeypatch, model, X, y if task == "numbers" else y > y.median())
    assert seen["trees"]
    for each, inputs, expected in seen["trees"]:
        np.testing.assert_allclose(each(inputs), expected, rtol=1e-12, atol=1e-12)


def check_sides():
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


def test_frequent_numbers_stay_on_their_side():
    check_sides()


@thorough
def test_expected_log_loss_holds_where_a_number_is_frequent():
    """The expected log loss must be the log loss of new rows where one number is frequent."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random(4000) < 0.75, 0.0, rng.gamma(1.0, 3.0, 4000))
    X = np.column_stack([x, rng.normal(size=(4000, 2))])
    y = rng.random(4000) < np.where(x > 0.0, 0.8, 0.1)
    model = TableClassifier(effort="quick", random_state=0).fit(X[:2000], y[:2000])
    p = model.predict_proba(X[2000:])[np.arange(2000), y[2000:].astype(int)]
    loss = -np.log(p)
    assert loss.mean() < model.score_ + 3.0 * loss.std() / np.sqrt(2000)


def test_rows_of_partitions_have_the_bits_of_rows_in_memory():
    rng = np.random.default_rng(1)
    X = columns("frequent_third", rng)
    encoder = table_partitions.TableEncoder()
    encoder.fit(X)
    piece = table_partitions.TablePiece(X, np.zeros(N_ROWS), np.ones(N_ROWS))
    encoding = table_partitions.Encoding([encoder], lambda y: y[:, None], 1.0, None)
    rows = encoding(piece, np.arange(N_ROWS))
    np.testing.assert_array_equal(rows.X, table_partitions.joined([encoder.transform(X)]))
