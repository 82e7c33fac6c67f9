"""A la carte: a spectral mixture learned by marginal likelihood, with fixed base samples."""

from typing import Literal, Self, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin

from benchmarks.baselines.mixture_evidence import MixtureEvidence, WeightPosterior
from benchmarks.baselines.mixture_frequencies import (
    Preparation,
    descend,
    feature_blocks,
    means_and_deviations,
)
from bochner._base.arrays import Array, MatrixLike, RandomState, as_count, rounded
from bochner._base.checks import validated_with_numbers
from bochner.features.row_sums import feature_sums
from bochner.kernels import SpectralMixture
from bochner.spectral.frequencies import Frequencies


class ALaCarteRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Gaussian process regression with a spectral mixture learned by marginal likelihood.

    The kernel is a mixture of ``Q`` Gaussians over frequencies, represented by
    ``m = n_components / 2`` samples, ``D`` of each Gaussian,

    .. math:: \hat k(x, y) = \sum_q \frac{\nu_q^2}{D} \sum_j \cos(\omega_{qj} \cdot (x - y)),
              \qquad \omega_{qj} = M_q w_{qj} + \mu_q

    with standard normal :math:`w` that are drawn once and then held fixed. Weights :math:`\nu^2`,
    which sum to the variance of the signal, factors ``M``, means :math:`\mu` and the noise variance
    maximise :math:`\log N(y; 0, Z Z^\top + \sigma^2 I)` without a penalty, by L-BFGS. Inputs and
    targets are standardised first; fitted attributes are in their original units. An iteration
    takes :math:`O(n m^2 + m^3)` time and at most a few hundred mebibytes.

    Parameters
    ----------
    n_components : int, default=768
        Number of real features ``2m``, even: a cosine and a sine for each frequency. 1 means 2.
    n_mixture : int, default=4
        Number of Gaussians ``Q``, at most one for each frequency.
    n_starts : int, default=1
        Number of initial mixtures. L-BFGS continues from the one with the greatest evidence on at
        most 1000 rows after 20 iterations.
    max_iter : int, default=100
        Number of L-BFGS iterations. Stopping early is the only regularisation.
    tol : float, default=1e-6
        Largest entry of the gradient per row, or relative gain, at which L-BFGS stops.
    covariance : {"auto", "full", "diagonal"}, default="auto"
        Shape of ``M``: lower triangular or diagonal. ``"auto"`` is full for up to 20 inputs.
    random_state : int, RandomState instance or None, default=None
        Seed of the base samples and of the initial means.

    Attributes
    ----------
    frequencies_ : Frequencies
        In radians per unit of the inputs; weights in squared units of the target.
    kernel_ : SpectralMixture
        The mixture that the frequencies are sampled from, in the same units.
    noise_variance_ : float
        :math:`\sigma^2`, in squared units of the target.
    log_evidence_ : float
        Log marginal likelihood of the centred targets.
    coef_ : ndarray of shape (2m,)
        Posterior mean of the weights of ``frequencies_.features(X - centre_)``.
    centre_, intercept_ : ndarray of shape (d,) and float
        Means of the inputs and of the targets.
    n_iter_ : int

    Notes
    -----
    Initial factors are multiples of the identity, from 0.5 to 4 divided by the median distance of
    rows, after the first start by up to four times smaller or larger. Initial means are normal, and
    the initial signal-to-noise ratio is ten.

    References
    ----------
    Yang, Smola, Song and Wilson, "A la carte -- learning fast kernels", 2015. "AlaC" of Oliva et
    al., "Bayesian nonparametric kernel-learning", 2016, Section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import ALaCarteRegressor
    >>> X = np.linspace(0.0, 6.0, 120)[:, None]
    >>> y = np.cos(4.0 * X[:, 0])
    >>> model = ALaCarteRegressor(n_components=32, n_mixture=2, random_state=0).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).max() < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int = 768,
        *,
        n_mixture: int = 4,
        n_starts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        covariance: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.n_components = n_components
        self.n_mixture = n_mixture
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.covariance = covariance
        self.random_state = random_state

    def fit(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Learn the mixture from rows ``X`` (n, d) and ``y`` (n,), and the weights given it."""
        rows, y = validated_with_numbers(self, X, y, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        preparation = Preparation(self, rows)
        mean, deviation = means_and_deviations(y)
        # Other units are other roundings, which many iterations would enlarge.
        scaled = rounded((y - mean) / deviation)
        evidence = MixtureEvidence(preparation.mixture, rounded(preparation.X), scaled)
        theta, _, self.n_iter_ = descend(
            evidence,
            -len(y),
            evidence.start(preparation.rng, as_count("n_starts", self.n_starts)),
            self.max_iter,
            self.tol,
            evidence.bounds(),
        )
        weights, noise, parameters = evidence.unpacked(theta)
        variance = float(deviation) ** 2
        self.centre_, self.intercept_ = preparation.centre, float(mean)
        self.noise_variance_ = variance * noise
        self.kernel_ = _kernel(preparation, parameters, variance * weights)
        self.frequencies_ = Frequencies(
            preparation.mixture.omega(parameters) / preparation.scale,
            variance * (weights / preparation.mixture.counts)[preparation.mixture.component],
        )
        targets = (y - self.intercept_)[:, None]
        sums = feature_sums(self.frequencies_, rows - self.centre_, targets)
        solution = WeightPosterior(
            sums.gram, sums.cross[:, 0], float(sums.square[0]), len(y), self.noise_variance_
        )
        self._whitener, self.coef_ = solution.whitener, solution.coef
        self.log_evidence_ = solution.log_evidence
        return self

    @overload
    def predict(self, X: MatrixLike, return_std: Literal[False] = False) -> Array: ...

    @overload
    def predict(self, X: MatrixLike, return_std: Literal[True]) -> tuple[Array, Array]: ...

    def predict(self, X: MatrixLike, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictive means and, optionally, standard deviations, both of shape (n,).

        Standard deviations include the noise, but not the uncertainty of the targets' mean.
        """
        mean, spread = [], []
        for Z in feature_blocks(self, X):
            mean.append(Z @ self.coef_ + self.intercept_)
            if return_std:
                spread.append(np.sum((Z @ self._whitener) ** 2, axis=1))
        if not return_std:
            return np.concatenate(mean)
        std: Array = np.sqrt(self.noise_variance_ * (1.0 + np.concatenate(spread)))
        return np.concatenate(mean), std


def _kernel(preparation: Preparation, theta: Array, weights: Array) -> SpectralMixture:
    """Return the mixture in the units of the inputs."""
    factors = preparation.mixture.factors(theta) / preparation.scale[:, None]
    means = preparation.mixture.means(theta) / preparation.scale
    covariances = factors @ factors.swapaxes(1, 2)
    # A kernel's weights must be positive.
    weights = np.maximum(weights, np.finfo(np.float64).tiny)
    return SpectralMixture(
        tuple(weights.tolist()), tuple(map(tuple, means.tolist())), tuple(covariances.tolist())
    )
