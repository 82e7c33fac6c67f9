"""Methods with intervals of numbers and probabilities of classes, by name."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bochner
from benchmarks.environment import with_packages
from benchmarks.real import methods as real
from benchmarks.real.design import threads
from benchmarks.real.encoding import Columns
from benchmarks.unlike import design
from bochner._base.arrays import Array

Maker = Callable[[int, bool, str | None], "Method"]
"""Seed, whether the target is a number, and the column of times, to a method."""

_TAILS = tuple((0.5 - 0.5 * level, 0.5 + 0.5 * level) for level in design.LEVELS)
"""Probabilities of the lower and the upper end of each interval."""


class Method(Protocol):
    """A method on tables with text, dates and gaps."""

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Fit to training rows."""

    def predict(self, X: pd.DataFrame) -> Array:
        """Return predicted numbers (n,), or probabilities of the classes (n, classes)."""

    def intervals(self, X: pd.DataFrame) -> Array:
        """Return lower and upper ends of the intervals of numbers, (levels, 2, n)."""


class Bochner(real.Bochner):
    """A table model with default parameters, on raw columns."""

    @property
    def expected_error(self) -> float:
        """Expected root mean square error or log loss on new rows."""
        return float(self.model_.score_)

    def intervals(self, X: pd.DataFrame) -> Array:
        return np.array([self.model_.predict_interval(X, level=level) for level in design.LEVELS])


class BochnerWithTime(Bochner):
    """A table model that is told which column has the times of the rows."""

    def __init__(self, seed: int, is_regression: bool, time: str | None) -> None:
        super().__init__(seed, is_regression)
        self.time = time

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        kind = bochner.TableRegressor if self.is_regression else bochner.TableClassifier
        self.model_ = kind(n_jobs=threads(), random_state=self.seed).fit(X, y, time=self.time)
        return self


class CatBoost(real.CatBoost):
    """CatBoost, with a second fit for all quantiles of numbers."""

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        model = super()._fitted(frame, y)
        if self.is_regression:
            probabilities = ",".join(f"{p:.3g}" for p in sorted(sum(_TAILS, ())))
            options = model.get_params() | {"loss_function": f"MultiQuantile:alpha={probabilities}"}
            self.quantiles_ = type(model)(**options).fit(self._prepared(frame), y)
        return model

    def intervals(self, X: pd.DataFrame) -> Array:
        frame = self._prepared(self.columns_.transform(X))
        # Quantiles that cross are put in order.
        quantiles = np.sort(self.quantiles_.predict(frame), axis=1).T
        n_levels = len(design.LEVELS)
        return np.array([quantiles[[n_levels - 1 - i, n_levels + i]] for i in range(n_levels)])


class Trees(real.Trees):
    """scikit-learn's HistGradientBoosting, with MAPIE's CV+ intervals of numbers."""

    def _fitted(self, frame: pd.DataFrame, y: NDArray[Any]) -> Any:
        if not self.is_regression:
            return super()._fitted(frame, y)
        from mapie.regression import CrossConformalRegressor

        trees = HistGradientBoostingRegressor(
            categorical_features="from_dtype", random_state=self.seed
        )
        model = CrossConformalRegressor(
            trees, confidence_level=design.LEVELS, method="plus", random_state=self.seed
        )
        return model.fit_conformalize(frame, y)

    def intervals(self, X: pd.DataFrame) -> Array:
        _, ends = self.model_.predict_interval(self.columns_.transform(X))
        return np.asarray(ends).transpose(2, 1, 0)


