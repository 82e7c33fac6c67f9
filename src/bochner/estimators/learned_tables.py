"""Models of whole tables that learn their kernel."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner.estimators._bank import BaNK
from bochner.estimators._bank_settings import check_name
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.estimators.bank_regressor import BaNKRegressor
from bochner.estimators.gabasr_classifier import GaBaSRClassifier
from bochner.estimators.gabasr_regressor import GaBaSRRegressor
from bochner.estimators.table_base import TableModel, as_numbers
from bochner.kernels import Kernel
from bochner.persist import persistable
from bochner.tables.encoder import TableEncoder

_CLIP, _UNCLIPPED = 3.0, 1e4
"""In standard deviations. A trend is there to go on beyond the rows that it was fitted to."""


class LearnedTable(TableModel):
    """A table's encoding, and a kernel on it that is learned."""

    _heads: ClassVar[Mapping[str, type[BaNK]]]
    varying_: NDArray[np.int64]

    def __init__(
        self,
        n_frequencies: int = 200,
        n_burn_in: int = 100,
        n_samples: int = 100,
        *,
        envelope: str = "constant",
        trend: int = 0,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_frequencies = n_frequencies
        self.n_burn_in = n_burn_in
        self.n_samples = n_samples
        self.envelope = envelope
        self.trend = trend
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> Self:
        """Encode the table and sample the posterior.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
            Numbers, text and dates; see :class:`bochner.TableEncoder`.
        y : array-like of shape (n,)
        progress : callable, default=silent
            Called with a line of text before every step, and after every iteration.

        Returns
        -------
        self : LearnedTable

        Raises
        ------
        ValueError
            If the table or the target cannot be learned from, or a parameter is out of range.
        """
        check_name("envelope", self.envelope, tuple(self._heads))
        y = self._read_target(X, y)
        progress("encoding the table")
        encoder = TableEncoder(clip=_UNCLIPPED if self.trend else _CLIP).fit(X)
        encoded = encoder.transform(X)
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
        # Among the encoded columns is one for levels that no training row has.
        self.varying_ = np.flatnonzero(np.ptp(encoded, axis=0) > 0.0)
        head.fit(encoded[:, self.varying_], y, progress=progress)
        return self._remember(encoder, head, len(y))

    def encode(self, X: Any) -> Array:
        """Return the columns of a table that the kernel is on, those that varied at the fit.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)

        Returns
        -------
        encoded : ndarray of shape (n, d_in_use)
        """
        check_is_fitted(self, "head_")
        encoded: Array = self.encoder_.transform(X)[:, self.varying_]
        return encoded

    @property
    def kernel_(self) -> Kernel:
        """The learned kernel, on the encoded table."""
        check_is_fitted(self, "head_")
        kernel: Kernel = self.head_.kernel_
        return kernel


@persistable(
    encoder_=TableEncoder,
    head_=BaNKRegressor,
    varying_=NDArray[np.int64],
    record_=dict[str, Any],
)
class LearnedTableRegressor(RegressorMixin, LearnedTable):
    """Regression on a table with a kernel that is learned; nothing to choose.

    Numbers are standardised, text becomes 0/1 columns, and :class:`bochner.BaNKRegressor` learns
    which of the columns matter, at what scales, and which act together.

    Parameters
    ----------
    n_frequencies, n_burn_in, n_samples, trend, time_limit, random_state
        As in :class:`bochner.BaNKRegressor`. Where there is a trend, numbers beyond three standard
        deviations are not clipped.
    envelope : {"constant", "learned"}, default="constant"
        ``"learned"``: the kernel and the noise vary with the inputs, as those of
        :class:`bochner.GaBaSRRegressor`.

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : BaNKRegressor
        On the encoded columns in use.
    kernel_ : Kernel
    varying_ : ndarray of int
        Which of the encoder's columns varied; the kernel is on those.
    record_ : dict
        Plain facts about the fit, kept in model files; add your own.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner.estimators.learned_tables import LearnedTableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = LearnedTableRegressor(30, 20, 20, random_state=0).fit(X, y)
    >>> mean, std = model.predict(X, return_std=True)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _heads = MappingProxyType({"constant": BaNKRegressor, "learned": GaBaSRRegressor})

    def _read_target(self, X: Any, y: Any) -> NDArray[Any]:
        return as_numbers(super()._read_target(X, y))

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictive means (n,) and, if asked for, standard deviations with noise."""
        check_is_fitted(self, "head_")
        predicted: Array | tuple[Array, Array] = self.head_.predict(
            self.encode(X), return_std=return_std
        )
        return predicted


@persistable(
    encoder_=TableEncoder,
    head_=BaNKClassifier,
    varying_=NDArray[np.int64],
    record_=dict[str, Any],
)
class LearnedTableClassifier(ClassifierMixin, LearnedTable):
    """Classification on a table with a kernel that is learned; nothing to choose.

    As :class:`LearnedTableRegressor`, with :class:`bochner.BaNKClassifier`.

    Parameters
    ----------
    n_frequencies, n_burn_in, n_samples, trend, random_state
        As in :class:`bochner.BaNKClassifier`.
    time_limit : float or None, default=None
        Seconds for the whole fit. With more than two classes, each class gets an equal share.
    envelope : {"constant", "learned"}, default="constant"
        ``"learned"``: the kernel varies with the inputs, as that of
        :class:`bochner.GaBaSRClassifier`.

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : BaNKClassifier
    kernel_ : Kernel
    varying_ : ndarray of int
    classes_ : ndarray of shape (n_classes,)
    record_ : dict

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner.estimators.learned_tables import LearnedTableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = LearnedTableClassifier(20, 20, 20, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _heads = MappingProxyType({"constant": BaNKClassifier, "learned": GaBaSRClassifier})

    def _read_target(self, X: Any, y: Any) -> NDArray[Any]:
        y = super()._read_target(X, y)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {y[0]!r}."
            )
        target: NDArray[Any] = y
        return target

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        check_is_fitted(self, "head_")
        classes: NDArray[Any] = self.head_.classes_
        return classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, of shape (n,)."""
        check_is_fitted(self, "head_")
        labels: NDArray[Any] = self.head_.predict(self.encode(X))
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, of shape (n, n_classes)."""
        check_is_fitted(self, "head_")
        probability: Array = self.head_.predict_proba(self.encode(X))
        return probability
