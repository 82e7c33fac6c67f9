"""New frequencies of a model in a stream: no jump, and then one Gaussian process after another."""

from copy import deepcopy

import numpy as np
import pytest
from estimators.test_krein_ridge import NEW, WEIGHT, X, Y, ridge
from files.same import assert_same, round_trip
from laws.error_laws import dense_errors
from laws.head_laws import plant_signs
from numpy.testing import assert_allclose, assert_array_equal

from bochner import KreinRidge, KreinRidgeClassifier, kernels
from bochner.linear.faded_features import prediction_change

BEFORE, AFTER = slice(0, 50), slice(50, 80)
OTHER = kernels.Matern(0.4, nu=1.5)
FORGETTING = 0.97
AGED = FORGETTING ** np.arange(80.0)[::-1]


def refreshed(model, forgetting=FORGETTING, weight=None, **options):
    """A model of the first rows, with features of another kernel."""
    given = () if weight is None else (weight[BEFORE],)
    model.partial_fit(X[BEFORE], Y[BEFORE], *given, forgetting=forgetting)
    return model.refresh(X[BEFORE], Y[BEFORE], kernel=OTHER, random_state=1, **options)


def both(model, forgetting=FORGETTING, weight=None, tolerance=0.0):
    """Such a model after all rows."""
    model = refreshed(model, forgetting, weight, tolerance=tolerance)
    given = () if weight is None else (weight[AFTER],)
    return model.partial_fit(X[AFTER], Y[AFTER], *given, forgetting=forgetting)


def conditioned(model, weight, fit_intercept=False):
    """Mean, deviation and variance of the noise, by dense matrices of features and checks."""
    fading = model.fading_
    s = weight[BEFORE].sum() / weight.sum()
    rows = np.vstack((X, NEW))
    is_after = np.arange(len(rows)) >= 50
    root = np.where(is_after, np.sqrt(s), 1.0)

    def gram(earlier, later):
        K = np.outer(root, root) * earlier.gram(rows)
        return K + (1.0 - s) * np.outer(is_after, is_after) * later.gram(rows)

    known = np.flatnonzero(np.r_[weight > 0, np.ones(len(NEW), bool)])
    at = np.ix_(known, known)
    given = known[: -len(NEW)]
    errors = dense_errors(
        gram(fading.earlier, fading.later)[at],
        gram(fading.earlier_checks, fading.later_checks)[at],
        Y[given],
        model.alpha_,
        weight=weight[given],
        fit_intercept=fit_intercept,
    )
    return errors.mean, errors.std, errors.noise


@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": True}, {"alpha": "evidence"}])
def test_a_refresh_changes_no_prediction(parameters):
    model = ridge(**parameters).partial_fit(X, Y, forgetting=FORGETTING)
    before = deepcopy(model)
    model.refresh(X, Y, kernel=OTHER, random_state=1)
    for options in ({"return_std": True}, {"return_cov": True}):
        for old, new in zip(
            before.predict(NEW, **options), model.predict(NEW, **options), strict=True
        ):
            assert_array_equal(new, old)
    assert_array_equal(model.sample_y(NEW), before.sample_y(NEW))
    assert model.log_evidence_ == before.log_evidence_
    assert model.kernel == before.kernel
    assert model.fading_.share(model.sums_) == 1.0


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("size", [1e-4, 1e-8])
def test_predictions_go_on_from_a_refresh_without_a_jump(fit_intercept, size):
    model = refreshed(ridge(fit_intercept=fit_intercept))
    before = model.predict(NEW, return_std=True)
    noise = model.noise_variance_
    model.partial_fit(X[AFTER], Y[AFTER], np.full(30, size))
    (old, old_std), (new, new_std) = before, model.predict(NEW, return_std=True)
    assert 0.0 < np.abs(new - old).max() < 30.0 * size
    # Rows without noise to speak of, for their weights, lower the estimate of the noise.
    assert (model.noise_variance_ < noise).all()
    new_std = new_std * np.sqrt(noise / model.noise_variance_)
    assert 0.0 < np.abs(new_std - old_std).max() < 30.0 * size


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("forgetting", [1.0, FORGETTING])
def test_rows_after_it_condition_the_process(forgetting, fit_intercept, weight):
    model = both(ridge(fit_intercept=fit_intercept), forgetting, weight)
    given = forgetting ** np.arange(80.0)[::-1] * (1.0 if weight is None else weight)
    mean, std, noise = conditioned(model, given, fit_intercept)
    assert_allclose(model.predict(NEW), mean, atol=1e-8)
    assert_allclose(model.predict(NEW, return_std=True)[1], std, rtol=1e-7)
    assert_allclose(model.noise_variance_, noise, rtol=1e-8)
    assert_allclose(model.kernel_(NEW), given_kernel(model, given)(NEW))
    assert_allclose(model.frequencies_.gram(NEW), approximate_gram(model, given))


