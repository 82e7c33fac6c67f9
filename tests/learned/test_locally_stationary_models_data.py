"""Locally stationary models on data as they come: refusals, few rows, units, weights."""

import numpy as np
import pytest
from learned.learned_fits import X, Y, modulated_classifier
from numpy.testing import assert_allclose

from bochner.papers import gabasr

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
WIDE = np.random.default_rng(5).normal(size=(40, 60))
TABLES = {
    "one input": (X[:, :1], Y),
    "sixty inputs": (WIDE, WIDE[:, 0]),
    "one row": (X[:1], Y[:1]),
    "three rows": (X[:3], Y[:3]),
    "constant target": (X, np.full(len(X), 0.1)),
    "constant inputs": (np.ones((20, 2)), Y[:20]),
    "repeated rows": (np.repeat(X[:10], 6, axis=0), np.repeat(Y[:10], 6)),
    "no noise": (X, np.sin(X[:, 0])),
    "units": (X * [1e-8, 1.0, 1e8], 1e-100 * Y),
    "outlier": (np.r_[X, [[0.0, 1e6, 0.0]]], np.r_[Y, 0.0]),
}
VARIANTS = {
    "learned": {},
    "float32": {"dtype": "float32", "structure": "sparse"},
    "hmc": {"sampler": "hmc", "structure": "sparse"},
    "printed": {"sampler": gabasr.sampler(2)},
}


@pytest.mark.thorough_cases(r"\bsixty\b|hmc")
@pytest.mark.parametrize("variant", ["learned", "hmc", "printed"])
@pytest.mark.parametrize("name", ["one input", "sixty inputs"])
def test_classes_as_they_come(name, variant):
    inputs, y = TABLES[name]
    parameters = {"n_burn_in": 6, "n_samples": 4, **VARIANTS[variant]}
    labels = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = modulated_classifier(**parameters).fit(inputs, labels)
    probability = model.predict_proba(inputs)
    assert probability.shape == (len(inputs), 3)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert set(model.predict(inputs)) <= {"a", "b", "c"}
