"""Base of the ridge models: features, sums over rows, and the solution."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.amounts import as_bytes
from bochner._base.arrays import FLOATS, Array, as_count, as_flag, as_positive_scalar
from bochner._base.checks import validated, validated_with_labels, validated_with_numbers
from bochner.features.approximation import Approximation, approximate
from bochner.features.checks import CheckedMap
from bochner.features.chunks import Chunk, RowChunks, ValidatedChunks
from bochner.features.median_length_scales import AnyKernel, resolve_kernel
from bochner.features.parameter_checks import (
    KERNEL_CHECKS,
    Check,
    check_each,
    length_scale_check,
    one_of,
)
from bochner.features.parameters import KernelParameters, count_frequencies, generators
from bochner.features.region import Region, check_rows
from bochner.features.residual import FeatureMap, ResidualFeatures
from bochner.features.stats import NOT_AMONG, FeatureSums, chunk_sums
from bochner.features.targets import Targets
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import native
from bochner.linear.checked_posterior import fit_checked
from bochner.linear.inputs import checked_alpha, checked_weight, refuse_asymmetric, refuse_two_sided
from bochner.linear.iterative import IterativeSolution, fit_iteratively
from bochner.linear.kernel_selection import select_kernel
from bochner.linear.krein import fit_krein
from bochner.linear.predictions import LinearSolution, SolutionAttributes, covariances, predictions
from bochner.linear.ridge_posterior import RidgePosterior, best_alpha, fit_ridge
from bochner.linear.solver_plan import SOLVERS, RidgePlan, RidgeProblem, plan_ridge
from bochner.spectral import Decomposition, Pairing
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.layouts import Scheme


def _check_tolerance(name: str, tol: object) -> None:
    if as_positive_scalar(name, tol) >= 1.0:
        raise ValueError(
            f"{name} must be below 1, got {tol:g}: it is relative to the residual of weights that "
            "are all zero. Use 1e-4, for instance."
        )


_CHECKS: Mapping[str, Check] = {
    **KERNEL_CHECKS,
    "alpha": lambda _, value: checked_alpha(value),
    "length_scale": length_scale_check("auto", "median", "evidence"),
    "associated": as_flag,
    "solver": one_of(SOLVERS),
    "tol": _check_tolerance,
    "memory_limit": lambda _, value: as_bytes(value),
}
"""Checks of the constructor parameters, by name."""


@dataclass(eq=False, repr=False)
class RidgeHead(KernelParameters, SolutionAttributes, BaseEstimator, ABC):
    """Ridge regression on random features, from sums over rows that can be updated."""

    kernel: AnyKernel | str = "gaussian"
    n_components: int = 512
    alpha: float | str = 1.0
    _: KW_ONLY
    length_scale: Any = "auto"
    scheme: str | Scheme = "auto"
    weights: str = "sampled"
    decomposition: str | Decomposition = "auto"
    pairs: str | Pairing = "matched"
    fit_intercept: bool = False
    associated: bool = False
    solver: str = "auto"
    tol: float = 1e-4
    memory_limit: int | str | None = None
    residual: int | None = None
    random_state: Any = None

    _n_checks: ClassVar[int] = 0  # Number of check frequencies, for standard deviations

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
        """Fit the head."""

    def _check_parameters(self) -> None:
        """Raise an error for an unusable parameter; also of a model from a file."""
        check_each(self, _CHECKS)

    def _checked_rows(
        self,
        X: object,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        is_first: bool,
        *,
        numeric: bool,
    ) -> Chunk:
        """Return validated rows with numeric targets or with labels."""
        options = {"accept_sparse": "csr", "dtype": FLOATS, "reset": is_first}
        if numeric:
            X, y = validated_with_numbers(self, X, y, multi_output=True, **options)
        else:
            X, y = validated_with_labels(self, X, y, **options)
        return Chunk(X, y, checked_weight(sample_weight, X))

    def _fit_rows(self, rows: RowChunks, targets: Targets, *, keep_sums: bool = False) -> None:
        """Fit to the rows; an error keeps the attributes of an earlier fit.

        ``keep_sums`` stores the sums, so that later rows can be added.
        """
        self._check_parameters()
        alpha, limit = checked_alpha(self.alpha), as_bytes(self.memory_limit)
        n_landmarks = self._n_landmarks
        # A generator for each step, so that optional steps do not change the draws of other steps.
        *rngs, solver_rng, landmark_rng = generators(self.random_state, 5)
        kernel, approximation = self._approximation(rows.head, targets, *rngs)
        features: FeatureMap = approximation.frequencies
        if n_landmarks is not None:
            head = _weighing(rows.head)
            features = ResidualFeatures.of(
                approximation.frequencies,
                kernel,
                head.X,
                n_landmarks,
                landmark_rng,
                limit,
            )
        checks = self._checks_of(approximation)
        summed = _with_checks(features, checks)
        problem = replace(
            self._problem(summed, targets, alpha, summed.n_features - features.n_features),
            n_samples=rows.n_samples,
            # Conjugate gradients pass over the rows many times, and keep no sums.
            is_repeatable=rows.is_repeatable and not keep_sums,
            weight_rms=rows.head.weight_rms,
        )
        plan = plan_ridge(problem, self.solver, limit)
        if rows.n_samples is None:
            # Later rows of a stream have not been validated yet, unlike rows in memory.
            rows = ValidatedChunks(rows, kernel, approximation.region)
        sums: FeatureSums | None = None
        posterior: LinearSolution
        if plan.solver == "cholesky":
            sums = rows.total(chunk_sums, summed, targets, problem.product_dtype, plan.block_bytes)
            posterior = self._solve(sums, features, checks, alpha)
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
        # Attributes are set after everything that can fail, so that an error keeps the earlier fit.
        self.kernel_, self._region = kernel, approximation.region
        self.frequencies_, self.signature_ = approximation.frequencies, features.signature
        self.residual_ = features if isinstance(features, ResidualFeatures) else None
        self.sums_, self.posterior_ = sums, posterior
        self.checks_ = checks

    def _checks_of(self, approximation: Approximation) -> Frequencies | None:
        """Return the check frequencies, ``None`` in a Krein space, which has no intervals."""
        is_signed = bool((self._signs(approximation.frequencies) < 0).any())
        return None if is_signed else approximation.checks

    def _problem(
        self, features: FeatureMap, targets: Targets, alpha: float | None, n_checks: int
    ) -> RidgeProblem:
        return RidgeProblem(
            p=features.n_features,
            t=targets.n_targets,
            n_samples=None,
            alpha=alpha,
            scale=float(np.abs(features.weight).sum()),
            is_indefinite=bool((self._signs(features) < 0).any()),
            tol=float(self.tol),
            n_checks=n_checks,
        )

    def _approximation(
        self,
        rows: Chunk,
        targets: Targets,
        kernel_rng: np.random.Generator,
        draw_rng: np.random.Generator,
        data_rng: np.random.Generator,
    ) -> tuple[AnyKernel, Approximation]:
        """Resolve the kernel and draw its frequencies."""
        n_frequencies = count_frequencies(self.n_components)
        kernel = self._choose_kernel(rows, targets, n_frequencies, kernel_rng)
        if not self.associated:
            refuse_asymmetric(kernel)
        approximation = approximate(
            kernel,
            _weighing(rows).X,
            n_frequencies,
            draw_rng,
            data_rng,
            scheme=self.scheme,
            weights=self.weights,
            decomposition=self.decomposition,
            pairs=self.pairs,
            n_checks=0 if self.solver == "cg" else self._n_checks,
        )
        if not self.associated:
            refuse_two_sided(kernel, approximation.frequencies)
        return kernel, approximation

    def _choose_kernel(
        self, rows: Chunk, targets: Targets, n_frequencies: int, rng: np.random.Generator
    ) -> AnyKernel:
        X, length_scale = rows.X, self.length_scale
        names = getattr(self, "feature_names_in_", None)
        if not isinstance(length_scale, str) or length_scale != "evidence":
            return resolve_kernel(self.kernel, length_scale, X, rng, rows.weight, names=names)
        kernel = native(self.kernel, X.shape[1])
        if isinstance(kernel, Kernel):
            kernel = kernel.resolved(names, X)
        chosen = select_kernel(
            kernel,
            replace(rows, X=X, y=targets(rows.y)),
            n_frequencies,
            self.scheme,
            checked_alpha(self.alpha),
            rng,
            fit_intercept=self.fit_intercept,
            n_landmarks=self._n_landmarks,
        )
        # Kernels without parameters to learn do not need a length scale.
        return chosen or resolve_kernel(kernel, 1.0, X, rng, rows.weight, names=names)

    @property
    def _n_landmarks(self) -> int | None:
        return None if self.residual is None else as_count("residual", self.residual)

    @property
    def _features(self) -> FeatureMap:
        """The map from rows to the features of the fitted model."""
        return self.frequencies_ if self.residual_ is None else self.residual_

    @property
    def _summed_features(self) -> FeatureMap:
        """The map from rows to the features of the fitted model and check features."""
        return _with_checks(self._features, self.checks_)

    def _signs(self, features: FeatureMap) -> Array:
        """Return the diagonal of ``J``, of shape (p,)."""
        signature = features.signature
        # ``associated=True`` learns with Z Z', which is positive definite, instead of Z J Z'.
        return np.ones_like(signature) if self.associated else signature

    def _solve(
        self,
        sums: FeatureSums,
        features: FeatureMap,
        checks: Frequencies | None,
        alpha: float | None,
    ) -> LinearSolution:
        """Return the posterior, or the stationary point in a Krein space.

        ``sums`` are of the features and of check features.
        """
        intercept, signs = self.fit_intercept, self._signs(features)
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

    @property
    def n_iter_(self) -> int | None:
        """Number of products with the system matrix in conjugate gradients."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.n_iter if isinstance(self.posterior_, IterativeSolution) else None

    @property
    @abstractmethod
    def _targets(self) -> Targets:
        """The map from targets to the numeric columns that the model fits."""

    def _add_rows(self, rows: Chunk, *, forgetting: float = 1.0) -> None:
        """Add rows to the sums; each multiplies the weights of earlier ones by ``forgetting``."""
        before = self._kept_sums()
        sums = before.weighted(forgetting ** len(rows)) if forgetting < 1.0 else before
        sums += self._sums_of(rows.aged(forgetting))
        self.posterior_ = self._solve(sums, self._features, self.checks_, checked_alpha(self.alpha))
        self.sums_ = sums

    def _remove_rows(self, rows: Chunk) -> None:
        """Remove rows from the sums; raise ValueError if no rows have the sums that are left."""
        before = self._kept_sums()
        sums = before - self._sums_of(rows)
        try:
            posterior = self._solve(sums, self._features, self.checks_, checked_alpha(self.alpha))
        except np.linalg.LinAlgError as error:
            raise ValueError(NOT_AMONG) from error
        # Sums of squared residuals of actual rows are not negative.
        coef = posterior.law.coef if isinstance(posterior, RidgePosterior) else posterior.coef
        if sums.misfit(coef, posterior.intercept, before).min() < 0.0:
            raise ValueError(NOT_AMONG)
        self.posterior_, self.sums_ = posterior, sums

    def _kept_sums(self) -> FeatureSums:
        if self.sums_ is None:
            raise ValueError(
                "This model was fitted by conjugate gradients, which keep no sums that rows could "
                "be added to. Use solver='cholesky', or fit to all rows."
            )
        return self.sums_

    def _plan(self) -> tuple[RidgeProblem, RidgePlan]:
        n_checks = 0 if self.checks_ is None else self.checks_.n_features
        alpha = checked_alpha(self.alpha)
        problem = self._problem(self._summed_features, self._targets, alpha, n_checks)
        # Rows of earlier batches are gone, so that conjugate gradients cannot pass over them.
        problem = replace(problem, is_repeatable=False)
        return problem, plan_ridge(problem, self.solver, as_bytes(self.memory_limit))

    def _sums_of(self, rows: Chunk) -> FeatureSums:
        """Return the sums over rows; raise ValueError for rows outside the kernel's domain."""
        check_rows(self.kernel_, self._region, rows.X)
        problem, plan = self._plan()
        features, dtype = self._summed_features, problem.product_dtype
        return chunk_sums([rows], features, self._targets, dtype, plan.block_bytes)

    def _try_out(self) -> None:
        """Raise ValueError unless rows could be added to a model that was loaded."""
        if self.sums_ is None:  # No rows can be added
            return
        self._plan()
        if not self.sums_.are_of_rows:
            raise ValueError(
                f"sums over {self.sums_.n_samples} rows of total weight {self.sums_.weight:g}"
            )

    def _predict(
        self, X: object, *, with_std: bool = False, with_cov: bool = False
    ) -> tuple[Any, Any]:
        """Return means (n, t), and standard deviations (n, t) or covariances (n, n, t) or None."""
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


def _weighing(rows: Chunk) -> Chunk:
    """Return the rows of positive weight."""
    return rows if rows.weight is None else rows[np.flatnonzero(rows.weight > 0)]


def frequencies_alone(model: RidgeHead) -> Frequencies:
    """Return the frequencies of a fitted model; raise ValueError if it has landmark features."""
    if model.residual_ is not None:
        raise ValueError(
            f"Expected a model on features of frequencies alone, and it also has values of its "
            f"kernel at {len(model.residual_.landmarks)} landmarks: fit it with residual=None."
        )
    return model.frequencies_