def given_kernel(model, weight):
    s = weight[BEFORE].sum() / weight.sum()
    return s * model.fading_.earlier_kernel + (1.0 - s) * OTHER


def approximate_gram(model, weight):
    s = weight[BEFORE].sum() / weight.sum()
    return s * model.fading_.earlier.gram(NEW) + (1.0 - s) * model.fading_.later.gram(NEW)


def test_batches_make_no_difference_after_it():
    whole, single = both(ridge()), refreshed(ridge(), tolerance=0.0)
    for i in range(50, 80):
        single.partial_fit(X[i : i + 1], Y[i : i + 1], forgetting=FORGETTING)
    for one, other in zip(whole.predict(NEW, True), single.predict(NEW, True), strict=True):
        assert_allclose(one, other, atol=1e-9)


def later_alone(model, later, rows, weight):
    """Predictions of ridge regression on the later features, from weighted rows."""
    root = np.sqrt(weight)[:, None]
    Z = root * later.features(X[rows])
    coef = np.linalg.solve(Z.T @ Z + model.alpha_ * np.eye(Z.shape[1]), Z.T @ (root * Y[rows]))
    return later.features(NEW) @ coef


def test_without_the_earlier_features_it_is_the_model_of_the_later_rows():
    model = refreshed(ridge(alpha=0.01), tolerance=1e6)
    later = model.fading_.later
    model.partial_fit(X[AFTER], Y[AFTER], forgetting=FORGETTING)
    assert model.fading_ is None
    assert model.sums_.n_samples == 30
    assert model.kernel_ == OTHER
    assert model.signature_.shape == (40,)
    assert_allclose(model.predict(NEW), later_alone(model, later, AFTER, AGED[AFTER]), atol=1e-8)


def test_it_approaches_that_model_as_the_earlier_rows_are_forgotten():
    gaps = []
    for forgetting in (0.7, 0.5, 0.3):
        model = refreshed(ridge(), forgetting, tolerance=0.0)
        later = model.fading_.later
        model.partial_fit(X[AFTER], Y[AFTER], forgetting=forgetting)
        weight = forgetting ** np.arange(30.0)[::-1]
        gaps.append(np.abs(model.predict(NEW) - later_alone(model, later, AFTER, weight)).max())
    assert gaps[0] < 1e-3
    assert gaps[1] < 1e-6
    assert gaps[2] < 1e-9
    assert model.fading_ is None


