"""What holds for arrays of every namespace; run by test_array_api.py.

array-api-strict has a device whose arrays NumPy cannot take: whatever passes there has left the
data where they were.
"""

from dataclasses import replace

import numpy as np
import pytest
from array_api.homes import (  # noqa: F401
    PARTS,
    RNG,
    TOLERANCE,
    UNIT,
    WEIGHT,
    Home,
    X,
    Y,
    dispatch,
    home_of_torch,
)
from numpy.testing import assert_allclose
from sklearn import config_context
from spectral.few_designs import design_roughly

from bochner import (
    FourierFeatures,
    Frequencies,
    KreinRidge,
    KreinRidgeClassifier,
    kernels,
)
from bochner._base import limits, namespaces
from bochner._base.namespaces import on_device
from bochner.linear import kernel_selection as selection
from bochner.spectral import Envelope, HadamardRows

SIGNED = kernels.DeltaGaussian(1.0, 10.0)
ON_COLUMNS = (
    kernels.Gaussian().on(0) * kernels.Periodic(2.0).on([1, 2])
    + kernels.Linear().on(-1)
    + kernels.Polynomial(2).on(0)
    - kernels.Polynomial(1).on([1, 2])
)


@pytest.fixture(autouse=True)
def rough_designs(request, monkeypatch):
    # Features of a polynomial that is designed roughly are too large for single precision.
    if request.node.originalname != "test_features_are_those_of_numpy":
        design_roughly(monkeypatch)


@pytest.fixture(params=["torch", "array_api_strict"])
def xp(request):
    return pytest.importorskip(request.param)


@pytest.fixture
def device(xp):
    return xp.Device("device1") if xp.__name__ == "array_api_strict" else None


@pytest.fixture(params=["float64", "float32"])
def home(xp, device, request):
    return Home(xp, device, request.param)


@pytest.fixture
def double(xp, device):
    return Home(xp, device, "float64")


MAPS = {
    "gaussian": FourierFeatures(n_components=32, random_state=0),
    "evenly spread": FourierFeatures("matern52", 32, scheme="qmc", random_state=0),
    "designed": FourierFeatures(SIGNED, n_components=64, random_state=0),
    "fitted": FourierFeatures(SIGNED, 64, weights="least_squares", random_state=0),
    "blocks": FourierFeatures(n_components=32, scheme="structured", random_state=0),
    "asymmetric": FourierFeatures(kernels.ShiftGaussian(2.0, 0.5), 32, random_state=0),
    "locally stationary": FourierFeatures(
        kernels.LocallyStationary(kernels.Gaussian(2.0), kernels.Gaussian()), 32, random_state=0
    ),
    "columns": FourierFeatures(ON_COLUMNS, 64, random_state=0),
    "windows": FourierFeatures(
        kernels.Harmonizable([[1.0, 0.5]], RNG.normal(size=(1, 2, 3)), 0.2, 0.7, 0.4),
        64,
        random_state=0,
    ),
    "both sides": FourierFeatures(
        kernels.ShiftGaussian(2.0, 0.5), 32, output="concatenated", random_state=0
    ),
}


@pytest.mark.filterwarnings("ignore:Least-squares weights were no better")
@pytest.mark.parametrize("name", MAPS)
def test_features_are_those_of_numpy(home, name):
    # The same numbers for both, rounded to the type.
    rows = X.astype(home.dtype)
    known, found = (MAPS[name].__class__(**MAPS[name].get_params(deep=False)) for _ in range(2))
    known.fit(rows)
    found.fit(home(rows))
    assert_allclose(found.frequencies_.omega, known.frequencies_.omega, rtol=1e-5)
    # Length scales from float32 rows are sums in another order; the map is compared as it is.
    found.frequencies_ = known.frequencies_
    home.assert_same(found.transform(home(rows)), known.transform(rows))
    home.assert_same(found.transform_right(home(rows)), known.transform_right(rows))
    home.assert_same(found.gram(home(rows)), known.gram(rows))
    home.assert_same(found.gram(home(rows), home(rows[:20])), known.gram(rows, rows[:20]))


def test_dtype_is_that_asked_for(home):
    model = FourierFeatures(n_components=8, dtype="float32", random_state=0).fit(home(X))
    made = model.transform(home(X))
    home.assert_same(made, model.transform(X), "float32", 3e-5)
    home.assert_same(model.transform(home(X > 0, "int64")), model.transform(X > 0), "float32", 3e-5)


