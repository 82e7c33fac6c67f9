"""Regression on a whole table."""

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import norm
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import (
    Array,
    as_array,
    as_count,
    as_level,
    as_levels,
)
from bochner._numerics.progress import Progress
from bochner.estimators.bank import BaNK
from bochner.estimators.bank_parameters import check_name
from bochner.estimators.bank_regressor import BaNKRegressor
from bochner.estimators.inputs import is_dask, lazily, lazy_pair
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.laws_table import LawsTable
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import RegressionTable
from bochner.estimators.table_functions import TableFunctions
from bochner.estimators.table_partitions import ScaledTargets
from bochner.estimators.table_rows import TableRows
from bochner.features.parameters import generators
from bochner.learning.ensemble.ensemble import SumOfLaws, mapped, warn_of_few_scores
from bochner.learning.ensemble.function_draws import drawn_functions
from bochner.learning.ensemble.learner import TRIAL, Judged
from bochner.learning.ensemble.transformations import (
    TRANSFORMATIONS,
    Transformation,
    candidates,
    most_likely,
)
from bochner.learning.kernel_search import ExactEvidence, PairCriterion
from bochner.learning.removal import Removal
from bochner.registry import register
from bochner.tables.encoder import TableEncoder

_TRIED_ROWS = 800
"""Rows on which transformations of the target are compared."""


