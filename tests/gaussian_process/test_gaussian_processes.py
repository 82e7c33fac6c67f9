"""Gaussian processes with scikit-learn's parameters, next to scikit-learn and closed forms."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import multivariate_normal
from sklearn import gaussian_process as theirs
from sklearn.gaussian_process.kernels import (
    RBF,
    CompoundKernel,
    ConstantKernel,
    DotProduct,
    WhiteKernel,
)

import bochner
from bochner import GaussianProcessClassifier, GaussianProcessRegressor, kernels
from bochner.gaussian_process import (
    full_scale,
    gaussian_process_classifier,
    gaussian_process_regressor,
)

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, size=(80, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=80)
NEW = RNG.uniform(-3, 3, size=(20, 2))
KERNEL = 2.0 * RBF([1.0, 3.0]) + WhiteKernel(0.05)
APPROXIMATE = {"solver": "approximate", "n_landmarks": 16, "n_neighbors": 32, "random_state": 0}


def test_an_exact_fit_is_that_of_scikit_learn():
    ours = GaussianProcessRegressor(KERNEL, normalize_y=True).fit(X, Y)
    exact = theirs.GaussianProcessRegressor(KERNEL, normalize_y=True).fit(X, Y)
    assert isinstance(ours, theirs.GaussianProcessRegressor)
    assert ours.process_ is None
    for one, other in zip(
        ours.predict(NEW, return_cov=True), exact.predict(NEW, return_cov=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for name in ("X_train_", "y_train_", "L_", "alpha_", "log_marginal_likelihood_value_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(exact, name))
    np.testing.assert_array_equal(ours.sample_y(NEW, 3), exact.sample_y(NEW, 3))
    assert ours.kernel_ == exact.kernel_
    assert str(ours.kernel_) == str(exact.kernel_)


def test_an_exact_fit_of_own_kernels_has_the_closed_form():
    kernel = 2.0 * kernels.Laplacian((1.0, 3.0)) + kernels.White(0.05)
    model = GaussianProcessRegressor(kernel, alpha=0.01, optimizer=None).fit(X, Y)
    K = kernel(X) + 0.01 * np.eye(80)
    across = kernel(NEW, X)
    mean, cov = model.predict(NEW, return_cov=True)
    np.testing.assert_allclose(mean, across @ np.linalg.solve(K, Y), atol=1e-10)
    expected = kernel(NEW) - across @ np.linalg.solve(K, across.T)
    np.testing.assert_allclose(cov, expected, atol=1e-10)
    evidence = multivariate_normal(np.zeros(80), K).logpdf(Y)
    assert model.log_marginal_likelihood() == pytest.approx(evidence)
    learned = GaussianProcessRegressor(kernel, random_state=0).fit(X, Y)
    assert learned.log_marginal_likelihood() > evidence


def test_the_evidence_of_other_hyper_parameters_is_that_of_another_fit():
    settings = {"optimizer": None, **APPROXIMATE}
    model = GaussianProcessRegressor(KERNEL, **settings).fit(X, Y)
    assert model.log_marginal_likelihood() == model.log_marginal_likelihood_value_
    theta = model.kernel_.theta + 0.5
    other = GaussianProcessRegressor(KERNEL.clone_with_theta(theta), **settings)
    expected = other.fit(X, Y).log_marginal_likelihood()
    assert model.log_marginal_likelihood(theta) == pytest.approx(expected)
    np.testing.assert_array_equal(model.kernel_.theta, KERNEL.theta)
    model.log_marginal_likelihood(theta, clone_kernel=False)
    np.testing.assert_allclose(model.kernel_.theta, theta)
    with pytest.raises(ValueError, match=r"no gradient here: fit with solver='exact'"):
        model.log_marginal_likelihood(theta, eval_gradient=True)


@pytest.mark.parametrize("n_landmarks", [0, 10, 80])
@pytest.mark.parametrize("alpha", [0.01, np.linspace(0.01, 0.2, 80)], ids=["one", "each"])
def test_all_rows_as_neighbours_make_an_exact_process(n_landmarks, alpha):
    settings = {"optimizer": None, "normalize_y": True, "alpha": alpha}
    targets = np.column_stack((Y, 5.0 - 3.0 * Y))
    exact = theirs.GaussianProcessRegressor(KERNEL, **settings).fit(X, targets)
    model = GaussianProcessRegressor(
        KERNEL, solver="approximate", n_landmarks=n_landmarks, n_neighbors=320, **settings
    ).fit(X, targets)
    for spread in ("return_std", "return_cov"):
        pairs = zip(
            model.predict(NEW, **{spread: True}), exact.predict(NEW, **{spread: True}), strict=True
        )
        for one, other in pairs:
            np.testing.assert_allclose(one, other, atol=1e-7)
    evidence = exact.log_marginal_likelihood()
    assert model.log_marginal_likelihood() == pytest.approx(evidence, rel=1e-8)
    assert model.log_marginal_likelihood_error_ == pytest.approx(0.0, abs=1e-6)
    assert model.sample_y(NEW, 4).shape == (20, 2, 4)


def many(monkeypatch, n_rows=50):
    """Make more than so many rows many."""
    monkeypatch.setattr(gaussian_process_regressor, "_MOST_SEARCHED", n_rows)
    monkeypatch.setattr(gaussian_process_regressor, "_FIRST_SEARCHED", n_rows // 2)


def test_an_exact_process_of_many_rows_is_that_of_scikit_learn(monkeypatch, tmp_path):
    many(monkeypatch)
    monkeypatch.setattr(full_scale, "_BLOCK_VALUES", 400)
    for alpha in (0.01, np.linspace(0.01, 0.2, 80)):
        settings = {"optimizer": None, "normalize_y": True, "alpha": alpha}
        exact = theirs.GaussianProcessRegressor(KERNEL, **settings).fit(X, Y)
        model = GaussianProcessRegressor(KERNEL, **settings).fit(X, Y)
        for one, other in zip(
            model.predict(NEW, return_std=True), exact.predict(NEW, return_std=True), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-9)
        np.testing.assert_allclose(model.predict(NEW), exact.predict(NEW), rtol=1e-9)
        np.testing.assert_allclose(model.L_, exact.L_, atol=1e-12)
        assert model.log_marginal_likelihood() == pytest.approx(exact.log_marginal_likelihood())
    assert model.log_marginal_likelihood_error_ == 0.0
    cov = model.predict(NEW, return_cov=True)[1]
    bochner.save(model, tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < model.L_.nbytes / 2
    loaded = bochner.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(NEW, return_cov=True)[1], cov)
    np.testing.assert_array_equal(loaded.L_, model.L_)


class Recorder(RBF):
    """A kernel that records the largest of its matrices."""

    largest = 0

    def __call__(self, X, Y=None, eval_gradient=False):
        Recorder.largest = max(Recorder.largest, 0 if Y is None else len(X) * len(Y))
        return super().__call__(X, Y, eval_gradient)


@pytest.mark.parametrize("model", [GaussianProcessRegressor, GaussianProcessClassifier])
def test_matrices_of_new_rows_are_blocks(model, monkeypatch):
    """Whatever the number of training rows: 100,000 new rows of 2,000 took 6 GB."""
    fitted = model(Recorder(), optimizer=None).fit(X, Y if "Reg" in model.__name__ else Y > 0.0)
    methods = [
        getattr(fitted, name) for name in ("predict", "predict_proba") if hasattr(fitted, name)
    ]
    expected = [method(NEW) for method in methods]
    monkeypatch.setattr(full_scale, "_BLOCK_VALUES", 400)
    Recorder.largest = 0
    for method, values in zip(methods, expected, strict=True):
        np.testing.assert_allclose(method(NEW), values, rtol=1e-9)
    assert Recorder.largest == 400


def test_noise_of_many_rows_has_the_greatest_evidence_of_near_ones(monkeypatch):
    many(monkeypatch, 40)
    kernel = RBF(1.5, "fixed") + ConstantKernel(2.0, "fixed") * WhiteKernel(0.5)
    model = GaussianProcessRegressor(kernel, alpha=0.001, random_state=0).fit(X, Y)
    # Blocks of near rows have all of the eighty.
    _, slope = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    assert slope[0] == pytest.approx(0.0, abs=0.05)
    given = RBF(1.5) + WhiteKernel(0.5, "fixed")
    assert GaussianProcessRegressor(given).fit(X, Y).kernel_.k2.noise_level == 0.5


def test_a_matrix_that_is_not_positive_definite_is_named(monkeypatch):
    many(monkeypatch)
    with pytest.raises(np.linalg.LinAlgError, match="gradually increasing the 'alpha'"):
        GaussianProcessRegressor(RBF(99.0), alpha=1e-30, optimizer=None).fit(X, Y)


def test_a_poor_approximation_warns(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.uniform(-3, 3, size=(400, 2))
    kernel = RBF(1.0) + WhiteKernel(1e-4)
    few = {"optimizer": None, "solver": "approximate", "n_landmarks": 4, "n_neighbors": 4}
    with pytest.warns(UserWarning, match=r"lacks about .* nats of log likelihood per row"):
        GaussianProcessRegressor(kernel, **few).fit(rows, np.sin(rows[:, 0]))


@pytest.mark.thorough
@pytest.mark.parametrize("solver", ["exact", "approximate"])
def test_the_default_kernel_is_learned_in_the_units_of_the_data(solver):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(600, 3)) * [1.0, 50.0, 1.0]
    y = 1000.0 + np.sin(2.0 * rows[:, 0]) + np.cos(rows[:, 1] / 50.0) + 0.1 * rng.normal(size=600)
    model = GaussianProcessRegressor(solver=solver, random_state=0).fit(rows[:400], y[:400])
    assert model.score(rows[400:], y[400:]) > 0.98
    scale = model.kernel_.k1.k2.length_scale
    assert 10.0 * scale[0] < scale[1]
    assert scale[2] > 3.0 * scale[0]
    noise = model.kernel_.k2.noise_level * y[:400].var()
    assert noise == pytest.approx(0.01, rel=0.3)
    mean, std = model.predict(rows[400:], return_std=True)
    assert 0.8 < np.mean(np.abs(y[400:] - mean) < 1.645 * std) < 0.97
    bounds = model.kernel_.bounds
    assert ((bounds[:, 0] < model.kernel_.theta) & (model.kernel_.theta < bounds[:, 1])).all()


@pytest.mark.parametrize("settings", [{}, APPROXIMATE], ids=["exact", "approximate"])
def test_standard_deviations_and_covariances_have_the_scale_of_every_target(settings):
    targets = np.column_stack((Y, 5.0 - 30.0 * Y))
    model = GaussianProcessRegressor(KERNEL, optimizer=None, normalize_y=True, **settings)
    model.fit(X, targets)
    std = model.predict(NEW, return_std=True)[1]
    cov = model.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(std**2, np.diagonal(cov, axis1=0, axis2=1).T)
    np.testing.assert_allclose(std[:, 1], 30.0 * std[:, 0])


@pytest.mark.thorough
def test_given_noise_is_not_learned_twice():
    """The kernel's noise and ``alpha`` are the noise of standardised targets together."""
    whole, rest = (
        GaussianProcessRegressor(alpha=alpha, random_state=0).fit(X, Y).kernel_.k2.noise_level
        for alpha in (1e-10, 0.005)
    )
    assert whole - rest == pytest.approx(0.005, rel=1e-3)


