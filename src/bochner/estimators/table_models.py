"""Models of whole tables with a fixed kernel, chosen by evidence."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array, as_array, as_positive_scalar
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas
from bochner.estimators.bank_parameters import check_name
from bochner.estimators.inputs import refuse_asymmetric
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableModel
from bochner.features.parameters import count_frequencies, generators
from bochner.features.targets import Indicators
from bochner.kernels import Kernel, named_kernel
from bochner.learning.ensemble.ensemble import EFFORTS, Learner, SumOfLaws
from bochner.learning.families import (
    ANOVA_FAMILIES,
    FAMILIES,
    GAUSSIAN_FAMILY,
    MATERN_FAMILY,
    Family,
)
from bochner.learning.kernel_search import (
    ExactEvidence,
    LeaveOneOut,
    PairCriterion,
    search_kernel,
)
from bochner.registry import register
from bochner.tables.encoder import TableEncoder

_ENCODINGS: tuple[Literal["standardize", "normal_quantile"], ...] = (
    "standardize",
    "normal_quantile",
)
_MOST_QMC_INPUTS = 256
"""Most encoded columns for quasi-Monte Carlo frequencies; beyond, Sobol' points are no more even
than orthogonal blocks, and they take longer to scramble."""

_SEARCH_ROWS = 800
"""Rows of the search for kernels by exact evidence, whose time grows with the cube of the rows."""

_CHOICE_ROWS = 5000
"""Rows of the choice among the kernels found, with random features: time grows linearly."""

_SEARCHED: Mapping[str, Sequence[Family]] = {
    "auto": FAMILIES,
    "gaussian": (GAUSSIAN_FAMILY,),
    "matern": (MATERN_FAMILY,),
    "anova": ANOVA_FAMILIES,
}
"""Families of kernels to search, by the value of ``kernel``."""

Choice = tuple[TableEncoder, Array, Sequence[Kernel | str]]


@dataclass(eq=False, repr=False)
class FixedKernelTable(TableModel):
    """A table model that chooses a kernel by evidence and fits a ridge head on its features."""

    _head_class: ClassVar[type[RidgeHead]]
    _criterion: ClassVar[type[PairCriterion]]

    kernel: Kernel | str = "auto"
    n_components: int = 1024
    _: KW_ONLY
    random_state: Any = None

    @abstractmethod
    def _head_target(self, y: NDArray[Any]) -> NDArray[Any]:
        """Return the target (n,) of the head."""

    @abstractmethod
    def _search_targets(self, y: NDArray[Any]) -> Array:
        """Return targets (n, t) of order one for the search, given those of the head."""

    def _learn(self, X: Any, y: NDArray[Any], progress: Progress) -> tuple[TableEncoder, RidgeHead]:
        count_frequencies(self.n_components)
        self._check_kernel()
        y = self._head_target(y)
        search_rng, choice_rng, head_rng = generators(self.random_state, 3)
        seed = int(head_rng.integers(2**31))
        # On matrices this small, threads of BLAS cost more than they gain.
        with single_threaded_blas():
            choices = self._choices(X, self._search_targets(y), search_rng, progress)
            progress("choosing among the fitted kernels")
            rows = choice_rng.permutation(len(y))[:_CHOICE_ROWS]
            encoder, table, head = self._best(choices, rows, y, seed)
        progress("fitting all rows")
        head.fit(table, y)
        return encoder, head

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, Kernel):
            refuse_asymmetric(self.kernel, associated=False)
        elif not isinstance(self.kernel, str):
            raise TypeError(
                f"kernel must be one of {', '.join(map(repr, _SEARCHED))}, the name of another "
                f"kernel, or a Kernel, got {self.kernel!r}."
            )
        elif self.kernel not in _SEARCHED:
            named_kernel(self.kernel, also=_SEARCHED)

    def _choices(
        self, X: Any, targets: Array, rng: np.random.Generator, progress: Progress
    ) -> list[Choice]:
        """Return encoders, each with the encoded table and kernels to choose from."""
        encoders = [TableEncoder(numeric=numeric) for numeric in _ENCODINGS]
        tables = [as_array(encoder.fit_transform(X, targets)) for encoder in encoders]
        if not isinstance(self.kernel, str) or self.kernel not in _SEARCHED:
            pairs = zip(encoders, tables, strict=True)
            return [(encoder, table, [self.kernel]) for encoder, table in pairs]
        rows = rng.permutation(len(targets))[:_SEARCH_ROWS]
        found = search_kernel(
            [table[rows] for table in tables],
            targets[rows],
            rng,
            families=_SEARCHED[self.kernel],
            criterion=self._criterion,
            progress=progress,
        )
        encodings = [candidate.encoding for candidate in found]
        kernels = [candidate.kernels for candidate in found]
        return [(encoders[i], tables[i], some) for i, some in zip(encodings, kernels, strict=True)]

    def _best(
        self, choices: list[Choice], rows: NDArray[np.intp], y: NDArray[Any], seed: int
    ) -> tuple[TableEncoder, Array, RidgeHead]:
        """Return the encoder, the table and the head with the greatest evidence on some rows.

        The first kernels of all choices are compared. Richer kernels of the best choice
        are tried as long as the evidence grows. They are not tried for classes, whose indicators
        are not Gaussian, so that the evidence is no guide there.
        """

        def fitted(table: Array, kernel: Kernel | str) -> Any:
            encoded = table[rows]
            scheme = "qmc" if encoded.shape[1] <= _MOST_QMC_INPUTS else "orthogonal"
            options: dict[str, Any] = {"fit_intercept": True, "random_state": seed}
            options |= {"length_scale": "evidence", "scheme": scheme}
            head = self._head_class(kernel, self.n_components, "evidence", **options)
            return head.fit(encoded, y[rows])

        heads = [fitted(table, kernels[0]) for _, table, kernels in choices]
        best = max(range(len(heads)), key=lambda index: heads[index].log_evidence_)
        head, (encoder, table, kernels) = heads[best], choices[best]
        for kernel in kernels[1:] if self._criterion is ExactEvidence else ():
            richer = fitted(table, kernel)
            if richer.log_evidence_ <= head.log_evidence_:
                break
            head = richer
        return encoder, table, head


@register
@dataclass(eq=False, repr=False)
class TableRegressor(RegressionTable, FixedKernelTable):
    r"""Regression on a table, with prediction intervals that hold and no parameters to choose.

    The model is a weighted sum of four laws, each a Gaussian process at linear cost: a rough and a
    smooth kernel with a length scale for each input, and frequencies learned by short Markov chains
    on the standardised columns and on these with their normal quantiles. Each law also predicts
    rows that it has left out. These predictions give the weights, the expected error ``score_`` and
    the calibration of the intervals.

    Parameters
    ----------
    kernel : {"auto", "gaussian", "matern", "anova"}, another kernel's name, or Kernel
        With another kernel than ``"auto"`` the method is ``"fixed"``. Then ``"auto"`` compares all
        families, with a length scale and an inclusion for each input; kernels with another name get
        one length scale by evidence; a Kernel object is used as it is on the encoded table.
    n_components : int, default=1024
        Number of real features of the method ``"fixed"``, even.
    method : {"auto", "learned", "fixed"}, default="auto"
        Laws of the sum. ``"learned"`` uses the learned frequencies only. ``"fixed"`` is a single
        law without left-out rows: a kernel on random features, with its encoding, length scales
        and noise chosen by evidence.
    effort : {"quick", "default", "thorough"}, default="default"
        Number and length of the chains, and number of features.
    time_limit : float or None, default=None
        Seconds for the fit. Chains end early so as to keep it, after one iteration at least; it is
        exceeded where the other steps alone take longer.
    n_jobs : int or None, default=None
        Number of threads that chains share. ``None`` means as many as linear algebra may use.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    encoder_ : TableEncoder
        Encoder of the standardised columns.
    quantile_encoder_ : TableEncoder or None
        Encoder of the normal quantiles; ``None`` for the method ``"fixed"``.
    head_ : SumOfLaws or KreinRidge
        Model of the encoded columns and the standardised target.
    score_ : float or None
        Expected root mean square error on new rows, from rows left out; ``None`` for ``"fixed"``.
    kernel_ : Kernel
        The chosen kernel on the encoded columns, for the method ``"fixed"``.
    record_ : dict
        Plain facts about the fit, stored in model files; entries may be added.
    background_, background_values_ : ndarray
        At most 1,000 random training rows, encoded and as numbers, for :meth:`importance`,
        :meth:`interactions` and :meth:`effect`.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
    >>> lower, upper = model.predict_interval(X[400:], level=0.9)
    >>> bool(np.mean((lower <= y[400:]) & (y[400:] <= upper)) > 0.75)
    True
    """

    _head_class: ClassVar[type[RidgeHead]] = KreinRidge
    _criterion: ClassVar[type[PairCriterion]] = ExactEvidence

    _: KW_ONLY
    method: str = "auto"
    effort: str = "default"
    time_limit: float | None = None
    n_jobs: int | None = None

    head_: KreinRidge | SumOfLaws = field(init=False)
    quantile_encoder_: TableEncoder | None = field(init=False, default=None)
    target_mean_: float = field(init=False)
    target_scale_: float = field(init=False)

    @property
    def score_(self) -> float | None:
        """Expected root mean square error on new rows; ``None`` for the method ``"fixed"``."""
        check_is_fitted(self, "head_")
        if not isinstance(self.head_, SumOfLaws):
            return None
        return self.target_scale_ * self.head_.left_out_rmse

    @property
    def kernel_(self) -> Kernel:
        """The kernel on the encoded columns, of the method ``"fixed"``."""
        if isinstance(getattr(self, "head_", None), SumOfLaws):
            raise AttributeError("A sum of laws has no single kernel: see head_.members.")
        return super().kernel_

    def _encoders(self) -> list[TableEncoder]:
        quantiles = self.quantile_encoder_
        return [self.encoder_] if quantiles is None else [self.encoder_, quantiles]

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return lower and upper ends (n,) of prediction intervals.

        Half widths are conformal quantiles of left-out residuals relative to the predictive
        standard deviation, so that about ``level`` of rows like those of the training table lie
        inside. Up to the few numbers chosen on all rows, such as length scales, the coverage of
        exchangeable rows is at least ``2 level - 1`` (jackknife+ after bootstrap: Kim, Xu and
        Barber, 2020). Fewer rows than ``1 / (1 - level)`` are too few for that. The intervals of
        the method ``"fixed"`` are Gaussian.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
        level : float, default=0.9
            Coverage, between 0 and 1.
        """
        if not isinstance(level, Real) or not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level!r}.")
        encoded = self.encode(X)
        shift, scale = self._units()
        if isinstance(self.head_, SumOfLaws):
            lower, upper = self.head_.interval(encoded, level)
        else:
            mean, std = self.head_.predict(encoded, return_std=True)
            half = float(ndtri(0.5 * (1.0 + level))) * std
            lower, upper = mean - half, mean + half
        return shift + scale * lower, shift + scale * upper

    def _learn(self, X: Any, y: NDArray[Any], progress: Progress) -> tuple[TableEncoder, Any]:
        check_name("method", self.method, ("auto", "learned", "fixed"))
        check_name("effort", self.effort, tuple(EFFORTS))
        count_frequencies(self.n_components)
        if self.time_limit is not None:
            as_positive_scalar("time_limit", self.time_limit)
        self.quantile_encoder_ = None
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
        if self.method == "fixed" or self.kernel != "auto":
            return super()._learn(X, y, progress)
        progress("encoding the table")
        target = self._head_target(y)
        encoders = [TableEncoder(numeric=numeric) for numeric in _ENCODINGS]
        tables = [as_array(encoder.fit_transform(X, target)) for encoder in encoders]
        ends = np.cumsum([0] + [table.shape[1] for table in tables])
        columns = [np.arange(*pair) for pair in pairwise(ends)]
        with single_threaded_blas() as n_threads:
            n_threads = n_threads if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        learner = Learner(
            EFFORTS[self.effort],
            is_fixed=self.method == "auto",
            n_threads=n_threads,
            time_limit=self.time_limit,
            progress=progress,
        )
        (rng,) = generators(self.random_state, 1)
        head = learner.fit(np.hstack(tables), columns, target, rng)
        self.quantile_encoder_ = encoders[1]
        return encoders[0], head

    def _head_target(self, y: NDArray[Any]) -> NDArray[Any]:
        self.target_mean_ = float(y.mean())
        self.target_scale_ = float(y.std()) or 1.0
        return (y - self.target_mean_) / self.target_scale_

    def _search_targets(self, y: NDArray[Any]) -> Array:
        return y[:, None]

    def _units(self) -> tuple[float, float]:
        return self.target_mean_, self.target_scale_


@register
class TableClassifier(ClassificationTable, FixedKernelTable):
    r"""Classification on a table, with no parameters to choose.

    The model is chosen as in :class:`TableRegressor`, but length scales and inclusions minimise
    the leave-one-out squared error of the class indicators, because these are not Gaussian.

    Parameters
    ----------
    kernel, n_components, random_state
        As in :class:`TableRegressor`.

    Attributes
    ----------
    encoder_, kernel_, record_
        As in :class:`TableRegressor`.
    head_ : KreinRidgeClassifier
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bochner import TableClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TableClassifier("gaussian", n_components=128, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    head_: KreinRidgeClassifier

    _head_class = KreinRidgeClassifier
    _criterion = LeaveOneOut

    def _head_target(self, y: NDArray[Any]) -> NDArray[Any]:
        return y

    def _search_targets(self, y: NDArray[Any]) -> Array:
        return Indicators(np.unique(y))(y)
