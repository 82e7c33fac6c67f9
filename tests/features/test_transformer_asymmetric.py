"""FourierFeatures of asymmetric kernels: two sides, concatenated outputs, masses and files."""

import numpy as np
import pytest
from laws.registry import check_mean
from numpy.testing import assert_allclose, assert_array_equal
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
@pytest.mark.parametrize("masses", ["exact", "least_squares"])
@pytest.mark.parametrize("kernel", SKEWED, ids=str)
def test_features_of_either_side_make_the_sum_of_cosines(kernel, masses, decomposition):
    features = fitted(kernel, masses=masses, decomposition=decomposition)
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


def three_sets(f, rows):
    """The pieces of the map of He et al., (8) and Section 5.3, literally.

    Their omega, zeta and nu are the frequencies of the even parts of either sign, and of the odd
    one. The last follow the positive imaginary part; ours are those up to reflections, which turn
    the phases of a quarter turn round.
    """
    odd, negative = f.phase != 0.0, f.weight < 0.0
    assert_allclose(np.abs(f.phase[odd]), 0.5 * np.pi)
    zeta, nu = f.omega[negative], f.omega[odd] * np.sign(f.phase[odd])[:, None]
    omega = f.omega[~odd & ~negative]

    def piece(frequencies, kind, first, second):
        mass = np.abs(f.weight[kind]).sum()  # twice that of the positive imaginary part
        angles = rows @ frequencies.T
        columns = np.hstack([first(angles), second(angles)])
        return np.sqrt(mass / max(len(frequencies), 1)) * columns

    return (
        piece(omega, ~odd & ~negative, np.cos, np.sin),
        piece(zeta, negative, np.cos, np.sin),
        piece(nu, odd, np.cos, np.sin),
        piece(nu, odd, lambda t: -np.sin(t), np.cos),
    )


TURNING = kernels.ShiftGaussian(1.0, (1.0, 0.0, 1.0))


@pytest.mark.parametrize("kernel", [TURNING, SINH, COSH], ids=str)
def test_concatenated_features_of_jordan_parts_are_those_of_the_paper(kernel):
    features = fitted(kernel, 96, decomposition="jordan", output="concatenated")
    f = features.frequencies_
    Z = features.transform(X)
    odd = int((f.phase != 0.0).sum())
    assert 0 < odd < f.n_frequencies
    assert Z.shape == (60, 96 + 2 * odd)
    # Up to order, signs and rotations within the pair of a frequency: by their inner products.
    assert_allclose(Z @ Z.T, sum(part @ part.T for part in three_sets(f, X)), atol=1e-10)
    assert_array_equal(Z[:, :96], fitted(kernel, 96, decomposition="jordan").transform(X))


@pytest.mark.parametrize("decomposition", ["polar", "jordan"])
def test_concatenated_columns_are_left_ones_and_right_ones_that_differ(decomposition):
    features = fitted(COSH, 48, decomposition=decomposition, output="concatenated")
    two_sided = np.tile(features.frequencies_.phase != 0.0, 2)
    Z, right = features.transform(X), features.transform_right(X)
    assert_array_equal(Z[:, 48:], right[:, two_sided])
    assert right.shape == (60, 48)
    assert two_sided.all() == (decomposition == "polar")
    assert len(features.get_feature_names_out()) == Z.shape[1] == 48 + two_sided.sum()
    assert features.signature_.shape == (48,)
    assert_allclose(features.gram(X), (Z[:, :48] * features.signature_) @ right.T, atol=1e-12)


def test_fitted_masses_change_nothing_but_the_sizes_of_the_parts():
    for decomposition in ("polar", "jordan"):
        exact, masses = (
            fitted(COSH, 128, masses=m, decomposition=decomposition).frequencies_
            for m in ("exact", "least_squares")
        )
        assert_array_equal(masses.omega, exact.omega)
        assert_array_equal(masses.phase, exact.phase)
        ratio = masses.weight / exact.weight
        assert (ratio >= 0.0).all()
        assert len(np.unique(ratio.round(9))) <= (3 if decomposition == "jordan" else 1)
        assert not np.allclose(ratio, 1.0)
    real = exact.phase == 0.0
    assert_allclose(masses.weight[real].sum(), 1.0, rtol=1e-9)


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
