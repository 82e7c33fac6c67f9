"""Regression with a learned kernel."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import Array, MatrixLike, as_array, as_level, as_levels
from bochner._base.registry import register
from bochner.gaussian_process.law_predictions import LikelihoodMixture
from bochner.gaussian_process.likelihood import checked_targets
from bochner.gaussian_process.number_likelihoods import GaussianLikelihood
from bochner.learned.chain_parameters import documented
from bochner.learned.learned_kernel_models import LearnedRegression, function_moments


@register
@documented
@dataclass(eq=False, repr=False)
class LearnedKernelRegressor(LearnedRegression):
    r"""Regression with a learned kernel (BaNK).

    The frequencies :math:`\omega_j` of the features have a nonparametric prior. They are sampled
    together with the hyper-parameters of the prior and the ratio of noise to signal, with all
    weights integrated out:

    .. math:: y = \Phi_\omega \beta + T \gamma + \varepsilon, \quad
              \beta \sim N(0, (\sigma^2 / \lambda_0) I), \quad \varepsilon \sim N(0, \sigma^2 I).

    Predictions average over posterior draws. Inputs and target are standardised internally.

    <left out>
    Standard deviations are multiplied by the root mean square of standardised left-out residuals.
    A residual is divided by the square root of its predictive variance: the variance of its chain
    plus the variance between the means of the chains.

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
    <iterations>
    <chains>

    Attributes
    ----------
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, in the original units of the inputs.
    <learned>
    score_ : float or None
        Root mean square error of left-out rows; ``None`` if no rows were left out.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training targets.

    References
    ----------
    Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric kernel-learning",
    2016, for the dense model and equations (8) to (15). The block algebra, the sparse
    frequencies and the local proposals are this library's own.

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

        They are quantiles of the mixture of the normal laws of all draws.
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
        """Yield slices of rows with the mixtures of the normal laws of all draws.

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
