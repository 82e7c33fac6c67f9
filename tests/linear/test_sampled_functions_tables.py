"""Functions of models of tables: draws of their heads on the encoded columns."""

import pickle

import numpy as np
import pandas as pd
import pytest
from files.same import round_trip
from numpy.testing import assert_allclose, assert_array_equal

from bochner import TableRegressor

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"area": RNG.uniform(20.0, 200.0, 80), "kind": RNG.choice(["flat", "house"], 80)}
)
PRICE = 3.0 * FRAME["area"] + 50.0 * (FRAME["kind"] == "house") + 10.0 * RNG.normal(size=80)
PRICE = PRICE.to_numpy()
NEW = FRAME[:6]
MODELS = {
    "auto": {"effort": "quick"},
    "several targets": {"effort": "quick"},
    "one kernel": {"kernel": "gaussian", "n_components": 64},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    y = np.stack([PRICE, PRICE**2], axis=1) if request.param == "several targets" else PRICE
    return TableRegressor(**MODELS[request.param], random_state=0).fit(FRAME, y)


def test_functions_scatter_about_the_predictions(model, tmp_path):
    mean, std = model.predict(NEW, return_std=True)
    assert_array_equal(model.predict(NEW, return_cov=True)[0], mean)
    cov = model.predict(NEW, return_cov=True)[1]
    assert cov.shape == (6, *mean.shape)
    assert_allclose(np.sqrt(np.einsum("ii...->i...", cov)), std, rtol=1e-4)
    functions = model.sample_functions(300, random_state=0)
    values = functions(NEW)
    assert values.shape == (*mean.shape, 300)
    # The mean over 300 functions has 6 per cent of their deviation, which is less than std.
    assert (np.abs(values.mean(axis=-1) - mean) < 0.4 * std).all()
    assert (values.std(axis=-1) < 1.3 * std).all()
    rounding = 1e-10 * np.abs(values).max()
    assert_allclose(functions[7](NEW), values[..., 7], atol=rounding)
    for again in (round_trip(functions[:3], tmp_path), pickle.loads(pickle.dumps(functions[:3]))):
        assert len(again) == 3
        assert_allclose(again(NEW), values[..., :3], atol=rounding)


def test_gradients_name_the_way_out(model):
    functions = model.sample_functions(random_state=0)
    with pytest.raises(NotImplementedError, match="Functions of tables have no gradients"):
        functions.gradient(NEW)
    encoded = functions.encode(NEW)
    found = functions.functions.gradient(encoded)
    assert found.shape[:2] == encoded.shape
    assert np.isfinite(found).all()
