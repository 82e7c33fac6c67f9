"""Fits to more rows than memory would hold: chunks, solvers and limits of memory."""

import numpy as np
import pytest
from flat_parameters import flat
from laws.head_laws import plant_signs
from linear.test_row_sources import Again
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import Ridge
from test_memory import peak_bytes

from bochner import KreinRidge, KreinRidgeClassifier, kernels
from bochner.linear import solver_plan as ridge_plan

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.stack([np.sin(X[:, 0]), X[:, 1] + 5.0], axis=1) + 0.1 * RNG.normal(size=(300, 2))
LABEL = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
WEIGHT = RNG.uniform(size=300)
NEW = RNG.normal(size=(20, 2))
PARTS = [slice(0, 120), slice(120, 121), slice(121, 300)]


def ridge(**parameters):
    given = {"n_components": 40, "alpha": 0.5, "fit_intercept": True, "random_state": 0}
    return flat(KreinRidge, kernels.Gaussian(1.0), **(given | parameters))


def classifier(**parameters):
    given = {"n_components": 40, "alpha": 0.5, "random_state": 0}
    return flat(KreinRidgeClassifier, kernels.Gaussian(1.0), **(given | parameters))


def chunks(y, weight=None):
    if weight is None:
        return [(X[part], y[part]) for part in PARTS]
    return [(X[part], y[part], weight[part]) for part in PARTS]


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("indefinite", [False, True], ids=["positive", "indefinite"])
def test_chunks_and_arrays_make_the_same_regression(solver, weight, indefinite, monkeypatch):
    if indefinite:
        plant_signs(monkeypatch)
    model = ridge(solver=solver, tol=1e-12, alpha=300.0 if indefinite else 0.5)
    whole = clone(model).fit(X, Y, weight)
    parts = clone(model).fit(chunks(Y, weight))
    assert_allclose(parts.predict(NEW), whole.predict(NEW), rtol=1e-7)
    assert (whole.n_iter_ is None) == (solver == "cholesky")
    # And the two solvers find the same, from the features' own normal equations.
    Z, signs = whole.frequencies_.features(X), whole.signature_
    share = np.ones(300) if weight is None else weight
    means = [np.average(part, axis=0, weights=share) for part in (Z, Y)]
    A = ((Z - means[0]).T * share) @ (Z - means[0]) + model.alpha * np.diag(signs)
    coef = np.linalg.solve(A, ((Z - means[0]).T * share) @ (Y - means[1]))
    assert_allclose(whole.coef_, coef.T, rtol=1e-5, atol=1e-8)
    assert (signs < 0).any() == indefinite


def test_a_generator_is_enough_for_the_sums():
    found = ridge().fit(part for part in chunks(Y))
    assert_allclose(found.coef_, ridge().fit(X, Y).coef_, rtol=1e-9)
    # Rows can be added to what a stream has left.
    more = found.partial_fit(NEW, NEW + 1.0)
    both = ridge(fit_intercept=True).fit(np.vstack((X, NEW)), np.vstack((Y, NEW + 1.0)))
    assert_allclose(more.predict(NEW), both.predict(NEW), rtol=1e-7)


def test_the_gram_matrix_takes_one_pass():
    passes = []
    ridge(alpha="evidence").fit(Again(lambda: passes.append("one") or iter(chunks(Y))))
    assert passes == ["one"]


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ([(X, Y, WEIGHT, 1)], "must be a tuple"),
        (iter([X]), "must be a tuple.*ndarray"),
        (iter([]), "no chunks of rows"),
        ([(X, Y), (X[:, :1], Y)], "X has 1 features"),
        ([(X, Y), (np.full((2, 2), np.nan), Y[:2])], "NaN"),
        ([(X, Y), (X, None)], "y cannot be None|requires y"),
    ],
)
def test_bad_chunks_are_refused(stream, message):
    with pytest.raises(ValueError, match=message):
        ridge().fit(stream)


@pytest.mark.parametrize("chunk_type", [list, tuple], ids=["list", "tuple"])
def test_lists_of_rows_are_still_arrays(chunk_type):
    found = ridge().fit(chunk_type(X.tolist()), Y[:, 0].tolist())
    assert_allclose(found.coef_, ridge().fit(X, Y[:, 0]).coef_)


def test_weights_beside_chunks_are_refused():
    with pytest.raises(ValueError, match="Pass the weights of chunks in each chunk"):
        ridge().fit(chunks(Y), sample_weight=WEIGHT)


