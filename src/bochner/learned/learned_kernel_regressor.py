"""Regression with a learned kernel."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    Array,
    ArrayLike,
    MatrixLike,
    RandomState,
    as_array,
    as_count,
    as_flag,
    as_level,
    as_levels,
)
from bochner._base.checks import generators, validated_with_numbers
from bochner._base.registry import register
from bochner.features.chunks import Units
from bochner.gaussian_process.likelihood import checked_targets
from bochner.gaussian_process.likelihood_predictions import LikelihoodMixture
from bochner.gaussian_process.number_likelihoods import GaussianLikelihood
from bochner.learned.chain_parameters import documented
from bochner.learned.draws import Draws, drawn_functions
from bochner.learned.learned_kernel import LeftOutRows
from bochner.learned.learned_kernel_fit import LearnedKernelEstimator, Problems, positive_rows
from bochner.learned.training_data import distinct_rows
from bochner.linear.argument_checks import check_one_spread
from bochner.linear.sampled_functions import SampledFunctions

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""Standard deviation, relative to the mean, up to which targets are constant but for rounding."""


@dataclass(frozen=True, slots=True)
class StandardisedNumbers:
    """The task of numeric targets: it subtracts their mean and divides by their deviation."""

    mean: float
    scale: float
    # Whether targets are constant up to rounding; the column is then zero
    is_constant: bool = False

    @classmethod
    def of(cls, y: Array, weight: Array | None) -> "StandardisedNumbers":
        """Return the task for targets ``y`` (n,) with weights (n,)."""
        mean = float(np.average(y, weights=weight))
        scale = float(np.sqrt(np.average((y - mean) ** 2, weights=weight)))
        is_constant = scale <= _ROUNDING * abs(mean)
        return cls(mean, 1.0 if is_constant else scale, is_constant)

    def codes(self, y: NDArray[np.generic]) -> Array:
        """Return targets (n,) in float64."""
        return y.astype(np.float64)

    def columns(self, codes: Array) -> Array:
        """Return the standardised targets (n, 1) that chains learn, from targets (n,)."""
        centred = codes[:, None] - self.mean
        return np.zeros_like(centred) if self.is_constant else centred / self.scale


def of_mean_one(units: Units) -> tuple[Units, float]:
    """Return the observations with precisions divided by their mean, and that mean.

    Sums of weights are then numbers of observations, on which the distribution of the noise
    variance depends.
    """
    unit = 1.0 if units.are_counts else float(np.average(units.weights, weights=units.counts))
    return Units(units.weights / unit, units.counts), unit


def function_moments(draws: Draws, inputs: Array, fixed: Array) -> tuple[Array, Array]:
    """Return the mean and the variance (n,), over draws, of the draws' posterior mean functions."""
    mean, variance = np.empty((2, inputs.shape[1]))
    for part, values in draws.activations(inputs, fixed):
        mean[part] = values.mean(axis=0)
        variance[part] = values.var(axis=0)
    return mean, variance


def _spread(draws: Draws, inputs: Array, fixed: Array, weights: Array | None = None) -> Array:
    """Return the mean over draws of the predictive variance (n,) given a draw, noise included.

    The ``weights`` (n,) of the new observations are ones by default.
    """
    precision = np.ones(inputs.shape[1]) if weights is None else weights
    variance = np.empty(inputs.shape[1])
    level = draws.noise_variance[draws.whitened, None]
    for part, spreads in draws.spreads(inputs, fixed):
        noise = [draws.noise(index, inputs[:, part]) / precision[part] for index in draws.whitened]
        variance[part] = np.mean(level * spreads + np.array(noise), axis=0)
    return variance