class Imputed:
    """A method of numbers without gaps.

    Text is one-hot encoded, with a column for missing text and one for levels that are not among
    the 50 most frequent. Medians take the place of missing numbers, and columns with gaps in the
    training rows get an indicator. All columns are standardised.
    """

    most_levels = 50

    def __init__(self, seed: int, is_regression: bool) -> None:
        self.seed, self.is_regression = seed, is_regression

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        self.columns_ = Columns().fit(X)
        frame = self.columns_.transform(X)
        is_text = frame.dtypes == "category"
        levels = OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            max_categories=self.most_levels,
            sparse_output=False,
        )
        self.encoder_ = make_pipeline(
            make_column_transformer(
                (
                    SimpleImputer(strategy="median", add_indicator=True),
                    list(frame.columns[~is_text]),
                ),
                (levels, list(frame.columns[is_text])),
            ),
            StandardScaler(),
        )
        self.encoder_.fit(_as_objects(frame))
        self.model_ = self._fitted(self._encoded(X), y)
        return self

    def _encoded(self, X: pd.DataFrame) -> Array:
        return np.asarray(self.encoder_.transform(_as_objects(self.columns_.transform(X))))

    def _fitted(self, Z: Array, y: NDArray[Any]) -> Any:
        """Return the package's model, fitted to standardised columns."""
        raise NotImplementedError

    def _normal(self, Z: Array) -> tuple[Array, Array]:
        """Return means and standard deviations of numbers."""
        raise NotImplementedError

    def predict(self, X: pd.DataFrame) -> Array:
        Z = self._encoded(X)
        return self._normal(Z)[0] if self.is_regression else self.model_.predict_proba(Z)

    def intervals(self, X: pd.DataFrame) -> Array:
        mean, std = self._normal(self._encoded(X))
        return mean + ndtri(_TAILS)[..., None] * std


def _as_objects(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a level for missing text."""
    text = frame.columns[frame.dtypes == "category"]
    return frame.assign(
        **{
            name: frame[name].astype("object").where(frame[name].notna(), "missing")
            for name in text
        }
    )


class NGBoost(Imputed):
    """NGBoost of normal distributions, or of classes, with its defaults."""

    def _fitted(self, Z: Array, y: NDArray[Any]) -> Any:
        from ngboost import NGBClassifier, NGBRegressor
        from ngboost.distns import k_categorical

        options = {"random_state": self.seed, "verbose": False}
        if self.is_regression:
            return NGBRegressor(**options).fit(Z, y)
        return NGBClassifier(Dist=k_categorical(len(np.unique(y))), **options).fit(Z, y)

    def _normal(self, Z: Array) -> tuple[Array, Array]:
        law = self.model_.pred_dist(Z)
        return np.asarray(law.loc), np.asarray(law.scale)


class Process(Imputed):
    """An exact Gaussian process on at most a thousand of the rows, which are in random order."""

    def _fitted(self, Z: Array, y: NDArray[Any]) -> Any:
        Z, y = Z[: design.MOST_PROCESS_ROWS], y[: design.MOST_PROCESS_ROWS]
        kernel = ConstantKernel() * RBF(np.sqrt(Z.shape[1]), (0.1, 1e4))
        if not self.is_regression:
            return GaussianProcessClassifier(kernel, random_state=self.seed).fit(Z, y)
        model = GaussianProcessRegressor(
            kernel + WhiteKernel(0.1), normalize_y=True, random_state=self.seed
        )
        return model.fit(Z, y)

    def _normal(self, Z: Array) -> tuple[Array, Array]:
        mean, std = self.model_.predict(Z, return_std=True)
        return mean, std


class TargetAlone:
    """The distribution of the target of the training rows: quantiles, or base rates."""

    def __init__(self, is_regression: bool) -> None:
        self.is_regression = is_regression

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        self.y_ = y
        return self

    def predict(self, X: pd.DataFrame) -> Array:
        rates = np.mean(self.y_) if self.is_regression else np.bincount(self.y_) / len(self.y_)
        return np.broadcast_to(rates, (len(X), *np.shape(rates)))

    def intervals(self, X: pd.DataFrame) -> Array:
        ends = np.quantile(self.y_, _TAILS)
        return np.broadcast_to(ends[..., None], (*ends.shape, len(X)))


METHODS: Mapping[str, Maker] = {
    design.OURS: lambda seed, is_regression, time: Bochner(seed, is_regression),
    design.OURS_WITH_TIME: BochnerWithTime,
    design.CATBOOST: lambda seed, is_regression, time: CatBoost(seed, is_regression),
    design.TREES: lambda seed, is_regression, time: Trees(seed, is_regression),
    design.NGBOOST: lambda seed, is_regression, time: NGBoost(seed, is_regression),
    design.PROCESS: lambda seed, is_regression, time: Process(seed, is_regression),
    design.TARGET_ALONE: lambda seed, is_regression, time: TargetAlone(is_regression),
}

_PACKAGES = {design.CATBOOST: "catboost", design.TREES: "mapie", design.NGBOOST: "ngboost"}


def installed(methods: Iterable[str]) -> list[str]:
    """Return the methods whose packages are installed, with a warning about each of the others."""
    return with_packages(methods, _PACKAGES, "unlike")