def test_probabilities_of_classes_add_up_to_one():
    model = GaussianProcessClassifier(
        2.0 * RBF(1.0), optimizer=None, solver="approximate", n_landmarks=64, random_state=0
    ).fit(X, LABELS)
    np.testing.assert_allclose(model.predict_proba(NEW).sum(axis=1), 1.0)


def test_auto_is_exact_up_to_a_number_of_rows(monkeypatch):
    monkeypatch.setattr(gaussian_process_regressor, "MOST_EXACT", 50)
    for kernel in (KERNEL, DotProduct() ** 2 + WhiteKernel(), kernels.Laplacian(1.0)):
        settings = {"alpha": 0.01, "optimizer": None}
        model = GaussianProcessRegressor(kernel, **settings).fit(X, Y)
        assert model.process_ is not None
        assert GaussianProcessRegressor(kernel, **settings).fit(X[:50], Y[:50]).process_ is None
    exact = GaussianProcessRegressor(KERNEL, solver="exact", **settings).fit(X, Y)
    assert exact.process_ is None


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (
            {"kernel": kernels.DeltaGaussian(1.0, 10.0)},
            np.linalg.LinAlgError,
            "not returning a positive definite matrix",
        ),
        ({"alpha": np.ones(5)}, ValueError, r"same number of entries as y. \(5 != 80\)"),
        ({"n_neighbors": 0}, ValueError, "'n_neighbors' parameter .* must be an int"),
    ],
)
def test_approximations_are_refused_with_a_reason(settings, error, message):
    model = GaussianProcessRegressor(
        **{**APPROXIMATE, "optimizer": None, "kernel": KERNEL, **settings}
    )
    with pytest.raises(error, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("model", [GaussianProcessRegressor, GaussianProcessClassifier])
def test_text_and_names_of_kernels_lead_to_what_takes_them(model):
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": list("abab")})
    with pytest.raises(ValueError, match=r"'a' of type str in column 'colour'\. TableRegressor"):
        model().fit(frame, [0, 1, 0, 1])
    with pytest.raises(TypeError, match=r"got the name 'rbf': write bochner\.kernels\.Gaussian"):
        model("rbf").fit(X, LABELS)


LABELS = np.digitize(np.sin(X[:, 0]) + 0.2 * RNG.normal(size=80), [-0.4, 0.4])


@pytest.mark.thorough_cases(but="two")
@pytest.mark.parametrize("labels", [LABELS, LABELS > 1], ids=["three", "two"])
def test_an_exact_classifier_is_that_of_scikit_learn(labels):
    kernel = 2.0 * RBF([1.0, 3.0])
    ours = GaussianProcessClassifier(kernel).fit(X, labels)
    exact = theirs.GaussianProcessClassifier(kernel).fit(X, labels)
    assert isinstance(ours, theirs.GaussianProcessClassifier)
    np.testing.assert_array_equal(ours.predict_proba(NEW), exact.predict_proba(NEW))
    np.testing.assert_array_equal(ours.predict(NEW), exact.predict(NEW))
    assert ours.kernel_ == exact.kernel_
    assert ours.log_marginal_likelihood() == exact.log_marginal_likelihood()


@pytest.mark.parametrize("labels", [LABELS, LABELS > 1], ids=["three", "two"])
def test_a_classifier_at_many_landmarks_is_the_exact_one(labels):
    kernel = 2.0 * RBF([1.0, 3.0])
    exact = theirs.GaussianProcessClassifier(kernel, optimizer=None).fit(X, labels)
    model = GaussianProcessClassifier(
        kernel, optimizer=None, solver="approximate", random_state=0
    ).fit(X, labels)
    np.testing.assert_allclose(model.predict_proba(NEW), exact.predict_proba(NEW), atol=0.05)
    assert model.kernel_ == exact.kernel_
    theta = exact.kernel_.theta[:3] + 0.3
    for logs in (None, theta):
        evidences = [each.log_marginal_likelihood(logs) for each in (model, exact)]
        # The mean of a class against the rest is not zero: a better evidence.
        assert evidences[0] == pytest.approx(evidences[1], rel=0.02 if len(theta) == 2 else 0.05)
    if len(model.classes_) == 2:
        pairs = zip(
            model.latent_mean_and_variance(NEW), exact.latent_mean_and_variance(NEW), strict=True
        )
        for one, other in pairs:
            np.testing.assert_allclose(one, other, atol=0.15)


def test_auto_is_exact_for_few_rows_of_classes(monkeypatch):
    monkeypatch.setattr(GaussianProcessClassifier, "_most_exact", 50)
    monkeypatch.setattr(gaussian_process_classifier, "_MOST_EXACT", 70)
    settings = {"optimizer": None, "n_landmarks": 16}
    for kernel, by_features in [(RBF(), True), (RBF() + WhiteKernel(), False)]:
        model = GaussianProcessClassifier(kernel, **settings).fit(X, LABELS > 1)
        assert (model.processes_ is not None) == by_features
        for size in (50, 70):
            small = GaussianProcessClassifier(kernel, **settings).fit(X[:size], LABELS[:size] > 1)
            assert small.processes_ is None
        # Three classes have three factors, so that fewer rows are exact.
        several = GaussianProcessClassifier(kernel, **settings).fit(X[:70], LABELS[:70])
        assert (several.processes_ is not None) == by_features
    pairs = GaussianProcessClassifier(RBF(), multi_class="one_vs_one", **settings).fit(X, LABELS)
    assert pairs.processes_ is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": RBF() + WhiteKernel()}, "contains white noise"),
        ({"multi_class": "one_vs_one"}, "needs solver='exact'"),
    ],
)
def test_features_of_classes_are_refused_with_a_reason(settings, message):
    model = GaussianProcessClassifier(**{"kernel": RBF(), "solver": "approximate", **settings})
    with pytest.raises(ValueError, match=message):
        model.fit(X, LABELS)


