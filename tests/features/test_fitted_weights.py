"""Fitted weights and phases: which kernels get phases, on which rows."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from laws.registry import AnyDim
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from bochner import FourierFeatures, kernels, spectral_measure
from bochner.features import fitted_weights
from bochner.features.fitted_weights import fitted_frequencies
from bochner.spectral.decompositions import DesignData
from bochner.spectral.design import broad_proposal
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.schemes import resolve_scheme

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(300, 3)), RNG.normal(size=(80, 3))
Y, NEW_RIGHT = 0.5 * RNG.normal(size=(250, 3)) + 1.0, 0.5 * RNG.normal(size=(60, 3)) + 1.0
SHIFT = np.array([0.5, -0.3, 0.2])


def shifted(X, Y):
    """A Gaussian of the shifted lag, asymmetric."""
    return np.exp(-np.square(X[:, None] - Y[None] + SHIFT).sum(axis=-1) / 2)


def gaussian(X, Y):
    return np.exp(-np.square(X[:, None] - Y[None]).sum(axis=-1) / 2)


class Shifted(AnyDim):
    """A kernel object that says that it is not symmetric."""

    is_symmetric = False

    def evaluate(self, X, Y):
        return shifted(X, Y)


def fitted(kernel, X=X, right=None, measure=None, m=128, seed=0):
    data = DesignData(X.shape[1], m, left=X, right=right)
    draw_rng, rng = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    return fitted_frequencies(kernel, measure, data, draw_rng, resolve_scheme("orthogonal"), rng)


def relative_error(f, kernel, left, right):
    exact = kernel(left, right)
    return np.linalg.norm(f.gram(left, right) - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("kernel", [shifted, Shifted()], ids=["function", "kernel"])
@pytest.mark.parametrize("right", [None, Y], ids=["same", "other"])
def test_asymmetric_kernels_are_fitted_at_both_orders(kernel, right):
    with warnings.catch_warnings(action="error"):
        f, error = fitted(kernel, right=right, m=256)
    assert not f.is_symmetric
    assert f.weight.min() >= 0.0
    # As well as the same kernel without its shift, which is symmetric.
    assert error < 1.3 * fitted(gaussian, m=256)[1] < 0.3
    left, other = NEW, NEW[::-1] if right is None else NEW_RIGHT
    assert relative_error(f, shifted, left, other) < 2.0 * error
    # The transposed kernel, the conjugated phases and the symmetric part are all far away.
    exact = shifted(left, other)
    assert np.linalg.norm(exact - shifted(other, left).T) > 0.5 * np.linalg.norm(exact)
    conjugated = f.with_weights(f.weight, -f.phase)
    assert relative_error(conjugated, shifted, left, other) > 3.0 * error
    if right is None:
        assert relative_error(f, shifted, other, left) < 2.0 * error


def test_symmetric_functions_get_no_phases():
    f, _ = fitted(gaussian)
    assert f.is_symmetric
    # Asked with rows of its own for the right argument, a function is not known to be symmetric.
    f, error = fitted(gaussian, right=Y)
    assert not f.is_symmetric
    assert relative_error(f, gaussian, NEW, NEW_RIGHT) < 2.0 * error


def test_kernels_known_to_be_symmetric_stay_so_on_two_sets_of_rows():
    kernel = kernels.Gaussian(1.0)
    measure = spectral_measure(kernel, dim=3)
    f, error = fitted(kernel, right=Y, measure=measure)
    assert f.is_symmetric
    assert f.weight.min() >= 0.0
    sampled = measure.sample(128, np.random.default_rng(0), "orthogonal")
    assert_array_equal(f.omega, sampled.omega)
    assert relative_error(f, gaussian, NEW, NEW_RIGHT) < relative_error(
        sampled, gaussian, NEW, NEW_RIGHT
    )
    assert relative_error(f, gaussian, NEW, NEW_RIGHT) < 2.0 * error


def test_rounding_of_single_precision_is_no_asymmetry():
    def single(X, Y):
        rounding = 1e-7 * np.random.default_rng(0).normal(size=(len(X), len(Y)))
        return (gaussian(X, Y) + rounding).astype(np.float32)

    f, _ = fitted(single)
    assert f.is_symmetric
    f, _ = fitted(lambda X, Y: single(X, Y).astype(np.float64))
    assert not f.is_symmetric


def test_a_kernel_object_whose_values_are_not_symmetric_is_not_believed():
    class Claims(Shifted):
        is_symmetric = True

    f, error = fitted(Claims(), m=256)
    assert not f.is_symmetric
    assert error < 0.3


@dataclass(frozen=True)
class Mapped:
    """A stand-in for the measure of k(x A, y B), with frequencies of either width."""

    left: np.ndarray
    right: np.ndarray
    is_positive: bool = True

    def sample(self, m, rng, scheme, **options):
        omega = rng.normal(size=(m, self.left.shape[1]))
        left, right = omega @ self.left.T, omega @ self.right.T
        return Frequencies(left, np.full(m, 1.0 / m), omega @ SHIFT, right)


def kernel_of_maps(A, B):
    return lambda X, Y: shifted(X @ A, Y @ B)


def test_rows_of_different_widths_are_fitted_with_a_measure():
    A, B = RNG.normal(size=(3, 3)) / 2.0, RNG.normal(size=(5, 3)) / 2.0
    wide, new = RNG.normal(size=(200, 5)), RNG.normal(size=(40, 5))

    between = kernel_of_maps(A, B)
    f, error = fitted(between, right=wide, measure=Mapped(A, B))
    assert (f.dim, f.dim_right) == (3, 5)
    assert f.weight.min() >= 0.0
    sampled = Mapped(A, B).sample(128, np.random.default_rng(0), None)
    assert_array_equal(f.omega, sampled.omega)
    at_start = relative_error(sampled, between, NEW, new)
    assert relative_error(f, between, NEW, new) < min(2.0 * error, 0.8 * at_start)
    with pytest.raises(ValueError, match=r"have 3 and 5 columns.*Use Bilinear"):
        fitted(between, right=wide)


def test_proposals_are_made_for_the_rows_of_both_sides(monkeypatch):
    asked = []

    def watched(rows, length):
        asked.append((rows, length))
        return broad_proposal(rows, length)

    monkeypatch.setattr(fitted_weights, "broad_proposal", watched)
    # The left rows alone say nothing of the scale on which the kernel varies.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        fitted(gaussian, X=1e-3 * X, right=2.0 * Y)
        fitted(gaussian, X=X)
    for (rows, length), expected in zip(asked, (np.vstack([1e-3 * X, 2.0 * Y]), X), strict=True):
        assert_array_equal(np.sort(rows, axis=0), np.sort(expected, axis=0))
        assert_allclose(length, np.median(pdist(expected)), rtol=1e-3)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_proposals_are_in_units_of_the_rows(unit):
    plain, other = (broad_proposal(c * X, c * 2.4).sample(130, 0) for c in (1.0, unit))
    assert_allclose(unit * other.omega, plain.omega, rtol=1e-12)
    assert_allclose(other.weight, plain.weight, rtol=1e-12)


@pytest.mark.parametrize("right", [None, Y], ids=["same", "other"])
def test_values_stay_bounded_far_from_the_data_on_both_sides(right, monkeypatch):
    direction = np.random.default_rng(0).normal(size=(60, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    far = 12.0 * np.resize([1.5, 3.0, 10.0, 100.0], 60)[:, None] * direction

    def greatest(seed):
        f, _ = fitted(shifted, right=right, m=256, seed=seed)
        near = X if right is None else Y
        return [np.abs(f.gram(far, near)).max(), np.abs(f.gram(X, far)).max()]

    # Twice the ceiling: these are other rows than those that were guarded.
    assert np.max([greatest(seed) for seed in range(4)]) < 3.0
    monkeypatch.setattr(fitted_weights, "_CEILING", np.inf)
    assert (np.max([greatest(seed) for seed in range(4)], axis=0) > 30.0).all()


@pytest.mark.parametrize("side", ["left", "right"])
def test_each_side_stays_bounded_where_the_other_hardly_counts(side, monkeypatch):
    # Frequencies five times lower than those of the kernel need large weights to fit it.
    near, other = np.eye(3) / 5.0, np.eye(3) / 5e4
    maps = (near, other) if side == "left" else (other, near)
    direction = np.random.default_rng(0).normal(size=(60, 3))
    far = np.resize([20.0, 40.0, 120.0, 1200.0], 60)[:, None] * direction

    def greatest():
        kernel = kernel_of_maps(*(5.0 * one for one in maps))
        f, _ = fitted(kernel, right=Y, measure=Mapped(*maps), m=64)
        return np.abs(f.gram(*((far, Y) if side == "left" else (X, far)))).max()

    with warnings.catch_warnings(action="ignore", category=UserWarning):
        assert greatest() < 3.0
        monkeypatch.setattr(fitted_weights, "_CEILING", np.inf)
        assert greatest() > 15.0


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_guarded_rows_are_at_multiples_of_the_diameter_of_the_data(unit):
    rows = unit * (X + 2.0)
    far = fitted_weights._far_rows(gaussian, rows, np.random.default_rng(0))
    centre = rows.mean(axis=0)
    diameter = 2.0 * cdist(rows, centre[None]).max()
    distances = np.sort(cdist(far, centre[None])[:, 0]) / diameter
    assert_allclose(distances, np.repeat([1.5, 3.0, 10.0, 100.0], 16), rtol=1e-9)


def test_at_most_1250_rows_of_each_side_are_looked_at():
    shapes = []

    def watched(X, Y):
        shapes.append((X.shape, Y.shape))
        return np.cos(X[:, :1] - Y[:, 0])

    with warnings.catch_warnings(action="ignore", category=UserWarning):
        fitted(watched, X=np.repeat(X, 10, axis=0), right=Y, m=16)
        fitted(watched, X=X, right=np.repeat(Y, 10, axis=0), m=16)
    assert shapes == [((1250, 3), (250, 3)), ((300, 3), (1250, 3))]


def test_sparse_rows_on_the_right_are_fitted_as_dense_ones():
    thin = np.where(Y > 1.0, Y, 0.0)
    dense, same = (
        fitted(shifted, right=rows, m=32)[0].gram(NEW, NEW_RIGHT)
        for rows in (thin, sparse.csr_array(thin))
    )
    assert_allclose(same, dense, atol=1e-9)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (X[:3], None, r"at least 4 rows, got n_samples = 3"),
        (X[:3], Y, r"at least 4 rows, got n_samples = 3"),
        (X, Y[:3], r"at least 4 rows, got right n_samples = 3"),
    ],
    ids=["same", "left", "right"],
)
def test_both_sides_need_a_few_rows(left, right, message):
    with pytest.raises(ValueError, match=message + "; use weights='sampled'"):
        fitted(shifted, X=left, right=right)


def test_few_rows_are_enough_to_fit_on():
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        f, error = fitted(shifted, X=X[:4], right=Y[:5], m=8)
    assert np.isfinite([*f.weight, *f.phase, error]).all()


def test_the_sampled_weights_and_phases_are_kept_and_a_warning_says_so():
    class Exact:
        """Frequencies whose finite sum is the kernel itself."""

        is_positive = False

        def sample(self, m, rng, scheme, **options):
            omega, weight = rng.normal(size=(m, 3)), np.resize([1.0, -0.5], m) / m
            return Frequencies(omega, weight, np.linspace(-1.0, 2.0, m))

    start = Exact().sample(16, np.random.default_rng(0), None)
    with pytest.warns(UserWarning, match=r"no better than the sampled ones.*are kept"):
        f, error = fitted(start.gram, measure=Exact(), m=16)
    assert error < 1e-12
    assert_array_equal(f.weight, start.weight)
    assert_array_equal(f.phase, start.phase)


@pytest.mark.parametrize("one_sided", [True, False])
def test_rows_are_either_fitted_or_held_out(one_sided):
    left = np.arange(40.0)[:, None]
    right = left if one_sided else np.arange(100.0, 130.0)[:, None]
    gram = left + 1000.0 * right.T
    fit, held_out = fitted_weights._split(left, right, gram)
    for name, rows in (("left", left), ("right", right)):
        both = np.concatenate([getattr(part, name)[:, 0] for part in (fit, held_out)])
        assert sorted(both) == sorted(rows[:, 0])
    for part in (fit, held_out):
        assert_array_equal(part.gram, part.left + 1000.0 * part.right.T)


def test_values_that_have_no_squares_are_refused():
    def large(X, Y):
        return 1e300 * kernels.Gaussian()(X, Y)

    features = FourierFeatures(large, 32, weights="least_squares", random_state=0)
    with pytest.raises(ValueError, match=r"at most 1e\+150 in size, .*got 1e\+300. Scale it"):
        features.fit(np.random.default_rng(0).normal(size=(60, 2)))
