"""Regression on a whole table."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from itertools import repeat
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    LARGEST_COUNT,
    Array,
    ArrayLike,
    MatrixLike,
    RandomState,
    as_count,
    as_level,
    as_levels,
)
from bochner._base.checks import check_choice, generators
from bochner._base.progress import Callback, Progress
from bochner._base.registry import register
from bochner.linear.argument_checks import check_one_spread, checked_weight
from bochner.tables.encoder import MOST_ENCODED
from bochner.tables.new_rows import NewRows
from bochner.tables.table_fit import chosen_transformation, fitted_laws
from bochner.tables.table_model import TableModel
from bochner.tables.table_predictions import (
    TRANSFORMATIONS,
    NumberPredictor,
    RowDistributions,
    ScaledTargets,
    Transformation,
    expected_error,
    joined,
    plain,
)
from bochner.tables.table_rows import is_partitioned, training_rows
from bochner.tables.weighted_sum import SumOfLaws


@register
@dataclass(eq=False, repr=False)
class TableRegressor(RegressorMixin, TableModel):
    """Regression on a table, with calibrated prediction intervals; defaults need no tuning.

    ``fit(X, y)`` takes a data frame or array of numbers, text and dates, with missing entries, and
    numbers ``y``. ``predict`` returns means, ``predict_interval`` and ``predict_quantiles`` return
    intervals. ``importance``, ``interactions``, ``effect`` and ``contributions`` explain the model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
    >>> f"{model.predict(X[400:401])[0]:.0f}, observed {y[400]:.0f}"
    '16..., observed 175'
    >>> lower, upper = model.predict_interval(X[400:], level=0.9)
    >>> bool(np.mean((lower <= y[400:]) & (y[400:] <= upper)) > 0.75)
    True
    >>> sorted(model.importance().columns[:2])
    ['bmi', 's5']
    >>> bool(np.all(np.diff(model.effect("bmi", n_values=3).mean) > 0))  # It rises
    True

    Parameters
    ----------
    effort : {"quick", "default", "thorough"}, default="default"
        Number of base models, and of rows used to choose their kernels.
    time_limit : float or None, default=None
        Seconds for the fit. Numbers of rows, landmarks and iterations are reduced to what the
        machine can do in the time. Kernels and trees that would exceed it are not fitted, except
        for the first kernel. A fit may take longer than a limit below two seconds, and so may the
        first fit after an installation, which compiles loops.
    memory_limit : int or str, default=None
        Memory of the fit beyond the table: bytes, or a text such as ``"2GB"`` or ``"512MiB"``.
        Numbers of rows and landmarks are reduced to what fits, and trees that do not fit are left
        out. By default an exact fit to 16,500 rows needs up to 2.5 GB, 4,000 landmarks 0.6 GB.
    n_jobs : int or None, default=None
        Number of threads, at most one per core. ``None`` means as many as linear algebra may use.
        Fits with the same number are equal. With another number, factorisations round differently:
        the user guide says by how much.
    base_models : list or tuple of regressors, default=()
        Regressors of scikit-learn's interface that join the weighted sum, for rows in memory. A
        clone of each is fitted to the columns of ``encoder_`` and a target in units of its standard
        deviation, with weights of rows if they differ. A ``random_state`` of ``None`` is set from
        that of the model. Regressors that would exceed ``time_limit`` are left out. Model files
        hold classes registered by :func:`bochner.register`; pickles hold any.
    transformation : {"none", "auto", "log", "sqrt", "rank"}, default="none"
        Increasing function of a single target that the base models fit: the logarithm of positive
        targets, the square root of targets that are not negative, or normal quantiles of ranks.
        Predictions are on the scale of the target. ``"auto"`` selects the transformation with the
        greatest log density of left-out rows, if it is better than none by two standard errors.
        Covariances of transformed targets raise an error. Importance, effects and contributions
        explain the mean of the transformed target mapped back to the scale of the target, which is
        close to the median.
    weights : {"precisions", "counts"}, default="precisions"
        Meaning of the ``sample_weight`` of :meth:`fit`. ``"precisions"``: a row is one observation
        whatever its weight w, with noise variance σ² / w, and is left out as a whole. Use it for
        survey and importance weights, too. ``"counts"``: a row of weight three is three
        independent observations, of which one at a time is left out; weights must be whole numbers.
    random_state : int, RandomState instance or None, default=None
        Random seed of the fit.

    Attributes
    ----------
    encoder_ : TableEncoder
        Encoder of the standardised columns.
    quantile_encoder_ : TableEncoder
        Encoder of the normal quantiles.
    tail_encoder_ : TableEncoder or None
        Encoder of columns with values beyond three standard deviations, for boosted trees that are
        fitted to the residuals of a linear regression.
    head_ : SumOfLaws
        Weighted sum of base models of the encoded columns and the standardised target.
    score_ : float or ndarray of shape (t,)
        Expected root mean square error on new rows, from left-out rows. It refers to rows of the
        mean training weight, or with ``weights="counts"`` to single observations.
    record_ : dict
        Facts about the fit, stored in model files; entries may be added.
    background_, background_values_ : ndarray
        At most 1,000 random training rows, encoded and as numbers, for :meth:`importance`,
        :meth:`interactions`, :meth:`effect` and :meth:`contributions`.
    target_mean_, target_scale_ : float or ndarray of shape (t,)
        Mean and standard deviation of the training targets, after the transformation.
    target_floor_ : float, ndarray of shape (t,) or None
        Smallest value of predictions: zero for targets such as counts, ``None`` without a floor.
        Among several targets, one without a floor has the smallest 64-bit number.
    transformation_ : Transformation or None
        The transformation of the targets, with ``transformation_.name``; ``None`` without one.

    Notes
    -----
    The model is a weighted sum of base models: three Gaussian processes and, with at least 400
    rows, boosted trees. The kernels are Laplacian, exponential and Matérn-5/2, on the standardised
    columns, on their normal quantiles or on both. Leave-one-out errors choose the columns and one
    length scale per input or, with enough rows, a linear map of all inputs. Predictions of left-out
    rows determine the weights, the expected error ``score_`` and the calibration of the intervals.
    With more than 4,000 different rows only the best two kernels are fitted, with more than 16,500
    by 4,000 landmarks (inducing points) or exactly to 16,500 of the rows, whichever is better.

    Several targets (n, t) share the kernels, which are learned for all targets in units of their
    standard deviations. Weights, expected error and calibration are computed per target. If the
    noise of targets is very different, fit a separate model to each: intervals of the target with
    less noise are somewhat too narrow.
    """

    _: KW_ONLY
    transformation: str = "none"

    head_: SumOfLaws = field(init=False)
    transformation_: Transformation | None = field(init=False, default=None)
    score_: float | Array = field(init=False)
    target_mean_: float | Array = field(init=False)
    target_scale_: float | Array = field(init=False)
    target_floor_: float | Array | None = field(init=False, default=None)

    def _check_parameters(self) -> None:
        check_choice("transformation", self.transformation, ("auto", *TRANSFORMATIONS))
        super()._check_parameters()

    def fit(
        self,
        X: object,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | str | None = None,
        time: ArrayLike | str | None = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the encoder and the weighted sum of base models.

        Parameters
        ----------
        X : pandas.DataFrame, polars.DataFrame, pyarrow.Table, dict or array-like of shape (n, d)
            Numbers, text and dates; see :class:`bochner.TableEncoder`. Or a Dask collection, or
            :class:`bochner.engines.PartitionedRows`, without ``groups`` and ``time``: 100,000
            random rows determine the encoding and the kernels, which are fitted to all rows.
        y : array-like of shape (n,), or of shape (n, t) for a regression
            Targets without missing entries, a Dask collection if ``X`` is one; ``None`` for
            ``PartitionedRows``, which contain the targets.
        sample_weight : array-like of shape (n,), default=None
            Weights, not negative, whose meaning the parameter ``weights`` states: precisions, of
            which only the ratios matter, or counts. Rows of weight zero are ignored.
        groups : str or array-like of shape (n,), default=None
            Name of a column, or labels of rows. Rows of a group are left out together, so that
            errors and intervals refer to new groups. If the table has copies of a row, pass the
            number of the original row as group: without groups, equal rows are independent.
        time : str or array-like of shape (n,), default=None
            Name of a column, or times of rows. Each of the last three fifths of the rows is
            predicted from the rows before it, so that errors and intervals refer to later rows;
            fewer than fifty rows have fewer such parts. Kernels are also learned without the
            columns that only increase or decrease in time. Cannot be combined with ``groups``.
        callback : callable, default=None
            Function that is called with a :class:`bochner.FitProgress` before each step. If it
            returns ``False``, the fit ends as at a time limit, with the kernels learned so far.

        Raises
        ------
        ValueError
            If the table, the target or a parameter is not valid.
        TypeError
            If a parameter or an entry of the table has the wrong type.
        """
        self._check_parameters()
        settings, progress = self._settings(), Progress(callback)
        name = self.transformation
        if name != "none" and is_partitioned(X):
            raise ValueError(
                f"transformation={name!r:.60} needs rows in memory, and X is in partitions: "
                "transform the targets first, or pass some of the rows."
            )
        rows = training_rows(self, X, y, sample_weight, groups, time, is_numeric=True)
        transformation = chosen_transformation(name, rows, settings, progress)
        targets = ScaledTargets.of(rows.y, rows.weights, transformation)
        encoders, laws = fitted_laws(settings, rows, targets, progress)
        scaled, weights = targets.scaled(rows.y), rows.weights_or_ones
        head, left_out = SumOfLaws.with_left_out(laws, scaled, weights)
        scored = laws.scored
        if targets.slope is None:
            error = expected_error(targets, head.law, left_out, rows.y[scored], weights[scored])
        else:
            error = plain(targets.scale * head.left_out_rmse)
        self._keep(rows, encoders, head)
        self.score_, self.transformation_ = error, targets.transformation
        self.target_mean_, self.target_scale_ = targets.mean, targets.scale
        self.target_floor_ = targets.floor
        return self

    @property
    def _predictor(self) -> NumberPredictor:
        check_is_fitted(self, "head_")
        mean, scale = self.target_mean_, self.target_scale_
        targets = ScaledTargets(mean, scale, self.transformation_, self.target_floor_)
        return NumberPredictor(self.head_, targets)

    def _outputs(self, encoded: Array) -> Array:
        return self._predictor.outputs(encoded)

    def _answers(self, rows: NewRows) -> list[Array]:
        law, ends = self._predictor.predictive(rows), [1e-6, 0.05, 0.5, 0.95, 1.0 - 1e-6]
        return [*law.mean_and_std(), law.quantiles(np.array(ends))]  # Draws are within the ends

    def _output_unit(self) -> float | Array:
        check_is_fitted(self, "head_")
        return self.target_scale_

    def _output_names(self) -> NDArray[Any] | None:
        several = np.array([f"target {number}" for number in range(np.size(self._output_unit()))])
        return several if np.ndim(self.target_scale_) else None

    def _changes_by_column(self, rows: NewRows) -> Array:
        return self._predictor.changes_by_column(rows)

    def predict(
        self,
        X: MatrixLike,
        return_std: bool = False,
        return_cov: bool = False,
        sample_weight: ArrayLike | None = None,
    ) -> Array | tuple[Array, Array]:
        """Return predictive means of the rows of a table (n, d), and optionally their spread.

        Means and standard deviations have the shape (n,), or (n, t) for several targets;
        covariances between rows have the shape (n, n) or (n, n, t); all of them include the noise.
        ``sample_weight`` (n,) are positive weights of the new targets, in the unit of the weights
        of the fit, which divide the noise variance; by default the mean weight of the training
        rows, or one with ``weights="counts"``. Raises ValueError if both ``return_std`` and
        ``return_cov`` are true.
        """
        check_one_spread(return_std, return_cov)
        if return_std:
            return self.distributions(X, sample_weight).mean_and_std()
        predictor = self._predictor
        if return_cov:
            return predictor.covariances(*next(self._weighted(X, sample_weight, LARGEST_COUNT)))
        return np.concatenate([predictor.mean(*part) for part in self._weighted(X, sample_weight)])

    def predict_interval(
        self, X: MatrixLike, level: float = 0.9, sample_weight: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Return lower and upper ends, (n,) or (n, t), of prediction intervals.

        Ends are quantiles of :meth:`predict_quantiles` with equal shares on both sides. For each
        target, about a share ``level``, between 0 and 1, of new rows from the distribution of the
        training rows lies inside. If left-out residuals grow with the prediction or differ between
        values of columns, the widths follow. The coverage is empirical, without a guaranteed lower
        bound for every distribution of the data. A warning is issued if ``level`` needs more
        left-out residuals than there are. ``sample_weight`` (n,) is as in :meth:`predict`.
        """
        level = as_level(level)
        return self.distributions(X, sample_weight).interval(level)

    def predict_quantiles(
        self,
        X: MatrixLike,
        levels: object = (0.1, 0.5, 0.9),
        sample_weight: ArrayLike | None = None,
    ) -> Array:
        """Return quantiles (n, q) or (n, t, q) of new targets at levels (q,) between 0 and 1.

        A quantile is the mean plus a quantile of signed left-out residuals in units of the
        predictive standard deviation, so that errors need not be symmetric. Beyond the level ``1 /
        sqrt(4 s)`` of s residuals, quantiles are those of a normal tail. Means and standard
        deviations of :meth:`predict` are those of the same distribution. ``sample_weight`` (n,) is
        as in :meth:`predict`.
        """
        chosen = as_levels(levels)
        return self.distributions(X, sample_weight).quantiles(chosen)

    def sample(
        self,
        X: MatrixLike,
        n_samples: int = 100,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> Array:
        """Return draws, (n, n_samples) or (n, t, n_samples), of new targets.

        Draws are independent between rows. The targets of a draw use the ranks of the residuals of
        one left-out row, which preserves correlations between targets. ``sample_weight`` (n,) is
        as in :meth:`predict`.
        """
        count, (rng,) = as_count("n_samples", n_samples), generators(random_state, 1)
        return self.distributions(X, sample_weight).sample(count, rng)

    def distributions(
        self, X: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> RowDistributions:
        """Return the predictive distributions of rows, of which the other methods return parts.

        ``mean_and_std()``, ``interval(level)``, ``quantiles(levels)`` and ``sample(count, rng)`` of
        the result are those of the model, and the rows are encoded and predicted only once.
        """
        predictor = self._predictor
        return joined([predictor.predictive(*part) for part in self._weighted(X, sample_weight)])

    def _weighted(
        self, X: MatrixLike, sample_weight: ArrayLike | None, most: int = MOST_ENCODED
    ) -> Iterator[tuple[NewRows, Array | None]]:
        """Return parts of new rows, and validated weights (n,) of their targets."""
        places, parts = self._parts(X, most)
        if sample_weight is None:
            return zip(parts, repeat(None))
        weight = checked_weight(sample_weight, np.empty((places[-1].stop, 1)))
        assert weight is not None
        if not weight.all():
            raise ValueError(
                "sample_weight of new targets must be positive, got a zero, which makes the noise "
                "infinite. Leave such rows out."
            )
        weight = weight / self.weight_unit_
        return zip(parts, [weight[rows] for rows in places], strict=True)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