def fitted():
    """Yield fitted models of every kind."""
    fixed = {"optimizer": None}
    yield GaussianProcessRegressor(random_state=0).fit(X, Y)
    yield GaussianProcessRegressor(KERNEL, **fixed, **APPROXIMATE).fit(X, np.column_stack((Y, Y)))
    yield GaussianProcessRegressor(kernels.Laplacian(1.0) + kernels.White(0.1), **fixed).fit(X, Y)
    yield GaussianProcessClassifier(RBF(), **fixed).fit(X, LABELS)
    yield GaussianProcessClassifier(RBF(), **fixed).fit(X, np.where(LABELS > 1, "a", "b"))
    yield GaussianProcessClassifier(RBF(), multi_class="one_vs_one", **fixed).fit(X, LABELS)
    yield GaussianProcessClassifier(RBF(), **fixed, solver="approximate", n_landmarks=16).fit(
        X, LABELS
    )
    yield GaussianProcessRegressor(RBF([1.0, 2.0], "fixed") ** 2)


@pytest.mark.thorough
def test_models_are_saved_and_loaded(tmp_path):
    for model in fitted():
        bochner.save(model, tmp_path / "model")
        loaded = bochner.load(tmp_path / "model")
        assert str(loaded) == str(model)
        if not hasattr(model, "n_features_in_"):
            continue
        np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
        assert loaded.kernel_ == model.kernel_
        theta = model.kernel_.theta
        assert loaded.log_marginal_likelihood(theta) == model.log_marginal_likelihood(theta)


