"""Kernels on columns: which columns, by position and by name, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner import spectral_measure
from bochner.kernels import (
    TL1,
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    ShiftGaussian,
    SinhGaussian,
    White,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(20, 4)), RNG.normal(size=(9, 4))
NAMES = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(X, columns=NAMES)


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (0, [0]),
        (-1, [3]),
        ([2, 0], [2, 0]),
        ((-2, 1), [2, 1]),
        (slice(1, 4), [1, 2, 3]),
        (slice(0, 4, 3), [0, 3]),
        (range(2), [0, 1]),
        (np.array([3, 1]), [3, 1]),
        (np.int64(2), [2]),
    ],
    ids=str,
)
def test_positions(columns, chosen):
    scale = tuple(0.5 + 0.3 * i for i in range(len(chosen)))
    assert_array_equal(
        Gaussian(scale).on(columns)(X, Y), Gaussian(scale)(X[:, chosen], Y[:, chosen])
    )


def test_names_are_those_of_the_data_frame():
    k = Gaussian(0.5).on(["d", "b"]) + Matern().on("a") * Laplacian().on(2)
    exact = Gaussian(0.5)(X[:, [3, 1]]) + Matern()(X[:, [0]]) * Laplacian()(X[:, [2]])
    assert_allclose(k(FRAME), exact, rtol=1e-13)
    assert_allclose(k(FRAME, X), exact, rtol=1e-13)
    assert k.resolved(NAMES) == Gaussian(0.5).on([3, 1]) + Matern().on(0) * Laplacian().on(2)


def test_columns_of_columns():
    k = (Gaussian().on("d") * Matern().on("b")).on(["d", "b"])
    assert_allclose(k(FRAME), (Gaussian().on(3) * Matern().on(1))(X), rtol=1e-13)
    assert_allclose(Gaussian().on(0).on([2, 1])(X), Gaussian()(X[:, [2]]), rtol=1e-13)


def test_asymmetric_kernels_stay_so():
    k = ShiftGaussian(1.0, shift=(0.5, -0.2)).on([0, 2])
    assert not k.is_symmetric
    assert_allclose(k.T(X, Y), k(Y, X).T, rtol=1e-13)
    assert k.T.columns == (0, 2)
    assert SinhGaussian().on(1).symmetrised == Gaussian().on(1)
    assert_allclose((k + k.T)(X), (k + k.T)(X).T, rtol=1e-13)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian().on("temp")(X), "have no names of columns.*set_output"),
        (lambda: spectral_measure(Gaussian().on("temp"), 4), "have no names of columns"),
        (lambda: Gaussian().on("dd")(FRAME), "'dd', which the data do not have. Did you mean 'd'"),
        (lambda: Gaussian().on(4)(X), "on column 4, but the data have 4 columns, 0 to 3"),
        (lambda: Gaussian().on(-5)(X), "on column -5"),
        (lambda: Gaussian().on([0, -4])(X), "must be different, but 0 is there twice"),
        (lambda: Gaussian((1.0, 2.0)).on(0)(X), "length_scale has 2 entries"),
        (lambda: Gaussian().on("a")(FRAME, FRAME[["b", "a", "c", "d"]]), "different columns"),
        (lambda: Gaussian().on([]), "at least one column"),
        (lambda: Gaussian().on(["a", "a"]), "'a' is there twice"),
        (lambda: Gaussian().on(slice(1, None)), "needs both ends"),
        (lambda: Gaussian().on(slice(-2, 3)), "needs both ends"),
    ],
)
def test_columns_that_are_not_there(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("columns", "message"),
    [(1.5, "a position, a name, a slice"), ([0.5], "got 0.5"), ([True, False], "flatnonzero")],
)
def test_what_is_no_column(columns, message):
    with pytest.raises(TypeError, match=message):
        Gaussian().on(columns)


@pytest.mark.thorough
def test_a_signed_kernel_is_designed_for_its_columns():
    # Far apart in other columns, rows are near in these: their measure is that of these alone.
    wide = np.c_[X[:, :2], 1e3 * X[:, 2:]]
    distances = np.abs(wide[:, None, :2] - wide[None, :, :2]).sum(axis=2)
    alone = spectral_measure(TL1(2.0), 2, distances)
    k = TL1(2.0).on([0, 1])
    chosen = spectral_measure(2.0 * k, 4, distances, decomposition="designed")
    assert chosen == 2.0 * spectral_measure(k, 4, distances)
    mu = spectral_measure(k, 4, distances)
    assert mu.predicted_error == alone.predicted_error
    assert [part.mass for part in mu.parts] == [part.mass for part in alone.parts]
    f = mu.sample(4096, np.random.default_rng(0))
    assert not f.omega[:, 2:].any()
    assert np.abs(f.gram(wide) - k(wide)).max() < mu.max_error + 0.15


def test_noise_is_on_the_diagonal_of_one_set_of_rows():
    white = pytest.importorskip("sklearn.gaussian_process.kernels").WhiteKernel(0.3)
    twice = np.r_[X, X[:3]]
    k = Gaussian() + 2.0 * (White(0.3).on([0, 1]) * Matern())
    smooth = Gaussian()(twice)
    assert_allclose(k(twice), smooth + 2.0 * white(twice), rtol=1e-13)
    assert_allclose(k(twice, twice), smooth, rtol=1e-13)
    assert_allclose(k.diag(twice), 1.0 + 2.0 * white.diag(twice), rtol=1e-13)
    assert not Gaussian().has_noise


@pytest.mark.parametrize("kernel", [White(), Gaussian().on(0) + White(0.1), White() * Gaussian()])
def test_noise_has_no_features(kernel):
    with pytest.raises(ValueError, match="alpha"):
        spectral_measure(kernel, 2)


def test_what_the_data_decide_is_found_in_the_rows():
    codes = np.c_[X[:, 0], np.arange(20) % 4, np.arange(20) % 7]
    k = (Categorical(0.1) * Linear(centre=2.0).on(1)).on([2, 1]) + Gaussian()
    found = k.resolved(None, codes)
    assert found.terms[0].kernel.factors[0].n_levels == (7, 4)
    assert found.terms[0].kernel.factors[1].kernel.reach == (2.0,)
    assert found.resolved(None, codes[:2]) == found
    assert_allclose(found(codes), k(codes), rtol=1e-13)