@register
@dataclass(eq=False, repr=False)
class TableRegressor(RegressionTable, LawsTable):
    r"""Regression on a table, with calibrated prediction intervals; defaults need no tuning.

    The model is a weighted sum of eight Gaussian processes and, of at least 400 rows, boosted
    trees. The kernels are Laplacian, exponential and Matérn-5/2, each on the standardised columns,
    on their normal quantiles and on both. Each kernel has a length scale for every input or, where
    rows suffice, a linear map of all inputs, which minimise leave-one-out errors. Levels of text
    share the length scale of their column. Predictions of rows that were left out give the weights,
    the expected error ``score_`` and the calibration of the intervals. Equal rows are independent
    observations, each left out by itself; they share a row of the kernel matrix. Of more than 4,000
    different rows the best two are fitted. Up to 16,500 different rows are fitted exactly, more by
    4,000 landmarks at linear cost.

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
    transformation : {"none", "auto", "log", "sqrt", "rank"}, default="none"
        Increasing function of a single target to which the laws are fitted, for the method
        ``"auto"``: the logarithm of positive targets, the square root of targets that are not
        negative, or normal quantiles of ranks. Predictions are on the scale of the target: means by
        :meth:`predict`, medians by ``predict_quantiles(X, 0.5)``. ``"auto"`` takes what gives rows
        left out the greatest density, and the targets as they are unless another one is better by
        two standard errors. Covariances of transformed targets are refused. Importance, effects
        and contributions are those of the transformed mean on the scale of the target, which is
        near the median.
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
        Expected root mean square error on new rows of weight one, from rows left out; ``None`` for
        the method ``"fixed"``.
    kernel_ : Kernel
        The kernel on the encoded columns, for other methods than ``"auto"``.
    record_ : dict
        Plain facts about the fit, stored in model files; entries may be added.
    background_, background_values_ : ndarray
        At most 1,000 random training rows, encoded and as numbers, for :meth:`importance`,
        :meth:`interactions`, :meth:`effect` and :meth:`contributions`.
    target_mean_, target_scale_ : float or ndarray of shape (t,)
        Mean and standard deviation of the training targets, transformed ones if they are.
    transformation_ : Transformation or None
        The function of the targets in use, ``transformation_.name``; ``None`` for none.

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

    _: KW_ONLY
    transformation: str = "none"

    head_: KreinRidge | BaNKRegressor | SumOfLaws = field(init=False)
    transformation_: Transformation | None = field(init=False, default=None)
    expected_error_: float | None = field(init=False, default=None)
    target_mean_: float | Array = field(init=False)
    target_scale_: float | Array = field(init=False)

    @property
    def score_(self) -> float | Array | None:
        """Expected root mean square error on new rows; ``None`` if no rows were left out."""
        check_is_fitted(self, "head_")
        if self.expected_error_ is not None:
            return self.expected_error_
        found = getattr(self.head_, "left_out_rmse", getattr(self.head_, "score_", None))
        return None if found is None else _plain(self.target_scale_ * found)

    def predict_interval(
        self, X: Any, level: float = 0.9, sample_weight: Any = None
    ) -> tuple[Array, Array]:
        """Return lower and upper ends, (n,) or (n, t), of prediction intervals.

        Half widths are conformal quantiles of left-out residuals relative to the predictive
        standard deviation, so that about ``level`` of rows like those of the training table lie
        inside, for each target on its own. Where left-out residuals grow with the prediction, or
        differ between values of columns, so do the standard deviations. Coverage is measured, not
        guaranteed: no lower bound of it holds for every law of the data. A level that needs more
        left-out residuals than there are is warned of. The intervals of other methods than
        ``"auto"`` are Gaussian.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d), or Dask array or data frame
            For a Dask collection the ends are Dask arrays.
        level : float, default=0.9
            Coverage, between 0 and 1.
        sample_weight : array-like of shape (n,), default=None
            As in :meth:`predict`.
        """
        level = as_level(level)
        if is_dask(X):
            self._check_collection(X)
            self._check_in_memory(sample_weight)
            return lazy_pair(self, "predict_interval", X, self._target_shape, level=level)
        encoded, (shift, scale) = self.encode(X), self._units()
        weight, head = self._new_weight(sample_weight, encoded), self._judged_head
        if head is not None:
            warn_of_few_scores(len(head.scores), np.array([level]))
            lower, upper = head.interval(encoded, level, weight)
        else:
            mean, std = self._gaussian(encoded, weight)
            half = float(ndtri(0.5 * (1.0 + level))) * std
            lower, upper = mean - half, mean + half
        return self._targets(shift + scale * lower), self._targets(shift + scale * upper)

    def predict_quantiles(
        self, X: Any, levels: Any = (0.1, 0.5, 0.9), sample_weight: Any = None
    ) -> Array:
        """Return quantiles (n, q) or (n, t, q) of new targets, of levels (q,) between 0 and 1.

        They are the mean plus quantiles of signed left-out residuals in units of the predictive
        standard deviation, so that errors need not be symmetric. Those of other methods than
        ``"auto"`` are Gaussian. ``sample_weight`` (n,) is that of :meth:`predict`.
        """
        chosen = as_levels(levels)
        if is_dask(X):
            columns = (*self._target_shape, len(chosen))
            self._check_collection(X)
            self._check_in_memory(sample_weight)
            return lazily(self, "predict_quantiles", X, columns, levels=chosen)
        encoded, head = self.encode(X), self._judged_head
        weight = self._new_weight(sample_weight, encoded)
        if head is not None:
            warn_of_few_scores(len(head.scores), chosen)
            return self._along_last(head.quantiles(encoded, chosen, weight))
        mean, std = self._gaussian(encoded, weight)
        return self._along_last(mean[..., None] + std[..., None] * ndtri(chosen))

    def sample(
        self,
        X: Any,
        n_samples: int = 100,
        *,
        sample_weight: Any = None,
        random_state: Any = None,
    ) -> Array:
        """Return draws, (n, n_samples) or (n, t, n_samples), of new targets.

        Each is the mean plus the predictive standard deviation times a left-out residual in its
        own units. Draws are independent between rows; the targets of a draw have the residuals of
        one row, which may be correlated. Other methods than ``"auto"`` have independent normal
        draws in place of residuals. ``sample_weight`` (n,) is that of :meth:`predict`.
        """
        encoded, count = self.encode(X), as_count("n_samples", n_samples)
        (rng,) = generators(random_state, 1)
        weight, head = self._new_weight(sample_weight, encoded), self._judged_head
        if head is not None:
            return self._along_last(head.sample(encoded, count, rng, weight))
        mean, std = self._gaussian(encoded, weight)
        drawn = rng.normal(size=(*mean.shape, count))
        return self._along_last(mean[..., None] + std[..., None] * drawn)

    def sample_functions(self, n_functions: int = 1, random_state: Any = None) -> TableFunctions:
        """Return functions of a row, drawn from the posterior without noise.

        Values at several rows are those of one function, with the covariances of :meth:`predict`
        less the noise, while :meth:`sample` draws new targets independently between rows. With the
        method ``"auto"`` each is a function of one law, drawn by its weight: a draw of the prior as
        a sum of 256 waves, which no other function has, plus the exact update by the rows
        (Matheron's rule). It costs about as much as a prediction. A function of boosted trees is
        their mean, whose error at different rows has no known covariance. Other methods draw those
        of their heads.

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
        units = self._units()
        found = TableFunctions(self._encoders(), self.varying_, drawn.transformed(*units))
        if isinstance(head, SumOfLaws) and any(own.curves for own in head.widths):
            found = replace(found, head=head, shift=units[0], scale=units[1])
        return replace(found, transformation=self.transformation_)

    def _along_last(self, values: Array) -> Array:
        """Return values (n, q) or (n, t, q) in units of the targets."""
        shift, scale = (np.expand_dims(part, -1) for part in self._units())
        return self._targets(as_array(shift + scale * values))

    def _targets(self, values: Array) -> Array:
        """Return targets, given those that the laws are fitted to."""
        return values if self.transformation_ is None else self.transformation_.inverse(values)

    def _from_head(self, values: Array) -> Array:
        """Return targets, given those of the head in its units."""
        shift, scale = self._units()
        return self._targets(as_array(shift + scale * values))

    def _covariances(self, encoded: Array, weight: Array | None) -> tuple[Array, Array]:
        if self.transformation_ is not None:
            raise ValueError(
                "return_cov=True needs targets as they are, and these are transformed "
                f"({self.transformation_.name!r}): take return_std=True, covariances of "
                "sample_functions, or transformation='none'."
            )
        return super()._covariances(encoded, weight)

    def _means(self, encoded: Array, weight: Array | None = None) -> Array:
        if self.transformation_ is None or not isinstance(self.head_, SumOfLaws):
            return super()._means(encoded, weight)
        return self.head_.mapped_moments(encoded, self._from_head, weight)[0]

    def _means_and_deviations(self, encoded: Array, weight: Array | None) -> tuple[Array, Array]:
        if self.transformation_ is None or not isinstance(self.head_, SumOfLaws):
            return super()._means_and_deviations(encoded, weight)
        return self.head_.mapped_moments(encoded, self._from_head, weight)

    def _outputs(self, encoded: Array) -> Array:
        return self._from_head(as_array(self.head_.predict(encoded)))

    def _combined(self, judged: Judged, rows: TableRows, weights: Array) -> SumOfLaws:
        target = self._head_target(rows)
        head, (mean, std) = SumOfLaws.with_left_out(judged, target, weights)
        if self.transformation_ is not None:
            expected, _ = mapped(mean, std, head.scores, self._from_head)
            squares = weights[judged.scored] * (rows.y[judged.scored] - expected) ** 2
            self.expected_error_ = float(np.sqrt(np.mean(squares)))
        return head

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_name("transformation", self.transformation, ("auto", *TRANSFORMATIONS))
        if self.transformation != "none" and not (self.method == "auto" and self.kernel == "auto"):
            raise ValueError(
                f"transformation={self.transformation!r} needs the method 'auto' with "
                "kernel='auto': leave it out, or use sklearn.compose.TransformedTargetRegressor."
            )

    def _check_in_partitions(self, groups: Any, time: Any) -> None:
        super()._check_in_partitions(groups, time)
        if self.transformation != "none":
            raise ValueError(
                f"transformation={self.transformation!r} needs rows in memory, and X is in "
                "partitions: transform the targets first, or pass some of the rows."
            )

    def _learn(self, rows: TableRows, progress: Progress) -> tuple[TableEncoder, Any]:
        self.transformation_ = self.expected_error_ = None
        self._check_parameters()
        if self.transformation != "none":
            if rows.y.ndim > 1:
                raise ValueError(
                    f"transformation={self.transformation!r} takes a single target y of shape "
                    f"(n,), got {rows.y.shape}: fit a model to each, or leave it out."
                )
            chosen = self._chosen_transformation(rows, progress)
            self.transformation_ = None if chosen.name == "none" else chosen
        return super()._learn(rows, progress)

    def _chosen_transformation(self, rows: TableRows, progress: Progress) -> Transformation:
        """Return the transformation that is named, or that gives rows left out most density."""
        if self.transformation != "auto":
            return Transformation.of(self.transformation, rows.y)
        progress("choosing a transformation of the target")
        (rng,) = generators(self.random_state, 1)
        some, choices = candidates(rows.y, rng, _TRIED_ROWS)
        part = rows.part(some)
        if part.removal.latest is not None:  # Trials leave out single rows: later ones are few
            part = replace(part, removal=Removal())
        densities = [
            self._left_out_density(replace(part, y=transformation(part.y)))
            + transformation.log_slope(part.y)
            - transformation.n_knots / len(rows.y)
            for transformation in choices
        ]
        return choices[most_likely(np.stack(densities, axis=1))]

    def _left_out_density(self, rows: TableRows) -> Array:
        """Return logarithms of densities (n,) of targets by laws without them, of few rows."""
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        _, judged = self._judged(rows, weights, TRIAL, Progress(None))
        target = self._head_target(rows)
        head, (_, std) = SumOfLaws.with_left_out(judged, target, weights)
        densities = np.empty(len(rows.y))
        densities[judged.scored] = norm.logpdf(head.scores, scale=head.scale) - np.log(std)
        return densities - np.log(self.target_scale_)

    def _law_targets(self, rows: TableRows) -> ScaledTargets:
        self._head_target(rows)
        return ScaledTargets(self.target_mean_, self.target_scale_, self.transformation_)

    def _head_target(self, rows: TableRows) -> NDArray[Any]:
        y = rows.y if self.transformation_ is None else self.transformation_(rows.y)
        self.target_mean_ = _plain(np.average(y, axis=0, weights=rows.weights))
        centred = y - self.target_mean_
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
