"""scikit-learn's own checks, with no expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from bochner import FourierFeatures, KreinRidge, KreinRidgeClassifier, kernels

SUM = kernels.Gaussian() + 0.5 * kernels.Exponential(2.0)


@parametrize_with_checks(
    [
        FourierFeatures(n_components=64),
        FourierFeatures(kernel="laplacian", n_components=64, scheme="qmc"),
        FourierFeatures(kernel=SUM, n_components=64, scheme="structured"),
        KreinRidge(n_components=64),
        KreinRidge(n_components=64, alpha="evidence", length_scale="evidence", fit_intercept=True),
        KreinRidgeClassifier(n_components=64),
        KreinRidgeClassifier(n_components=64, alpha="evidence", length_scale="evidence"),
    ],
    xfail_strict=True,
)
def test_estimator(estimator, check):
    check(estimator)
