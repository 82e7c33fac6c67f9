"""Regressors as skpro regressors; install the dependencies with the extra ``skpro``.

>>> from bochner.adapters.skpro import BochnerRegressor  # doctest: +SKIP
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator, clone
from skpro.regression.base import BaseProbaRegressor

from bochner.linear.krein_ridge import KreinRidge
from bochner.tables.table_regressor import TableRegressor

_LEAST = float(np.finfo(np.float64).eps)
"""Quantile levels are clipped to this distance from zero and one, where quantiles are infinite."""


class BochnerRegressor(BaseProbaRegressor):
    """Wraps a bochner regressor as a probabilistic regressor of skpro.

    ``predict_proba`` returns normal distributions with the model's mean and standard deviation.
    ``predict_interval`` and ``predict_quantiles`` call the model's methods of these names if there
    are any, as in :class:`bochner.TableRegressor`, whose intervals are calibrated on left-out rows.
    For other models, intervals and quantiles are those of the normal distributions.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A regressor whose ``predict`` takes ``return_std``, or a pipeline that ends in one. ``None``
        means :class:`bochner.TableRegressor` with default parameters.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import KreinRidge
    >>> from bochner.adapters.skpro import BochnerRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = BochnerRegressor(KreinRidge(alpha="evidence", random_state=0)).fit(X, y.to_frame())
    >>> law = model.predict_proba(X[:5])
    >>> intervals = model.predict_interval(X[:5], coverage=0.9)
    """

    _tags = {  # noqa: RUF012 - the name and the kind that skpro reads
        "authors": ["bochner"],
        "python_dependencies": "bochner",
        "capability:multioutput": False,
        "capability:missing": True,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, estimator: BaseEstimator | None = None) -> None:
        self.estimator = estimator
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: pd.DataFrame) -> "BochnerRegressor":
        self._columns = y.columns
        model = TableRegressor() if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.fit(_named(X), y.iloc[:, 0].to_numpy())
        return self

    def _predict(self, X: pd.DataFrame) -> pd.DataFrame:
        return self._frame(X, self.estimator_.predict(_named(X)))

    def _predict_var(self, X: pd.DataFrame) -> pd.DataFrame:
        _, std = self.estimator_.predict(_named(X), return_std=True)
        return self._frame(X, np.square(std))

    def _predict_quantiles(self, X: pd.DataFrame, alpha: Sequence[float]) -> pd.DataFrame:
        levels = np.clip(alpha, _LEAST, 1.0 - _LEAST)
        if hasattr(self.estimator_, "predict_quantiles"):
            quantiles = self.estimator_.predict_quantiles(_named(X), levels)
        else:
            mean, std = self.estimator_.predict(_named(X), return_std=True)
            quantiles = mean[:, None] + std[:, None] * ndtri(levels)
        columns = pd.MultiIndex.from_product([self._columns, alpha])
        return pd.DataFrame(np.asarray(quantiles), index=X.index, columns=columns)

    def _predict_interval(self, X: pd.DataFrame, coverage: Sequence[float]) -> pd.DataFrame:
        columns = pd.MultiIndex.from_product([self._columns, coverage, ["lower", "upper"]])
        if hasattr(self.estimator_, "predict_interval"):
            levels = np.clip(coverage, _LEAST, 1.0 - _LEAST)
            pairs = [self.estimator_.predict_interval(_named(X), level) for level in levels]
            ends = np.column_stack([end for pair in pairs for end in pair])
        else:
            sides = [0.5 + 0.5 * side * each for each in coverage for side in (-1.0, 1.0)]
            ends = self._predict_quantiles(X, sides).to_numpy()
        return pd.DataFrame(ends, index=X.index, columns=columns)

    def _frame(self, X: pd.DataFrame, values: ArrayLike) -> pd.DataFrame:
        return pd.DataFrame(np.asarray(values), index=X.index, columns=self._columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return parameters for quick fits in skpro's estimator checks."""
        return [
            {"estimator": KreinRidge(n_components=32, alpha="evidence", random_state=0)},
            {"estimator": TableRegressor(effort="quick", random_state=0)},
        ]


def _named(X: pd.DataFrame) -> pd.DataFrame:
    """Convert column names to strings, because scikit-learn rejects names of mixed types."""
    return X.set_axis([str(name) for name in X.columns], axis=1)
