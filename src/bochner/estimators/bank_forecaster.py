"""Forecasts along one input with learned kernels, averaged over trends."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner.estimators.bank_models import BaNKRegressor
from bochner.registry import register

# Weight of a trend relative to that of one degree less; see the class.
_RATIO = 0.25


@register
@dataclass(eq=False, repr=False)
class BaNKForecaster(RegressorMixin, BaseEstimator):
    r"""Many short chains of :class:`bochner.BaNKRegressor`, with trends of several degrees.

    A forecast beyond the rows depends on the degree of the trend and on slow waves, which the rows
    do not determine. The evidence cannot compare degrees, because flat priors of trends have no
    common unit, and one chain explores only some of the slow waves. Therefore every degree has its
    own chains, each degree has a quarter of the weight of the one before it, and the forecast is
    their mixture. Its variance includes the differences between the chains:

    .. math:: w_k \propto 4^{-k}, \quad \mu = \sum_k w_k \mu_k, \quad
              \sigma^2 = \sum_k w_k [\sigma_k^2 + (\mu_k - \mu)^2].

    A quarter had nearly the greatest predictive density, of ratios from none to one, for two
    decades of carbon dioxide at Mauna Loa, from 1974 and from 1982, each forecast from the years
    before it. The numbers of frequencies and of chains were kept with the decade after those in
    sight, so that its forecast is no measurement of how this does elsewhere.

    Parameters
    ----------
    trends : sequence of {0, 1, 2}, default=(1, 2)
    n_frequencies, n_burn_in, n_samples, thin, n_jobs, random_state
        As in :class:`bochner.BaNKRegressor`.
    n_chains : int, default=12
        For each trend.

    Attributes
    ----------
    models_ : list of BaNKRegressor
        One for each trend.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.estimators.bank_forecaster import BaNKForecaster
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(0.0, 20.0, 0.1)
    >>> y = 0.5 * t + np.sin(2.0 * np.pi * t) + 0.1 * rng.normal(size=len(t))
    >>> model = BaNKForecaster(n_frequencies=20, n_burn_in=10, n_samples=5, n_chains=2,
    ...                        random_state=0).fit(t[:, None], y)
    >>> mean, std = model.predict([[20.25]], return_std=True)
    >>> bool(abs(mean[0] - 11.125) < 0.5)
    True
    """

    trends: Sequence[int] = (1, 2)
    _: KW_ONLY
    n_frequencies: int = 40
    n_burn_in: int = 40
    n_samples: int = 20
    thin: int | str = 4
    n_chains: int = 12
    n_jobs: int | None = None
    random_state: Any = None

    models_: list[BaNKRegressor] = field(init=False)

    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> Self:
        """Learn a kernel with each of the trends.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        progress : callable, default=silent
            Called with a line of text before every step, and as chains proceed.

        Raises
        ------
        ValueError
            If there are no trends, a parameter is out of range, or the data are unusable.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if not len(self.trends):
            raise ValueError("trends must hold at least one of 0, 1 and 2, got none.")
        rng = check_random_state(self.random_state)
        models = []
        for trend in self.trends:
            progress(f"learning the kernel: {self.n_chains} chains with a trend of degree {trend}")
            seed = int(rng.randint(np.iinfo(np.int32).max))
            model = BaNKRegressor(
                self.n_frequencies,
                "dense",
                n_burn_in=self.n_burn_in,
                n_samples=self.n_samples,
                thin=self.thin,
                n_chains=self.n_chains,
                n_jobs=self.n_jobs,
                trend=trend,
                random_state=seed,
            )
            models.append(model.fit(X, y, progress=progress))
        self.models_ = models
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return posterior means (n,) and, with ``return_std``, standard deviations with noise."""
        check_is_fitted(self, "models_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        weights: Array = _RATIO ** np.asarray(self.trends, dtype=np.float64)
        weights /= weights.sum()
        means, stds = np.swapaxes(
            [model.predict(X, return_std=True) for model in self.models_], 0, 1
        )
        mean: Array = weights @ means
        std: Array = np.sqrt(weights @ (stds**2 + (means - mean) ** 2))
        return (mean, std) if return_std else mean
