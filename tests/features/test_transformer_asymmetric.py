"""FourierFeatures of asymmetric kernels: two sides and files."""

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose
from scipy import sparse

from bochner import FourierFeatures, kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * (RNG.random(size=(60, 3)) < 0.8)
Y = RNG.normal(size=(40, 3)) * (RNG.random(size=(40, 3)) < 0.8)
QUERIES, KEYS = RNG.normal(size=(50, 4)), RNG.normal(size=(70, 6))
LEFT, RIGHT = RNG.normal(size=(4, 2)) / 3.0, RNG.normal(size=(6, 2)) / 3.0
SHIFT = kernels.ShiftGaussian(2.0, (0.8, 0.0, -0.5))
SINH = kernels.SinhGaussian((2.0, 1.5, 2.5), (0.3, 0.0, -0.4))
COSH = kernels.CoshGaussian(2.0, (0.3, 0.0, -0.2))
SKEWED = [SHIFT, SINH, COSH, SHIFT * SINH + 0.5 * kernels.Matern()]
ATTENTION = kernels.Bilinear(kernels.DotProduct(np.exp), LEFT, RIGHT)
MAPPED = kernels.Bilinear(kernels.CoshGaussian(1.0, 0.5), LEFT, RIGHT)


def fitted(kernel, n_components=64, rows=X, right=None, **options):
    return FourierFeatures(kernel, n_components, random_state=0, **options).fit(rows, right=right)


@pytest.mark.parametrize("decomposition", ["auto", "polar", "jordan"])
@pytest.mark.parametrize("kernel", SKEWED, ids=str)
def test_features_of_either_side_make_the_sum_of_cosines(kernel, decomposition):
    features = fitted(kernel, decomposition=decomposition)
    expected = features.frequencies_.gram(X[:6], Y[:5])
    left, right = features.transform(X[:6]), features.transform_right(Y[:5])
    assert left.shape == (6, 64)
    assert right.shape == (5, 64)
    assert_allclose((left * features.signature_) @ right.T, expected, atol=1e-11)
    assert_allclose(features.gram(X[:6], Y[:5]), expected, atol=1e-11)
    assert_allclose(features.gram(X[:6]), features.frequencies_.gram(X[:6]))


@pytest.mark.thorough_cases(r"\b8\b")
@pytest.mark.parametrize("kernel", SKEWED, ids=str)
def test_more_features_are_nearer_to_the_kernel_than_to_its_transpose(kernel):
    gram = fitted(kernel, 4096).gram(X, Y)
    forth, back = kernel(X, Y), kernel(Y, X).T
    gaps = [np.linalg.norm(gram - exact) / np.linalg.norm(forth) for exact in (forth, back)]
    assert gaps[0] < 0.12
    assert gaps[0] < 0.4 * gaps[1]


@pytest.mark.parametrize("decomposition", ["auto", "jordan"])
def test_the_arguments_may_have_different_widths(decomposition):
    options = {"rows": QUERIES, "right": KEYS, "decomposition": decomposition}
    features = fitted(MAPPED, 2048, **options)
    assert (features.frequencies_.dim, features.frequencies_.dim_right) == (4, 6)
    gram, exact = features.gram(QUERIES, KEYS), MAPPED(QUERIES, KEYS)
    assert np.linalg.norm(gram - exact) < 0.15 * np.linalg.norm(exact)
    assert_allclose(gram[:3, :3], features.frequencies_.gram(QUERIES[:3], KEYS[:3]))
    thin = features.gram(sparse.csr_array(QUERIES), sparse.csr_array(KEYS))
    assert_allclose(thin, gram, atol=1e-11)
    for call, bad in ((features.transform_right, QUERIES), (features.gram, QUERIES)):
        with pytest.raises(ValueError, match=r"Y has 4 features.*right argument has 6"):
            call(bad)
    with pytest.raises(ValueError, match="4"):
        features.transform(KEYS)
    with pytest.raises(ValueError, match="right argument of this Bilinear kernel has 6 inputs"):
        fitted(MAPPED, rows=QUERIES)


@pytest.mark.thorough
def test_exponentials_of_projected_products_are_biased_by_no_more_than_is_said():
    values = []
    for seed in range(30):
        features = FourierFeatures(ATTENTION, 128, scheme="iid", random_state=seed)
        values.append(features.fit(QUERIES, right=KEYS).gram(QUERIES[:6], KEYS[:6]).ravel())
    values = np.array(values)
    exact = ATTENTION(QUERIES[:6], KEYS[:6]).ravel()
    check_mean(values, exact, 1e-3 / len(exact), max_error=features.max_error_)
    assert features.max_error_ < 0.1 * ATTENTION(QUERIES, KEYS).max()
