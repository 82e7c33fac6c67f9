"""scikit-learn's checks of estimators, for the Gaussian processes."""

import pytest
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import GaussianProcessClassifier, GaussianProcessRegressor, kernels


@pytest.mark.slow
@parametrize_with_checks(
    [
        GaussianProcessRegressor(),
        GaussianProcessRegressor(kernels.Laplacian(1.0), alpha=0.1),
        GaussianProcessRegressor(
            1.0 * RBF(1.0) + WhiteKernel(0.1), solver="approximate", n_landmarks=8, n_neighbors=16
        ),
        GaussianProcessRegressor(solver="approximate", n_landmarks=8, n_neighbors=16),
        GaussianProcessClassifier(),
        GaussianProcessClassifier(1.0 * RBF(1.0), solver="approximate", n_landmarks=32),
    ],
    xfail_strict=True,
)
def test_estimator(estimator, check):
    check(estimator)
