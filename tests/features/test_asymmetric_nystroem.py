"""AsymmetricNystroem: exact where it must be, and the known features of symmetric kernels."""

import numpy as np
import pytest
from baselines.references import landmark_weights
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import sqrtm
from scipy.stats import chisquare

from bochner import kernels
from bochner.baselines import AsymmetricNystroem, KreinNystroem
from bochner.features.landmarks import LANDMARKS

ALPHA = 1e-3
"""Chance that one goodness-of-fit test rejects a right implementation."""

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 4)), RNG.normal(size=(25, 4))
RIGHT, NEW_RIGHT = RNG.normal(size=(50, 4)), RNG.normal(size=(20, 4))
WIDE = RNG.normal(size=(50, 7))
RULES = sorted(LANDMARKS)


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


def test_the_two_sides_are_not_exchanged():
    features = AsymmetricNystroem(shifted, 15, tol=0.0, random_state=0).fit(X, right=RIGHT)
    rows = X[features.landmark_indices_]
    assert_allclose(features.gram(rows, NEW), shifted(rows, NEW), atol=1e-6)
    # A left landmark on the right side is an input like any other.
    assert np.abs(features.gram(NEW, rows) - shifted(NEW, rows)).max() > 0.01


def test_the_number_of_landmarks_is_that_of_the_shorter_side():
    features = AsymmetricNystroem(shifted, 100, tol=0.0, random_state=0).fit(X, right=RIGHT[:30])
    assert len(features.landmarks_) == len(features.landmarks_right_) == 30
    assert_allclose(features.gram(X, RIGHT[:30]), shifted(X, RIGHT[:30]), atol=1e-6)


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


def test_features_as_many_as_the_rank():
    skew = RNG.normal(size=(4, 4))

    def kernel(left, right):
        return left @ skew @ right.T

    features = AsymmetricNystroem(kernel, 30, random_state=0).fit(X, right=RIGHT)
    assert features.n_components_ == features.transform(NEW).shape[1] == 4
    assert features.transform_right(NEW_RIGHT).shape == (20, 4)
    assert_allclose(features.gram(NEW, NEW_RIGHT), kernel(NEW, NEW_RIGHT), atol=1e-9)


def test_landmarks_see_the_best_approximation_of_their_rank():
    all_kept = AsymmetricNystroem(shifted, 40, tol=0.0, random_state=0).fit(X, right=RIGHT)
    some = AsymmetricNystroem(shifted, 40, tol=0.05, random_state=0).fit(X, right=RIGHT)
    values = all_kept.singular_values_
    count = some.n_components_
    assert count == np.count_nonzero(values > 0.05 * values[0]) < 40
    rows, columns = some.landmark_indices_, some.landmark_right_indices_
    U, D, Vt = np.linalg.svd(shifted(X[rows], RIGHT[columns]))
    best = (U[:, :count] * D[:count]) @ Vt[:count]
    assert_allclose(some.gram(X[rows], RIGHT[columns]), best, atol=1e-9)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("rule", RULES)
def test_the_first_landmark_follows_the_absolute_value_of_its_side(rule, side):
    matrix = np.random.default_rng(3).normal(size=(6, 5))
    product = matrix @ matrix.T if side == "left" else matrix.T @ matrix
    n = len(product)
    absolute = sqrtm(product + 1e-15 * np.eye(n)).real
    values = np.sort(np.linalg.svd(matrix, compute_uv=False))[::-1]
    weight = landmark_weights(absolute, values[2:].sum() / 2)[rule]

    def gram(left, right):
        return matrix[np.ix_(left[:, 0].astype(int), right[:, 0].astype(int))]

    rows, right = np.arange(6.0)[:, None], np.arange(5.0)[:, None]
    name = "landmark_indices_" if side == "left" else "landmark_right_indices_"
    first = []
    for seed in range(2000):
        features = AsymmetricNystroem(gram, 2, landmarks=rule, tol=0.0, random_state=seed)
        first.append(getattr(features.fit(rows, right=right), name)[0])
    expected = 2000 * weight / weight.sum()
    assert chisquare(np.bincount(first, minlength=n), expected).pvalue > ALPHA


def test_one_sided_rows_are_both_arguments():
    features = AsymmetricNystroem(shifted, 15, tol=0.0, random_state=0).fit(X)
    rows = features.landmarks_
    assert_array_equal(rows, features.landmarks_right_)
    assert_allclose(features.gram(NEW, rows), shifted(NEW, rows), atol=1e-6)
    assert_allclose(features.gram(rows, NEW), shifted(rows, NEW), atol=1e-6)


def test_the_dtype_is_kept():
    features = AsymmetricNystroem(shifted, 15, random_state=0).fit(X, right=RIGHT)
    assert features.transform(NEW.astype(np.float32)).dtype == np.float32
    assert features.transform_right(NEW.astype(np.float32)).dtype == np.float32
    assert features.transform_right(NEW).dtype == np.float64


def test_wrong_data_are_refused():
    features = AsymmetricNystroem(scores, 10, random_state=0).fit(X, right=WIDE)
    with pytest.raises(ValueError, match=r"Y has 4 columns; .* had 7 in fit"):
        features.transform_right(X)
    with pytest.raises(ValueError, match="NaN"):
        AsymmetricNystroem(shifted).fit(X, right=np.full((3, 4), np.nan))
    with pytest.raises(ValueError, match="zero between all 60 landmarks"):
        AsymmetricNystroem(lambda x, y: np.zeros((len(x), len(y)))).fit(X)
