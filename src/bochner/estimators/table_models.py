"""Models of whole tables: sums of laws that rows left out have judged, or a single law."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import (
    Array,
    as_array,
    as_count,
    as_level,
    as_levels,
    as_positive_scalar,
)
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas, threads_for
from bochner._numerics.units import rounded
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_classifier import BaNKClassifier
from bochner.estimators.bank_parameters import check_name
from bochner.estimators.bank_regressor import BaNKRegressor
from bochner.estimators.fixed_tables import ENCODINGS, FixedKernelTable
from bochner.estimators.inputs import is_dask, lazily, lazy_pair
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableRows
from bochner.estimators.table_functions import TableFunctions
from bochner.estimators.table_partitions import CentredIndicators, ScaledTargets
from bochner.features.parameters import count_frequencies, generators
from bochner.features.targets import Indicators
from bochner.kernels import Kernel
from bochner.learning.ensemble.ensemble import SoftmaxOfLaws, SumOfLaws
from bochner.learning.ensemble.function_draws import drawn_functions
from bochner.learning.ensemble.learner import EFFORTS, Judged, Learner
from bochner.learning.ensemble.rows import Rows
from bochner.learning.inference.sizes import TABLE_CHAINS
from bochner.learning.kernel_search import ExactEvidence, LeaveOneOut, PairCriterion
from bochner.registry import register
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import scale_numbers


@dataclass(eq=False, repr=False)
class LawsTable(FixedKernelTable):
    """A table model that weighs several laws by rows left out, or has a single law."""

    _chain_head: ClassVar[type[BaNK]]

    _: KW_ONLY
    method: str = "auto"
    effort: str = "default"
    time_limit: float | None = None
    n_jobs: int | None = None

    quantile_encoder_: TableEncoder | None = field(init=False, default=None)
    varying_: NDArray[np.int64] | None = field(init=False, default=None)

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns, of the methods ``"fixed"`` and ``"learned"``."""
        if isinstance(getattr(self, "head_", None), SumOfLaws | SoftmaxOfLaws):
            raise AttributeError("A sum of laws has no single kernel: see head_.laws.members.")
        return super().kernel_

    @property
    def _judged_head(self) -> Any:
        """The sum of laws; ``None`` for other methods."""
        check_is_fitted(self, "head_")
        return self.head_ if isinstance(self.head_, SumOfLaws | SoftmaxOfLaws) else None

    @abstractmethod
    def _law_targets(self, rows: TableRows) -> Callable[[NDArray[Any]], Array]:
        """Return the map from targets to those (n, t) of the laws, of mean zero at the rows."""

    def _regressed(self, rows: TableRows) -> Array:
        return self._law_targets(rows)(rows.y)

    @abstractmethod
    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> Any:
        """Return the head that combines the laws, given weights (n,) of mean one."""

    def _encoders(self) -> list[TableEncoder]:
        quantiles = self.quantile_encoder_
        return [self.encoder_] if quantiles is None else [self.encoder_, quantiles]

    def _used(self, encoded: Array) -> Array:
        return encoded if self.varying_ is None else encoded[:, self.varying_]

    def _learn(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, Any]:
        self._check_parameters()
        self.quantile_encoder_ = self.varying_ = None
        if self.method == "fixed" or self.kernel != "auto":
            return self._fixed(rows, progress)
        if self.method == "learned":
            return self._by_chains(rows, progress)
        progress("encoding the table")
        law_targets = self._law_targets(rows)
        targets = law_targets(rows.y)
        encoders = [TableEncoder(numeric=numeric) for numeric in ENCODINGS]
        tables = [as_array(encoder.fit_transform(rows.X, targets)) for encoder in encoders]
        ends = np.cumsum([0] + [table.shape[1] for table in tables])
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        with single_threaded_blas() as n_threads:
            n_threads = threads_for(self.n_jobs, n_threads)
        (rng,) = generators(self.random_state, 1)
        # In other units the last digits differ, and searches may end elsewhere.
        encoded = rounded(np.hstack(tables))
        others = rows.others
        judged = Learner(EFFORTS[self.effort], n_threads, self.time_limit, progress).fit(
            Rows(encoded, rounded(targets), weights, rows.groups, _scale_numbers(encoders)),
            [np.arange(*pair) for pair in pairwise(ends)],
            rng,
            latest=rows.latest,
            trends=_trends(encoded, rows.order),
            with_variance=isinstance(self, RegressionTable),
            elsewhere=None if others is None else others.encoded(encoders, law_targets),
        )
        self.quantile_encoder_ = encoders[1]
        return encoders[0], self._combined(judged, rows, weights)

    def _by_chains(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, BaNK]:
        """Return the encoder and a head that learns its frequencies by short Markov chains."""
        if rows.groups is not None:
            raise ValueError(
                "groups and time need rows to be left out, and chains leave none out: leave them "
                "out, or use method='auto'."
            )
        if rows.y.ndim > 1:
            raise ValueError(
                f"method='learned' takes a single target y of shape (n,), got {rows.y.shape}: fit "
                "a model to each, or use method='auto'."
            )
        progress("encoding the table")
        y = self._head_target(rows)
        encoder = TableEncoder()
        encoded = as_array(encoder.fit_transform(rows.X, self._regressed(rows)))
        # Columns for levels that no training row has are constant.
        self.varying_ = np.flatnonzero(np.ptp(encoded, axis=0) > 0.0)
        head = self._chain_head(
            **TABLE_CHAINS[self.effort], time_limit=self.time_limit, random_state=self.random_state
        )
        progress("learning the kernel by short chains")
        head.fit(encoded[:, self.varying_], y, rows.weights, callback=progress.relay)
        return encoder, head

    def _check_in_partitions(self, groups: Any, time: Any) -> None:
        self._check_parameters()
        if self.method != "auto" or self.kernel != "auto":
            raise ValueError(
                f"Rows in partitions are fitted by method='auto' with kernel='auto', got "
                f"method={self.method!r} and kernel={self.kernel!r}: leave these out, or pass rows "
                "in memory, such as X.compute()."
            )
        if groups is not None or time is not None:
            raise ValueError(
                "groups and time need rows in memory, and X is in partitions: leave them out, or "
                "pass some of the rows, such as X.sample(frac=0.1).compute()."
            )

    def _check_parameters(self) -> None:
        check_name("method", self.method, ("auto", "learned", "fixed"))
        check_name("effort", self.effort, tuple(EFFORTS))
        count_frequencies(self.n_components)
        if self.time_limit is not None:
            as_positive_scalar("time_limit", self.time_limit)
        if self.method == "learned" and self.kernel != "auto":
            raise ValueError(
                f"method='learned' learns its kernel, and kernel={self.kernel!r} names one: leave "
                "one of them out."
            )
        if self.n_jobs is not None and (not isinstance(self.n_jobs, Integral) or not self.n_jobs):
            raise ValueError(
                f"n_jobs must be a nonzero integer or None, got {self.n_jobs!r}. Minus one means "
                "all cores."
            )


