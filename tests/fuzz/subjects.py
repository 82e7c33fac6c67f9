"""Every public estimator, small enough for a case in a fraction of a second."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sklearn.gaussian_process.kernels import RBF

import bochner
from bochner import features, kernels, papers
from bochner.learned import Chains, ExactInference

SIGNED = kernels.DeltaGaussian(1.0, 10.0)
COLUMNS = (
    kernels.Gaussian().on(0)
    + kernels.Periodic(2.0).on(0) * kernels.Matern().on(-1)
    + 0.5 * kernels.Linear(centre=0.5).on(-1)
    - kernels.Constant(0.1)
)
CHAINS = {"n_frequencies": 6, "chains": Chains(n_burn_in=2, n_samples=3, n_chains=1)}
SHORT = {"n_mixture": 2, "max_iter": 4}


@dataclass(frozen=True)
class Subject:
    """An estimator with small parameters, and what its ``fit`` takes."""

    kind: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = "numbers"  # Or "labels"; None for features
    weighted: bool = True
    right: bool = False
    weight: int = 8  # Share of the cases: slower ones have fewer

    @property
    def parameters(self) -> list[str]:
        return sorted(set(self.kind().get_params(deep=False)) - {"random_state", "verbose"})

    def build(self, **changed: Any) -> Any:
        settings = {"random_state": 0, **self.settings, **changed}
        known = self.kind().get_params(deep=False)
        return self.kind(**{name: value for name, value in settings.items() if name in known})


def _numbers(kind, **settings):
    return Subject(kind, settings)


def _labels(kind, **settings):
    return Subject(kind, settings, "labels")


def _features(kind, **settings):
    return Subject(kind, settings, None, weighted=False)


SMALL = {"n_components": 16}

SUBJECTS = {
    "ridge": _numbers(bochner.KreinRidge, **SMALL),
    "ridge, evidence": _numbers(
        bochner.KreinRidge, alpha="evidence", length_scale="evidence", fit_intercept=True, **SMALL
    ),
    "ridge, signed": _numbers(bochner.KreinRidge, kernel=SIGNED, **SMALL),
    "ridge, signed, evidence": _numbers(
        bochner.KreinRidge, kernel=SIGNED, alpha="evidence", **SMALL
    ),
    "ridge, columns": _numbers(bochner.KreinRidge, kernel=COLUMNS, **SMALL),
    "ridge, iterative": _numbers(bochner.KreinRidge, solver="cg", fit_intercept=True, **SMALL),
    "ridge, landmarks": _numbers(bochner.KreinRidge, residual=8, **SMALL),
    "ridge classifier": _labels(bochner.KreinRidgeClassifier, **SMALL),
    "ridge classifier, evidence": _labels(
        bochner.KreinRidgeClassifier, alpha="evidence", length_scale="evidence", **SMALL
    ),
    "generalised": _numbers(bochner.KernelGLMRegressor, length_scale="evidence", **SMALL),
    "generalised, outliers": _numbers(bochner.KernelGLMRegressor, likelihood="student_t", **SMALL),
    "generalised, classes": _labels(bochner.KernelGLMClassifier, **SMALL),
    "process": Subject(bochner.GaussianProcessRegressor, weighted=False, weight=2),
    "process of many rows": Subject(
        bochner.GaussianProcessRegressor,
        {"solver": "approximate", "n_landmarks": 4, "n_neighbors": 8},
        weighted=False,
        weight=2,
    ),
    "process of classes": Subject(
        bochner.GaussianProcessClassifier, {}, "labels", weighted=False, weight=2
    ),
    "process of many labels": Subject(
        bochner.GaussianProcessClassifier,
        {"kernel": RBF(1.0), "solver": "approximate", "n_landmarks": 16},
        "labels",
        weighted=False,
        weight=2,
    ),
    "asymmetric ridge": _numbers(bochner.AsymmetricKernelRidge, **SMALL),
    "asymmetric ridge, evidence": _numbers(
        bochner.AsymmetricKernelRidge,
        kernel=kernels.ShiftGaussian(2.0, shift=0.5),
        alpha="evidence",
        fit_intercept=True,
        **SMALL,
    ),
    "pair ridge": Subject(bochner.AsymmetricPairRidge, SMALL, right=True),
    "pair ridge, evidence": Subject(
        bochner.AsymmetricPairRidge, {"alpha": "evidence", **SMALL}, right=True
    ),
    "features": _features(bochner.FourierFeatures, **SMALL),
    "features, structured": _features(bochner.FourierFeatures, scheme="structured", **SMALL),
    "features, lattice": _features(
        bochner.FourierFeatures, kernel="laplacian", scheme="lattice", **SMALL
    ),
    "features, signed": _features(bochner.FourierFeatures, kernel=SIGNED, **SMALL),
    "features, columns": _features(bochner.FourierFeatures, kernel=COLUMNS, **SMALL),
    "features, fitted weights": _features(
        bochner.FourierFeatures, kernel="cauchy", weights="least_squares", **SMALL
    ),
    "features, float32": _features(bochner.FourierFeatures, dtype="float32", **SMALL),
    "features, polynomial": _features(bochner.FourierFeatures, kernel="polynomial", **SMALL),
    "mixture features": _features(
        bochner.SimilarityFeatures, inference=ExactInference(max_iter=5, n_starts=1), **SMALL
    ),
    "Taylor mixture features": _features(
        bochner.SimilarityFeatures, inference=papers.digmm.Taylor(max_iter=5), **SMALL
    ),
    "positive features": _features(bochner.PositiveFeatures, **SMALL),
    "positive features, sampled": _features(bochner.PositiveFeatures, weights="sampled", **SMALL),
    "encoder": _features(bochner.TableEncoder),
    "chain": Subject(bochner.LearnedKernelRegressor, CHAINS, weight=3),
    "chain of classes": Subject(bochner.LearnedKernelClassifier, CHAINS, "labels", weight=3),
    "local chain": Subject(bochner.LocallyStationaryRegressor, CHAINS, weight=2),
    "local chain of classes": Subject(
        bochner.LocallyStationaryClassifier, CHAINS, "labels", weight=2
    ),
    "table": Subject(bochner.TableRegressor, {"kernel": "gaussian", "n_components": 32}, weight=2),
    "table of classes": Subject(
        bochner.TableClassifier, {"kernel": "gaussian", "n_components": 32}, "labels", weight=2
    ),
    "learned table": Subject(bochner.TableRegressor, {"effort": "quick"}, weight=1),
    "learned table of classes": Subject(
        bochner.TableClassifier, {"effort": "quick"}, "labels", weight=1
    ),
    "asymmetric Nystroem": _features(features.AsymmetricNystroem, n_components=4),
    "Krein Nystroem": _features(features.KreinNystroem, n_components=4),
}
