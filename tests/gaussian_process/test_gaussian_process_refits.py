"""Processes of classes that learn kernels on some rows are exact on all rows."""

import numpy as np
import pytest
from sklearn import gaussian_process as theirs
from sklearn.gaussian_process.kernels import RBF

from bochner import GaussianProcessClassifier

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-3.0, 3.0, size=(80, 2)), RNG.uniform(-3.0, 3.0, size=(10, 2))
LABELS = np.digitize(np.sin(X[:, 0]) + 0.3 * RNG.normal(size=80), [-0.4, 0.4])


@pytest.mark.parametrize("multi_class", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("labels", [LABELS, LABELS > 1], ids=["three", "two"])
def test_kernels_learned_on_some_rows_are_exact_on_all(monkeypatch, labels, multi_class):
    monkeypatch.setattr(GaussianProcessClassifier, "_most_exact", 40)
    model = GaussianProcessClassifier(RBF(1.0), multi_class=multi_class, random_state=0)
    model.fit(X, labels)
    assert model.processes_ is None
    classes, binary = np.unique(labels), getattr(model.base_estimator_, "estimators_", None)
    pairs = [(a, b) for a in classes for b in classes if a < b]
    evidences = []
    for number, process in enumerate(binary or [model.base_estimator_]):
        rows, is_second = np.ones(len(X), dtype=bool), labels == classes[-1]
        if binary and multi_class == "one_vs_rest":
            is_second = labels == classes[number]
        elif binary:
            rows, is_second = np.isin(labels, pairs[number]), labels == pairs[number][1]
        exact = theirs.GaussianProcessClassifier(process.kernel_, optimizer=None)
        exact.fit(X[rows], is_second[rows])
        assert process.kernel_.length_scale != 1.0
        np.testing.assert_allclose(process.predict_proba(NEW), exact.predict_proba(NEW), atol=1e-12)
        evidences.append(exact.log_marginal_likelihood_value_)
    assert model.log_marginal_likelihood_value_ == pytest.approx(np.mean(evidences))
