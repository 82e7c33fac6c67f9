"""KreinNystroem: exact where it must be, signs kept, and landmarks drawn as they say."""

from itertools import permutations

import numpy as np
import pytest
from baselines.references import landmark_weights
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from scipy.stats import chisquare
from sklearn.kernel_approximation import Nystroem

from bochner import kernels
from bochner.baselines import KreinNystroem
from bochner.features.landmarks import LANDMARKS, leverage_scores, pivots, tail_ridge

ALPHA = 1e-3
"""Chance that one goodness-of-fit test rejects a right implementation."""

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 4)), RNG.normal(size=(25, 4))
SPHERE, NEW_ON_SPHERE = (rows / np.linalg.norm(rows, axis=1)[:, None] for rows in (X, NEW))
RULES = sorted(LANDMARKS)


def sigmoid(left, right):
    return np.tanh(0.5 * left @ right.T - 0.3)


INDEFINITE = [
    (kernels.DeltaGaussian(0.5, 2.0), X, NEW),
    (kernels.TL1(3.0), X, NEW),
    (kernels.Gaussian(0.7) - 1.5 * kernels.Gaussian(1.3), X, NEW),
    (sigmoid, X, NEW),
]


def relative_error(features, kernel, rows):
    exact = kernel(rows, rows)
    return np.linalg.norm(features.gram(rows) - exact) / np.linalg.norm(exact)


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


def test_features_as_many_as_the_rank():
    kernel = kernels.Polynomial(1, offset=-2.0)
    features = KreinNystroem(kernel, 30, random_state=0).fit(X)
    assert features.n_components_ == 5
    assert sorted(features.signature_) == [-1.0, 1.0, 1.0, 1.0, 1.0]
    assert features.transform(NEW).shape == (25, 5)
    assert len(features.get_feature_names_out()) == 5
    assert_allclose(features.gram(NEW), kernel(NEW, NEW), atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "least_is_best"), [(kernels.TL1(2.5), False), (kernels.DeltaGaussian(), True)]
)
def test_the_automatic_tolerance_is_near_the_best(kernel, least_is_best):
    rng = np.random.default_rng(1)
    tolerances = 10.0 ** -np.arange(1.0, 14.0)
    auto, best, least, most = [], [], [], []
    for seed in range(8):
        rows, new = rng.random(size=(600, 8)), rng.random(size=(200, 8))
        errors = [
            relative_error(
                KreinNystroem(kernel, 150, tol=tol, random_state=seed).fit(rows), kernel, new
            )
            for tol in tolerances
        ]
        features = KreinNystroem(kernel, 150, random_state=seed).fit(rows)
        auto.append(relative_error(features, kernel, new))
        best.append(min(errors))
        least.append(errors[-1])
        most.append(errors[0])
    assert np.median(auto) < 1.1 * np.median(best)
    assert np.median(auto) < 0.5 * np.median(most if least_is_best else least)


@pytest.mark.parametrize("rule", ["leverage", "pivoted"])
def test_chosen_landmarks_are_better_than_uniform_ones_for_a_lone_cluster(rule):
    rng = np.random.default_rng(0)
    rows = np.concatenate([0.1 * rng.normal(size=(500, 2)), 20.0 + rng.normal(size=(10, 2))])
    kernel = kernels.Gaussian(1.0) - 0.5 * kernels.Gaussian(3.0)
    errors = {
        name: [
            relative_error(
                KreinNystroem(kernel, 12, landmarks=name, random_state=seed).fit(rows),
                kernel,
                rows[-10:],
            )
            for seed in range(10)
        ]
        for name in ("uniform", rule)
    }
    assert np.median(errors[rule]) < 0.5 * np.median(errors["uniform"])


def test_leverage_scores_are_those_of_the_absolute_value():
    matrix = indefinite_gram(8)
    absolute = sqrtm(matrix @ matrix).real
    expected = np.diagonal(absolute @ np.linalg.inv(absolute + 0.7 * np.eye(8)))
    assert_allclose(leverage_scores(*np.linalg.eigh(matrix), 0.7), expected, rtol=1e-9)


def test_the_tail_ridge():
    assert_allclose(tail_ridge(np.array([-5.0, 0.5, 3.0, -1.0]), 2), (1.0 + 0.5) / 2.0)
    assert 0.0 < tail_ridge(np.array([-5.0, 3.0]), 2) < 1e-14


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


def test_pivots_avoid_what_they_already_span():
    rows = np.concatenate([X[:15], X[:15]])
    for seed in range(5):
        features = KreinNystroem(
            kernels.DeltaGaussian(0.5, 2.0), 15, landmarks="pivoted", random_state=seed
        ).fit(rows)
        assert len(set(features.landmark_indices_ % 15)) == 15


@pytest.mark.parametrize("rule", RULES)
def test_landmarks_are_different_rows_even_beyond_the_rank(rule):
    kernel = kernels.Polynomial(1, offset=-2.0)
    features = KreinNystroem(kernel, 30, landmarks=rule, random_state=0).fit(X)
    assert len(set(features.landmark_indices_)) == 30


def test_few_candidates_are_enough_landmarks():
    features = KreinNystroem(n_components=30, landmarks="pivoted", n_candidates=1).fit(X)
    assert len(features.landmarks_) == 30


def test_more_components_than_rows():
    features = KreinNystroem(n_components=100, tol=0.0).fit(X[:10])
    assert features.n_components_ == len(features.landmarks_) == 10


def test_one_landmark_of_a_kernel_that_is_zero_there():
    with pytest.raises(ValueError, match="zero between all 1 landmarks"):
        KreinNystroem(kernels.DeltaGaussian(), 1).fit(X)


def test_inputs_outside_the_domain_are_refused():
    features = KreinNystroem(kernels.NTK(), 10, random_state=0).fit(SPHERE)
    assert features.transform(NEW_ON_SPHERE).shape[0] == 25
    with pytest.raises(ValueError, match="unit sphere"):
        features.transform(NEW)


def test_an_asymmetric_kernel_is_refused():
    with pytest.raises(ValueError, match=r"not symmetric on these data.*use AsymmetricNystroem"):
        KreinNystroem(lambda x, y: x @ y.T + x[:, :1]).fit(X)
