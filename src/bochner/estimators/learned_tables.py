"""Models of whole tables with a learned kernel."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.progress import Progress
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_models import (
    BaNKClassification,
    BaNKClassifier,
    BaNKRegression,
    BaNKRegressor,
)
from bochner.estimators.bank_parameters import check_name
from bochner.estimators.gabasr import GaBaSRClassifier, GaBaSRRegressor
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableModel
from bochner.registry import register
from bochner.tables.encoder import TableEncoder

_CLIP = 3.0
"""Bound on encoded numbers, in standard deviations: the encoder's default."""

_TREND_CLIP = 1e4
"""Bound with a trend, which has to extrapolate. No one of up to 1e8 training rows exceeds it."""


@dataclass(eq=False, repr=False)
class LearnedTable(TableModel):
    """A table model that learns its kernel by sampling."""

    _heads: ClassVar[Mapping[str, type[BaNK]]]

    n_frequencies: int = 200
    n_burn_in: int = 100
    n_samples: int = 100
    _: KW_ONLY
    envelope: str = "constant"
    trend: int = 0
    time_limit: float | None = None
    random_state: Any = None

    varying_: NDArray[np.int64] = field(init=False)

    def _learn(self, X: Any, y: NDArray[Any], progress: Progress) -> tuple[TableEncoder, BaNK]:
        check_name("envelope", self.envelope, tuple(self._heads))
        progress("encoding the table")
        encoder = TableEncoder(clip=_TREND_CLIP if self.trend else _CLIP)
        encoded = as_array(encoder.fit_transform(X, y))
        # Columns for levels that no training row has are constant.
        self.varying_ = np.flatnonzero(np.ptp(encoded, axis=0) > 0.0)
        progress(
            f"learning the kernel: {self.n_burn_in} + {self.n_samples} iterations with "
            f"{self.n_frequencies} frequencies"
        )
        head = self._heads[self.envelope](
            self.n_frequencies,
            n_burn_in=self.n_burn_in,
            n_samples=self.n_samples,
            trend=self.trend,
            time_limit=self.time_limit,
            random_state=self.random_state,
        )
        return encoder, head.fit(encoded[:, self.varying_], y, progress=progress)

    def _used(self, encoded: Array) -> Array:
        return encoded[:, self.varying_]


@register
class LearnedTableRegressor(RegressionTable, LearnedTable):
    """Regression on a table with a learned kernel.

    Numbers are standardised, text is one-hot encoded, and :class:`bochner.BaNKRegressor` learns
    which of the columns matter, on which scales, and which interact.

    Parameters
    ----------
    n_frequencies, n_burn_in, n_samples, trend, random_state
        As in :class:`bochner.BaNKRegressor`. With a trend, numbers beyond three standard
        deviations are not clipped.
    envelope : {"constant", "learned"}, default="constant"
        With ``"learned"``, kernel and noise vary with the inputs, as in
        :class:`bochner.GaBaSRRegressor`.
    time_limit : float or None, default=None
        Seconds for the whole fit. With more than two classes, each class gets an equal share.

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : BaNKRegressor
        Model of the encoded columns in use.
    kernel_ : Kernel
        The learned kernel, on the encoded columns in use.
    varying_ : ndarray of int
        Encoded columns in use: those that are not constant in the training rows.
    record_ : dict
        Plain facts about the fit, stored in model files; entries may be added.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import LearnedTableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LearnedTableRegressor(30, 20, 20, random_state=0).fit(X, y)
    >>> mean, std = model.predict(X, return_std=True)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    head_: BaNKRegression

    _heads = MappingProxyType({"constant": BaNKRegressor, "learned": GaBaSRRegressor})


@register
class LearnedTableClassifier(ClassificationTable, LearnedTable):
    """Classification on a table with a learned kernel.

    As :class:`LearnedTableRegressor`, with :class:`bochner.BaNKClassifier` as its head, or
    :class:`bochner.GaBaSRClassifier` if the envelope is learned.

    Parameters
    ----------
    n_frequencies, n_burn_in, n_samples, envelope, trend, time_limit, random_state
        As in :class:`LearnedTableRegressor`.

    Attributes
    ----------
    encoder_, kernel_, varying_, record_
        As in :class:`LearnedTableRegressor`.
    head_ : BaNKClassifier
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import LearnedTableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LearnedTableClassifier(20, 20, 20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    head_: BaNKClassification

    _heads = MappingProxyType({"constant": BaNKClassifier, "learned": GaBaSRClassifier})
