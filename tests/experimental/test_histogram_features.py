"""Features of histograms and sets in estimators, next to other libraries and exact values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from persist.same import round_trip
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.metrics import pairwise

from bochner import FourierFeatures, Frequencies, KreinRidge, experimental, export_onnx, kernels
from bochner.experimental import Hashes, HashLaw, LogarithmLaw, Powers
from bochner.experimental.histogram_laws import Secant
from bochner.sampling import Iid
from bochner.spectral import NoMeasureError, spectral_measure

DIGITS = load_digits().data[:300] / 16.0
SETS = (np.random.default_rng(0).random((300, 40)) < 0.2).astype(float)
KERNELS = [
    experimental.ChiSquared(),
    experimental.Intersection(),
    experimental.JensenShannon(),
    experimental.Tanimoto(),
]
every = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: type(k).__name__)


def error(gram, exact):
    return np.linalg.norm(gram - exact) / np.linalg.norm(exact)


def test_scikit_learn_has_the_same_chi_squared_and_its_sampler_larger_errors():
    X, exact = DIGITS[:200], experimental.ChiSquared()(DIGITS[:200])
    total = X.sum(axis=1)
    theirs = 0.5 * (total[:, None] + total + pairwise.additive_chi2_kernel(X))
    assert_allclose(exact, theirs, atol=1e-12)
    for steps in (1, 2, 3):
        Z = AdditiveChi2Sampler(sample_steps=steps).fit_transform(X)
        drawn = FourierFeatures(experimental.ChiSquared(), Z.shape[1], random_state=0).fit(X)
        assert error(drawn.gram(X), exact) < 0.8 * error(Z @ Z.T, exact)


def test_sets_are_those_of_jaccard():
    expected = 1.0 - pairwise.pairwise_distances(SETS.astype(bool), metric="jaccard")
    assert_allclose(experimental.Tanimoto()(SETS), expected, atol=1e-14)
    empty = np.zeros((2, 3))
    assert_array_equal(experimental.Tanimoto()(empty, np.eye(3)[:1]), [[0.0], [0.0]])
    assert_array_equal(experimental.Tanimoto()(empty), np.ones((2, 2)))


def test_equal_hashes_are_as_frequent_as_rows_are_similar():
    """Rows of counts, too; and hashes of one wave are independent."""
    X = np.array([[3.0, 1.0, 0.0, 0.25], [1.0, 1.0, 2.0, 0.25], [6.0, 2.0, 0.0, 0.5]])
    m = 20_000
    angle = Hashes.drawn(m, 4, np.random.default_rng(0)).polar(X)[1]
    agree = np.array([[np.cos(a), np.sin(a)] for a in angle]) > 0.0
    exact = experimental.Tanimoto()(X)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        same = agree[i] == agree[j]
        assert_allclose(same.mean(axis=1), 0.5 * (1.0 + exact[i, j]), atol=4.0 * 0.5 / np.sqrt(m))
        assert abs(np.corrcoef(same)[0, 1]) < 4.0 / np.sqrt(m)
    # Multiples of a row are at its levels moved, and not its own.
    assert exact[0, 2] == 0.5


@every
def test_a_process_on_features_is_that_of_the_kernel(kernel):
    rows = SETS[:120] if isinstance(kernel, experimental.Tanimoto) else DIGITS[:120, 18:46]
    y = np.sin(0.3 * rows.sum(axis=1))
    model = KreinRidge(kernel, 2048, alpha=4.0, solver="cholesky", random_state=0).fit(
        rows[:100], y[:100]
    )
    mean, std = model.predict(rows[100:], return_std=True)
    K = kernel(rows[:100]) + 4.0 * np.eye(100)
    weights = np.linalg.solve(K, np.c_[y[:100], kernel(rows[:100], rows[100:])])
    cross = kernel(rows[100:], rows[:100])
    assert error(mean, cross @ weights[:, 0]) < 0.15
    variance = kernel.diag(rows[100:]) - np.einsum("ij,ji->i", cross, weights[:, 1:]) + 4.0
    assert_allclose(std**2 / model.noise_variance_ * 4.0, variance, rtol=0.05)


@every
def test_saved_sparse_and_refitted_features_are_the_same(kernel, tmp_path):
    features = FourierFeatures(kernel, 64, random_state=0).fit(DIGITS)
    Z = features.transform(DIGITS[:50])
    assert_array_equal(round_trip(features, tmp_path).transform(DIGITS[:50]), Z)
    thin = sparse.csr_array(DIGITS)
    assert_allclose(features.transform(thin[:50]), Z, atol=1e-14)
    again = FourierFeatures(kernel, 64, random_state=0).fit(thin)
    assert_allclose(again.transform(thin[:50]), Z, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Least-squares weights were no better")
@every
def test_fitted_weights_have_smaller_errors_and_say_them(kernel):
    rows = SETS if isinstance(kernel, experimental.Tanimoto) else DIGITS
    errors = []
    for weights in ("sampled", "least_squares"):
        features = FourierFeatures(kernel, 64, weights=weights, random_state=1).fit(rows[:200])
        errors.append(error(features.gram(rows[-100:]), kernel(rows[-100:])))
    assert errors[1] <= 1.02 * errors[0]
    assert features.fit_error_ > 0.0


def test_frequencies_go_to_columns_by_their_means():
    rows = np.tile([0.0, 1.0, 3.0, 96.0], (5, 1))
    features = FourierFeatures(experimental.ChiSquared(), 2000, random_state=0).fit(rows)
    assert features.kernel_.shares == (0.0, 1.0, 3.0, 96.0)
    counts = np.bincount(features.frequencies_.carrier.column.astype(int), minlength=4)
    expected = 1000 * (0.9 * np.array([0.0, 0.01, 0.03, 0.96]) + 0.1 / 4)
    assert np.abs(counts - expected).max() < 1.0


def test_mirrored_strata_have_smaller_errors_than_independent_draws():
    x, y = np.array([[1.0] * 20]), np.geomspace(0.1, 3.0, 20)[None]
    exact = experimental.ChiSquared()(x, y)
    measure = spectral_measure(experimental.ChiSquared(), 20)
    errors = [
        np.mean([(measure.sample(80, seed, scheme).gram(x, y) - exact) ** 2 for seed in range(60)])
        for scheme in ("iid", "orthogonal")
    ]
    assert errors[1] < 0.2 * errors[0]


@pytest.mark.parametrize("m", [1, 7, 30])
def test_counts_of_columns_are_their_expectations_rounded(m):
    law = LogarithmLaw(Secant(), (0.05, 0.5, 0.45))
    columns = [
        law.draw(m, np.random.default_rng(s), Iid()).carrier.column.astype(int) for s in range(200)
    ]
    counts = np.array([np.bincount(c, minlength=3) for c in columns])
    assert (counts.sum(axis=1) == m).all()
    expected = {1: [0.05, 0.5, 0.45], 7: [1.0, 60 / 19, 54 / 19], 30: [1.5, 15.0, 13.5]}[m]
    assert np.abs(counts - expected).max() < 1.0
    assert_allclose(counts.mean(axis=0), expected, atol=5.0 * 0.5 / np.sqrt(200))


def test_sums_products_and_evidence():
    """Kernels of histograms and of other columns make one model, and stay under evidence."""
    rows = np.c_[DIGITS[:200, 18:46], np.random.default_rng(0).normal(size=200)]
    k = experimental.ChiSquared().on(slice(0, 28)) * kernels.Gaussian(2.0).on(28)
    k = k + experimental.Tanimoto().on(slice(0, 28)) + kernels.Linear().on(28)
    features = FourierFeatures(k, 4096, random_state=0).fit(rows)
    assert error(features.gram(rows), features.kernel_(rows)) < 0.1
    model = KreinRidge(k, 128, length_scale="evidence", random_state=0).fit(rows, rows[:, 0])
    assert model.kernel_ == k.resolved(None, rows)


def test_what_has_no_features_is_refused():
    k = experimental.ChiSquared()
    with pytest.raises(NoMeasureError, match="Products of two kernels of histograms"):
        FourierFeatures(k * k, 64).fit(DIGITS)
    with pytest.raises(NoMeasureError, match=r"kernel\.on\(columns\)"):
        FourierFeatures(kernels.Bilinear(k, np.full((64, 2), 0.5)), 64).fit(DIGITS)
    with pytest.raises(ValueError, match="not exported to ONNX"):
        export_onnx(FourierFeatures(k, 64).fit(DIGITS))
    with pytest.raises(ValueError, match="shares has 2 entries"):
        FourierFeatures(experimental.ChiSquared(shares=(1.0, 2.0)), 64).fit(DIGITS)
    for shares in (2.0, (-1.0, 2.0), (0.0, 0.0)):
        with pytest.raises(ValueError, match="one number for each input, zero or more"):
            experimental.Intersection(shares=shares)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Powers([0.5], [1.0]), "positions of inputs"),
        (lambda: Powers([-1], [1.0]), "positions of inputs"),
        (lambda: Powers([[0]], [1.0]), "column must have shape"),
        (lambda: Powers([0], [1.0, 2.0]), "rate must have shape"),
        (lambda: Hashes(np.ones((3, 2)), 0, 0, 0, 0), r"step must have shape \(2m, q\)"),
        (lambda: Frequencies([[0.0]], [1.0], carrier=Powers([0, 0], [1, 2])), "has 2 functions"),
        (lambda: Frequencies([[0]], [1], nu=[[0, 0]], carrier=Powers([0], [1])), "same width"),
    ],
)
def test_values_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_diagnosis_predicts_no_error():
    from bochner import diagnose

    found = diagnose(experimental.Tanimoto(), SETS, n_components=(64,), random_state=0)
    assert found.features is not None
    assert HashLaw(3).is_positive


def test_a_gaussian_of_features_is_the_exponential_of_the_distance():
    """exp(-gamma chi^2) is a Gaussian of the additive kernel's features."""
    X = DIGITS[:100]
    exact = pairwise.chi2_kernel(X, gamma=0.1)
    inner = FourierFeatures(experimental.ChiSquared(), 2048, random_state=0).fit(X)
    outer = kernels.Gaussian(np.sqrt(0.5 / 0.1))
    assert np.abs(outer(inner.transform(X)) - exact).max() < 0.02
