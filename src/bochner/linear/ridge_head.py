"""Base class of the ridge models: the steps of a fit, later updates with rows, and predictions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, ArrayLike, InputRows, as_flag, row_blocks
from bochner._base.checks import generators, validated
from bochner.features.approximation import Region, approximate, check_rows
from bochner.features.chunks import Chunk, RowChunks, Targets, ValidatedChunks
from bochner.features.landmarks import FeatureMap, ResidualFeatures
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    Check,
    KernelParameters,
    check_each,
    count_frequencies,
    length_scale_check,
    resolve_kernel,
)
from bochner.features.row_sums import FeatureSums, chunk_sums
from bochner.features.transformer import FourierFeatures
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import native
from bochner.linear.argument_checks import (
    checked_alpha,
    described_features,
    drawing_options,
    features_check,
    refuse_asymmetric,
    refuse_two_sided,
)
from bochner.linear.iterative import IterativeSolution, fit_iteratively
from bochner.linear.kernel_selection import select_kernel
from bochner.linear.krein import KreinSolution, fit_krein
from bochner.linear.ridge_posterior import (
    CheckedMap,
    FunctionLaw,
    RidgePosterior,
    best_alpha,
    fit_checked,
    fit_ridge,
)
from bochner.linear.solver_plan import RidgePlan, RidgeProblem, RidgeSolver, plan_ridge
from bochner.spectral.frequencies import Frequencies

LinearSolution = RidgePosterior | KreinSolution | IterativeSolution
"""Types of solutions in model files of linear models."""


def predictions(
    features: FeatureMap, solution: LinearSolution, X: InputRows, *, with_std: bool
) -> tuple[Any, Any]:
    """Return means and, with ``with_std``, standard deviations (n, t), or raise ValueError."""
    law = with_uncertainty(solution).law if with_std else solution
    mean = np.empty((X.shape[0], law.coef.shape[1]))
    std = np.empty_like(mean) if with_std else None
    for rows in row_blocks(len(mean), 8 * features.n_features):
        Z = features.features(X[rows])
        mean[rows] = law.mean(Z)
        if std is not None and isinstance(law, FunctionLaw):
            std[rows] = law.std(Z)
    return mean, std


def covariances(features: FeatureMap, solution: LinearSolution, X: InputRows) -> Any:
    """Return predictive covariances (n, n, t) of rows (n, d), or raise ValueError."""
    return with_uncertainty(solution).law.cov(features.features(X, np.float64))


def with_uncertainty(solution: LinearSolution) -> RidgePosterior:
    """Return the solution unchanged; raise ValueError with advice if it has no covariance."""
    if not isinstance(solution, RidgePosterior):
        raise ValueError(f"The model has no predictive standard deviation. {solution.limitation}")
    return solution


def offered(solution: Any, name: str) -> Any:
    """Return the attribute ``name`` of a solution; raise AttributeError if it is ``None``."""
    value = getattr(solution, name)
    if value is None:
        quantity = name.removeprefix("log_").replace("_", " ")
        raise AttributeError(f"The model has no {quantity}. {solution.limitation}")
    return value


class LinearAttributes:
    """Mixin of the fitted attributes of linear models, squeezed if there is one target."""

    posterior_: Any
    _single_target: bool
    _target_origin: Array

    @property
    def coef_(self) -> Array:
        """Weights of the features."""
        check_is_fitted(self, "posterior_")
        coef: Array = self.posterior_.coef
        return coef[:, 0] if self._single_target else coef.T

    @property
    def intercept_(self) -> Any:
        """The intercept; zero unless ``fit_intercept`` is true."""
        check_is_fitted(self, "posterior_")
        return self._squeezed((self.posterior_.intercept + self._target_origin)[None])[0]

    @property
    def alpha_(self) -> float:
        """The regularisation, either given or chosen by the fit."""
        return float(self.posterior_.alpha)

    @property
    def log_evidence_(self) -> float:
        """Log marginal likelihood of the training targets, if the solver computes it."""
        return float(offered(self.posterior_, "log_evidence"))

    @property
    def condition_number_(self) -> float:
        """Condition number of the linear system for the weights.

        Times 2e-16, it is the relative error of the weights. It is computed at each access.
        """
        return float(offered(self.posterior_, "condition_number"))

    def _squeezed(self, values: Any) -> Any:
        return values[..., 0] if self._single_target else values


_CHECKS: Mapping[str, Check] = {
    **KERNEL_CHECKS,
    "alpha": lambda _, value: checked_alpha(value),
    "features": features_check("auto", "median", "evidence"),
    "length_scale": length_scale_check("auto", "median", "evidence"),
    "associated": as_flag,
    "solver": lambda _, value: RidgeSolver.resolved(value),
}
"""Checks of the constructor parameters, by name."""


@dataclass(eq=False, repr=False)
class RidgeHead(KernelParameters, LinearAttributes, BaseEstimator, ABC):
    """Base of ridge models on random features, fitted from sums over rows that can be updated."""

    kernel: "AnyKernel | str" = "gaussian"
    n_components: int = 512
    alpha: float | str = 1.0
    features: FourierFeatures | None = None
    _: KW_ONLY
    length_scale: Any = "auto"
    fit_intercept: bool = False
    associated: bool = False
    solver: str | RidgeSolver = "auto"
    residual: int | None = None
    random_state: Any = None

    kernel_: AnyKernel = field(init=False)
    frequencies_: Frequencies = field(init=False)
    residual_: ResidualFeatures | None = field(init=False, default=None)
    checks_: Frequencies | None = field(init=False, default=None)
    signature_: Array = field(init=False)
    _region: Region | None = field(init=False)
    sums_: FeatureSums | None = field(init=False)
    posterior_: LinearSolution = field(init=False)

    @abstractmethod
    def fit(
        self, X: object, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Fit to all rows at once."""

    def _check_parameters(self) -> None:
        """Raise an error for an invalid parameter; also called for a model loaded from a file."""
        check_each(self, _CHECKS)
        described_features(self)

    def _fit_rows(
        self, rows: RowChunks, targets: Targets, *, keep_sums: bool, n_checks: int = 0
    ) -> None:
        """Fit to ``rows``; ``keep_sums`` stores their sums, so that later rows can be added."""
        self._check_parameters()
        solver, alpha = RidgeSolver.resolved(self.solver), checked_alpha(self.alpha)
        # One random generator per step, so that optional steps do not change other draws.
        kernel_rng, draw_rng, data_rng, solver_rng, landmark_rng = generators(self.random_state, 5)
        head = rows.head
        present = head if head.weight is None else head[np.flatnonzero(head.weight > 0)]

        # Step 1: the kernel and its features, chosen on the first rows.
        description = described_features(self)
        kernel = self._chosen_kernel(description, head, targets, kernel_rng)
        if not self.associated:
            refuse_asymmetric(kernel)
        approximation = approximate(
            kernel,
            present.X,
            count_frequencies(description.n_components),
            draw_rng,
            data_rng,
            n_checks=0 if solver.method == "cg" else n_checks,
            **drawing_options(description),
        )
        frequencies, checks = approximation.frequencies, approximation.checks
        if not self.associated:
            refuse_two_sided(kernel, frequencies)
        if (self._signs(frequencies) < 0).any():
            checks = None  # Models in a Krein space have no prediction intervals
        features: FeatureMap = frequencies
        if self.residual is not None:
            features = ResidualFeatures.of(
                frequencies, kernel, present.X, self.residual, landmark_rng, solver.memory
            )

        # Step 2: the solution, from sums over all rows or by conjugate gradients.
        problem = replace(
            self._problem(features, checks, targets),
            n_samples=rows.n_samples,
            # Conjugate gradients read the rows many times and store no sums.
            is_repeatable=rows.is_repeatable and not keep_sums,
            weight_rms=head.weight_rms,
        )
        plan = plan_ridge(problem, solver.method, solver.memory)
        if rows.n_samples is None:
            # Only rows in memory have been validated; later chunks of a stream have not.
            rows = ValidatedChunks(rows, kernel, approximation.region)
        sums: FeatureSums | None = None
        posterior: LinearSolution
        if plan.solver == "cholesky":
            summed, dtype = _with_checks(features, checks), problem.product_dtype
            sums = rows.total(chunk_sums, summed, targets, dtype, plan.block_bytes)
            posterior = self._solution(sums, features, checks)
        else:
            assert alpha is not None
            checks = None
            posterior = fit_iteratively(
                rows,
                features,
                targets,
                self._signs(features),
                alpha,
                solver_rng,
                fit_intercept=self.fit_intercept,
                tol=problem.tol,
                dtype=problem.pass_dtype,
                n_landmarks=plan.n_landmarks,
                keep=plan.keep,
            )
        self.kernel_, self._region = kernel, approximation.region
        self.frequencies_, self.signature_ = frequencies, features.signature
        self.residual_ = features if isinstance(features, ResidualFeatures) else None
        self.sums_, self.posterior_, self.checks_ = sums, posterior, checks

    def _chosen_kernel(
        self, description: SimpleNamespace, rows: Chunk, targets: Targets, rng: np.random.Generator
    ) -> AnyKernel:
        """Return the kernel with its length scale, or with learned parameters."""
        unresolved, length_scale = description.kernel, description.length_scale
        X, names = rows.X, getattr(self, "feature_names_in_", None)
        if not isinstance(length_scale, str) or length_scale != "evidence":
            return resolve_kernel(unresolved, length_scale, X, rng, rows.weight, names=names)
        kernel = native(unresolved, X.shape[1])
        if isinstance(kernel, Kernel):
            kernel = kernel.resolved(names, X)
        chosen = select_kernel(
            kernel,
            replace(rows, y=targets(rows.y)),
            count_frequencies(description.n_components),
            description.scheme,
            checked_alpha(self.alpha),
            rng,
            fit_intercept=self.fit_intercept,
            n_landmarks=self.residual,
        )
        # Kernels without parameters to learn do not need a length scale.
        return chosen or resolve_kernel(kernel, 1.0, X, rng, rows.weight, names=names)

    def _problem(
        self, features: FeatureMap, checks: Frequencies | None, targets: Targets
    ) -> RidgeProblem:
        summed = _with_checks(features, checks)
        return RidgeProblem(
            p=summed.n_features,
            t=targets.n_targets,
            n_samples=None,
            alpha=checked_alpha(self.alpha),
            scale=float(np.abs(summed.weight).sum()),
            is_indefinite=bool((self._signs(features) < 0).any()),
            tol=RidgeSolver.resolved(self.solver).tol,
            n_checks=summed.n_features - features.n_features,
        )

    def _signs(self, features: FeatureMap) -> Array:
        """Return the signs (p,) of the features, the diagonal of ``J``."""
        signature = features.signature
        # ``associated=True`` learns with Z Z', which is positive definite, instead of Z J Z'.
        return np.ones_like(signature) if self.associated else signature

    def _solution(
        self, sums: FeatureSums, features: FeatureMap, checks: Frequencies | None
    ) -> LinearSolution:
        """Return the posterior from sums, or the stationary point if the kernel is indefinite."""
        alpha, intercept = checked_alpha(self.alpha), self.fit_intercept
        signs = self._signs(features)
        if (signs < 0).any():
            return fit_krein(sums, signs, alpha, fit_intercept=intercept)
        if checks is None:
            ratio = best_alpha(sums, fit_intercept=intercept)[0] if alpha is None else alpha
            return fit_ridge(sums, ratio, fit_intercept=intercept)
        checked = CheckedMap.of(features, checks)
        if alpha is not None:
            return fit_checked(sums, checked, alpha, fit_intercept=intercept)
        ratio = best_alpha(sums.at(checked.main_columns), fit_intercept=intercept)[0]
        return fit_checked(sums, checked, ratio, fit_intercept=intercept, is_ratio=False)

    def _add_rows(self, rows: Chunk, targets: Targets, forgetting: float) -> None:
        """Add rows to the sums; each row scales earlier rows' weights by ``forgetting``."""
        before = self._kept_sums()
        sums = before.weighted(forgetting ** len(rows)) if forgetting < 1.0 else before
        sums += self._sums_of(rows.aged(forgetting), targets)
        posterior = self._solution(sums, self._features, self.checks_)
        self.posterior_, self.sums_ = posterior, sums

    def _kept_sums(self) -> FeatureSums:
        if self.sums_ is None:
            raise ValueError(
                "This model was fitted by conjugate gradients, which keep no sums that rows could "
                "be added to. Use solver='cholesky', or fit to all rows."
            )
        return self.sums_

    def _sums_of(self, rows: Chunk, targets: Targets) -> FeatureSums:
        """Return the sums over rows; raise ValueError for rows outside the kernel's domain."""
        check_rows(self.kernel_, self._region, rows.X)
        problem, plan = self._later_plan(targets)
        features, dtype = self._summed_features, problem.product_dtype
        return chunk_sums([rows], features, targets, dtype, plan.block_bytes)

    def _later_plan(self, targets: Targets) -> tuple[RidgeProblem, RidgePlan]:
        problem = self._problem(self._features, self.checks_, targets)
        # Earlier batches are no longer available, so that conjugate gradients cannot be used.
        problem = replace(problem, is_repeatable=False)
        solver = RidgeSolver.resolved(self.solver)
        return problem, plan_ridge(problem, solver.method, solver.memory)

    def _check_sums(self, targets: Targets) -> None:
        """Raise ValueError if the stored sums of a loaded model are invalid."""
        if self.sums_ is None:  # No rows can be added
            return
        self._later_plan(targets)
        if not self.sums_.are_of_rows:
            raise ValueError(
                f"sums over {self.sums_.n_samples} rows of total weight {self.sums_.weight:g}"
            )

    @property
    def n_iter_(self) -> int | None:
        """Number of products with the system matrix in conjugate gradients, or ``None``."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.n_iter if isinstance(self.posterior_, IterativeSolution) else None

    @property
    def _features(self) -> FeatureMap:
        """The feature map of the fitted model."""
        return self.frequencies_ if self.residual_ is None else self.residual_

    @property
    def _summed_features(self) -> FeatureMap:
        """The feature map of the fitted model, followed by check features if it has them."""
        return _with_checks(self._features, self.checks_)

    def _predict(
        self, X: object, *, with_std: bool = False, with_cov: bool = False
    ) -> tuple[Any, Any]:
        """Return means (n, t) and standard deviations (n, t), covariances (n, n, t) or ``None``."""
        check_is_fitted(self, "posterior_")
        rows = validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        check_rows(self.kernel_, self._region, rows)
        features = self._summed_features if with_std else self._features
        mean, std = predictions(features, self.posterior_, rows, with_std=with_std)
        return mean, covariances(self._summed_features, self.posterior_, rows) if with_cov else std

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_checks(features: FeatureMap, checks: Frequencies | None) -> FeatureMap:
    return features if checks is None else CheckedMap.of(features, checks).joint


def frequencies_alone(model: RidgeHead) -> Frequencies:
    """Return the frequencies of a fitted model; raise ValueError if it has landmark features."""
    if model.residual_ is not None:
        raise ValueError(
            f"Expected a model on features of frequencies alone, and it also has values of its "
            f"kernel at {len(model.residual_.landmarks)} landmarks: fit it with residual=None."
        )
    return model.frequencies_
