"""Time limits of generalised linear models on features."""

import numpy as np
import pytest

from bochner import KernelGLMClassifier
from bochner.gaussian_process.laplace_sizes import affordable_features


def test_a_time_limit_reduces_the_number_of_features(monkeypatch):
    """Newton's method with 512 features took 49 seconds for five classes of 20,000 rows."""
    monkeypatch.setattr(
        "bochner.gaussian_process.kernel_glm_head.measured_rate", lambda n_threads: 3e10
    )
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(0, 5, 4000)
    model = KernelGLMClassifier(time_limit=0.5, random_state=0)
    with pytest.warns(UserWarning, match=r"features in place of n_components=512, because"):
        model.fit(X, y)
    assert 32 <= model.features_.n_features < 128
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("seconds", "least", "most"), [(1e-9, 32, 32), (1.0, 32, 80), (1e9, 512, 512)]
)
def test_features_within_a_time(seconds, least, most):
    assert least <= affordable_features(512, 20_000, 5, seconds, 3e10) <= most
    assert affordable_features(4, 20_000, 5, seconds, 3e10) == 4
