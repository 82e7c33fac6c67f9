"""scikit-learn's own checks, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import (
    AsymmetricKernelPCA,
    AsymmetricKernelRidge,
    DIGMMFeatures,
    FourierFeatures,
    KreinRidge,
    KreinRidgeClassifier,
    kernels,
)

SUM = kernels.Gaussian() + 0.5 * kernels.Exponential(2.0)
SIGNED = kernels.DeltaGaussian(1.0, 10.0)


@parametrize_with_checks(
    [
        AsymmetricKernelPCA(n_features=64),
        AsymmetricKernelPCA(3, kernels.ShiftGaussian(2.0, shift=0.5), n_features=64),
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
        AsymmetricKernelRidge(kernels.ShiftGaussian(2.0, shift=0.5), n_components=64, alpha=0.01),
    ],
    xfail_strict=True,
)
def test_estimator(estimator, check):
    check(estimator)
