"""Regions outside which a designed measure does not follow its kernel."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from bochner import FourierFeatures, kernels
from bochner.features.approximation import Region

RNG = np.random.default_rng(0)
BALL = Region(np.array([1.0, -2.0]), 0.0, 1.5)


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


@pytest.mark.thorough
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


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
def test_the_ball_of_inner_products_ends_where_the_features_do():
    X = RNG.normal(size=(60, 5))
    norm = np.linalg.norm(X, axis=1).max()
    features = FourierFeatures(kernels.Tanh(), 32, random_state=0).fit(X)
    edge = X / np.linalg.norm(X, axis=1, keepdims=True) * norm
    # The data are taken to reach 1.05 times as far, in squares.
    assert warned(features.transform, np.sqrt(1.049) * edge) == []
    assert len(warned(features.transform, np.sqrt(1.052) * edge)) == 1


@pytest.mark.thorough
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
