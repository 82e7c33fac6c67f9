"""Base of the generalised linear models on features, fitted by Laplace's approximation."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    ArrayLike,
    Index,
    InputRows,
    MatrixLike,
    as_array,
    as_count,
    dense_rows,
    row_blocks,
)
from bochner._base.checks import generators, refuse_masked, validated
from bochner._base.limits import LARGEST_WEIGHT, MEBIBYTE
from bochner._base.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.features.landmarks import LandmarkFeatures, residual_variance
from bochner.features.parameters import (
    KERNEL_CHECKS,
    AnyKernel,
    Check,
    KernelParameters,
    check_each,
    length_scale_check,
    resolve_kernel,
    unchecked,
)
from bochner.gaussian_process.laplace import LaplacePosterior
from bochner.gaussian_process.laplace_evidence import (
    DIFFERENCE,
    EvidenceSlopes,
    LaplaceProblem,
    LaplaceSearch,
)
from bochner.gaussian_process.latent_rows import latent_features
from bochner.gaussian_process.likelihood import Likelihood, checked_targets, prior_centre
from bochner.gaussian_process.number_likelihoods import GaussianLikelihood, LocationLikelihood
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import native
from bochner.linear.argument_checks import checked_alpha, checked_weight, refuse_asymmetric
from bochner.linear.kernel_families import parameterised
from bochner.linear.kernel_selection import canonical_rows, drawn_rows, in_units
from bochner.linear.reparameterised import ParameterisedKernel
from bochner.linear.ridge_search import EvidenceSearch

_LANDMARK_BYTES = 64 * MEBIBYTE
"""Largest memory of the landmarks: 512 landmarks with 16,000 inputs, fewer with more inputs."""

_MOST_WEIGHT = 1e6
"""Largest weight of a row: with 1e8 equal rows the curvature loses the prior by rounding."""

_CHECKS: Mapping[str, Check] = {
    **KERNEL_CHECKS,
    "n_components": as_count,
    "likelihood": unchecked,  # Checked by _check_likelihood
    "alpha": lambda _, value: checked_alpha(value),
    "length_scale": length_scale_check("auto", "median", "evidence"),
}
"""Checks of the constructor parameters, by name."""


@dataclass(eq=False, repr=False)
class KernelGLM(KernelParameters, BaseEstimator, ABC):
    """A generalised linear model on features of a kernel, by Laplace's approximation."""

    likelihood: Likelihood | str
    kernel: "AnyKernel | str" = "gaussian"
    n_components: int = 512
    alpha: float | str = "evidence"
    _: KW_ONLY
    length_scale: Any = "median"
    fit_intercept: bool = True
    random_state: Any = None

    kernel_: AnyKernel = field(init=False)
    features_: LandmarkFeatures = field(init=False)
    likelihood_: Likelihood = field(init=False)
    posterior_: LaplacePosterior = field(init=False)

    @abstractmethod
    def _check_likelihood(self) -> None:
        """Raise an error for an unusable parameter ``likelihood``."""

    def _check_parameters(self) -> None:
        """Raise an error for invalid parameters, also of a model loaded from a file."""
        self._check_likelihood()
        check_each(self, _CHECKS)

    @abstractmethod
    def fit(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Any:
        """Fit the model to rows (n, d) and targets (n,)."""

    def _fit_rows(self, rows: Chunk, exposure: Array | None, likelihood: Likelihood) -> None:
        """Fit to rows with numeric targets; an error keeps the attributes of an earlier fit."""
        self._check_parameters()
        alpha = checked_alpha(self.alpha)
        y = checked_targets(likelihood, rows.y)
        exposures = np.ones(len(rows)) if exposure is None else exposure
        # Rows of weight zero must not influence the number of rows or the kernel.
        used = np.flatnonzero(rows.weights > 0.0)
        rows, y, exposures = rows[used], y[used], exposures[used]
        unit = _weight_unit(rows, likelihood)
        if unit != 1.0:
            rows = replace(rows, weight=rows.weights / unit)
        targets_and_weights = self._told(rows, y, exposures)
        started = likelihood.started(*targets_and_weights)
        centre = prior_centre(started, *targets_and_weights)
        moved = started.shifted(centre)  # Targets far from zero would lose digits
        problem = LaplaceProblem(
            Chunk(rows.X, y if moved is None else y - centre, rows.weight),
            np.log(exposures),
            centre if moved is None else 0.0,
            started if moved is None else moved,
            likelihood.unknown,
            alpha,
            bool(self.fit_intercept) and started.has_constant,
        )
        features = self._at_landmarks(problem)
        learned, posterior = problem.solved(features)
        names = likelihood.unknown
        self.kernel_, self.features_ = features.kernel, features
        fitted = started.with_vector(names, learned.vector(names))
        log_evidence = posterior.log_evidence + _log_density_change(rows, fitted)
        if unit != 1.0 and isinstance(fitted, LocationLikelihood):
            scale = float(np.sqrt(unit)) * fitted.unit
            fitted = replace(fitted, scale=scale)  # type: ignore[type-var]
        self.likelihood_ = fitted
        self.posterior_ = replace(posterior, centre=centre, log_evidence=log_evidence)

    @property
    def _is_by_evidence(self) -> bool:
        return isinstance(self.length_scale, str) and self.length_scale == "evidence"

    def _told(self, rows: Chunk, y: Array, exposures: Array) -> tuple[Array, Array, Array]:
        """Return the targets, exposures and weights that initialise a likelihood."""
        if not self._is_by_evidence or len(rows) > MOST_SEARCHED:
            return y, exposures, rows.weights
        first, total, _ = canonical_rows(rows, np.column_stack((y, exposures)))
        return y[first], exposures[first], total

    def _at_landmarks(self, problem: LaplaceProblem) -> LandmarkFeatures:
        """Resolve the kernel and choose its landmarks among the rows."""
        kernel_rng, _, data_rng = generators(self.random_state, 3)
        rows = problem.rows
        count = min(int(self.n_components), max(1, _LANDMARK_BYTES // (8 * rows.X.shape[1])))
        kernel = native(self.kernel, rows.X.shape[1])
        names = getattr(self, "feature_names_in_", None)
        length_scale = self.length_scale
        if self._is_by_evidence:
            if isinstance(kernel, Kernel):
                kernel = kernel.resolved(names, rows.X)
            kernel = select_latent_kernel(kernel, problem, count, kernel_rng) or kernel
            # Kernels without parameters to learn do not need a length scale.
            length_scale = 1.0
        kernel = resolve_kernel(kernel, length_scale, rows.X, kernel_rng, rows.weight, names=names)
        refuse_asymmetric(kernel, associated=False)
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"kernel must be the name of a kernel or an object of bochner.kernels, got the "
                f"function {kernel!r}: derive a class from bochner.kernels.Kernel for it."
            )
        if kernel.has_noise:
            raise ValueError(
                f"{kernel!r} has white noise, which a latent function has not: leave it out."
            )
        return LandmarkFeatures.of(kernel, rows.X, count, data_rng)

    def _latent_blocks(
        self, X: object, exposure: ArrayLike | None = None
    ) -> Iterator[tuple[slice, Array, Array]]:
        """Yield slices of rows with means (n, L) and covariances (n, L, L) of latent values."""
        rows = self._validated(X)
        exposures = checked_exposure(exposure, rows.shape[0], self.likelihood_)
        posterior = self.posterior_
        for part in row_blocks(rows.shape[0], 16 * len(posterior.coef)):
            mean, covariance = posterior.latent(*self._features(rows[part]))
            if exposures is not None:
                mean += np.log(exposures[part])[:, None]
            yield part, mean, covariance

    def _validated(self, X: object) -> Any:
        check_is_fitted(self, "posterior_")
        return validated(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)

    def _features(self, X: InputRows) -> tuple[Array, Array]:
        """Return features (n, P) of rows, and the variances (n,) that features leave out."""
        q = self.features_.n_features
        Z = latent_features(self.features_, X, len(self.posterior_.coef) > q)
        return Z, residual_variance(self.features_, X, Z[:, :q])

    @property
    def alpha_(self) -> float:
        """Precision of the weights, either given or learned from the evidence."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.alpha

    @property
    def log_evidence_(self) -> float:
        """Laplace's approximation of the log marginal likelihood of the training targets."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.log_evidence

    @property
    def n_iter_(self) -> int:
        """Total number of Newton steps, summed over all tried values of alpha and parameters."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.n_iter

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def checked_exposure(exposure: ArrayLike | None, n: int, likelihood: Likelihood) -> Array | None:
    """Return exposures (n,) or ``None``; raise ValueError if the likelihood takes none."""
    if exposure is None:
        return None
    if not likelihood.takes_exposure:
        raise ValueError(
            f"exposure is for counts, and {type(likelihood).__name__} has none. Use the "
            f"likelihood 'poisson' or 'negative_binomial'."
        )
    refuse_masked("exposure", exposure)
    exposures, least = as_array(exposure), 1.0 / LARGEST_WEIGHT
    if exposures.shape != (n,) or not ((least <= exposures) & (exposures <= LARGEST_WEIGHT)).all():
        raise ValueError(
            f"exposure must hold a number from {least:g} to {LARGEST_WEIGHT:g} for each of the {n} "
            f"rows, got an array of shape {exposures.shape}"
            + (f" with minimum {exposures.min():g}." if exposures.size else ".")
        )
    return exposures


def resolve_likelihood(
    likelihood: object, choices: Mapping[str, type[Likelihood]], kind: Any, also: str
) -> Likelihood:
    """Return the likelihood object for a name or object; ``also`` extends the error message."""
    if isinstance(likelihood, str) and likelihood in choices:
        return choices[likelihood]()
    if isinstance(likelihood, Likelihood) and isinstance(likelihood, kind):
        return likelihood
    names = ", ".join(map(repr, choices))
    message = (
        f"likelihood must be one of {names}, or an object of bochner.gaussian_process derived from "
        f"{kind.__name__}, got {likelihood!r:.60}. {also}"
    )
    raise ValueError(message) if isinstance(likelihood, str) else TypeError(message)


def _weight_unit(rows: Chunk, likelihood: Likelihood) -> float:
    """Return the mean weight, which divides weights so that they do not change the noise scale."""
    is_learned = isinstance(likelihood, LocationLikelihood) and likelihood.scale is None
    return 1.0 if not is_learned or rows.units.are_counts else float(rows.weights.mean())


def _log_density_change(rows: Chunk, likelihood: Likelihood) -> float:
    """Return the change of the normal log density if weights are precisions, not powers."""
    if not isinstance(likelihood, GaussianLikelihood) or rows.units.are_counts:
        return 0.0
    weights, variance = rows.weights, likelihood.noise_variance
    gains = np.log(weights) + (weights - 1.0) * np.log(2.0 * np.pi * variance)
    return 0.5 * float(gains.sum())


def weighted_rows(X: object, y: NDArray[np.generic], sample_weight: ArrayLike | None) -> Chunk:
    """Return validated rows and their targets as a chunk, with checked weights."""
    weight = checked_weight(sample_weight, X)
    if weight is not None and weight.max() > _MOST_WEIGHT:
        raise ValueError(
            f"sample_weight must be at most {_MOST_WEIGHT:g}, as a row of weight w counts as w "
            f"rows, got {weight.max():g}."
        )
    return Chunk(X, y, weight)


@dataclass(frozen=True, slots=True)
class _LaplaceStage:
    """Largest numbers of rows, landmarks and steps of a search."""

    n_rows: int
    n_landmarks: int
    n_steps: int


_STAGES = (_LaplaceStage(1000, 128, 20), _LaplaceStage(2000, 256, 30))
"""Stages of a search. The first stage runs from every start, and the best end continues with more
rows and landmarks. A step needs some ten Newton steps, which take 30 and 200 milliseconds."""

MOST_SEARCHED = _STAGES[-1].n_rows
"""Number of rows up to which a search uses all rows."""

_LEAST_LANDMARKS = 64  # Least number of landmarks of a search
_DENSE_BYTES = 128 * MEBIBYTE
"""Memory of the dense rows of a search: 2,000 rows of 8,000 inputs, fewer rows of more inputs."""

_DECIMALS = 3  # Decimals of logarithms of length scales


@dataclass(frozen=True, slots=True, eq=False)
class _KernelLaplaceSearch(EvidenceSearch):
    """Search over kernel parameters, log alpha and likelihood parameters by Laplace's evidence."""

    family: ParameterisedKernel[Any]
    landmarks: Array  # (q, d)
    problem: LaplaceProblem
    base: float = 0.0  # Loss that is subtracted: tolerances are relative to the loss

    def start(self, theta: Array) -> Array:
        """Return the point with kernel parameters (q,), and initial values of the others."""
        return np.append(theta, np.zeros(len(self._search(theta).first)))

    def value(self, point: Array) -> float:
        theta, other_parameters = self.split(point)
        search = self._search(theta)
        penalty = self.penalty(theta)[0] + search.penalty(other_parameters)[0]
        value = penalty - search.mode(other_parameters).log_evidence
        return value / search.size - self.base

    def loss(self, point: Array) -> tuple[float, Array]:
        theta, other_parameters = self.split(point)
        search = self._search(theta)
        mode, slopes = search.slopes(other_parameters)
        penalty, by_theta = self.penalty(theta)
        by_theta -= self._by_kernel(theta, slopes)
        penalty_of_others, by_others = search.penalty(other_parameters)
        by_others -= search.by_numbers(slopes)
        value = penalty + penalty_of_others - mode.log_evidence
        gradient = np.append(by_theta, by_others) / search.size
        return value / search.size - self.base, gradient

    def _by_kernel(self, theta: Array, slopes: EvidenceSlopes) -> Array:
        """Return derivatives of the log evidence by kernel parameters (q,), by differences."""
        by_values, rows = slopes.by_kernel(), slopes.rows.X
        total = np.zeros((2, len(theta)))
        for k, step in enumerate(DIFFERENCE * np.eye(len(theta))):
            for i, moved in enumerate((theta + step, theta - step)):
                kernel = self.family.in_units.kernel(moved)
                total[i, k] = np.sum(by_values.cross * kernel(self.landmarks, rows))
                total[i, k] += np.sum(by_values.landmarks * kernel(self.landmarks))
                total[i, k] += by_values.diagonal @ kernel.diag(rows)
        return as_array((total[0] - total[1]) / (2.0 * DIFFERENCE))

    def bounds_of_others(self, start: Array) -> tuple[Array, Array]:
        low, high = self._search(self.split(start)[0]).bounds.T
        return low, high

    def _search(self, theta: Array) -> LaplaceSearch:
        kernel = self.family.in_units.kernel(theta)
        return self.problem.search(LandmarkFeatures.at(kernel, self.landmarks))


def select_latent_kernel(
    kernel: AnyKernel | str, problem: LaplaceProblem, n_landmarks: int, rng: np.random.Generator
) -> Kernel | None:
    """Return the kernel with parameters of greatest evidence; ``None`` if it has no parameters."""
    row_rng, median_rng, start_rng, landmark_rng = rng.spawn(4)
    every = np.arange(len(problem.rows))
    most_rows = min(MOST_SEARCHED, max(1, _DENSE_BYTES // (8 * problem.rows.X.shape[1])))
    problem = _part(problem, drawn_rows(every, most_rows, row_rng))
    rows, units = in_units(kernel, problem.rows)
    problem = _merged(replace(problem, rows=rows))
    family = parameterised(kernel, problem.rows, units, median_rng)
    if family is None:
        return None

    def searched(stage: _LaplaceStage) -> _KernelLaplaceSearch:
        # Latent functions share the landmarks, and each has its weights.
        q = max(stage.n_landmarks // problem.likelihood.n_latent, _LEAST_LANDMARKS)
        part = _part(problem, drawn_rows(np.arange(len(problem.rows)), stage.n_rows, row_rng))
        dense = dense_rows(part.rows.X, np.arange(len(part.rows)))
        distinct = np.unique(dense, axis=0)
        # Random rows, because all kernels of a search share the landmarks.
        landmarks = landmark_rng.permutation(distinct)[: min(n_landmarks, q)]
        part = replace(part, rows=replace(part.rows, X=dense))
        search = _KernelLaplaceSearch(family, landmarks, part)
        # Losses do not depend on the units of the targets.
        return replace(search, base=search.value(search.start(family.origin)))

    with single_threaded_blas():
        few, most = map(searched, _STAGES)
        starts = map(few.start, family.starts(start_rng))
        ends = [few.climbed(start, _STAGES[0].n_steps) for start in starts]
        point = most.explored(min(ends, key=itemgetter(1))[0], _STAGES[1].n_steps)
    theta, _ = most.split(point)
    return family.kernel(np.round(theta, _DECIMALS))


def _part(problem: LaplaceProblem, some: Index) -> LaplaceProblem:
    """Return the problem restricted to the rows with indices ``some``."""
    return replace(problem, rows=problem.rows[some], offset=problem.offset[some])


def _merged(problem: LaplaceProblem) -> LaplaceProblem:
    """Return the problem with equal rows merged into one row of their total weight, sorted."""
    rows = problem.rows
    first, weight, _ = canonical_rows(rows, np.column_stack((rows.y, problem.offset)))
    merged = _part(problem, first)
    return replace(merged, rows=replace(merged.rows, weight=weight))
