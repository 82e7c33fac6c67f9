"""Nyström features: exact at landmarks, signs kept, landmarks drawn by the stated rules."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from scipy.stats import chisquare
from sklearn.kernel_approximation import Nystroem
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import kernels
from bochner.features import AsymmetricNystroem, KreinNystroem
from bochner.features.landmarks import LANDMARKS, pivots

ALPHA = 1e-3
"""Chance that one goodness-of-fit test rejects a right implementation."""

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 4)), RNG.normal(size=(25, 4))
RIGHT, WIDE = RNG.normal(size=(50, 4)), RNG.normal(size=(50, 7))
RULES = sorted(LANDMARKS)


def sigmoid(left, right):
    return np.tanh(0.5 * left @ right.T - 0.3)


INDEFINITE = [
    (kernels.DeltaGaussian(0.5, 2.0), X, NEW),
    (kernels.TL1(3.0), X, NEW),
    (kernels.Gaussian(0.7) - 1.5 * kernels.Gaussian(1.3), X, NEW),
    (sigmoid, X, NEW),
]


def landmark_weights(absolute, ridge):
    """Return the chances of the first landmark, by rule, from the absolute value of a matrix."""
    eye = np.eye(len(absolute))
    return {
        "uniform": np.ones(len(absolute)),
        "leverage": np.diagonal(absolute @ np.linalg.inv(absolute + ridge * eye)),
        "pivoted": np.diagonal(absolute),
    }


def indefinite_gram(n=6):
    """A symmetric matrix with a diagonal of zeros: its Cholesky factorisation cannot start."""
    matrix = np.random.default_rng(3).normal(size=(n, n))
    matrix += matrix.T
    return matrix - np.diag(np.diagonal(matrix))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("kernel", "rows", "new"), INDEFINITE)
def test_with_every_row_a_landmark_the_rows_are_exact(kernel, rows, new, rule):
    features = KreinNystroem(kernel, 60, landmarks=rule, tol=1e-12, random_state=0).fit(rows)
    exact = kernel(rows, rows)
    assert_array_equal(np.sort(features.landmark_indices_), np.arange(60))
    assert_allclose(features.gram(rows), exact, atol=1e-8 * np.abs(exact).max())
    assert_allclose(features.gram(rows, new), kernel(rows, new), atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize(("kernel", "rows", "new"), INDEFINITE)
def test_the_signature_has_the_inertia_of_the_gram_matrix(kernel, rows, new):
    features = KreinNystroem(kernel, 60, tol=1e-10, random_state=0).fit(rows)
    eigenvalues = np.linalg.eigvalsh(kernel(rows, rows))
    kept = eigenvalues[np.abs(eigenvalues) > 1e-10 * np.abs(eigenvalues).max()]
    assert (features.signature_ < 0).sum() == (kept < 0).sum() > 0
    assert (features.signature_ > 0).sum() == (kept > 0).sum() > 0
    assert_allclose(np.sort(features.eigenvalues_), kept, atol=1e-10 * np.abs(kept).max())
    recovered = np.linalg.eigvalsh(features.gram(rows))
    assert_allclose(recovered, eigenvalues, atol=1e-8 * np.abs(kept).max())


@pytest.mark.parametrize(("kernel", "rows", "new"), INDEFINITE)
def test_the_estimate_goes_through_the_landmarks(kernel, rows, new):
    features = KreinNystroem(kernel, 15, tol=0.0, random_state=0).fit(rows)
    landmarks = rows[features.landmark_indices_]
    assert_array_equal(landmarks, features.landmarks_)
    core = np.linalg.solve(kernel(landmarks, landmarks), kernel(landmarks, new))
    expected = kernel(rows, landmarks) @ core
    assert_allclose(features.gram(rows, new), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", [kernels.Gaussian(1.0), kernels.Laplacian(2.0)], ids=repr)
@pytest.mark.parametrize("rule", RULES)
def test_positive_definite_kernels_agree_with_scikit_learn(kernel, rule):
    ours = KreinNystroem(kernel, 20, landmarks=rule, tol=1e-12, random_state=0).fit(X)
    theirs = Nystroem(lambda x, y: kernel(x[None], y[None])[0, 0], n_components=20, random_state=0)
    Z = theirs.fit(X[ours.landmark_indices_]).transform(NEW)
    assert_allclose(ours.gram(NEW), Z @ Z.T, atol=1e-8)
    assert_array_equal(ours.signature_, 1.0)


def test_pivots_follow_the_residual_diagonal():
    half = np.random.default_rng(1).normal(size=(4, 4))
    matrix = half @ half.T
    pairs = list(permutations(range(4), 2))
    probability = []
    for first, second in pairs:
        left = np.diagonal(matrix) - matrix[:, first] ** 2 / matrix[first, first]
        start = matrix[first, first] / np.trace(matrix)
        probability.append(start * left[second] / (left.sum() - left[first]))
    rng = np.random.default_rng(2)
    drawn = [tuple(pivots(matrix, 2, rng).tolist()) for _ in range(4000)]
    counts = np.array([drawn.count(pair) for pair in pairs])
    assert counts.sum() == 4000
    assert chisquare(counts, 4000 * np.array(probability)).pvalue > ALPHA


@pytest.mark.thorough_cases(but="pivoted")
@pytest.mark.parametrize("rule", RULES)
def test_the_first_landmark_of_an_indefinite_kernel(rule):
    matrix = indefinite_gram()
    absolute = sqrtm(matrix @ matrix).real
    weight = landmark_weights(absolute, 0.3)[rule]

    def gram(left, right):
        return matrix[np.ix_(left[:, 0].astype(int), right[:, 0].astype(int))]

    rows = np.arange(6.0)[:, None]
    first = [
        KreinNystroem(gram, 2, landmarks=rule, ridge=0.3, random_state=seed)
        .fit(rows)
        .landmark_indices_[0]
        for seed in range(3000)
    ]
    expected = 3000 * weight / weight.sum()
    assert chisquare(np.bincount(first, minlength=6), expected).pvalue > ALPHA


def test_an_asymmetric_kernel_is_refused():
    with pytest.raises(ValueError, match=r"not symmetric on these data.*use AsymmetricNystroem"):
        KreinNystroem(lambda x, y: x @ y.T + x[:, :1]).fit(X)


# Kernels that need not be symmetric


def shifted(left, right):
    """A Gaussian of x + r - y."""
    lag = left[:, None] + np.array([0.5, -0.3, 0.0, 0.4]) - right[None]
    return np.exp(-0.5 * np.sum(lag**2, axis=-1))


def scores(left, right):
    """Attention-like, with right arguments of another width."""
    return np.exp(0.3 * left @ np.eye(4, 7) @ right.T)


ASYMMETRIC = [(shifted, RIGHT), (scores, WIDE)]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("kernel", "right"), ASYMMETRIC)
def test_pairs_with_a_landmark_on_its_own_side_are_exact(kernel, right, rule):
    features = AsymmetricNystroem(kernel, 15, landmarks=rule, tol=0.0, random_state=0)
    features.fit(X, right=right)
    assert_array_equal(features.landmarks_, X[features.landmark_indices_])
    assert_array_equal(features.landmarks_right_, right[features.landmark_right_indices_])
    estimate, exact = features.gram(X, right), kernel(X, right)
    rows, columns = features.landmark_indices_, features.landmark_right_indices_
    assert len(set(rows)) == len(set(columns)) == 15
    assert_allclose(estimate[rows], exact[rows], atol=1e-6)
    assert_allclose(estimate[:, columns], exact[:, columns], atol=1e-6)
    others = np.ones_like(exact, dtype=bool)
    others[rows] = others[:, columns] = False
    assert np.abs(estimate - exact)[others].max() > 0.01
    core = np.linalg.solve(kernel(X[rows], right[columns]), kernel(X[rows], right))
    assert_allclose(estimate, kernel(X, right[columns]) @ core, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(1.0), kernels.Gaussian(0.7) - 1.5 * kernels.Gaussian(1.3)], ids=repr
)
def test_a_symmetric_kernel_has_the_estimate_of_krein_nystroem(kernel):
    ours = AsymmetricNystroem(kernel, 20, tol=1e-10, random_state=0).fit(X)
    assert_array_equal(ours.landmark_indices_, ours.landmark_right_indices_)
    all_rows = X[ours.landmark_indices_]
    theirs = KreinNystroem(kernel, 20, tol=1e-10, random_state=0).fit(all_rows)
    assert_allclose(ours.gram(NEW), theirs.gram(NEW), atol=1e-7)
    assert_allclose(ours.singular_values_, np.abs(theirs.eigenvalues_), rtol=1e-9)


def test_wrong_data_are_refused():
    features = AsymmetricNystroem(scores, 10, random_state=0).fit(X, right=WIDE)
    with pytest.raises(ValueError, match=r"Y has 4 columns; .* had 7 in fit"):
        features.transform_right(X)
    with pytest.raises(ValueError, match="NaN"):
        AsymmetricNystroem(shifted).fit(X, right=np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match="zero between all 60 landmarks"):
        AsymmetricNystroem(lambda x, y: np.zeros((len(x), len(y)))).fit(X)


# Both


@pytest.mark.parametrize("make", [KreinNystroem, AsymmetricNystroem])
@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"kernel": 3}, TypeError, "kernel must be a Kernel, a name or a function"),
        ({"kernel": lambda x, y: x @ y[:3].T}, ValueError, r"array of shape \(60, 60\)"),
        ({"kernel": kernels.NTK()}, ValueError, "unit sphere"),
        ({"landmarks": "kmeans"}, ValueError, "landmarks must be one of 'uniform'"),
        ({"tol": 1.0}, ValueError, "tol must be 'auto' or a number"),
        ({"n_candidates": 0}, ValueError, "n_candidates must be at least 1"),
        ({"n_components": 2.5}, TypeError, "n_components must be a positive integer"),
    ],
)
def test_wrong_parameters_are_refused(make, parameters, error, message):
    with pytest.raises(error, match=message):
        make(**parameters).fit(X)


@pytest.mark.thorough
@parametrize_with_checks(
    [
        AsymmetricNystroem(n_components=8, landmarks="pivoted"),
        KreinNystroem(kernels.DeltaGaussian() + kernels.Gaussian(), 8, landmarks="leverage"),
    ],
    xfail_strict=True,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_the_tolerance_of_an_indefinite_kernel_keeps_what_approximates_it():
    kernel = kernels.Gaussian(0.7) + (-0.8) * kernels.Gaussian(2.1)
    X = np.random.default_rng(0).normal(size=(200, 2))
    maps = [KreinNystroem(kernel, 60, tol=tol, random_state=0).fit(X) for tol in ("auto", 1e-6)]
    auto, best = (np.abs(features.gram(X) - kernel(X)).mean() for features in maps)
    assert auto < 2.0 * best < 0.1