def test_labels_and_kernels_of_other_kinds_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="labels of one kind"):
        GaussianProcessClassifier().fit(X, np.array(["a", 1] * 10, dtype=object))
    kernel = CompoundKernel([RBF()])
    with pytest.raises(ValueError, match="kernel cannot be a CompoundKernel"):
        GaussianProcessRegressor(kernel).fit(X, X[:, 0])


KERNEL_1 = RBF(1.0) + WhiteKernel(0.01)


def test_an_approximate_process_says_why_it_lacks_attributes_of_an_exact_one():
    X = np.linspace(0.0, 6.0, 40)[:, None]
    y = np.sin(X[:, 0])
    model = GaussianProcessRegressor(KERNEL_1, **APPROXIMATE, optimizer=None).fit(X, y)
    for name in ("L_", "alpha_"):
        with pytest.raises(AttributeError, match=r"40 rows is approximate.*up to 16,500 rows"):
            getattr(model, name)
        assert not hasattr(model, name)
        assert not hasattr(GaussianProcessRegressor(), name)
    exact = GaussianProcessRegressor(solver="exact", random_state=0).fit(X, y)
    assert exact.L_.shape == (40, 40)
    assert exact.alpha_.shape[0] == 40
    assert not hasattr(model, "nothing_")


FIXED = {"optimizer": None}


