"""The learned kernel, features, and what they say of the inputs."""

import numpy as np
import pytest
from laws.group_laws import kernel_bound
from learned.grouped_parameters import grouped
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from bochner import FourierFeatures, LearnedKernelClassifier, LearnedKernelRegressor
from bochner.learned import Chains

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
UNITS = np.array([1.0, 100.0, 0.01])
X = UNITS * RNG.normal(size=(80, 3)) + [0.0, 3e3, 5.0]
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] / 100.0
LABELS = np.where(Y.mean() < Y, "high", "low")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))


def regressor(structure="sparse", **parameters):
    settings = {
        "n_burn_in": 10,
        "n_samples": 24,
        "thin": 1,
        "n_chains": 1,
        "random_state": 0,
        **parameters,
    }
    return LearnedKernelRegressor(10, structure, **grouped(**settings))


@pytest.fixture(scope="module")
def models():
    return {
        "sparse": regressor("sparse").fit(X, Y),
        "dense": regressor("dense").fit(X, Y),
        "classes": LearnedKernelClassifier(
            10,
            "sparse",
            random_state=0,
            chains=Chains(n_burn_in=5, n_samples=20, n_chains=1, thin=1),
        ).fit(X, THREE),
    }


@pytest.mark.parametrize("name", ["sparse", "classes"])
def test_the_kernel_is_near_the_average_over_draws(models, name):
    model = models[name]
    units = np.geomspace(0.01, 1.0, 100)[:, None] * np.random.default_rng(2).normal(size=(100, 3))
    exact, bound = np.zeros((2, 100))
    for learned in model.learned_:
        # Few enough draws for all of them to be in the kernel.
        assert learned.draws.n_draws <= 24
        omega = learned.draws.omega.reshape(-1, 3)
        exact += np.cos(units @ omega.T).mean(axis=1) / len(model.learned_)
        bound += kernel_bound(omega, units) / len(model.learned_)
    values = model.kernel_(units * model._scaling.scale, np.zeros((1, 3)))[:, 0]
    assert (np.abs(values - exact) <= bound + 1e-12).all()
    assert np.count_nonzero(bound < 0.1) > 10
    assert np.sqrt(np.mean((values - exact) ** 2)) < 0.08


def assert_features(model, draw):
    features = model.features(draw)
    expected = [
        np.cos(
            ((X[:9][:, None] - X[9:20][None]) / model._scaling.scale)
            @ learned.draws.omega[
                int(np.argmax(learned.draws.log_density)) if draw == "best" else -1
            ].T
        ).mean(axis=2)
        for learned in model.learned_
    ]
    assert_allclose(features.gram(X[:9], X[9:20]), np.mean(expected, axis=0), atol=1e-9)
    assert features.transform(X).shape == (80, 20 * len(model.learned_))


@pytest.mark.parametrize("name", ["sparse", "dense", "classes"])
@pytest.mark.parametrize("draw", ["best", "last"])
def test_features_have_the_empirical_kernel_of_their_draw(models, name, draw):
    assert_features(models[name], draw)


def test_another_draw_than_best_and_last_is_refused(models):
    with pytest.raises(ValueError, match="draw must be 'best' or 'last', got 'first'"):
        models["sparse"].features("first")


@pytest.mark.thorough
def test_the_kernel_serves_other_models(models):
    kernel = models["sparse"].kernel_
    machine = SVC(kernel=kernel, C=10.0).fit(X, LABELS)
    assert machine.score(X, LABELS) > 0.9
    features = FourierFeatures(kernel, n_components=4096, random_state=0).fit(X)
    assert np.abs(features.gram(X) - kernel(X)).max() < 0.15


COARSE = np.random.default_rng(5).uniform(-2.0, 2.0, size=(300, 6))


def additive(Z):
    return np.sin(2.0 * Z[:, 0]) + 1.5 * np.sin(Z[:, 1] * Z[:, 2])


def learned_of(Z, y, seed=0):
    model = LearnedKernelRegressor(
        40,
        "sparse",
        random_state=seed,
        chains=Chains(n_burn_in=60, n_samples=20, n_chains=1, thin=1),
    ).fit(Z, y)
    return model.relevance_, model.interactions_


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(6)
    return learned_of(COARSE, additive(COARSE) + 0.1 * rng.normal(size=300))


@pytest.mark.thorough
def test_relevant_inputs_are_found(found):
    relevance, _ = found
    assert relevance.importance[:3].min() > 4.0 * relevance.importance[3:].max()
    assert relevance.inclusion[:3].min() > 4.0 * relevance.inclusion[3:].max()
    assert_allclose(relevance.importance.sum(), 1.0)


@pytest.mark.thorough
def test_inputs_that_act_together_stand_out(found):
    _, shares = found
    assert_array_equal(shares, shares.T)
    pairs = {(i, j): shares[i, j] for i in range(6) for j in range(i)}
    together = pairs.pop((2, 1))
    assert together > 3.0 * max(pairs.values())
    alone = np.diag(shares)
    assert alone[0] > 3.0 * alone[3:].max()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("scale", "shift", "factor"),
    [(np.array([4.0, 0.5, 2.0**20, 2.0**-20, 1.0, 8.0]), 0.0, 1.0), (1.0, 0.0, -64.0)],
)
def test_relevance_does_not_depend_on_units(found, scale, shift, factor):
    """Powers of two, and the target's sign, change no digit of what the chain computes."""
    rng = np.random.default_rng(6)
    y = additive(COARSE) + 0.1 * rng.normal(size=300)
    relevance, shares = learned_of(COARSE * scale + shift, factor * y)
    assert_allclose(relevance.inclusion, found[0].inclusion, rtol=1e-9)
    assert_allclose(relevance.importance, found[0].importance, rtol=1e-9)
    assert_allclose(shares, found[1], rtol=1e-9)