@pytest.mark.parametrize("left", [None, RNG.normal(size=(3, 2))])
def test_envelopes_and_phases(home, left):
    envelope = Envelope([0.5, 0.1, 0.5, 0.0], [2.0, 3.0, 0.0, 1.0], left, left)
    omega, phase = RNG.normal(size=(4, 3)), RNG.normal(size=4)
    f = Frequencies(omega, [1.0, -0.5, 0.2, 0.3], phase, omega + 0.1, envelope)
    rows = X.astype(home.dtype)
    home.assert_same(f.features(home(rows)), f.features(rows))
    home.assert_same(f.features_right(home(rows)), f.features_right(rows))
    home.assert_same(f.gram(home(rows)), f.gram(rows))


def test_blocks_of_hadamard_rows(double):
    omega = HadamardRows(np.ones((2, 1, 4)), RNG.normal(size=6), np.ones(3))
    f = Frequencies(omega, np.ones(6))
    double.assert_same(f.features(double(X)), f.features(X))


@pytest.mark.parametrize("bytes_of_blocks", [8 * 16 * 7, 2**26])
def test_blocks_give_the_whole(double, bytes_of_blocks, monkeypatch):
    # Blocks of a CPU are of their own size.
    for name in ("DEVICE_BLOCK_BYTES", "BLOCK_BYTES", "SUMS_BLOCK_BYTES"):
        monkeypatch.setattr(limits, name, bytes_of_blocks)
    known, found = both(double, n_components=16)
    double.assert_same(found.predict(double(X)), known.predict(X))


def both(home, y=Y, weight=None, give=None, **settings):
    """Return models fitted to NumPy's arrays and to those at home."""
    known = KreinRidge(random_state=0, **settings).fit(X, y, weight)
    found = KreinRidge(random_state=0, **settings)
    home_weight = None if weight is None else home(weight)
    found.fit(home(X), (give or home)(y), home_weight)
    return known, found


REGRESSIONS = {
    "plain": {},
    "intercept": {"fit_intercept": True},
    "evidence": {"alpha": "evidence", "length_scale": "evidence", "fit_intercept": True},
    "other scheme": {"scheme": "iid", "kernel": "laplacian"},
    "associated": {"kernel": SIGNED, "associated": True},
}


