"""A loaded model is the saved one: the same attributes, the same predictions bit for bit."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from files.same import assert_same, round_trip
from flat_parameters import flat
from laws.registry import concrete_kernels
from learned.grouped_parameters import similarity_features
from sklearn.base import BaseEstimator
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bochner
from bochner import (
    FourierFeatures,
    Frequencies,
    KernelGLMClassifier,
    KernelGLMRegressor,
    KreinRidge,
    KreinRidgeClassifier,
    LearnedKernelRegressor,
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
    PositiveFeatures,
    TableClassifier,
    TableRegressor,
    kernels,
    papers,
    spectral_measure,
)
from bochner.kernels import Anova, Gaussian, KernelAdapter, Matern, SpectralMixture
from bochner.kernels.categorical import Levels
from bochner.learned import Chains
from bochner.spectral.hadamard import HadamardRows
from bochner.spectral.schemes import SCHEMES
from bochner.tables.encoder import TableEncoder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NEW = RNG.normal(size=(57, 3))
Y = np.sin(X @ [1.0, 2.0, 0.5])
FRAME = pd.DataFrame(X, columns=["a", "b", "ç"])
CODED = FRAME.assign(b=np.digitize(X[:, 1], [-0.5, 0.5]))
ON_COLUMNS = Gaussian().on("a") * kernels.Categorical().on("b") + kernels.Linear().on("ç")
COLOURS = np.array(["red", "green", "blue"])[np.digitize(Y, [-0.4, 0.4])]
TABLE = pd.DataFrame(
    {
        "size": np.where(X[:, 0] > 1.5, np.nan, X[:, 0]),
        "colour": COLOURS,
        "day": pd.date_range("2001-01-01", periods=len(X)),
        "same": 1.0,
        "none": np.nan,
    }
)
KERNELS = [
    kernels.Gaussian(0.7), kernels.Laplacian((0.5, 1.0, 2.0)), kernels.Exponential(1e-150),
    kernels.Matern(0.1 + 0.2, nu=np.pi), kernels.Cauchy(2),
    kernels.RationalQuadratic(1.0, alpha=0.3),
    SpectralMixture([1.0], [[0.0, 1.0, 2.0]], [np.diag([1.0, 2.0, 3.0])]),
    Anova(Matern((1.0, 2.0, 3.0)), inclusion=(0.1, 0.5, 1.0)), Gaussian() + Matern(),
    Gaussian() * Matern(), -0.5 * Gaussian(), kernels.DeltaGaussian(1, np.float32(0.1)),
    kernels.TL1(2.1), kernels.SphericalPolynomial(np.int64(3), 2.5), kernels.ArcCosine(order=1),
    kernels.NTK(),
    kernels.Harmonizable([[1.0, 1 / 3]], RNG.normal(size=(1, 2, 3)), 0.3, 0.5, 0.0, [[0.0, 1.0]]),
    kernels.Polynomial(3, -0.5), kernels.Tanh(1 / 3), kernels.Hellinger(),
    kernels.ShiftGaussian((0.5, 1.0, 2.0), shift=1 / 3),
    kernels.SinhGaussian(2, beta=(0.1, -0.2, 0.0)),
    kernels.CoshGaussian(0.1 + 0.2, beta=np.float32(0.1)),
    kernels.Transposed(kernels.SinhGaussian()),
    kernels.LocallyStationary(Gaussian(2.0), Matern(0.7), centre=(0.1, 0.2, 1 / 3)),
    kernels.ShiftGaussian().symmetrised,
    kernels.Bilinear(kernels.ShiftGaussian(), RNG.normal(size=(3, 40)).round(3)),
    kernels.Bilinear(Gaussian((1.0, 2.0)), RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))),
    Gaussian((0.5, 1 / 3)).on([-1, 0]),
    (kernels.White(0.1).on(["a", "ç"]) + kernels.Constant(2)).resolved(["a", "ç", "d"]),
    kernels.Periodic(24, (1.0, 1 / 3, 0.1 + 0.2)), kernels.Categorical(0.2, n_levels=(30, 40, 50)),
    kernels.Ordinal(1 / 3, n_levels=50), kernels.Constant(np.float32(0.1)),
    kernels.Linear((1.0, 2.0, 3.0), 0.1, reach=(1.0, 2.0, 1 / 3)), kernels.White(1e-3),
]  # fmt: skip
SIGNED = Gaussian(2.0) - 0.6 * Gaussian(0.5)
WITH_FUNCTIONS = {kernels.Radial, kernels.DotProduct, kernels.Stationary}
ON_THE_SPHERE = np.abs(X) / np.linalg.norm(X, axis=1, keepdims=True)


@bochner.register
class Pair(BaseEstimator):
    """An encoder and a head, nested as parameters and as attributes."""

    encoder_: TableEncoder
    head_: KreinRidge | KreinRidgeClassifier
    notes_: dict[str, float]

    def __init__(self, encoder=None, head=None):
        self.encoder = encoder
        self.head = head

    def fit(self, X, y):
        self.encoder_ = TableEncoder().fit(X)
        self.head_ = KreinRidgeClassifier(n_components=32, random_state=0)
        self.head_.fit(self.encoder_.transform(X), y)
        self.notes_ = {"error": 0.25, "rows": 120}
        return self

    def predict_proba(self, X):
        return self.head_.predict_proba(self.encoder_.transform(X))


def outputs(model, data):
    """Hash all that a fitted model says of some data."""
    digest = hashlib.sha256()
    for name in ("predict", "predict_proba", "decision_function", "transform", "gram"):
        if hasattr(model, name):
            values = np.asarray(getattr(model, name)(data))
            digest.update(
                repr(values.tolist()).encode() if values.dtype == object else values.tobytes()
            )
    # Krein spaces and conjugate gradients have neither evidence nor deviations.
    is_ridge = isinstance(model, KreinRidge) and hasattr(model, "log_evidence_")
    if is_ridge or isinstance(model, TableRegressor | LearnedKernelRegressor):
        digest.update(model.predict(data, return_std=True)[1].tobytes())
    return digest.hexdigest()


def ridge(**parameters):
    return flat(KreinRidge, **{"n_components": 64, "random_state": 0, **parameters})


def classifier(kernel="gaussian"):
    return KreinRidgeClassifier(kernel, n_components=64, random_state=0)


def features(**parameters):
    return FourierFeatures(**{"n_components": 64, "random_state": 0, **parameters})


def digmm(kernel, **parameters):
    return similarity_features(kernel, 32, max_iter=5, n_starts=1, random_state=0, **parameters)


def table_model(cls):
    return cls(effort="quick", random_state=0)


def bank(cls, structure):
    return cls(6, structure, chains=Chains(3, 4, 2, thin=1), random_state=0)


FITTED = {
    "one target": lambda: (ridge().fit(X, Y), NEW),
    "several targets": lambda: (ridge(fit_intercept=True).fit(X, np.c_[Y, -Y, X]), NEW),
    "by evidence": lambda: (ridge(alpha="evidence", length_scale="evidence").fit(X, Y), NEW),
    "float32": lambda: (ridge().fit(X.astype("f4"), Y), NEW.astype("f4")),
    "named columns": lambda: (ridge().fit(FRAME, Y), FRAME[::-1]),
    "kernels on columns": lambda: (ridge(kernel=ON_COLUMNS).fit(CODED, Y), CODED[::-1]),
    "weights": lambda: (ridge().fit(X, Y, np.arange(120.0)), NEW),
    "landmarks": lambda: (ridge(residual=20).fit(X, Y), NEW),
    "krein space": lambda: (ridge(kernel=SIGNED).fit(X, Y), NEW),
    "associated space": lambda: (ridge(kernel=SIGNED, associated=True).fit(X, Y), NEW),
    "conjugate gradients": lambda: (ridge(solver="cg").fit(X, Y), NEW),
    "counts": lambda: (KernelGLMRegressor("negative_binomial", n_components=32, random_state=0)
                       .fit(X, np.arange(120) % 5, exposure=1.0 + np.arange(120)), NEW),
    "classes in order": lambda: (KernelGLMClassifier("ordinal", n_components=32, random_state=0)
                                 .fit(X, np.digitize(Y, [-0.5, 0.5])), NEW),
    "two classes": lambda: (classifier().fit(X, Y > 0), NEW),
    "text classes": lambda: (classifier().fit(X, COLOURS.astype("U40")), NEW),
    "features": lambda: (features().fit(X), NEW),
    "features of type": lambda: (features(dtype=np.float32).fit(X), NEW),
    "designed features": lambda: (features(kernel=kernels.Tanh()).fit(X), X),
    "fitted weights": lambda: (features(kernel=kernels.Tanh(), weights="least_squares").fit(X), X),
    "Jordan parts": lambda: (features(kernel=SIGNED, decomposition="jordan").fit(X), NEW),
    "data frames": lambda: (features(n_components=2).set_output(transform="pandas").fit(X), NEW),
    "two mixtures": lambda: (digmm(Gaussian(2.0) - 0.5 * Gaussian(), n_sketch=30).fit(X), NEW),
    "a mixture of one sign": lambda: (digmm("gaussian", truncation=1).fit(FRAME), FRAME[::-1]),
    "mixtures as published":
        lambda: (digmm(kernels.TL1(2.0), inference=papers.digmm.Taylor()).fit(X), NEW),
    "positive features": lambda: (PositiveFeatures(16, random_state=0).fit(X, right=NEW), NEW),
    "table": lambda: (TableEncoder().fit(TABLE), TABLE[::-1]),
    "table regressor": lambda: (table_model(TableRegressor).fit(TABLE, Y), TABLE[::-1]),
    "table classifier": lambda: (table_model(TableClassifier).fit(TABLE, COLOURS), TABLE[::-1]),
    "sparse learned kernel": lambda: (bank(LearnedKernelRegressor, "sparse").fit(X, Y), NEW),
    "dense learned kernel":
        lambda: (bank(LearnedKernelRegressor, "dense").fit(FRAME, Y), FRAME[::-1]),
    "amplitudes and noise": lambda: (bank(LocallyStationaryRegressor, "sparse").fit(X, Y), NEW),
    "paper's classes": lambda: (bank(LocallyStationaryClassifier, "auto")
                                .set_params(sampler=papers.gabasr.sampler(2)).fit(X, Y > 0), NEW),
    "process of scikit-learn's kernel":
        lambda: (bochner.GaussianProcessRegressor(2.0 * RBF() + WhiteKernel(0.1)).fit(X, Y), NEW),
    "nested": lambda: (Pair(head=ridge()).fit(TABLE, COLOURS), TABLE[::-1]),
}  # fmt: skip


@pytest.mark.thorough_cases(r"\btwo\b|\bspace\b|\bdesigned\b")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("case", FITTED)
def test_a_fitted_model_comes_back_bit_for_bit(case, tmp_path):
    model, data = FITTED[case]()
    before = outputs(model, data)
    loaded = round_trip(model, tmp_path)
    assert_same(model, loaded)
    assert outputs(loaded, data) == before


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels_come_back_equal(kernel, tmp_path):
    loaded = round_trip(kernel, tmp_path)
    assert_same(kernel, loaded)
    codes = isinstance(kernel, Levels)
    rows = np.floor(20 * ON_THE_SPHERE) if codes else ON_THE_SPHERE
    assert loaded(rows).tobytes() == kernel(rows).tobytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", [*KERNELS, kernels.Linear(), kernels.NTK().on([2])], ids=repr)
def test_processes_of_every_covariance_come_back(kernel, tmp_path):
    rows = np.floor(20 * ON_THE_SPHERE) if isinstance(kernel, Levels) else ON_THE_SPHERE
    for covariance in (kernel, KernelAdapter(kernel) + WhiteKernel(1.0)):
        process = bochner.GaussianProcessRegressor(covariance, solver="exact", optimizer=None)
        try:
            process.fit(rows, Y)
        except (ValueError, np.linalg.LinAlgError):  # No covariance of these rows
            continue
        assert_same(process.predict(rows), round_trip(process, tmp_path).predict(rows))


def test_the_deepest_kernel_comes_back_and_a_deeper_one_is_refused(tmp_path):
    kernel, more = kernels.Gaussian(), kernels.Laplacian()
    for _ in range(20):
        kernel = more + more * kernel
    with pytest.raises(ValueError, match="nested more than 40 deep: add kernels in one sum"):
        more * kernel
    ridge = bochner.KreinRidge(kernel, n_components=8, random_state=0)
    assert round_trip(ridge.fit(X, Y), tmp_path).kernel == kernel


def test_no_kernel_is_left_out():
    assert {type(kernel) for kernel in KERNELS} == concrete_kernels() - WITH_FUNCTIONS


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=repr)
def test_schemes_come_back_equal(scheme, tmp_path):
    assert round_trip(ridge(scheme=scheme), tmp_path).features.scheme == scheme


@pytest.mark.thorough
def test_frequencies_held_by_blocks_come_back_so(tmp_path):
    rows = RNG.normal(size=(20, 100))
    f = spectral_measure(Gaussian(10.0), 100).sample(200, 0, "structured")
    both = Frequencies(f.omega_blocks, f.weight, nu=f.omega_blocks / np.array(2.0))
    for frequencies in (f, both):
        loaded = round_trip(frequencies, tmp_path)
        assert isinstance(loaded.omega_blocks, HadamardRows)
        assert loaded.is_symmetric == frequencies.is_symmetric
        assert loaded.gram(rows).tobytes() == frequencies.gram(rows).tobytes()
    features = FourierFeatures(Gaussian(10.0), 400, scheme="structured", random_state=0).fit(rows)
    loaded = round_trip(features, tmp_path)
    assert loaded.transform(rows).tobytes() == features.transform(rows).tobytes()
    assert max(file.stat().st_size for file in tmp_path.iterdir()) < 200 * 100


@pytest.mark.thorough_cases(r"\btwo\b")
@pytest.mark.parametrize("case", ["one target", "several targets", "two classes", "text classes"])
def test_partial_fit_goes_on_after_loading(case, tmp_path):
    targets = {
        "one target": (ridge(), Y),
        "several targets": (ridge(), np.c_[Y, X]),
        "two classes": (classifier(), Y > 0),
        "text classes": (classifier(), COLOURS),
    }
    model, y = targets[case]
    model.partial_fit(X[:80], y[:80])
    loaded = round_trip(model, tmp_path)
    first = outputs(model, NEW)
    model.partial_fit(X[80:], y[80:])
    loaded.partial_fit(X[80:], y[80:])
    assert outputs(loaded, NEW) == outputs(model, NEW) != first


def test_saving_changes_nothing_and_is_reproducible(tmp_path):
    model = ridge().fit(FRAME, Y)
    attributes = dict(vars(model))
    bochner.save(model, tmp_path / "first")
    bochner.save(bochner.load(tmp_path / "first"), tmp_path / "second")
    assert {k: id(v) for k, v in vars(model).items()} == {k: id(v) for k, v in attributes.items()}
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


@pytest.mark.thorough
@pytest.mark.parametrize("labels", [COLOURS, Y > 0], ids=["three", "two"])
def test_exact_processes_of_classes_are_fitted_again_by_loaded_models(labels, tmp_path):
    model = bochner.GaussianProcessClassifier().fit(X, labels)
    loaded = round_trip(model, tmp_path)
    assert vars(loaded).get("_base") is None
    np.testing.assert_array_equal(loaded.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_array_equal(loaded.predict(NEW), model.predict(NEW))
    assert loaded.kernel_ == model.kernel_


def test_pipelines_are_refused_with_the_way_out(tmp_path):
    model = make_pipeline(StandardScaler(), ridge()).fit(X, Y)
    with pytest.raises(TypeError, match=r"class Pipeline, .* joblib.dump or skops"):
        bochner.save(model, tmp_path / "model")