def test_rows_that_come_once_cannot_be_met_again():
    with pytest.raises(ValueError, match="iterator and partial_fit give them once"):
        ridge(solver="cg").fit(iter(chunks(Y)))
    with pytest.raises(ValueError, match="more than once"):
        ridge(solver="cg").partial_fit(X, Y)
    with pytest.raises(ValueError, match="a second time for the classes"):
        classifier().fit(iter(chunks(LABEL)))


def test_conjugate_gradients_leave_nothing_to_add_to():
    model = ridge(solver="cg").fit(X, Y)
    assert model.sums_ is None
    with pytest.raises(ValueError, match="no sums that rows could be added to"):
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match="solver='cholesky'"):
        model.predict(NEW, return_std=True)
    with pytest.raises(AttributeError, match=r"no evidence.*solver='cholesky'"):
        _ = model.log_evidence_
    with pytest.raises(ValueError, match="number for alpha"):
        ridge(solver="cg", alpha="evidence").fit(X, Y)


def test_single_precision_products_move_predictions_little(monkeypatch):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(20_000, 3))
    y = np.sin(rows[:, 0]) + 0.1 * rng.normal(size=20_000)
    exact = ridge(n_components=200).fit(rows, y)
    monkeypatch.setattr(ridge_plan, "_WORTH_FLOPS", 0.0)
    quick = ridge(n_components=200).fit(rows, y)
    assert (quick.coef_ != exact.coef_).any()
    theirs = Ridge(0.5).fit(exact.frequencies_.features(rows), y)
    new = rng.normal(size=(500, 3))
    mean, std = exact.predict(new, return_std=True)
    assert_allclose(mean, theirs.predict(exact.frequencies_.features(new)), atol=1e-7)
    change = quick.predict(new) - mean
    assert np.sqrt(np.mean(change**2)) < 1e-5
    assert np.abs(change / std).max() < 1e-2
    assert_allclose(quick.predict(new, return_std=True)[1], std, rtol=1e-4)
    assert_allclose(quick.log_evidence_, exact.log_evidence_, rtol=1e-5)


@pytest.mark.parametrize("streamed", [False, True], ids=["array", "stream"])
def test_conjugate_gradients_draw_their_sample_among_rows_of_weight(streamed):
    rng = np.random.default_rng(3)
    rows, weight = rng.normal(size=(20_000, 2)), np.zeros(20_000)
    weight[np.append(7, rng.choice(20_000, 40))] = 1.0
    y, few = np.sin(rows[:, 0]), weight > 0.0
    model = ridge(solver="cg", tol=1e-8)
    parts = [slice(0, 100), slice(100, 20_000)]
    if streamed:
        model.fit([(rows[part], y[part], weight[part]) for part in parts])
    else:
        model.fit(rows, y, weight)
    Z = model.frequencies_.features(rows[few])
    assert_allclose(model.predict(rows[few]), Ridge(0.5).fit(Z, y[few]).predict(Z), atol=1e-6)
    assert model.n_iter_ < 10


@pytest.mark.thorough
@pytest.mark.parametrize(
    "parameters",
    [
        {"memory_limit": "100MB"},
        {"memory_limit": "60MB", "solver": "cg"},
        {"memory_limit": "120MB", "solver": "cg"},
        {"memory_limit": "100MB", "alpha": 1e-6},
        {"memory_limit": "110MB", "alpha": "evidence"},
        {"memory_limit": "40MB", "n_components": 4000},
    ],
    ids=lambda given: "-".join(map(str, given.values())),
)
def test_the_limit_of_memory_is_kept(parameters):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(20_000, 4)), rng.normal(size=20_000)
    model = ridge(**({"n_components": 1000, "alpha": 1.0, "tol": 1e-1} | parameters))
    ridge().fit(X, Y)  # What is allocated once is no part of the fit.
    assert peak_bytes(model.fit, rows, y) < 1e6 * int(parameters["memory_limit"][:-2])
    assert (model.n_iter_ is not None) == ("solver" in parameters or "n_components" in parameters)


def test_a_limit_that_cannot_be_kept_is_refused_before_any_work():
    model = ridge(n_components=4000, memory_limit="50MB", alpha="evidence")
    with pytest.raises(
        ValueError, match=r"Gram matrix of 4256 features, 256 of them for intervals, .*needs"
    ):
        model.fit(X, Y)
    assert not hasattr(model, "posterior_")
