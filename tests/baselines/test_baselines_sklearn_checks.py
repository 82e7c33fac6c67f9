"""scikit-learn's own checks of the baselines, with no expected failure."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import kernels
from bochner.baselines import (
    KreinNystroem,
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
        KreinNystroem(n_components=8),
        KreinNystroem(kernels.DeltaGaussian() + kernels.Gaussian(), 8, landmarks="leverage"),
        KreinNystroem(kernels.Tanh(0.1), 8, landmarks="pivoted"),
    ],
    xfail_strict=True,
)
def test_baseline(estimator, check):
    check(estimator)