def test_the_change_is_that_of_predictions_at_the_later_rows():
    for fit_intercept in (False, True):
        model = both(ridge(fit_intercept=fit_intercept))
        dropped = both(ridge(fit_intercept=fit_intercept), tolerance=1e6)
        weight = AGED[AFTER] / AGED[AFTER].sum()
        (mean, std), (after, std_after) = (m.predict(X[AFTER], True) for m in (model, dropped))
        change = np.sqrt(weight @ (mean - after) ** 2 / (weight @ (Y[AFTER] - after) ** 2))
        ratio = 0.5 * np.log((weight @ std**2) / (weight @ std_after**2))
        found = prediction_change(model.fading_, model.sums_, model.posterior_, dropped.posterior_)
        assert_allclose(found, max(change.max(), np.abs(ratio).max()), rtol=1e-6)
        assert_allclose(model.fading_.change or found, found, rtol=1e-6)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_sliding_window_has_the_later_features_when_the_last_earlier_row_is_out(fit_intercept):
    model = refreshed(ridge(fit_intercept=fit_intercept), 1.0)
    later = model.fading_.later
    model.partial_fit(X[AFTER], Y[AFTER])
    model.forget(X[:20], Y[:20])
    weight = np.where(np.arange(80) < 20, 0.0, 1.0)
    mean, std, _ = conditioned(model, weight, fit_intercept)
    assert_allclose(model.predict(NEW), mean, atol=1e-7)
    assert_allclose(model.predict(NEW, True)[1], std, rtol=1e-6)
    with pytest.raises(ValueError, match="30 of them are left, got 31 rows"):
        model.forget(X[20:51], Y[20:51])
    with pytest.raises(ValueError, match="not among those of these sums"):
        model.forget(2.0 * X[20:50], Y[20:50])
    model.forget(X[20:50], Y[20:50])
    assert model.fading_ is None
    assert model.frequencies_ is later
    if not fit_intercept:
        assert_allclose(model.predict(NEW), later_alone(model, later, AFTER, np.ones(30)))
    model.forget(X[50:60], Y[50:60])
    assert model.sums_.n_samples == 20


def test_indefinite_kernels_are_refreshed(monkeypatch):
    plant_signs(monkeypatch)
    model = ridge().partial_fit(X[BEFORE], Y[BEFORE])
    before = model.predict(NEW)
    model.refresh(X, Y, kernel=OTHER, random_state=1)
    assert_array_equal(model.predict(NEW), before)
    model.partial_fit(X[AFTER], Y[AFTER])
    earlier, later = model.fading_.earlier, model.fading_.later
    assert (model.signature_ < 0).any()
    s, zero = 50 / 80, np.zeros((50, 40))
    rows = np.block(
        [
            [earlier.features(X[BEFORE]), zero],
            [np.sqrt(s) * earlier.features(X[AFTER]), np.sqrt(1 - s) * later.features(X[AFTER])],
        ]
    )
    signs = np.diag(np.r_[earlier.signature, later.signature])
    coef = np.linalg.solve(rows.T @ rows + model.alpha_ * signs, rows.T @ Y)
    new = np.hstack((np.sqrt(s) * earlier.features(NEW), np.sqrt(1 - s) * later.features(NEW)))
    assert_allclose(model.predict(NEW), new @ coef, atol=1e-8)


def test_the_rows_choose_the_length_scale_and_the_parameters_stay():
    model = KreinRidge(n_components=40, random_state=0).fit(X, Y)
    model.refresh(3.0 * X, Y, random_state=1)
    scales = 3.0 * np.array(model.kernel_.length_scale)
    np.testing.assert_allclose(model.fading_.later_kernel.length_scale, scales)
    model.refresh(X, Y, length_scale=0.3, random_state=1)
    assert model.fading_.later_kernel.length_scale == 0.3
    assert model.length_scale == "auto"


def test_the_evidence_of_the_rows_chooses_the_length_scale():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-1.0, 1.0, size=(300, 1))
    slow, fast = (np.sin(w * rows[:, 0]) + 0.1 * rng.normal(size=300) for w in (2.0, 12.0))
    model = KreinRidge(n_components=64, length_scale="evidence", alpha="evidence", random_state=0)
    model.partial_fit(rows, slow).refresh(rows, fast, random_state=1, tolerance=0.1)
    scales = [
        np.ravel(k.length_scale)[0]
        for k in (model.fading_.earlier_kernel, model.fading_.later_kernel)
    ]
    assert scales[1] < 0.5 * scales[0]
    model.partial_fit(rows, fast, forgetting=0.99)
    assert model.fading_ is None
    assert model.log_predictive_density(rows, fast).mean() > 0.6


