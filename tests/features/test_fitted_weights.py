"""Fitted weights and phases: which kernels get phases, on which rows."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from laws.registry import AnyDim
from numpy.testing import assert_array_equal

from bochner import kernels, spectral_measure
from bochner.features import fitted_weights
from bochner.features.fitted_weights import fitted_frequencies
from bochner.spectral.decompositions import DesignData
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


@pytest.mark.thorough
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
