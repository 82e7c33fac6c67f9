"""Regression with a kernel learned from the data."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._numerics.arrays import Array
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_parameters import documented
from bochner.estimators.bank_tasks import Numbers, Problems, positive_rows
from bochner.estimators.row_sources import is_dask, lazily, refuse_std
from bochner.learning.inference.preparation import distinct_rows
from bochner.registry import register


class BaNKRegression(RegressorMixin, BaNK):
    """A model that learns its kernel from numbers."""

    _is_classifier: ClassVar[bool] = False
    target_mean_: float
    target_scale_: float

    def _problems(self, X: Any, y: Any, sample_weight: Any, labels: Any = None) -> Problems:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        X, y, weight = distinct_rows(*positive_rows(X, y.astype(np.float64), sample_weight))
        unit = 1.0
        if weight is not None:  # weights of a mean below one are scaled up to it
            unit = min(1.0, float(weight.mean()))
            weight = weight / unit
        task = Numbers.of(y, weight)
        self.target_mean_, self.target_scale_ = task.mean, task.scale
        return Problems(X, y, weight, task, unit)

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return posterior means and, if asked for, standard deviations.

        Parameters
        ----------
        X : array-like of shape (n, d), or Dask array or data frame
            Rows; for a Dask collection the result is a Dask array, without standard deviations.
        return_std : bool, default=False
            The standard deviation of a new observation, noise included.

        Returns
        -------
        mean, std : ndarrays of shape (n,)
            The mean alone unless ``return_std``.
        """
        if is_dask(X):
            check_is_fitted(self, "learned_")
            refuse_std(return_std)
            return lazily(self, "predict", X, (), np.float64)
        inputs, fixed = self._rows(X)
        draws = self.learned_[0].draws
        mean = np.empty(inputs.shape[1])
        variance = np.empty(inputs.shape[1])
        for part, values in draws.activations(inputs, fixed):
            mean[part] = values.mean(axis=0)
            variance[part] = values.var(axis=0)
        mean = self.target_mean_ + self.target_scale_ * mean
        if not return_std:
            return mean
        level = draws.noise_variance[draws.whitened, None]
        for part, spreads in draws.spreads(inputs, fixed):
            noise = [draws.noise(index, inputs[:, part]) for index in draws.whitened]
            variance[part] += np.mean(level * spreads + np.array(noise), axis=0)
        return mean, self.target_scale_ * np.sqrt(variance)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = 0, *, noise: bool = True
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
        inputs, fixed = self._rows(X)
        draws = self.learned_[0].draws
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        samples = np.empty((inputs.shape[1], n_samples))
        for column in range(n_samples):
            mean, index, place = draws.pick(rng)
            deviation = float(np.sqrt(draws.noise_variance[index]))
            fresh = rng.normal(size=draws.coef.shape[1])
            change = deviation * (draws.whitener[place] @ fresh)
            samples[:, column] = change @ draws.features(index, inputs, fixed)
            samples[:, column] += draws.coef[mean] @ draws.features(mean, inputs, fixed)
            if noise:
                noise_deviation = np.sqrt(draws.noise(index, inputs))
                samples[:, column] += noise_deviation * rng.normal(size=inputs.shape[1])
        return self.target_mean_ + self.target_scale_ * samples

    @property
    def noise_variance_(self) -> float:
        """Posterior mean of the noise's variance, in squared units of the target."""
        return float(self.learned_[0].draws.noise_variance.mean()) * self.target_scale_**2


@register
@documented
class BaNKRegressor(BaNKRegression):
    r"""Regression with a learned kernel (BaNK).

    The frequencies :math:`\omega_j` of the features are unknowns with a nonparametric prior,
    sampled together with its parameters and the ratio of noise to signal, all weights integrated
    out:

    .. math:: y = \Phi_\omega \beta + T \gamma + \varepsilon, \quad
              \beta \sim N(0, (\sigma^2 / \lambda_0) I), \quad \varepsilon \sim N(0, \sigma^2 I).

    Predictions average over posterior draws. Inputs and target are standardised internally.

    Parameters
    ----------
    n_frequencies : int, default=200
        Number of frequencies, ``m``; each makes a cosine and a sine.
    <structure>
    sampler : {"auto", "pcn", "hmc", "mh"}, Sampler or sequence of Move, default="auto"
        Moves of the frequencies. ``"pcn"``, which ``"auto"`` means: local moves of one frequency
        after another. ``"hmc"``: trajectories of all frequencies along gradients. ``"mh"``: the
        independence proposals of the paper, which mix slowly. A sequence of moves is a round of
        one's own, see :class:`bochner.learning.moves.Move`.
    <iterations>
    <chains>

    Attributes
    ----------
    kernel_ : SpectralMixture
        Posterior mean of the kernel, :math:`k(0) = 1`, on inputs in their own units.
    <learned>
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
    >>> from bochner import BaNKRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(200, 1))
    >>> y = np.sin(2 * np.pi * X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = BaNKRegressor(50, n_burn_in=30, n_samples=30, random_state=0).fit(X, y)
    >>> mean, std = model.predict([[3.25]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 0.1), bool(std[0] < 0.2)
    (True, True)
    """
