"""Regions outside which a designed measure does not follow its kernel."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from bochner import FourierFeatures, kernels
from bochner.features.approximation import Region, check_rows

RNG = np.random.default_rng(0)
BALL = Region(np.array([1.0, -2.0]), 0.0, 1.5)
SHELL = Region(np.zeros(2), 0.99, 1.01)


def warned(call, *arguments):
    """Return the messages that a call warns with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*arguments)
    return [str(warning.message) for warning in caught]


def disc(n, radius):
    angle = RNG.uniform(0.0, 2.0 * np.pi, n)
    return BALL.centre + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_rows_inside_pass_and_rows_outside_are_counted(container):
    inside, outside = disc(20, 1.499), disc(3, 1.7)
    assert warned(BALL.warn_outside, container(inside)) == []
    (message,) = warned(BALL.warn_outside, container(np.vstack([inside, outside])))
    assert "3 of 23 rows lie outside the region" in message
    assert "should be at most 1.5, and one of them has 1.7." in message


def test_a_region_may_have_an_inner_bound():
    assert warned(SHELL.warn_outside, np.array([[0.6, 0.8], [0.0, -1.005]])) == []
    (message,) = warned(SHELL.warn_outside, np.array([[0.6, 0.8], [0.0, 0.3]]))
    assert "1 of 2 rows" in message
    assert "should be 1.01, up to rounding, and one of them has 0.3." in message


def test_the_centre_is_a_read_only_copy():
    centre = np.zeros(2)
    region = Region(centre, 0.0, 1.0)
    centre[:] = 5.0
    assert not region.centre.any()
    with pytest.raises(ValueError, match="read-only"):
        region.centre[0] = 1.0
    with pytest.raises(ValueError, match="centre must be finite"):
        Region(np.array([np.nan]), 0.0, 1.0)


def test_the_domain_is_checked_first():
    outside = np.array([[3.0, -4.0]])
    with pytest.raises(ValueError, match="unit sphere"):
        check_rows(kernels.NTK(), SHELL, outside)
    assert len(warned(check_rows, kernels.Gaussian(), SHELL, outside)) == 1
    assert warned(check_rows, kernels.Gaussian(), None, outside) == []
    # A function of two arrays has no domain that is known.
    assert warned(check_rows, np.dot, None, outside) == []


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [
        (kernels.DeltaGaussian(0.5, 2.0), np.float64),
        (kernels.TL1(2.0), np.float32),
        (kernels.Tanh(0.1), np.float32),
    ],
    ids=str,
)
def test_training_rows_are_inside_and_far_rows_are_not(kernel, dtype):
    X = RNG.normal(loc=[5.0, 0.0, -5.0, 1.0, 0.0], size=(60, 5)).astype(dtype)
    features = FourierFeatures(kernel, 32, random_state=0)
    assert not any("outside" in said for said in warned(features.fit_transform, X))
    for part in (X, X[:1], X[::-1], sparse.csr_array(X)):
        assert warned(features.transform, part) == []
    far = 4.0 * X[:7]
    for call in (features.transform, features.transform_right):
        (message,) = warned(call, far)
        assert message.startswith("7 of 7 rows lie outside")
    assert warned(features.gram, X, X[:5]) == []
    assert len(warned(features.gram, X, far)) == 1


@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
def test_the_ball_of_inner_products_ends_where_the_features_do():
    X = RNG.normal(size=(60, 5))
    norm = np.linalg.norm(X, axis=1).max()
    features = FourierFeatures(kernels.Tanh(), 32, random_state=0).fit(X)
    edge = X / np.linalg.norm(X, axis=1, keepdims=True) * norm
    # The data are taken to reach 1.05 times as far, in squares.
    assert warned(features.transform, np.sqrt(1.049) * edge) == []
    assert len(warned(features.transform, np.sqrt(1.052) * edge)) == 1


@pytest.mark.parametrize(
    "kernel", [kernels.Gaussian(), kernels.Laplacian() * kernels.Matern(), kernels.NTK()], ids=str
)
def test_closed_forms_and_kernels_of_the_sphere_hold_everywhere(kernel):
    X = RNG.normal(size=(60, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    features = FourierFeatures(kernel, 32, random_state=0).fit(X[:30])
    assert features._region is None
    assert warned(features.transform, X) == []


@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_the_region_of_a_designed_measure_moves_with_the_data(offset):
    """Rows as far out as the training data reach are inside, those half as far again are not."""
    rows = np.random.default_rng(0).uniform(-1.0, 1.0, size=(80, 2))
    model = FourierFeatures(kernels.TL1(1.4), n_components=32, random_state=0).fit(rows + offset)
    middle = rows.mean(axis=0)
    farthest = rows[np.argmax(np.linalg.norm(rows - middle, axis=1))] - middle
    reach = np.ptp(rows, axis=0).sum() / np.linalg.norm(farthest)
    assert warned(model.transform, rows + offset) == []
    outside = middle + 1.5 * reach * farthest[None] + offset
    assert "1 of 1 rows lie outside" in warned(model.transform, outside)[0]