def _trends(encoded: Array, order: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return the numbers of the columns (n, d) that only grow or only fall in an order of rows."""
    if order is None:
        return None
    steps = np.diff(encoded[order], axis=0)
    return np.flatnonzero((steps >= 0.0).all(axis=0) | (steps <= 0.0).all(axis=0))


def _scale_numbers(encoders: Sequence[TableEncoder]) -> NDArray[np.intp]:
    """Return a number for the length scale of each column of several encoded tables."""
    of_columns = [scale_numbers(state) for encoder in encoders for state in encoder.columns_]
    ends = np.cumsum([0] + [len(own) for own in of_columns])
    return np.concatenate([end + own for end, own in zip(ends, of_columns, strict=False)])


@register
@dataclass(eq=False, repr=False)
class TableRegressor(RegressionTable, LawsTable):
    r"""Regression on a table, with prediction intervals that hold and no parameters to choose.

    The model is a weighted sum of eight Gaussian processes: kernels whose functions have kinks
    along every input, kinks in any direction, or two derivatives, each on the standardised columns,
    on their normal quantiles and on both. Each kernel has a length scale for every input or, where
    rows suffice, a linear map of all inputs, which minimise leave-one-out errors. Levels of text
    share the length scale of their column. Predictions of rows that were left out give the weights,
    the expected error ``score_`` and the calibration of the intervals. Of more than 4,000 rows the
    best two are fitted. Up to 16,500 rows are fitted exactly, more by 4,000 landmarks at linear
    cost.

    Several targets (n, t) share the kernels, learned for all of them in units of their standard
    deviations. Each has weights of laws, an expected error and a calibration of its own. Targets of
    very different noise are predicted better by a model each: kernels and their ratio of noise to
    signal are a compromise, and for the target of less noise intervals are somewhat too narrow.

    Parameters
    ----------
    kernel : {"auto", "gaussian", "matern", "anova"}, another kernel's name, or Kernel
        With another kernel than ``"auto"`` the method is ``"fixed"``. Then ``"auto"`` compares all
        families, with a length scale and an inclusion for each input; kernels with another name get
        one length scale by evidence; a Kernel object is used as it is on the encoded table, whose
        columns have the names of :meth:`TableEncoder.get_feature_names_out`.
    n_components : int, default=1024
        Number of real features of the method ``"fixed"``, even.
    method : {"auto", "learned", "fixed"}, default="auto"
        ``"auto"`` is the sum of laws. ``"learned"`` learns frequencies by several short Markov
        chains (:class:`bochner.BaNKRegressor`), for a single target. ``"fixed"`` is a kernel on
        random features, with its encoding, length scales and noise chosen by evidence.
    effort : {"quick", "default", "thorough"}, default="default"
        Number of laws and of rows that choose their kernels, or number and length of chains.
    time_limit : float or None, default=None
        Seconds for the fit. No further law begins after it; it is exceeded where the first law
        alone takes longer.
    n_jobs : int or None, default=None
        Number of threads, at most one per core. ``None`` means as many as linear algebra may use.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    encoder_ : TableEncoder
        Encoder of the standardised columns.
    quantile_encoder_ : TableEncoder or None
        Encoder of the normal quantiles, for the method ``"auto"``.
    varying_ : ndarray of int or None
        Encoded columns that are not constant, for the method ``"learned"``.
    head_ : SumOfLaws, BaNKRegressor or KreinRidge
        Model of the encoded columns and the standardised target.
    score_ : float, ndarray of shape (t,) or None
        Expected root mean square error on new rows, from rows left out; ``None`` for the method
        ``"fixed"``.
    kernel_ : Kernel
        The kernel on the encoded columns, for other methods than ``"auto"``.
    record_ : dict
        Plain facts about the fit, stored in model files; entries may be added.
    background_, background_values_ : ndarray
        At most 1,000 random training rows, encoded and as numbers, for :meth:`importance`,
        :meth:`interactions`, :meth:`effect` and :meth:`contributions`.
    target_mean_, target_scale_ : float or ndarray of shape (t,)
        Mean and standard deviation of the training targets.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
    >>> lower, upper = model.predict_interval(X[400:], level=0.9)
    >>> bool(np.mean((lower <= y[400:]) & (y[400:] <= upper)) > 0.75)
    True
    >>> both = TableRegressor(effort="quick", random_state=0).fit(X[:400], np.c_[y, y**2][:400])
    >>> both.predict(X[400:]).shape, both.score_.shape
    ((42, 2), (2,))
    """

    _head_class: ClassVar[type[RidgeHead]] = KreinRidge
    _chain_head: ClassVar[type[BaNK]] = BaNKRegressor
    _criterion: ClassVar[type[PairCriterion]] = ExactEvidence

    head_: KreinRidge | BaNKRegressor | SumOfLaws = field(init=False)
    target_mean_: float | Array = field(init=False)
    target_scale_: float | Array = field(init=False)

    @property
    def score_(self) -> float | Array | None:
        """Expected root mean square error on new rows; ``None`` if no rows were left out."""
        check_is_fitted(self, "head_")
        found = getattr(self.head_, "left_out_rmse", getattr(self.head_, "score_", None))
        return None if found is None else _plain(self.target_scale_ * found)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends, (n,) or (n, t), of prediction intervals.

        Half widths are conformal quantiles of left-out residuals relative to the predictive
        standard deviation, so that about ``level`` of rows like those of the training table lie
        inside, for each target on its own. Up to the few numbers chosen on all rows, such as
        weights, the coverage of exchangeable rows is at least ``2 level - 1`` (jackknife+: Barber,
        Candès, Ramdas and Tibshirani, 2021). Fewer rows than ``1 / (1 - level)`` are too few for
        that. The intervals of other methods than ``"auto"`` are Gaussian.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d), or Dask array or data frame
            For a Dask collection the ends are Dask arrays.
        level : float, default=0.9
            Coverage, between 0 and 1.
        """
        level = as_level(level)
        if is_dask(X):
            self._check_collection(X)
            return lazy_pair(self, "predict_interval", X, self._target_shape, level=level)
        encoded, (shift, scale) = self.encode(X), self._units()
        head = self._judged_head
        if head is not None:
            lower, upper = head.interval(encoded, level)
        else:
            mean, std = self.head_.predict(encoded, return_std=True)
            half = float(ndtri(0.5 * (1.0 + level))) * std
            lower, upper = mean - half, mean + half
        return shift + scale * lower, shift + scale * upper

    def predict_quantiles(self, X: Any, levels: Any = (0.1, 0.5, 0.9)) -> Array:
        """Return quantiles (n, q) or (n, t, q) of new targets, of levels (q,) between 0 and 1.

        They are the mean plus quantiles of signed left-out residuals in units of the predictive
        standard deviation, so that errors need not be symmetric. Those of other methods than
        ``"auto"`` are Gaussian.
        """
        chosen = as_levels(levels)
        if is_dask(X):
            columns = (*self._target_shape, len(chosen))
            self._check_collection(X)
            return lazily(self, "predict_quantiles", X, columns, levels=chosen)
        encoded, head = self.encode(X), self._judged_head
        if head is not None:
            return self._along_last(head.quantiles(encoded, chosen))
        mean, std = self.head_.predict(encoded, return_std=True)
        return self._along_last(mean[..., None] + std[..., None] * ndtri(chosen))

    def sample(self, X: Any, n_samples: int = 100, *, random_state: Any = None) -> Array:
        """Return draws, (n, n_samples) or (n, t, n_samples), of new targets.

        Each is the mean plus the predictive standard deviation times a left-out residual in its
        own units. Draws are independent between rows; the targets of a draw have the residuals of
        one row, which may be correlated. Other methods than ``"auto"`` have independent normal
        draws in place of residuals.
        """
        encoded, count = self.encode(X), as_count("n_samples", n_samples)
        (rng,) = generators(random_state, 1)
        head = self._judged_head
        if head is not None:
            return self._along_last(head.sample(encoded, count, rng))
        mean, std = self.head_.predict(encoded, return_std=True)
        drawn = rng.normal(size=(*mean.shape, count))
        return self._along_last(mean[..., None] + std[..., None] * drawn)

    def sample_functions(self, n_functions: int = 1, random_state: Any = None) -> TableFunctions:
        """Return functions of a row, drawn from the posterior without noise.

        Values at several rows are those of one function, with the covariances of :meth:`predict`
        less the noise, while :meth:`sample` draws new targets independently between rows. With the
        method ``"auto"`` each is a function of one law, drawn by its weight: a draw of the prior on
        2,048 random features plus the exact update by the rows (Matheron's rule), at the cost of a
        prediction. Other methods draw those of their heads.

        Parameters
        ----------
        n_functions : int, default=1
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        functions : TableFunctions
            ``functions(X)`` has the shape (n, n_functions) or (n, t, n_functions).
        """
        check_is_fitted(self, "head_")
        count = as_count("n_functions", n_functions)
        (rng,) = generators(random_state, 1)
        head = self.head_
        if isinstance(head, SumOfLaws):
            drawn = drawn_functions(head, count, rng)
        else:
            drawn = head.sample_functions(count, int(rng.integers(np.iinfo(np.int32).max)))
        functions = drawn.transformed(*self._units())
        return TableFunctions(self._encoders(), self.varying_, functions)

    def _along_last(self, values: Array) -> Array:
        """Return values (n, q) or (n, t, q) in units of the targets."""
        shift, scale = (np.expand_dims(part, -1) for part in self._units())
        return as_array(shift + scale * values)

    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> SumOfLaws:
        return SumOfLaws.of(judged, self._head_target(rows), weights)

    def _law_targets(self, rows: TableRows) -> ScaledTargets:
        self._head_target(rows)
        return ScaledTargets(self.target_mean_, self.target_scale_)

    def _head_target(self, rows: TableRows) -> NDArray[Any]:
        self.target_mean_ = _plain(np.average(rows.y, axis=0, weights=rows.weights))
        centred = rows.y - self.target_mean_
        scale = np.sqrt(np.average(centred**2, axis=0, weights=rows.weights))
        self.target_scale_ = _plain(np.where(scale > 0.0, scale, 1.0))
        scaled: NDArray[Any] = centred / self.target_scale_
        return scaled

    def _search_targets(self, y: NDArray[Any]) -> Array:
        return y.reshape(len(y), -1)

    def _units(self) -> tuple[Any, Any]:
        return self.target_mean_, self.target_scale_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.method != "learned"
        return tags


def _plain(value: Any) -> float | Array:
    """Return an array (t,) as it is, and a scalar as a float."""
    return as_array(value) if np.ndim(value) else float(value)


@register
@dataclass(eq=False, repr=False)
class TableClassifier(ClassificationTable, LawsTable):
    r"""Classification on a table: calibrated probabilities and no parameters to choose.

    The laws are those of :class:`TableRegressor`, as least-squares regressions of the indicators of
    the classes. Probabilities are the softmax of their values, with a weight for each law and a
    constant for each class fitted to rows that were left out. They are never zero or one.

    Parameters
    ----------
    kernel, n_components, method, effort, time_limit, n_jobs, random_state
        As in :class:`TableRegressor`. The single kernel of the method ``"fixed"`` minimises the
        leave-one-out squared error of the class indicators, which are not Gaussian.

    Attributes
    ----------
    encoder_, quantile_encoder_, varying_, kernel_, record_, background_, background_values_
        As in :class:`TableRegressor`.
    head_ : SoftmaxOfLaws, BaNKClassifier or KreinRidgeClassifier
    classes_ : ndarray of shape (n_classes,)
    score_ : float or None
        Expected log loss on new rows in nats, from rows left out; ``None`` for the method
        ``"fixed"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import TableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TableClassifier(effort="quick", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _head_class: ClassVar[type[RidgeHead]] = KreinRidgeClassifier
    _chain_head: ClassVar[type[BaNK]] = BaNKClassifier
    _criterion: ClassVar[type[PairCriterion]] = LeaveOneOut

    head_: KreinRidgeClassifier | BaNKClassifier | SoftmaxOfLaws = field(init=False)

    @property
    def score_(self) -> float | None:
        """Expected log loss on new rows; ``None`` if no rows were left out."""
        check_is_fitted(self, "head_")
        found: float | None = getattr(
            self.head_, "left_out_log_loss", getattr(self.head_, "score_", None)
        )
        return found

    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> SoftmaxOfLaws:
        classes, labels = np.unique(rows.y, return_inverse=True)
        return SoftmaxOfLaws.of(judged, classes, labels, weights)

    def _named(self, head: Any, names: NDArray[Any]) -> Any:
        if isinstance(head, SoftmaxOfLaws):
            return replace(head, classes_=names[head.classes_])
        return super()._named(head, names)

    def _law_targets(self, rows: TableRows) -> CentredIndicators:
        indicators = Indicators(np.unique(rows.y))
        centre = np.average(indicators(rows.y), axis=0, weights=rows.weights)
        return CentredIndicators(indicators, centre)

    def _head_target(self, rows: TableRows) -> NDArray[Any]:
        return rows.y

    def _search_targets(self, y: NDArray[Any]) -> Array:
        return Indicators(np.unique(y))(y)
