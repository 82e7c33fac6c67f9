"""scikit-learn's own checks."""

import pytest
from sklearn.base import RegressorMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from spectral.few_designs import design_roughly

import bochner
from bochner import papers
from bochner.learned import ExactInference

SUM = bochner.kernels.Gaussian() + 0.5 * bochner.kernels.Exponential(2.0)
SIGNED = bochner.kernels.Gaussian() - 0.5 * bochner.kernels.Cauchy(3.0)
"""A kernel of known measure; that of others is designed for the rows of each check."""

SHIFTED = bochner.kernels.ShiftGaussian(2.0, shift=0.5)
OUTLIERS = bochner.gaussian_process.StudentTLikelihood(scale=0.5)
CENSORED = bochner.gaussian_process.CensoredGaussianLikelihood(left=0.0, scale=0.5)


class PairsWithThemselves(bochner.AsymmetricPairRidge):
    """A regression on the pairs of every row with itself: the checks pass one argument."""

    score = RegressorMixin.score

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, X, sample_weight)

    def predict(self, X):
        return super().predict(X, X)


@pytest.mark.thorough_cases(
    r"^\w+\((alpha|associated|expectation|kernel|length_scale|likelihood)|^Similarity.*-check_(transformer_data_not|pipeline)|^KernelGLM.*sparse|^KernelGLMC.*train"
)
@parametrize_with_checks(
    [
        bochner.FourierFeatures(n_components=64),
        bochner.FourierFeatures(kernel="laplacian", n_components=64, scheme="lattice"),
        bochner.FourierFeatures(kernel=SUM, n_components=64, scheme="structured"),
        bochner.FourierFeatures(SIGNED, n_components=64),
        bochner.FourierFeatures(SIGNED, n_components=64, weights="least_squares"),
        bochner.FourierFeatures(bochner.kernels.Tanh(0.1), n_components=64, scheme="iid"),
        bochner.SimilarityFeatures(n_components=64, inference=ExactInference(max_iter=20)),
        bochner.SimilarityFeatures(
            SIGNED, n_components=64, n_sketch=20, inference=ExactInference(max_iter=10, n_starts=1)
        ),
        bochner.SimilarityFeatures(SIGNED, n_components=64, inference=papers.digmm.Taylor()),
        bochner.PositiveFeatures(n_components=16),
        bochner.PositiveFeatures(n_components=16, weights="sampled"),
        bochner.KreinRidge(SIGNED, n_components=64),
        bochner.KreinRidgeClassifier(SIGNED, n_components=64, associated=True),
        bochner.KreinRidge(n_components=64),
        bochner.KreinRidge(
            n_components=64, alpha="evidence", length_scale="evidence", fit_intercept=True
        ),
        bochner.KreinRidge(n_components=64, residual=10),
        bochner.KreinRidgeClassifier(n_components=64),
        bochner.KreinRidgeClassifier(n_components=64, alpha="evidence", length_scale="evidence"),
        bochner.AsymmetricKernelRidge(n_components=64),
        bochner.AsymmetricKernelRidge(n_components=64, alpha="evidence", fit_intercept=True),
        bochner.AsymmetricKernelRidge(SHIFTED, n_components=64, alpha=0.01),
        bochner.KernelGLMRegressor(n_components=32),
        bochner.KernelGLMRegressor(OUTLIERS, n_components=32),
        bochner.KernelGLMRegressor(CENSORED, n_components=32, length_scale="evidence"),
        bochner.KernelGLMClassifier(n_components=32),
        bochner.KernelGLMClassifier("softmax", n_components=32),
        PairsWithThemselves(n_components=16),
        PairsWithThemselves(SHIFTED, 16, 0.01),
    ],
    xfail_strict=True,
)
def test_estimator(estimator, check, monkeypatch):
    design_roughly(monkeypatch)
    check(estimator)
