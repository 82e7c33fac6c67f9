"""Forecasters as sktime forecasters; install the dependencies with the extra ``sktime``.

>>> from bochner.adapters.sktime import BochnerForecaster  # doctest: +SKIP
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sktime.forecasting.base import BaseForecaster, ForecastingHorizon

from bochner._base.arrays import RandomState
from bochner.series.forecaster import Forecaster


class BochnerForecaster(BaseForecaster):
    """Wraps :class:`bochner.Forecaster` as an sktime forecaster with intervals and quantiles.

    ``predict_var`` returns variances of new values. With ``transformation="log"``, rare huge values
    dominate the variances: prefer quantiles. ``predict_proba`` returns normal distributions with
    the point forecasts and these variances.

    Parameters
    ----------
    periods, transformation, find_cycle, find_breaks, n_jobs, random_state
        As in :class:`bochner.Forecaster`.

    Attributes
    ----------
    forecaster_ : bochner.Forecaster
        The fitted forecaster.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from bochner.adapters.sktime import BochnerForecaster
    >>> y = load_airline()
    >>> model = BochnerForecaster(random_state=0).fit(y[:-12], fh=range(1, 13))
    >>> predicted = model.predict()
    >>> intervals = model.predict_interval(coverage=0.9)
    """

    _tags = {  # noqa: RUF012 - the name and the kind that sktime reads
        "authors": ["bochner"],
        "python_dependencies": "bochner",
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "scitype:y": "univariate",
        "capability:exogenous": True,
        "capability:missing_values": True,
        "capability:pred_int": True,
        "capability:pred_int:insample": True,
        "capability:insample": True,
        "capability:random_state": True,
        "property:randomness": "stochastic",
        "requires-fh-in-fit": False,
        "enforce_index_type": None,
    }

    def __init__(
        self,
        periods: str | Sequence[float] = "auto",
        transformation: str = "auto",
        find_cycle: bool = True,
        find_breaks: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.periods = periods
        self.transformation = transformation
        self.find_cycle = find_cycle
        self.find_breaks = find_breaks
        self.n_jobs = n_jobs
        self.random_state = random_state
        super().__init__()

    def _fit(
        self, y: pd.Series, X: pd.DataFrame | None, fh: ForecastingHorizon
    ) -> "BochnerForecaster":
        self._known_inputs, self._name = X, y.name
        self.forecaster_ = Forecaster(
            self.periods,
            transformation=self.transformation,
            find_cycle=self.find_cycle,
            find_breaks=self.find_breaks,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(y, X)
        return self

    def _times(self, fh: ForecastingHorizon) -> pd.Index:
        times: pd.Index = fh.to_absolute_index(self.cutoff)
        return times

    def _inputs(self, times: pd.Index, X: pd.DataFrame | None) -> pd.DataFrame | None:
        """Return known inputs at ``times``, from ``X`` and, up to the cutoff, from the fit."""
        if self._known_inputs is None:
            return None
        inputs = self._known_inputs if X is None else pd.concat([self._known_inputs, X])
        return inputs[~inputs.index.duplicated(keep="last")].reindex(times)

    def _predict(self, fh: ForecastingHorizon, X: pd.DataFrame | None) -> pd.Series:
        times = self._times(fh)
        predicted = self.forecaster_.predict(times, self._inputs(times, X))
        return pd.Series(np.asarray(predicted), index=times, name=self._name)

    def _predict_quantiles(
        self, fh: ForecastingHorizon, X: pd.DataFrame | None, alpha: Sequence[float]
    ) -> pd.DataFrame:
        times = self._times(fh)
        inputs = self._inputs(times, X)
        levels = np.clip(alpha, np.finfo(np.float64).eps, 1.0 - np.finfo(np.float64).eps)
        quantiles = np.asarray(self.forecaster_.predict_quantiles(times, levels.tolist(), inputs))
        names = self._get_varnames()
        columns = pd.MultiIndex.from_product([names, alpha])
        return pd.DataFrame(quantiles, index=times, columns=columns)

    def _predict_interval(
        self, fh: ForecastingHorizon, X: pd.DataFrame | None, coverage: Sequence[float]
    ) -> pd.DataFrame:
        levels = [0.5 + 0.5 * side * level for level in coverage for side in (-1.0, 1.0)]
        bounds = self._predict_quantiles(fh, X, levels)
        names = self._get_varnames()
        bounds.columns = pd.MultiIndex.from_product([names, coverage, ["lower", "upper"]])
        return bounds

    def _predict_var(
        self, fh: ForecastingHorizon, X: pd.DataFrame | None, cov: bool = False
    ) -> pd.DataFrame:
        times = self._times(fh)
        variance = self.forecaster_._variance(times, self._inputs(times, X))
        return pd.DataFrame(np.asarray(variance)[:, None], index=times, columns=[self._name])

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return parameters for quick fits in sktime's estimator checks."""
        return [
            {"find_cycle": False, "random_state": 0},
            {"periods": [4.0], "transformation": "none", "find_cycle": False, "random_state": 1},
        ]
