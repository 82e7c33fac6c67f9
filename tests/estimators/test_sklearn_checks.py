"""scikit-learn's own checks."""

from sklearn.base import RegressorMixin
from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    AsymmetricKernelPCA,
    AsymmetricKernelRidge,
    AsymmetricPairRidge,
    DIGMMFeatures,
    FourierFeatures,
    KreinRidge,
    KreinRidgeClassifier,
    kernels,
)

SUM = kernels.Gaussian() + 0.5 * kernels.Exponential(2.0)
SIGNED = kernels.DeltaGaussian(1.0, 10.0)
SHIFTED = kernels.ShiftGaussian(2.0, shift=0.5)
COLUMN = {"check_supervised_y_2d": "a column of targets has a column of predictions, no warning"}


class PairsWithThemselves(AsymmetricPairRidge):
    """A regression on the pairs of every row with itself: the checks pass one argument."""

    score = RegressorMixin.score

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, X, sample_weight)

    def predict(self, X):
        return super().predict(X, X)


@parametrize_with_checks(
    [
        AsymmetricKernelPCA(n_features=64),
        AsymmetricKernelPCA(3, SHIFTED, n_features=64),
        FourierFeatures(n_components=64),
        FourierFeatures(kernel="laplacian", n_components=64, scheme="qmc"),
        FourierFeatures(kernel=SUM, n_components=64, scheme="structured"),
        FourierFeatures(SIGNED, n_components=64),
        FourierFeatures(SIGNED, n_components=64, weights="least_squares"),
        FourierFeatures(kernels.Tanh(0.1), n_components=64, scheme="iid"),
        DIGMMFeatures(n_components=64, max_iter=20),
        DIGMMFeatures(SIGNED, n_components=64, n_sketch=20, max_iter=10, n_starts=1),
        DIGMMFeatures(SIGNED, n_components=64, expectation="taylor"),
        KreinRidge(SIGNED, n_components=64),
        KreinRidgeClassifier(SIGNED, n_components=64, associated=True),
        KreinRidge(n_components=64),
        KreinRidge(n_components=64, alpha="evidence", length_scale="evidence", fit_intercept=True),
        KreinRidgeClassifier(n_components=64),
        KreinRidgeClassifier(n_components=64, alpha="evidence", length_scale="evidence"),
        AsymmetricKernelRidge(n_components=64),
        AsymmetricKernelRidge(n_components=64, alpha="evidence", fit_intercept=True),
        AsymmetricKernelRidge(SHIFTED, n_components=64, alpha=0.01),
        PairsWithThemselves(n_components=16),
        PairsWithThemselves(SHIFTED, 16, 0.01),
    ],
    expected_failed_checks=lambda model: COLUMN if isinstance(model, AsymmetricPairRidge) else {},
    xfail_strict=True,
)
def test_estimator(estimator, check):
    check(estimator)
