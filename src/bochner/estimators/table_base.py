"""Base of all models of whole tables, and what regression and classification add to it."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from bochner._numerics.arrays import Array, as_array
from bochner._numerics.checked import check_classes, check_targets, labels, named, numbers, of_numpy
from bochner._numerics.files import as_path
from bochner._numerics.foreign import refuse_masked, refuse_no_rows, shown
from bochner._numerics.progress import Callback, Progress
from bochner._numerics.units import rounded, spreads
from bochner._numerics.whole_fits import all_or_nothing
from bochner.estimators.inputs import check_one_spread, checked_weight, is_dask, lazily
from bochner.estimators.labelled import LabelledClassifier, ScoredRegressor
from bochner.estimators.table_effects import ExplainedTable
from bochner.estimators.table_partitions import Others, collected_table, is_partitioned
from bochner.estimators.table_rows import TableRows, table_rows
from bochner.estimators.table_summary import html_summary
from bochner.features.parameters import KernelParameters
from bochner.kernels import Kernel
from bochner.learning.ensemble.ensemble import SumOfLaws
from bochner.learning.ensemble.whole_weights import are_precisions
from bochner.tables.columns import rows_of
from bochner.tables.encoder import TableEncoder, read_columns
from bochner.tables.repeated import row_keys

_BACKGROUND_ROWS = 1000
"""Rows kept for importance and effects, which then have standard errors of a few per cent."""


class TableModel(KernelParameters, ExplainedTable, BaseEstimator):
    """Model of a whole table: an encoder of its columns, and a head on the encoded columns.

    A model joins a task (:class:`RegressionTable` or :class:`ClassificationTable`) and a way to
    learn (``_learn``). ``record_`` holds plain facts about the fit, which model files store.
    ``background_`` (at most 1,000, d_all) holds all encoded columns of random training rows, and
    ``background_values_`` (at most 1,000, d) their entries as numbers, for all methods of
    :class:`ExplainedTable`. Older model files lack them.
    """

    _is_numeric: ClassVar[bool]

    head_: Any
    record_: dict[str, Any]

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        r"""Fit the encoder and the head.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame or array-like of shape (n, d)
            Numbers, text and dates; see :class:`bochner.TableEncoder`. Or a Dask data frame or
            array, or :class:`bochner.distributed.PartitionedRows`, for the method ``"auto"``
            without ``groups`` and ``time``: columns are encoded and kernels chosen by 100,000
            random rows, and fitted to all rows.
        y : array-like of shape (n,), or of shape (n, t) for a regression
            Target without missing entries, or several of them; a Dask collection for one, and
            ``None`` for ``PartitionedRows``, which contain targets.
        sample_weight : array-like of shape (n,), default=None
            Weights, not negative. Whole numbers that differ are counts: a row of weight three is
            three independent rows. Other weights are precisions: the noise of a row of weight ``w``
            has the variance :math:`\\sigma^2 / w`, and the row is one observation, left out as a
            whole. New rows have the weight one. Rows of weight zero are left out.
        groups : str or array-like of shape (n,), default=None
            Name of a column, or labels of rows. Rows of a group are left out together, so that
            errors and intervals are those of new groups. Copies of a row are a group: without
            groups, equal rows are independent.
        time : str or array-like of shape (n,), default=None
            Name of a column, or times of rows. The latest fifth of the rows is left out together,
            so that errors and intervals are those of later rows; rows of one time are not
            separated. Kernels are also learned without the columns that only grow or fall in time.
            Not together with ``groups``.
        callback : callable, default=None
            Function that is called with a :class:`bochner.FitProgress` before each step, after each
            kernel that is learned, and after each iteration of a sampler. If it returns ``False``,
            the fit ends as at a time limit, with what it has found.

        Raises
        ------
        ValueError
            If the table, the target or a parameter is not valid.
        TypeError
            If a parameter or an entry of the table has the wrong type.
        """
        partitions = None
        if is_partitioned(X):
            self._check_in_partitions(groups, time)
            partitions = collected_table(X, y, sample_weight, numeric=self._is_numeric)
            sample = partitions.sample
            X, y, sample_weight = sample.X, sample.y, sample.weight
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        refuse_no_rows("X", X)
        refuse_no_rows("y", y)
        refuse_masked("y", y)
        # Sums in another order of memory would be others, up to rounding.
        with named("y"):
            y = of_numpy(y)
            complete = check_array(y, ensure_2d=False, dtype=None, order="C", input_name="y")
        target = self._checked_target(np.asarray(complete))
        check_consistent_length(X, target)
        weights = checked_weight(sample_weight, target)
        if weights is not None:  # Rows of weight zero may have been all of a class
            self._checked_target(target[weights > 0.0])
        target, names = self._coded(X, target, weights)
        rows = table_rows(X, target, weights, groups, time, self._are_precisions)
        if partitions is not None and not partitions.is_whole:
            others = Others(partitions, rows.unit, names)
            rows = replace(rows, others=others, n_given=others.n_samples)
        self.encoder_, head = self._learn(rows, Progress(callback))
        self.head_ = head if names is None else self._named(head, names)
        self.n_features_in_ = self.encoder_.n_features_in_
        if hasattr(self.encoder_, "feature_names_in_"):
            self.feature_names_in_ = self.encoder_.feature_names_in_
        self.record_ = {"n_samples": rows.n_given}
        some = np.random.default_rng(0).permutation(len(rows.y))[:_BACKGROUND_ROWS]
        background = rows_of(rows.X, some)
        self.background_ = self._encoded(background)
        self.background_values_ = self.encoder_.values(background)
        return self

    def encode(self, X: Any) -> Array:
        """Return the encoded columns (n, d_encoded) of a table, on which the kernel is defined."""
        check_is_fitted(self, "head_")
        if is_dask(X):
            raise TypeError(
                "X is a Dask collection, and rows in memory were expected: pass X.compute(), or "
                "map the method over the partitions."
            )
        return self._used(self._encoded(X))

    def _check_collection(self, X: Any) -> None:
        """Raise ValueError for a Dask collection of other columns than those of the fit."""
        check_is_fitted(self, "head_")
        self.encoder_.check_columns(X)

    def _repr_html_inner(self) -> str:
        """Return what notebooks show: a summary of the fit, or scikit-learn's diagram before it."""
        if hasattr(self, "head_"):
            return html_summary(self)
        diagram: str = super()._repr_html_inner()
        return diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:  # Unless the configuration of scikit-learn says text
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def report(self, X: Any, y: Any, path: Any = None) -> Any:
        """Return a report on the model and rows with known targets, which notebooks show.

        It has errors with standard errors, predictions with intervals, calibration, residuals,
        importance, effects, periods of dates, and checks in plain words: one HTML page that needs
        no network. It takes some seconds. Needs the extra ``report``.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame or array-like of shape (n, d)
            Rows, best such as the model was not fitted to: errors on others are too small.
        y : array-like of shape (n,) or (n, t)
            Their targets; a Series or a DataFrame also names them.
        path : str or path-like, default=None
            HTML file to write the page to.

        Returns
        -------
        report : bochner.report.Report
            ``save(path)`` writes the page, and ``html`` holds it.

        Raises
        ------
        ImportError
            If jinja2, matplotlib or pandas is missing.
        ValueError
            If there are no rows, not one target for each, or an unknown class.
        """
        check_is_fitted(self, "head_")
        try:
            # The only import from a room above this one: users look for the report here.
            from bochner.report.notebook import report_of
        except ImportError as error:
            raise ImportError(
                f"Reports need {error.name}, which is not installed: run pip install "
                "'bochner[report]'."
            ) from error
        target = None if path is None else as_path(path)
        found = report_of(self, X, y)
        if target is not None:
            found.save(target)
        return found

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns."""
        check_is_fitted(self, "head_")
        kernel: Kernel = self.head_.kernel_
        return kernel

    @abstractmethod
    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return a complete target that suits the task, or raise ValueError."""

    def _coded(
        self, X: Any, y: NDArray[Any], weights: Array | None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return the target that is learned, and the names of its numbers if it holds classes."""
        return y, None

    def _named(self, head: Any, names: NDArray[Any]) -> Any:
        """Return a head that learned numbers of classes with the names of the classes."""
        head.classes_ = names[head.classes_]
        return head

    @abstractmethod
    def _are_precisions(self, X: Any, y: NDArray[Any], weights: Array) -> bool:
        """Return whether whole-number weights (n,) are precisions, and no counts of rows."""

    @abstractmethod
    def _check_in_partitions(self, groups: Any, time: Any) -> None:
        """Raise ValueError for what needs all rows in memory."""

    @abstractmethod
    def _learn(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, Any]:
        """Return a fitted encoder and a fitted head."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


class RegressionTable(ScoredRegressor, TableModel):
    """A table model whose target holds numbers."""

    _is_numeric: ClassVar[bool] = True

    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        found = as_array(numbers(y))
        check_targets(found)
        return found

    def _are_precisions(self, X: Any, y: NDArray[Any], weights: Array) -> bool:
        if np.ptp(weights) == 0.0:
            return False
        columns = y.reshape(len(y), -1)
        scaled = rounded((columns - columns.mean(axis=0)) / spreads(columns, np.ones(len(y))))
        encoded = as_array(TableEncoder().fit_transform(X, scaled))
        return are_precisions(rounded(encoded), scaled, weights, np.random.default_rng(0))

    def predict(
        self,
        X: Any,
        return_std: bool = False,
        return_cov: bool = False,
        sample_weight: Any = None,
    ) -> Array | tuple[Array, Array]:
        """Return predictive means and, if asked for, standard deviations or covariances with noise.

        Means and standard deviations have the shape (n,), or (n, t) if the targets were (n, t), and
        covariances between rows (n, n) or (n, n, t). Those of Dask collections are Dask arrays,
        without covariances. Raises ValueError if both are asked for.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame or array-like of shape (n, d)
        return_std : bool, default=False
        return_cov : bool, default=False
        sample_weight : array-like of shape (n,), default=None
            Positive weights of the new targets, of whose noise the variance is divided by them.
            ``None`` for ones.
        """
        check_one_spread(return_std, return_cov)
        if is_dask(X):
            spread = {"return_std": return_std, "return_cov": return_cov}
            self._check_collection(X)
            self._check_in_memory(sample_weight)
            return lazily(self, "predict", X, self._target_shape, **spread)
        encoded = self.encode(X)
        weight = self._new_weight(sample_weight, encoded)
        if return_cov:
            return self._covariances(encoded, weight)
        if return_std:
            return self._means_and_deviations(encoded, weight)
        return self._means(encoded, weight)

    def _means(self, encoded: Array, weight: Array | None = None) -> Array:
        """Return predictive means (n, *t) of the targets at encoded rows."""
        return self._outputs(encoded)

    def _covariances(self, encoded: Array, weight: Array | None) -> tuple[Array, Array]:
        """Return predictive means (n, *t) and covariances (n, n, *t) of the targets."""
        shift, scale = self._units()
        mean, cov = self._gaussian(encoded, weight, return_cov=True)
        return shift + scale * mean, scale**2 * cov

    def _means_and_deviations(self, encoded: Array, weight: Array | None) -> tuple[Array, Array]:
        """Return predictive means and standard deviations (n, *t) of the targets."""
        shift, scale = self._units()
        mean, std = self._gaussian(encoded, weight)
        return shift + scale * mean, scale * std

    def _gaussian(
        self, encoded: Array, weight: Array | None, return_cov: bool = False
    ) -> tuple[Array, Array]:
        """Return means and deviations, or covariances, of the head, in units of its targets."""
        spread = {"return_cov" if return_cov else "return_std": True}
        weights = {} if weight is None else {"sample_weight": weight}
        moments: tuple[Array, Array] = self.head_.predict(encoded, **spread, **weights)
        return moments

    def _new_weight(self, sample_weight: Any, encoded: Array) -> Array | None:
        """Return checked weights (n,) of new targets."""
        if (weight := checked_weight(sample_weight, encoded)) is None:
            return None
        if not isinstance(self.head_, SumOfLaws):
            raise ValueError(
                "sample_weight of new targets needs the method 'auto' with kernel='auto': leave it "
                "out, and scale the noise of the head, head_, yourself."
            )
        if not weight.all():
            raise ValueError(
                "sample_weight of new targets must be positive, got a zero: a target of weight "
                "zero has a noise without bound. Leave such rows out."
            )
        return weight

    def _check_in_memory(self, sample_weight: Any) -> None:
        if sample_weight is not None:
            raise ValueError(
                "sample_weight needs rows in memory, and X is a Dask collection: map the method "
                "over the partitions, or leave the weights out."
            )

    @property
    def _target_shape(self) -> tuple[int, ...]:
        return np.shape(self._units()[0])

    def _outputs(self, encoded: Array) -> Array:
        shift, scale = self._units()
        outputs: Array = shift + scale * as_array(self.head_.predict(encoded))
        return outputs


class ClassificationTable(LabelledClassifier, TableModel):
    """A table model whose target holds classes."""

    _is_numeric: ClassVar[bool] = False

    def _checked_target(self, y: NDArray[Any]) -> NDArray[Any]:
        y = np.asarray(column_or_1d(labels(y), warn=True))
        check_classes(y)
        if len(np.unique(y)) < 2:
            raise ValueError(
                f"{type(self).__name__} needs at least two classes, got 1 class: {shown(y[0])}."
            )
        return y

    def _are_precisions(self, X: Any, y: NDArray[Any], weights: Array) -> bool:
        """Return whether the weights are those of classes, such as the inverse of their shares."""
        of_class = [weights[y == label] for label in np.unique(y)]
        return bool(np.ptp(weights) > 0.0) and all(np.ptp(own) == 0.0 for own in of_class)

    def _coded(
        self, X: Any, y: NDArray[Any], weights: Array | None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return numbers of classes and their names, in an order that the names do not decide.

        Heads give random numbers to classes in order. The heaviest class is first; of classes of
        one weight, the one with the smallest key of a row, whatever the order of the rows.
        """
        names, first, number = np.unique(y, return_index=True, return_inverse=True)
        total = np.bincount(number, weights)
        keys = np.zeros(len(names), dtype=np.uint64)
        if len(np.unique(total)) < len(total):
            keys += np.iinfo(np.uint64).max
            np.minimum.at(keys, number, row_keys(read_columns(X), np.empty((len(y), 0))))
        order = np.lexsort((first, keys, -total))
        return np.argsort(order)[number], names[order]

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        check_is_fitted(self, "head_")
        return np.sort(self.head_.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, of shape (n,)."""
        if is_dask(X):
            self._check_collection(X)
            return lazily(self, "predict", X)
        encoded = self.encode(X)  # First: raises NotFittedError before fit
        return np.asarray(self.classes_[np.argmax(self._outputs(encoded), axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, of shape (n, n_classes)."""
        if is_dask(X):
            self._check_collection(X)
            return lazily(self, "predict_proba", X)
        encoded = self.encode(X)
        return self._outputs(encoded)

    def _outputs(self, encoded: Array) -> Array:
        found: Array = self.head_.predict_proba(encoded)
        return as_array(found[:, np.argsort(self.head_.classes_)])
