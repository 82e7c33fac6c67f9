"""Exact fits to a part of the rows, next to explicit solutions and to landmarks."""

from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bochner._base.progress import silent
from bochner.kernels import Laplacian
from bochner.tables import fit_plan as plan
from bochner.tables import learner as learners
from bochner.tables.fit_plan import _ROUGH, Effort
from bochner.tables.learner import Learner
from bochner.tables.observations import Observations

pytestmark = pytest.mark.thorough

N_ROWS, N_PART, N_LANDMARKS, N_SCORED = 2400, 1000, 60, 300
EFFORT = Effort({"rough": (_ROUGH, 1)}, 200, N_PART, N_LANDMARKS, 300)


@contextmanager
def as_large():
    """Score some of the rows, as in tables of more rows, and fit kernels only."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(plan, "_LEAST_UNSCORED", 200)
        monkeypatch.setattr(plan, "MOST_SCORED", N_SCORED)
        monkeypatch.setattr(learners, "FEWEST_FOR_TREES", np.inf)
        yield


def table(noise, n=N_ROWS, seed=0):
    """A function of many waves in two numbers, for which a hundred landmarks are too few."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    y = np.sin(9.0 * X[:, 0]) * np.cos(7.0 * X[:, 1]) + noise * rng.normal(size=n)
    return X, y - y.mean()


def fitted(X, y, effort=EFFORT, weights=None, groups=None):
    weights = np.ones(len(y)) if weights is None else weights
    observations = Observations.of(X, y[:, None], weights, groups)
    learner = Learner(effort, 1, None, silent)
    with as_large():
        scored = learner.fit(observations, [np.arange(X.shape[1])], np.random.default_rng(1))
    return scored, next(law for law in scored.laws.members if hasattr(law, "coef"))


def test_the_posterior_is_that_of_the_part(noise=0.01):
    """Coefficients and left-out means are those of a dense solution for the stored rows."""
    X, y = table(noise)
    weights = np.random.default_rng(2).uniform(0.5, 1.5, N_ROWS)
    weights /= weights.mean()
    scored, law = fitted(X, y, weights=weights)
    rows = scored.laws.rows
    assert rows.shape == (N_PART, 2)
    place = {tuple(row): number for number, row in enumerate(X)}
    units = np.array([place[tuple(row)] for row in rows])
    learned = law.found
    kernel = Laplacian(np.asarray(learned.kernel.length_scale))
    matrix = kernel(rows, rows) + learned.alpha * np.diag(1.0 / weights[units])
    assert_allclose(law.coef[:, 0], np.linalg.solve(matrix, y[units]), rtol=1e-3, atol=1e-3)
    # Refits without a scored row, and with the mean target of the other rows.
    for number in (0, 7, 200):
        left = int(np.flatnonzero(units == scored.scored[number])[0])
        rest = np.delete(np.arange(N_PART), left)
        values = kernel(rows[[left]], rows[rest])
        others = np.delete(np.arange(N_ROWS), units[left])
        centre = np.average(y[others], weights=weights[others])
        coef = np.linalg.solve(matrix[np.ix_(rest, rest)], y[units[rest]] - centre)
        assert_allclose(scored.means[number, 0, 0], centre + values @ coef, atol=2e-3)
    new, truth = table(0.0, 500, seed=3)
    assert np.sqrt(np.mean((law.mean(new, rows)[:, 0] - truth) ** 2)) < 0.1


def test_noise_decides_between_parts_and_landmarks():
    """Parts where landmarks are too few for the function, landmarks where noise is large."""
    _, of_function = fitted(*table(0.01))
    _, of_noise = fitted(*table(3.0))
    assert len(of_function.coef) == N_PART
    assert len(of_noise.coef) == N_LANDMARKS