@pytest.mark.thorough_cases("GaussianProcessRegressor-options0")
@pytest.mark.parametrize("options", [{}, FIXED, {"solver": "approximate", **FIXED}])
@pytest.mark.parametrize("cls", [GaussianProcessRegressor, GaussianProcessClassifier])
def test_kernels_on_named_columns_predict_and_are_saved(cls, options, tmp_path):
    check_kernels_on_named_columns(cls, options, tmp_path)


def check_kernels_on_named_columns(cls, options, folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"hour": rng.integers(0, 24, 50), "day": rng.integers(0, 7, 50)})
    frame = frame.astype(float)
    y = np.sin(2.0 * np.pi * frame["hour"] / 24.0) + (frame["day"] > 4.0)
    target = y if cls is GaussianProcessRegressor else y > 0.5
    fits = []
    for hour, day in [("hour", "day"), (0, 1)]:
        kernel = kernels.Periodic(24.0, 1.0).on(hour) * kernels.Categorical().on(day)
        kernel = kernel + kernels.White(0.1) if cls is GaussianProcessRegressor else kernel
        fits.append(cls(kernel, random_state=0, **options).fit(frame, target))
    method = "predict" if cls is GaussianProcessRegressor else "predict_proba"
    named, by_position = (getattr(model, method)(frame[:9]) for model in fits)
    assert_array_equal(named, by_position)
    bochner.save(fits[0], folder / "model.bochner")
    assert_array_equal(getattr(bochner.load(folder / "model.bochner"), method)(frame[:9]), named)