def test_a_second_refresh_waits_for_the_first():
    model = both(ridge(), tolerance=0.0)
    with pytest.raises(ValueError, match=r"have a share of 0\.\d+, and predictions would change"):
        model.refresh(X, Y)
    later = model.fading_.later
    model.refresh(X, Y, tolerance=1e6)
    assert model.fading_.earlier is later
    earlier = model.fading_.earlier
    model.refresh(X, Y, kernel=kernels.Gaussian(3.0))  # No rows have been learned in between
    assert model.fading_.earlier is earlier
    assert model.fading_.later_kernel == kernels.Gaussian(3.0)
    model.fit(X, Y)
    assert model.fading_ is None


@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
def test_what_has_no_refresh_says_so():
    with pytest.raises(ValueError, match="conjugate gradients, which keep no sums"):
        ridge(solver="cg").fit(X, Y).refresh(X, Y)
    with pytest.raises(ValueError, match="use residual=None"):
        ridge(residual=5).fit(X, Y).refresh(X, Y)
    with pytest.raises(ValueError, match="tolerance must not be negative, got -1"):
        ridge().fit(X, Y).refresh(X, Y, tolerance=-1.0)
    with pytest.raises(ValueError, match=r"kernels, which must be of bochner\.kernels"):
        ridge(weights="least_squares").fit(X, Y).refresh(X, Y, kernel=OTHER.evaluate)
    model = ridge(n_components=512, memory_limit="80MB", solver="cholesky").fit(X, Y)
    with pytest.raises(ValueError, match="the Gram matrix of 1536 features, 256 of them"):
        model.refresh(X, Y)
    assert model.fading_ is None


def test_a_refreshed_model_is_saved_and_goes_on(tmp_path):
    for model in (refreshed(ridge()), both(ridge())):
        loaded = round_trip(model, tmp_path)
        assert_same(loaded, model)
        for one in (loaded, model):
            one.partial_fit(X, Y, forgetting=0.99)
        assert_array_equal(loaded.predict(NEW), model.predict(NEW))


def test_a_shorter_length_scale_pays_where_the_function_has_become_rougher():
    rng = np.random.default_rng(0)
    models = [
        KreinRidge(n_components=64, length_scale=1.0, alpha=0.05, random_state=0) for _ in range(2)
    ]
    scores = []
    for t in range(80):
        x = rng.uniform(-1.0, 1.0, size=(40, 1))
        y = np.sin((2.0 if t < 20 else 12.0) * x[:, 0]) + 0.1 * rng.normal(size=40)
        if t:
            scores.append([m.log_predictive_density(x, y).mean() for m in models])
        for model in models:
            model.partial_fit(x, y, forgetting=0.995)
        if t == 25:
            models[1].refresh(x, y, length_scale=0.2, random_state=1)
    plain, new = np.array(scores)[-20:].mean(axis=0)
    assert new > plain + 0.3
    assert models[1].fading_ is None


LABELS = np.digitize(Y[:, 0], [-0.4, 0.4])


def classifier():
    return KreinRidgeClassifier(kernels.Gaussian(1.0), n_components=40, alpha=0.5, random_state=0)


def test_a_classifier_forgets_as_with_weights_of_age():
    model = classifier()
    for rows in (slice(0, 30), slice(30, 55), slice(55, 80)):
        model.partial_fit(X[rows], LABELS[rows], classes=[0, 1, 2], forgetting=FORGETTING)
    whole = classifier().fit(X, LABELS, sample_weight=AGED)
    assert_allclose(model.decision_function(NEW), whole.decision_function(NEW), atol=1e-8)
    assert_allclose(model.left_out_.rows.weights, AGED)
    with pytest.raises(ValueError, match="forgetting must be greater than zero"):
        model.partial_fit(X, LABELS, forgetting=0.0)


def test_a_classifier_is_refreshed():
    model = classifier().partial_fit(X[BEFORE], LABELS[BEFORE], classes=[0, 1, 2])
    before = model.predict_proba(NEW)
    model.refresh(X, LABELS, kernel=OTHER, random_state=1, tolerance=1e6)
    assert_array_equal(model.predict_proba(NEW), before)
    model.partial_fit(X[AFTER], LABELS[AFTER], forgetting=0.9)
    assert model.kernel_ == OTHER
    assert model.predict_proba(NEW).shape == (20, 3)
    assert model.score(X[AFTER], LABELS[AFTER]) > 0.8