@pytest.mark.parametrize("name", REGRESSIONS)
@pytest.mark.parametrize(
    ("y", "weight"), [(Y, WEIGHT), (Y[:, 0], None)], ids=["weighted targets", "one target"]
)
def test_regression_is_that_of_numpy(double, name, y, weight):
    known, found = both(double, y, weight, n_components=64, **REGRESSIONS[name])
    double.assert_same(found.predict(double(X)), known.predict(X))
    for made, expected in zip(
        found.predict(double(X), return_std=True), known.predict(X, return_std=True), strict=True
    ):
        double.assert_same(made, expected)
    assert_allclose(found.log_evidence_, known.log_evidence_)
    assert isinstance(found.coef_, np.ndarray)
    assert_allclose(found.predict(X), known.predict(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("settings", [{}, {"alpha": "evidence"}, {"fit_intercept": True}])
def test_regression_in_a_krein_space(double, settings):
    known, found = both(double, kernel=SIGNED, n_components=64, **settings)
    assert (found.signature_ < 0).any()
    double.assert_same(found.predict(double(X)), known.predict(X), tolerance=1e-9)
    with pytest.raises(ValueError, match="standard deviation"):
        found.predict(double(X), return_std=True)


@pytest.mark.parametrize(
    "settings", [{}, {"fit_intercept": True, "memory_limit": "20MB"}, {"kernel": SIGNED}]
)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
def test_conjugate_gradients(double, settings, weight):
    known, found = both(
        double, weight=weight, n_components=64, solver="cg", tol=1e-12, alpha=3.0, **settings
    )
    assert found.n_iter_ is not None
    double.assert_same(found.predict(double(X)), known.predict(X), tolerance=1e-7)


def test_single_precision_is_predicted_in_double(home):
    model = KreinRidge(n_components=64, random_state=0).fit(home(X), home(Y))
    known = KreinRidge(n_components=64, random_state=0).fit(X, Y)
    home.assert_same(model.predict(home(X)), known.predict(X), "float64", 1e-3)


@pytest.mark.parametrize("settings", [{}, {"kernel": SIGNED}, {"solver": "cg", "tol": 1e-5}])
def test_a_device_without_float64_computes_in_float32(settings):
    xp = pytest.importorskip("array_api_strict")
    home = Home(xp, xp.Device("no_float64"), "float32")
    known = KreinRidge(n_components=64, random_state=0, **settings).fit(X, Y, WEIGHT)
    model = KreinRidge(n_components=64, random_state=0, **settings)
    model.fit(home(X), home(Y), home(WEIGHT))
    home.assert_same(model.predict(home(X)), known.predict(X), tolerance=2e-3)
    features = FourierFeatures(n_components=8, dtype="float64", random_state=0).fit(X)
    home.assert_same(features.transform(home(X)), features.transform(X))


def test_products_in_float32_are_close(double, monkeypatch):
    monkeypatch.setattr("bochner.linear.solver_plan._WORTH_FLOPS", 0.0)
    known, found = both(double, n_components=64, alpha=10.0)
    double.assert_same(found.predict(double(X)), known.predict(X), tolerance=1e-4)
    assert found.sums_.gram.dtype == np.float64


def test_batches_make_the_whole(double):
    settings = {"n_components": 64, "random_state": 0, "length_scale": 1.5}
    whole = KreinRidge(**settings).fit(X, Y)
    parts = KreinRidge(**settings).partial_fit(double(X[:60]), double(Y[:60]))
    # A batch of NumPy's arrays is as good as another.
    parts.partial_fit(X[60:100], Y[60:100]).partial_fit(double(X[100:]), Y[100:])
    double.assert_same(parts.predict(double(X)), whole.predict(X))


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_chunks_may_lie_on_several_devices(solver):
    xp = pytest.importorskip("array_api_strict")
    homes = [Home(xp, xp.Device(name), "float64") for name in ("device1", "CPU_DEVICE")]
    settings = {"n_components": 64, "random_state": 0, "length_scale": 1.5, "solver": solver}
    whole = KreinRidge(tol=1e-12, **settings).fit(X, Y)
    chunks = [(home(X[part]), Y[part]) for home, part in zip(homes, PARTS, strict=False)]
    chunks.append((X[PARTS[2]], Y[PARTS[2]]))
    model = KreinRidge(tol=1e-12, **settings).fit(chunks)
    assert_allclose(model.predict(X), whole.predict(X), atol=1e-7)


def test_frequencies_are_refreshed(double):
    found = KreinRidge(n_components=32, length_scale=1.5, random_state=0)
    known = KreinRidge(n_components=32, length_scale=1.5, random_state=0)
    for model, rows in ((found, double), (known, np.asarray)):
        model.partial_fit(rows(X[:60]), rows(Y[:60]))
        model.refresh(rows(X[:60]), rows(Y[:60]), length_scale=0.7, random_state=1)
        model.partial_fit(rows(X[60:]), rows(Y[60:]), forgetting=0.99)
    double.assert_same(found.predict(double(X)), known.predict(X))


def test_chunks_make_the_whole(double):
    settings = {"n_components": 64, "random_state": 0, "length_scale": 1.5}
    whole = KreinRidge(**settings).fit(X, Y)
    chunks = [(double(X[:60]), double(Y[:60])), (double(X[60:]), double(Y[60:]))]
    for solver in ("cholesky", "cg"):
        model = KreinRidge(solver=solver, tol=1e-12, **settings).fit(chunks)
        double.assert_same(model.predict(double(X)), whole.predict(X), tolerance=1e-7)


@pytest.mark.parametrize("give", [np.asarray, np.ndarray.tolist])
def test_targets_follow_the_rows(double, give):
    known, found = both(double, give=give, n_components=64)
    double.assert_same(found.predict(double(X)), known.predict(X))
    turned = KreinRidge(n_components=64, random_state=0).fit(X, double(Y), double(WEIGHT))
    assert isinstance(turned.predict(X), np.ndarray)


def test_classes_are_numpy_s(double):
    labels = np.where(X[:, 0] > 0, "right", "left")
    known, found = (KreinRidgeClassifier(n_components=64, random_state=0) for _ in range(2))
    known.fit(X, labels)
    found.fit(double(X), labels)
    assert_allclose(found.decision_function(double(X)), known.decision_function(X), atol=1e-9)
    assert (found.predict(double(X)) == known.predict(X)).all()
    numbers = KreinRidgeClassifier(n_components=64, random_state=0)
    numbers.fit(double(X), double(X[:, 0] > 0, "int64"))
    assert ((numbers.predict(double(X)) == 1) == (known.predict(X) == "right")).all()


def test_mixed_arrays_are_refused(double):
    model = FourierFeatures(n_components=8, random_state=0).fit(double(X))
    for first, second in ((double(X), X), (X, double(X))):
        with pytest.raises(ValueError, match="one namespace"):
            model.gram(first, second)
        with pytest.raises(ValueError, match="one namespace"):
            model.frequencies_.gram(first, second)
        with pytest.raises(ValueError, match="one namespace"):
            FourierFeatures(n_components=8).fit(first, right=second)


def test_rows_of_both_arguments(double):
    model = FourierFeatures(SIGNED, n_components=32, random_state=0)
    known = model.fit(X, right=2.0 * X).frequencies_
    found = model.fit(double(X), right=double(2.0 * X)).frequencies_
    assert_allclose(found.omega, known.omega)


def test_domains_are_checked_on_the_device(double):
    sphere = FourierFeatures(kernels.SphericalPolynomial(2, 2.0), 32, random_state=0)
    double.assert_same(sphere.fit(double(UNIT)).transform(double(UNIT)), sphere.transform(UNIT))
    with pytest.raises(ValueError, match=r"row 0 has norm"):
        sphere.transform(double(X))
    positive = FourierFeatures(kernels.Hellinger(), 32, random_state=0)
    double.assert_same(
        positive.fit(double(np.abs(X))).transform(double(np.abs(X))), positive.transform(np.abs(X))
    )
    with pytest.raises(ValueError, match=r"has -\d"):
        positive.transform(double(X))


def test_rows_far_away_are_noticed_on_the_device(double):
    model = FourierFeatures(SIGNED, n_components=32, random_state=0).fit(double(X))
    with pytest.warns(UserWarning, match="150 of 150 rows lie outside"):
        model.transform(double(X + 1000.0))


def test_the_host_sees_few_rows(double, monkeypatch):
    seen = []

    def bring(rows):
        seen.append(np.prod(rows.shape))
        return kept(rows)

    kept = namespaces._brought
    monkeypatch.setattr(namespaces, "_brought", bring)
    # The search for length scales has a number of rows, too, here fewer than there are.
    stages = tuple(replace(stage, n_rows=1000) for stage in selection._STAGES)
    monkeypatch.setattr(selection, "_STAGES", stages)
    many = double(np.tile(X, (40, 1)))
    targets = double(np.tile(Y, (40, 1)))
    for settings in ({}, {"length_scale": "evidence"}, {"kernel": SIGNED}):
        KreinRidge(n_components=16, random_state=0, **settings).fit(many, targets).predict(many)
    # Targets, two numbers for each row, and sums over rows of products of features and checks.
    assert set(seen) - {(16 + 256) ** 2} <= set(range(2 * many.shape[0] + 1))
    seen.clear()
    model = KreinRidge(n_components=16, solver="cg", random_state=0).fit(many, targets)
    # Products of 256 rows of the preconditioner with each other, and not their features.
    assert max(seen) == 256**2
    model.predict(many)
    assert max(seen) == 256**2


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(double, bad):
    rows = X.copy()
    rows[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        KreinRidge(n_components=8).fit(double(rows), double(Y))


def test_without_dispatch_results_are_numpy_s(xp):
    home = Home(xp, None, "float64")
    with config_context(array_api_dispatch=False):
        rows = home(X)
        features = FourierFeatures(n_components=16, random_state=0).fit(rows).transform(rows)
        model = KreinRidge(n_components=16, random_state=0).fit(rows, home(Y))
        mean = model.predict(rows)
        gram = FourierFeatures(n_components=16, random_state=0).fit(rows).gram(rows, X[:5])
    for made in (features, mean, gram):
        assert isinstance(made, np.ndarray)
        assert not on_device(made)


def test_numpy_with_dispatch_is_as_without():
    model = KreinRidge(n_components=16, random_state=0).fit(X, Y, WEIGHT)
    with config_context(array_api_dispatch=False):
        known = KreinRidge(n_components=16, random_state=0).fit(X, Y, WEIGHT)
    np.testing.assert_array_equal(model.predict(X), known.predict(X))


def test_gradients_flow_through_features_of_torch():
    torch = pytest.importorskip("torch")
    model = FourierFeatures(n_components=16, random_state=0).fit(X)
    rows = torch.asarray(X, dtype=torch.float64).requires_grad_()
    model.transform(rows)[:, 0].sum().backward()
    step = 1e-6 * np.eye(3)[0]
    slope = (model.transform(X + step) - model.transform(X - step))[:, 0] / 2e-6
    assert_allclose(rows.grad[:, 0].numpy(), slope, atol=1e-7)


def test_chunks_go_to_a_device_one_after_another(tensors):
    from bochner.adapters.torch import DeviceChunks

    settings = {"n_components": 64, "random_state": 0, "length_scale": 1.5}
    chunks = [(X[part], Y[part], WEIGHT[part]) for part in PARTS]
    known = KreinRidge(**settings).fit(X, Y, WEIGHT)
    for solver in ("cholesky", "cg"):
        model = KreinRidge(solver=solver, tol=1e-12, **settings).fit(DeviceChunks(chunks, "cpu"))
        assert_allclose(model.predict(X), known.predict(X), atol=1e-7)
