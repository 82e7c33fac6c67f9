"""Regression with a learned kernel, for every likelihood that the chains can sample."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import Array, MatrixLike, RandomState, as_count, as_flag
from bochner._base.checks import validated_with_numbers
from bochner._base.namespaces import home_of, to_numpy
from bochner._base.progress import Callback
from bochner._base.promises import NotPromisedError
from bochner._base.registry import register
from bochner._base.whole_fits import all_or_nothing
from bochner.features.parameters import generators
from bochner.features.weight_meaning import Units
from bochner.gaussian_process.kernel_glm import NUMBERS
from bochner.gaussian_process.kernel_glm_head import checked_exposure, resolve_likelihood
from bochner.gaussian_process.law_predictions import LawPredictions, check_shape, is_lazy
from bochner.gaussian_process.likelihood import Likelihood, NumberLikelihood, checked_targets
from bochner.gaussian_process.likelihood_mixtures import LikelihoodMixture
from bochner.gaussian_process.number_likelihoods import LocationLikelihood
from bochner.learned.chain_parameters import documented
from bochner.learned.chain_targets import outcomes_of
from bochner.learned.draws import NORMAL, Draws
from bochner.learned.learned_kernel_models import (
    BaNKRegression,
    StandardisedNumbers,
    function_moments,
    of_mean_one,
    positive_rows,
)
from bochner.learned.preparation import distinct_rows
from bochner.learned.target_columns import Problems, repetitions
from bochner.linear.inputs import check_one_spread, is_dask, lazily


@register(former_names=("BaNKRegressor",))
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelRegressor(LawPredictions, BaNKRegression):
    r"""Regression with a learned kernel (BaNK).

    The frequencies :math:`\omega_j` of the features have a nonparametric prior. They are sampled
    together with the hyper-parameters of the prior and the ratio of noise to signal, with all
    weights integrated out:

    .. math:: y = \Phi_\omega \beta + T \gamma + \varepsilon, \quad
              \beta \sim N(0, (\sigma^2 / \lambda_0) I), \quad \varepsilon \sim N(0, \sigma^2 I).

    Predictions average over posterior draws. Inputs and target are standardised internally.

    Targets need not be normal. Latent variables of the rows, which are drawn in each round, make
    the likelihood normal: precisions of rows for Student-t noise, uncensored targets for censored
    targets, Pólya-Gamma variables for negative binomial counts. The function
    :math:`\Phi_\omega \beta + T \gamma` is then the location of the targets or, for counts, the
    logarithm of their rate.

    <left out>
    Standard deviations are multiplied by the root mean square of standardised left-out residuals.
    A residual is divided by the square root of its predictive variance: the variance of its chain
    plus the variance between the means of the chains.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies, ``m``; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies. ``"auto"`` is ``"pcn"``: local moves of one frequency after
        another. ``"hmc"``: Hamiltonian trajectories of all frequencies. ``"mh"``: the independence
        proposals of the paper, which mix slowly. A sequence of moves defines a custom round, see
        :class:`bochner.learned.moves.Move`.
    <iterations>
    <chains>
    likelihood : str or NumberLikelihood, default="gaussian"
        Distribution of the targets given the function: ``"gaussian"``, ``"student_t"``,
        ``"negative_binomial"``, or an object of :mod:`bochner.gaussian_process`, such as
        ``CensoredGaussianLikelihood(left=0.0)``. Parameters that are ``None`` are sampled: the
        degrees of freedom ``df`` with a Gamma(2, 0.1) prior, ``dispersion`` with an exponential
        prior of mean one. For Poisson counts use :class:`bochner.KernelGLMRegressor`. With
        likelihoods other than ``"gaussian"`` no rows are left out, and rows must be in memory.

    Attributes
    ----------
    likelihood_ : NumberLikelihood
        The likelihood with the posterior means of its parameters.
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, in the original units of the inputs.
    <learned>
    score_ : float or None
        Root mean square error of left-out rows; ``None`` if no rows were left out.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets. For likelihoods other than
        ``"gaussian"``, the median and a standard deviation from the quartiles; for counts, zero
        and one.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016, for the dense model and equations (8) to (15). The block algebra, the sparse
    frequencies and the local proposals are this library's own. Geweke, "Bayesian treatment of the
    independent Student-t linear model", 1993. Chib, "Bayes inference in the Tobit censored
    regression model", 1992. Pillow and Scott, "Fully Bayesian inference for neural models with
    negative-binomial spiking", 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import LearnedKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(200, 1))
    >>> y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = LearnedKernelRegressor(50, n_burn_in=30, n_samples=30, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[3.25]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 0.1), bool(std[0] < 0.2)
    (True, True)

    A few gross outliers, which Student-t noise ignores:

    >>> y[::20] += 30.0
    >>> robust = LearnedKernelRegressor(50, likelihood="student_t", n_chains=2, random_state=0)
    >>> robust = robust.fit(X, y)
    >>> bool(abs(robust.predict([[3.25]])[0] - 1.0) < 0.1)
    True
    """

    _: KW_ONLY
    likelihood: Likelihood | str = "gaussian"

    _law_: NumberLikelihood = field(init=False, default=NORMAL)

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        exposure: ArrayLike | None = None,
        checkpoint: object = None,
        callback: Callback | None = None,
    ) -> Self:
        r"""Sample the posterior.

        Parameters
        ----------
        X, y, checkpoint, callback
            As in :meth:`bochner.LearnedKernelClassifier.fit`; counts are whole numbers.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows. Whole numbers are counts: a row of weight three is three
            independent rows. A row of any other weight ``w`` is one observation: its noise variance
            is :math:`\sigma^2 / w` if the noise scale is learned, otherwise its log-likelihood is
            multiplied by ``w``. Weights of censored targets must be counts.
        exposure : array-like of shape (n,), default=None
            Time, area or population in which the counts of a row arose. The mean is multiplied by
            it; ``None`` means ones. For counts only.

        Raises
        ------
        ValueError
            If a parameter is out of range, the data are unusable or impossible under the
            likelihood, chains cannot sample the likelihood, the checkpoint belongs to another fit,
            or a checkpoint is passed with Dask collections.
        """
        self._law_ = law = self._chosen_law()
        if law == NORMAL:
            checked_exposure(exposure, 0, law)
            super().fit(X, y, sample_weight, checkpoint=checkpoint, callback=callback)
            return self
        if is_dask(X):
            raise ValueError(
                "Rows of Dask collections have the likelihood 'gaussian'; for another one, pass "
                "rows in memory, such as X.compute()."
            )
        if home_of(X) is not None:
            X, y, sample_weight, exposure = map(to_numpy, (X, y, sample_weight, exposure))
        problems = self._outcomes(law, X, y, sample_weight, exposure)
        self._learn(problems, checkpoint, self._progress(callback))
        return self

    def _chosen_law(self) -> NumberLikelihood:
        also = "Classes are learned by LearnedKernelClassifier."
        law = resolve_likelihood(self.likelihood, NUMBERS, NumberLikelihood, also)
        assert isinstance(law, NumberLikelihood)
        return law

    def _check_parameters(self) -> None:
        self._chosen_law()
        super()._check_parameters()

    def _outcomes(
        self,
        law: NumberLikelihood,
        X: Any,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        exposure: ArrayLike | None,
    ) -> Problems:
        """Return validated, distinct rows with the likelihood of their targets."""
        X, y = validated_with_numbers(self, X, y, dtype=np.float64)
        times = checked_exposure(exposure, len(X), law)
        # Rows with equal inputs but different exposures are distinct.
        keyed = X if times is None else np.column_stack([X, times])
        y = checked_targets(law, y.astype(np.float64))
        keyed, y, units = distinct_rows(*positive_rows(keyed, y, sample_weight))
        X, times = (keyed, None) if times is None else (keyed[:, :-1], keyed[:, -1])
        counted_units, unit, has_precisions = units, 1.0, False
        if isinstance(law, LocationLikelihood) and law.scale is None:
            has_precisions = not units.are_counts
            units, unit = of_mean_one(units)
        problems = Problems(X, y, units, StandardisedNumbers(0.0, 1.0), unit)
        outcomes = outcomes_of(law, y, times, problems.weight)
        if problems.weight is not None and not outcomes.takes_weights:
            index = repetitions(counted_units.totals)
            X, outcomes, unit = X[index], outcomes.rows(index), 1.0
            units, has_precisions = Units.of(None, len(index)), False
        self.target_mean_, self.target_scale_ = outcomes.centre, outcomes.unit
        task = StandardisedNumbers(0.0, 1.0)
        return Problems(X, outcomes.stand_in, units, task, unit, outcomes, has_precisions)

    @property
    def likelihood_(self) -> NumberLikelihood:
        """The likelihood with the posterior means of its parameters."""
        draws = self._draws
        laws = [self._law_of(index) for index in range(draws.n_draws)]
        names = self._law_.unknown
        means = {name: float(np.mean([getattr(law, name) for law in laws])) for name in names}
        likelihood: NumberLikelihood = replace(laws[0], **means)  # type: ignore[type-var]
        return likelihood

    @property
    def noise_variance_(self) -> float:
        """Posterior mean of the noise's variance, in squared units of the target."""
        if self._draws.law == NORMAL:
            return super().noise_variance_
        laws = [self._law_of(index) for index in range(self._draws.n_draws)]
        variances = [law.noise_variance for law in laws if isinstance(law, LocationLikelihood)]
        if not variances:
            raise AttributeError("Counts have no noise_variance_; likelihood_ has a dispersion.")
        return float(np.mean(variances))

    def predict(
        self,
        X: MatrixLike,
        return_std: bool = False,
        return_cov: bool = False,
        exposure: ArrayLike | None = None,
    ) -> Array | tuple[Array, Array]:
        """Return posterior means and optionally standard deviations or covariances.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array or data frame
            Rows; for a Dask collection the results are Dask arrays, without covariances.
        return_std : bool, default=False
            Whether to return the standard deviation of a new observation, noise included. It is
            infinite if a draw of Student-t noise has at most two degrees of freedom.
        return_cov : bool, default=False
            Whether to return the covariance of new observations at all rows. Its diagonal has the
            squares of the standard deviations. Not for counts.
        exposure : array-like of shape (n,), default=None
            Exposures of the new counts; ones if ``None``, so that predictions are rates.

        Returns
        -------
        mean : ndarray of shape (n,)
            Censored targets are predicted as if they were not censored.
        std, cov : ndarrays of shapes (n,) and (n, n)
            Only if ``return_std`` or ``return_cov``.

        Raises
        ------
        ValueError
            If ``return_std`` and ``return_cov`` are both true, or the likelihood has no exposures
            or no covariances.
        """
        if isinstance(self._draws.law, LocationLikelihood):
            checked_exposure(exposure, 0, self._draws.law)
            return super().predict(X, return_std, return_cov)
        check_one_spread(return_std, return_cov)
        if return_cov:
            raise NotPromisedError(
                "Counts have no return_cov: draw them jointly by sample_y, or use return_std."
            )
        if is_lazy(X, exposure):
            return lazily(self, "predict", X, return_std=return_std)
        parts = [part.moments() for _, part in self._predictive(X, exposure)]
        mean, variance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return (mean, np.sqrt(variance)) if return_std else mean

    def predict_latent(
        self, X: MatrixLike, exposure: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return means and standard deviations (n,) of the function, without noise.

        For counts the function is the logarithm of their rate, or of their mean if ``exposure``
        (n,) is given.
        """
        inputs, fixed, offset = self._rows_at(X, exposure)
        draws = self._draws
        mean, variance = function_moments(draws, inputs, fixed)
        level = draws.noise_variance[draws.whitened, None]
        for part, spreads in draws.spreads(inputs, fixed):
            variance[part] += np.mean(level * spreads, axis=0)
        unit = self.target_scale_
        std: Array = self._scale * unit * np.sqrt(variance)
        return self.target_mean_ + unit * mean + offset, std

    def sample_y(
        self,
        X: MatrixLike,
        n_samples: int = 1,
        random_state: RandomState = 0,
        *,
        noise: bool = True,
        exposure: ArrayLike | None = None,
    ) -> Array:
        """Return draws from the posterior predictive, jointly at all rows.

        Parameters
        ----------
        X : array-like of shape (n, d)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0
        noise : bool, default=True
            Whether to draw observations, or the function without noise. For counts the function is
            the logarithm of their mean.
        exposure : array-like of shape (n,), default=None
            As in :meth:`predict`.

        Returns
        -------
        samples : ndarray of shape (n, n_samples)
        """
        _, _, offset = self._rows_at(X, exposure)
        if self._draws.law == NORMAL:
            return super().sample_y(X, n_samples, random_state, noise=noise)
        function_rng, noise_rng = generators(random_state, 2)
        functions, deviating = self._drawn(as_count("n_samples", n_samples), function_rng)
        samples = functions(X) + offset[:, None]
        if as_flag("noise", noise):
            for index in np.unique(deviating):
                columns = np.flatnonzero(deviating == index)
                samples[:, columns] = self._law_of(int(index)).sample(
                    noise_rng, samples[:, columns]
                )
        return samples

    @property
    def _draws(self) -> Draws:
        check_is_fitted(self, "learned_")
        return self.learned_[0].draws

    def _law_of(self, index: int) -> NumberLikelihood:
        """Return the likelihood of a draw, in the unit of the targets."""
        scaled_law = self._draws.law_of(index)
        values = {name: getattr(scaled_law, name) for name in self._law_.unknown}
        if "scale" in values:
            values["scale"] *= self.target_scale_
        likelihood: NumberLikelihood = replace(self._law_, **values)  # type: ignore[type-var]
        return likelihood

    def _rows_at(self, X: object, exposure: ArrayLike | None) -> tuple[Array, Array, Array]:
        """Return scaled inputs (d, n), fixed columns (q, n) and offsets (n,) of new rows."""
        inputs, fixed = self._rows(X)
        times = checked_exposure(exposure, inputs.shape[1], self._draws.law)
        return inputs, fixed, np.zeros(inputs.shape[1]) if times is None else np.log(times)

    def _target_law(self) -> NumberLikelihood:
        check_is_fitted(self, "learned_")
        return self._law_

    def _predictive(
        self, X: object, exposure: ArrayLike | None, shape: tuple[int, ...] | None = None
    ) -> Iterator[tuple[slice, LikelihoodMixture]]:
        """Yield slices of rows with the mixtures of the likelihood over all draws.

        If left-out rows scale the standard deviations, all distances from the mean are scaled.
        """
        check_shape(shape, X)
        inputs, fixed, offset = self._rows_at(X, exposure)
        draws, centre, unit = self._draws, self.target_mean_, self.target_scale_
        laws = tuple(self._law_of(index) for index in range(draws.n_draws))
        passes = draws.activations(inputs, fixed), draws.spreads(inputs, fixed)
        for (rows, values), (_, spreads) in zip(*passes, strict=True):
            mean = centre + unit * values + offset[rows]
            variance = unit**2 * draws.noise_variance[:, None] * spreads.mean(axis=0)
            yield rows, LikelihoodMixture(laws, mean, variance, self._scale)


BaNKRegressor = LearnedKernelRegressor
"""The paper's name of :class:`bochner.LearnedKernelRegressor`."""
