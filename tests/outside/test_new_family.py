"""A family of kernels of a user's own in the weighted sum that models a table."""

import numpy as np
import pytest

from bochner._base.progress import silent
from bochner.kernels import Gaussian
from bochner.tables.fit_plan import EFFORTS, Effort
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.kernel_search import Family
from bochner.tables.learner import Learner
from bochner.tables.observations import Observations

pytestmark = pytest.mark.thorough

ANALYTIC = Family(Gaussian, is_mapped=True)
"""Functions with all derivatives."""


def test_it_is_searched_fitted_and_weighted_beside_the_others():
    """It is the best family for a function with all derivatives."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, size=(300, 2))
    y = np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + 0.02 * rng.normal(size=300)
    families = {**EFFORTS["quick"].families, "analytic": (ANALYTIC, 1)}
    learner = Learner(Effort(families, 300, 2000, 300), 1, None, silent)
    scored = learner.fit(Observations.of(X, y[:, None], np.ones(300)), [np.arange(2)], rng)
    errors = {
        law.name: float(np.sqrt(np.mean((y[scored.scored] - means) ** 2)))
        for law, means in zip(scored.laws.members, scored.means[:, :, 0].T, strict=True)
        if isinstance(law, KernelLaw)
    }
    assert min(errors, key=errors.__getitem__) == "analytic"
    assert errors["analytic"] < 0.03
