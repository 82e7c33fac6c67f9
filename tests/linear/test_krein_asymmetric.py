"""Heads on the features of one argument refuse kernels whose two arguments differ."""

import re

import numpy as np
import pytest
from flat_parameters import flat
from laws.registry import late, late_gram
from numpy.testing import assert_allclose

from bochner import (
    AsymmetricKernelRidge,
    AsymmetricPairRidge,
    FourierFeatures,
    KreinRidge,
    KreinRidgeClassifier,
    kernels,
)

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.sin(X[:, 0])
LABELS = Y > 0
HEADS = {"ridge": (KreinRidge, Y), "classifier": (KreinRidgeClassifier, LABELS)}


TURN = np.array([[1.0, 0.5], [0.0, 1.0]])
ASYMMETRIC = {
    "shift": kernels.ShiftGaussian(1.0, 0.5),
    "sinh in a sum": kernels.SinhGaussian(1.0, 0.5) + kernels.Gaussian(),
    "lag": kernels.Stationary(late),
    "bilinear": kernels.Bilinear(kernels.Gaussian(), np.eye(2), TURN),
}


@pytest.mark.parametrize(("head", "targets"), HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("kernel", ASYMMETRIC.values(), ids=ASYMMETRIC)
@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_an_asymmetric_kernel_is_refused_with_the_ways_out(head, targets, kernel, weights):
    model = flat(head, kernel, 64, weights=weights, random_state=0)
    message = (
        f"{re.escape(repr(kernel)[:60])} is asymmetric.*AsymmetricKernelRidge.*symmetrised.*assoc"
    )
    for fit in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=message):
            fit(X, targets)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a positive number or 'evidence'"),
        ({"alpha": -1.0}, "alpha must be a positive number"),
        ({"alpha": np.nan}, "alpha must be a positive number"),
        ({"alpha": "best"}, "alpha must be a positive number"),
        ({"n_components": 41}, "odd.*Use 42"),
        ({"kernel": "gauss"}, "Did you mean 'gaussian'"),
        ({"length_scale": "mean"}, "length_scale must be 'auto', 'median'"),
        ({"scheme": "none"}, "scheme must be one of"),
    ],
)
@pytest.mark.parametrize(
    ("head", "others"),
    [(KreinRidge, {}), (AsymmetricKernelRidge, {}), (AsymmetricPairRidge, {"right": X})],
    ids=["ridge", "rows", "pairs"],
)
def test_wrong_parameters_are_refused(parameters, message, head, others):
    with pytest.raises(ValueError, match=message):
        flat(head, **parameters).fit(X, Y, **others)


@pytest.mark.parametrize(("head", "targets"), HEADS.values(), ids=HEADS)
def test_a_function_that_is_found_asymmetric_is_refused(head, targets):
    model = flat(head, late_gram, 64, weights="least_squares", random_state=0)
    with pytest.raises(
        ValueError, match=r"late_gram.*not symmetric on these data.*Asym.*\.T\) / 2"
    ):
        model.fit(X, targets)


@pytest.mark.thorough_cases(but="shift|sampled-sinh in a sum")
@pytest.mark.parametrize("kernel", [*ASYMMETRIC.values()][:3], ids=[*ASYMMETRIC][:3])
@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_with_a_symmetrised_kernel_the_model_is_kernel_ridge_regression(kernel, weights):
    even = kernel.symmetrised
    model = KreinRidge(
        alpha=1.0,
        features=FourierFeatures(even, 1024, weights=weights, length_scale="auto"),
        random_state=0,
    ).fit(X, Y)
    # The estimate is symmetric, and what is learned is learned with it.
    Z = model.frequencies_.features(X)
    K = (Z * model.signature_) @ Z.T
    assert_allclose(K, model.frequencies_.gram(X), atol=1e-12)
    expected = K @ np.linalg.solve(K + np.eye(len(X)), Y)
    assert_allclose(model.predict(X), expected, atol=1e-6)
    exact = even(X)
    assert np.linalg.norm(K - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.thorough_cases("lag")
@pytest.mark.parametrize(("head", "targets"), HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("kernel", ASYMMETRIC.values(), ids=ASYMMETRIC)
def test_the_associated_space_is_that_of_the_left_features(head, targets, kernel):
    model = head(kernel, 64, 1.0, associated=True, random_state=0).fit(X, targets)
    Z = model.frequencies_.features(X)
    t = np.where(targets, 1.0, -1.0) if targets is LABELS else targets
    coef = np.linalg.solve(Z.T @ Z + np.eye(64), Z.T @ t)
    assert_allclose(np.ravel(model.coef_), coef, atol=1e-8)
