"""scikit-learn's own checks of the baselines, with no expected failure."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import baselines, kernels


@parametrize_with_checks(
    [
        baselines.SphericalRandomFeatures(n_components=8, n_starts=1),
        baselines.SphericalRandomFeatures(np.cos, n_components=8, n_starts=1, density="mixture"),
        baselines.RandomMaclaurin(n_components=8),
        baselines.RandomMaclaurin([0.5, -1.0], n_components=8),
        baselines.TensorizedRandomProjection(n_components=8),
        baselines.TensorSketch(n_components=8),
        baselines.AsymmetricNystroem(n_components=8),
        baselines.AsymmetricNystroem(n_components=8, landmarks="pivoted"),
        baselines.KreinNystroem(n_components=8),
        baselines.KreinNystroem(
            kernels.DeltaGaussian() + kernels.Gaussian(), 8, landmarks="leverage"
        ),
        baselines.KreinNystroem(kernels.Tanh(0.1), 8, landmarks="pivoted"),
        baselines.MultipleKernelFeatures(n_components=60),
        baselines.MultipleKernelFeatures(
            n_components=8, length_scales=(1.0, 3.0), kernels=["matern32"]
        ),
        baselines.ALaCarteRegressor(n_components=32, max_iter=20),
        baselines.ALaCarteRegressor(n_components=32, max_iter=20, covariance="diagonal"),
        baselines.RandomFrequencyClassifier(n_components=32, max_iter=20),
    ],
    xfail_strict=True,
)
def test_baseline(estimator, check):
    check(estimator)
