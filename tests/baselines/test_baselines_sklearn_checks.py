"""scikit-learn's own checks of the baselines, with no expected failure."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import kernels
from bochner.baselines import (
    ALaCarteRegressor,
    AsymmetricNystroem,
    KreinNystroem,
    MultipleKernelFeatures,
    RandomFrequencyClassifier,
    RandomMaclaurin,
    SphericalRandomFeatures,
    TensorizedRandomProjection,
    TensorSketch,
)


@parametrize_with_checks(
    [
        SphericalRandomFeatures(n_components=8, n_starts=1),
        SphericalRandomFeatures(np.cos, n_components=8, n_starts=1, density="mixture"),
        RandomMaclaurin(n_components=8),
        RandomMaclaurin([0.5, -1.0], n_components=8),
        TensorizedRandomProjection(n_components=8),
        TensorSketch(n_components=8),
        AsymmetricNystroem(n_components=8),
        AsymmetricNystroem(n_components=8, landmarks="pivoted"),
        KreinNystroem(n_components=8),
        KreinNystroem(kernels.DeltaGaussian() + kernels.Gaussian(), 8, landmarks="leverage"),
        KreinNystroem(kernels.Tanh(0.1), 8, landmarks="pivoted"),
        MultipleKernelFeatures(n_components=60),
        MultipleKernelFeatures(n_components=8, length_scales=(1.0, 3.0), kernels=["matern32"]),
        ALaCarteRegressor(n_components=32, max_iter=20),
        ALaCarteRegressor(n_components=32, max_iter=20, covariance="diagonal"),
        RandomFrequencyClassifier(n_components=32, max_iter=20),
    ],
    xfail_strict=True,
)
def test_baseline(estimator, check):
    check(estimator)