class LearnedRegression(RegressorMixin, LearnedKernelEstimator):
    """Base class of the regressors with a learned kernel."""

    _is_classifier: ClassVar[bool] = False
    target_mean_: float
    target_scale_: float
    _scale: float

    def _problems(
        self, X: object, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Problems:
        rows, y = validated_with_numbers(self, X, y, dtype=np.float64)
        rows, y, units = distinct_rows(*positive_rows(rows, y.astype(np.float64), sample_weight))
        units, unit = of_mean_one(units)
        task = StandardisedNumbers.of(y, units.totals)
        self.target_mean_, self.target_scale_ = task.mean, task.scale
        return Problems(rows, y, units, task, unit, has_precisions=not units.are_counts)

    def predict(
        self, X: MatrixLike, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """Return posterior means and optionally standard deviations or covariances.

        Parameters
        ----------
        X : array-like of shape (n, d)
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included.
        return_cov : bool, default=False
            Whether to return the covariance of new observations at all rows. Its diagonal has the
            squares of the standard deviations.

        Returns
        -------
        mean : ndarray of shape (n,)
        std, cov : ndarrays of shapes (n,) and (n, n)
            Only if ``return_std`` or ``return_cov``.

        Raises
        ------
        ValueError
            If ``return_std`` and ``return_cov`` are both true.
        """
        check_one_spread(return_std, return_cov)
        inputs, fixed = self._rows(X)
        draws = self.learned_[0].draws
        mean, variance = function_moments(draws, inputs, fixed)
        mean = self.target_mean_ + self.target_scale_ * mean
        if return_cov:
            unit = (self._scale * self.target_scale_) ** 2
            return mean, unit * draws.covariance(inputs, fixed)
        if not return_std:
            return mean
        variance += _spread(draws, inputs, fixed)
        return mean, self._scale * self.target_scale_ * np.sqrt(variance)

    def _calibrate(self, left_out: LeftOutRows | None, task: StandardisedNumbers) -> None:
        self.score_, self._scale = None, 1.0
        if left_out is None:
            return
        draws = self.learned_[0].draws
        residual = task.columns(left_out.codes)[:, 0]
        means = np.empty((left_out.n_chains, len(residual)))
        for part, values in draws.activations(left_out.inputs, left_out.fixed):
            means[:, part] = values.reshape(len(means), -1, values.shape[1]).mean(axis=1)
        variance: Array = means.var(axis=0)
        new = np.empty_like(variance)  # Variance of new observations of weight one
        for rows, (chain,), inputs, fixed in left_out.by_chain([draws]):
            mean, within = function_moments(chain, inputs, fixed)
            residual[rows] -= mean
            new[rows] = variance[rows] + within + _spread(chain, inputs, fixed)
            variance[rows] += within + _spread(chain, inputs, fixed, left_out.units.weights[rows])
        ratio = residual**2 / variance
        self.score_ = self.target_scale_ * np.sqrt(left_out.mean(new * ratio))
        self._scale = max(np.sqrt(left_out.mean(ratio)), _ROUNDING)

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        *,
        noise: bool = True,
    ) -> Array:
        """Return draws from the posterior predictive, jointly at all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0
        noise : bool, default=True
            Whether to draw observations, or the function without its noise.

        Returns
        -------
        samples : ndarray of shape (n, n_samples)
        """
        inputs, _ = self._rows(X)
        function_rng, noise_rng = generators(random_state, 2)
        functions, deviating = self._drawn(as_count("n_samples", n_samples), function_rng)
        samples = functions(X)
        if as_flag("noise", noise):
            unit, draws = self._scale * self.target_scale_, self.learned_[0].draws
            for index in np.unique(deviating):
                columns = np.flatnonzero(deviating == index)
                deviation = unit * np.sqrt(draws.noise(int(index), inputs))
                fresh = noise_rng.normal(size=(len(samples), len(columns)))
                samples[:, columns] += deviation[:, None] * fresh
        return samples

    def sample_functions(
        self, n_functions: int = 1, random_state: RandomState = None
    ) -> SampledFunctions:
        """Return functions drawn from the posterior, without noise.

        A function is a sum of the waves of a posterior draw of frequencies and weights. Its value
        and gradient can be computed at every point, in O(p) operations per point. If left-out rows
        scale the standard deviations, the function's deviation from the mean is scaled by the same
        factor, and the function is a sum of the waves of all draws.

        Parameters
        ----------
        n_functions : int, default=1
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        functions : SampledFunctions
            ``functions(X)`` has the shape (n, n_functions), and ``functions.gradient(X)`` the shape
            (n, d, n_functions), in units of the inputs and the target.
        """
        check_is_fitted(self, "learned_")
        (rng,) = generators(random_state, 1)
        return self._drawn(as_count("n_functions", n_functions), rng)[0]

    def _drawn(
        self, count: int, rng: np.random.Generator
    ) -> tuple[SampledFunctions, NDArray[np.int64]]:
        """Return ``count`` posterior functions, and the index of the draw of each one's noise."""
        draws = self.learned_[0].draws
        functions, deviating = drawn_functions(
            draws, self._trend, self._scaling, count, rng, self._scale
        )
        return functions.transformed(self.target_mean_, self.target_scale_), deviating

    @property
    def noise_variance_(self) -> float:
        """Posterior mean of the noise's variance, in squared units of the target."""
        draws = self.learned_[0].draws
        return draws.noise_unit * float(draws.noise_variance.mean()) * self.target_scale_**2


@register
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelRegressor(LearnedRegression):
    """Regression with a learned kernel (BaNK).

    The frequencies of the features are sampled from their posterior, so that the kernel is learned
    from the data. ``predict(X, return_std=True)`` returns means and standard deviations, and
    ``kernel_`` is the learned kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import LearnedKernelRegressor
    >>> from bochner.learned import Chains
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(200, 1))
    >>> y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = LearnedKernelRegressor(50, chains=Chains(30, 30), random_state=0).fit(X, y)
    >>> mean, std = model.predict([[3.25]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 0.1), bool(std[0] < 0.2)
    (True, True)

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies, ``m``; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies. ``"auto"`` is ``"pcn"``: local moves of one frequency after
        another. ``"hmc"``: Hamiltonian trajectories of all frequencies. A sequence of moves defines
        a custom round, see :class:`bochner.learned.moves.Move`;
        ``bochner.papers.bank.SAMPLER`` is the paper's sampler, which mixes slowly.
    <chains>

    Attributes
    ----------
    kernel_ : SpectralMixture
        Posterior mean of the kernel, with k(0) = 1, in the original units of the inputs.
    <learned>
    score_ : float or None
        Root mean square error of left-out rows; ``None`` if no rows were left out.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets.

    Notes
    -----
    Frequencies ω have a nonparametric prior. They are sampled together with its hyper-parameters
    and the ratio of noise to signal, with all weights β integrated out: the model is
    y = Φ(ω) β + linear terms + ε with β ~ N(0, (σ² / λ) I) and ε ~ N(0, σ² I). Predictions average
    over posterior draws. Inputs and target are standardised internally.

    <left out>
    Standard deviations are multiplied by the root mean square of left-out residuals, each divided
    by its predictive standard deviation.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016, for the dense model and equations (8) to (15). The block algebra, the sparse
    frequencies and the local proposals are this library's own.
    """

    def predict_interval(self, X: MatrixLike, level: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends (n,) of central intervals of new targets.

        Parameters
        ----------
        X : array-like of shape (n, d)
        level : float, default=0.9
            Probability of the interval, between 0 and 1.
        """
        chosen = as_level(level)
        ends = self.predict_quantiles(X, (0.5 - 0.5 * chosen, 0.5 + 0.5 * chosen))
        return ends[:, 0], ends[:, 1]

    def predict_quantiles(self, X: MatrixLike, levels: object = (0.1, 0.5, 0.9)) -> Array:
        """Return quantiles (n, q) of new targets at levels (q,) between 0 and 1.

        They are quantiles of the mixture of the normal distributions of all draws.
        """
        chosen = as_levels(levels).tolist()
        return np.concatenate(
            [
                np.column_stack([part.quantiles(level) for level in chosen])
                for _, part in self._predictive(X)
            ]
        )

    def log_predictive_density(self, X: MatrixLike, y: ArrayLike) -> Array:
        """Return log predictive densities (n,) of targets ``y`` (n,).

        The mean over held-out rows scores the predictive distribution; larger is better.
        """
        targets = checked_targets(GaussianLikelihood(), as_array(y))
        parts = list(self._predictive(X))
        n_rows = sum(rows.stop - rows.start for rows, _ in parts)
        if targets.shape != (n_rows,):
            raise ValueError(f"y must have shape ({n_rows},), got {targets.shape}.")
        return np.concatenate([part.log_density(targets[rows]) for rows, part in parts])

    def predict_latent(self, X: MatrixLike) -> tuple[Array, Array]:
        """Return means and standard deviations (n,) of the function, without noise."""
        inputs, fixed = self._rows(X)
        draws = self.learned_[0].draws
        mean, variance = function_moments(draws, inputs, fixed)
        level = draws.noise_variance[draws.whitened, None]
        for part, spreads in draws.spreads(inputs, fixed):
            variance[part] += np.mean(level * spreads, axis=0)
        unit = self.target_scale_
        return self.target_mean_ + unit * mean, self._scale * unit * np.sqrt(variance)

    def _predictive(self, X: object) -> Iterator[tuple[slice, LikelihoodMixture]]:
        """Yield slices of rows with their predictive distributions: mixtures of a normal per draw.

        If left-out rows scale the standard deviations, all distances from the mean are scaled.
        """
        inputs, fixed = self._rows(X)
        draws, centre, unit = self.learned_[0].draws, self.target_mean_, self.target_scale_
        scales = np.sqrt(draws.noise_unit * draws.noise_variance) * unit
        laws = tuple(GaussianLikelihood(scale) for scale in scales.tolist())
        passes = draws.activations(inputs, fixed), draws.spreads(inputs, fixed)
        for (rows, values), (_, spreads) in zip(*passes, strict=True):
            mean = centre + unit * values
            variance = unit**2 * draws.noise_variance[:, None] * spreads.mean(axis=0)
            yield rows, LikelihoodMixture(laws, mean, variance, self._scale)
