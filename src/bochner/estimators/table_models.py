"""Models of whole tables: encoding, kernel and noise chosen from the data."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner._numerics.threads import single_threaded_blas
from bochner.estimators.asymmetry import refuse_asymmetric
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import TableModel, as_numbers
from bochner.features.parameters import count_frequencies, generators
from bochner.features.targets import Indicators
from bochner.kernels import Kernel, named_kernel
from bochner.learning.criteria import ExactEvidence, LeaveOneOut, PairCriterion
from bochner.learning.families import (
    ANOVA_FAMILIES,
    FAMILIES,
    GAUSSIAN_FAMILY,
    MATERN_FAMILY,
    Family,
)
from bochner.learning.kernel_search import search_kernel
from bochner.persist import persistable
from bochner.tables.encoder import TableEncoder

_ENCODINGS: tuple[Literal["standardize", "normal_quantile"], ...] = (
    "standardize",
    "normal_quantile",
)
_MOST_QMC_INPUTS = 256
_SEARCH_ROWS, _CHOICE_ROWS = 800, 5000
_SEARCHED: Mapping[str, Sequence[Family]] = MappingProxyType(
    {
        "auto": FAMILIES,
        "gaussian": (GAUSSIAN_FAMILY,),
        "matern": (MATERN_FAMILY,),
        "anova": ANOVA_FAMILIES,
    }
)

Choice = tuple[TableEncoder, Sequence[Kernel | str]]


class KernelTable(TableModel):
    """A ridge head on random features of an encoded table, all chosen by evidence."""

    _head_class: ClassVar[type[RidgeHead]]
    _criterion: ClassVar[type[PairCriterion]]

    def __init__(
        self,
        kernel: Kernel | str = "auto",
        n_components: int = 1024,
        *,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @abstractmethod
    def _targets(self, y: NDArray[Any]) -> Array:
        """Return targets (n, t) of order one for the search."""

    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> Self:
        """Choose encoding, kernel and noise, and fit to all rows.

        Parameters
        ----------
        X : pandas.DataFrame or array-like of shape (n, d)
            Numbers, text and dates; see :class:`TableEncoder`.
        y : array-like of shape (n,)
        progress : callable, default=silent
            Called with a line of text before every step.

        Returns
        -------
        self : TableModel

        Raises
        ------
        ValueError
            If the table or the target cannot be learned from, or the kernel is asymmetric.
        """
        y = self._read_target(X, y)
        count_frequencies(self.n_components)
        self._check_kernel()
        search_rng, choice_rng, head_rng = generators(self.random_state, 3)
        targets = self._targets(y)
        seed = int(head_rng.integers(2**31))
        # On matrices this small, threads of BLAS cost more than they gain.
        with single_threaded_blas():
            choices = self._choices(X, targets, search_rng, progress)
            progress("choosing among the fitted kernels")
            rows = choice_rng.permutation(len(y))[:_CHOICE_ROWS]
            encoder, head = self._best(choices, _rows(X, rows), y[rows], seed)
        progress("fitting all rows")
        head.fit(encoder.transform(X), self._head_target(y))
        return self._remember(encoder, head, len(y))

    def _check_kernel(self) -> None:
        if isinstance(self.kernel, str):
            if self.kernel not in _SEARCHED:
                named_kernel(self.kernel, also=_SEARCHED)
        elif not isinstance(self.kernel, Kernel):
            raise TypeError(
                f"kernel must be one of {', '.join(map(repr, _SEARCHED))}, the name of another "
                f"kernel, or a Kernel, got {self.kernel!r}."
            )
        else:
            refuse_asymmetric(self.kernel, associated=False)

    def _choices(
        self, X: Any, targets: Array, rng: np.random.Generator, progress: Progress
    ) -> list[Choice]:
        """Return encoders and kernels to choose from."""
        encoders = [TableEncoder(numeric=numeric).fit(X) for numeric in _ENCODINGS]
        if not isinstance(self.kernel, str) or self.kernel not in _SEARCHED:
            return [(encoder, [self.kernel]) for encoder in encoders]
        rows = rng.permutation(len(targets))[:_SEARCH_ROWS]
        found = search_kernel(
            [encoder.transform(_rows(X, rows)) for encoder in encoders],
            targets[rows],
            rng,
            families=_SEARCHED[self.kernel],
            criterion=self._criterion,
            progress=progress,
        )
        return [(encoders[candidate.encoding], candidate.kernels) for candidate in found]

    def _best(
        self, choices: list[Choice], X: Any, y: NDArray[Any], seed: int
    ) -> tuple[TableEncoder, Any]:
        """Return the encoder and the head of greatest evidence with the features in use.

        The first kernel of every choice is compared; of the best choice, richer kernels follow
        while the evidence grows, where the targets are such that it can be trusted that far.
        """
        y = self._head_target(y)

        def fitted(encoder: TableEncoder, kernel: Kernel | str) -> Any:
            encoded = encoder.transform(X)
            scheme = "qmc" if encoded.shape[1] <= _MOST_QMC_INPUTS else "orthogonal"
            return self._head(kernel, scheme, seed).fit(encoded, y)

        heads = [fitted(encoder, kernels[0]) for encoder, kernels in choices]
        best = max(range(len(heads)), key=lambda index: heads[index].log_evidence_)
        head, (encoder, kernels) = heads[best], choices[best]
        for kernel in kernels[1:] if self._criterion is ExactEvidence else ():
            richer = fitted(encoder, kernel)
            if richer.log_evidence_ <= head.log_evidence_:
                break
            head = richer
        return encoder, head

    def _head(self, kernel: Kernel | str, scheme: str, seed: int) -> RidgeHead:
        return self._head_class(
            kernel,
            self.n_components,
            "evidence",
            length_scale="evidence",
            scheme=scheme,
            fit_intercept=True,
            random_state=seed,
        )

    def _head_target(self, y: NDArray[Any]) -> NDArray[Any]:
        return y

    @property
    def kernel_(self) -> Kernel:
        """The chosen kernel, on the encoded table."""
        check_is_fitted(self, "head_")
        kernel: Kernel = self.head_.kernel_
        return kernel


@persistable(
    encoder_=TableEncoder,
    head_=KreinRidge,
    record_=dict[str, Any],
    target_mean_=float,
    target_scale_=float,
)
class TableRegressor(RegressorMixin, KernelTable):
    r"""Regression on a table, with predictive uncertainty and nothing to choose.

    Encoding (standardised or by quantiles), kernel (Gaussian, Matérn, ANOVA of order one to
    three), a length scale and an inclusion for every input, and noise are all chosen by
    evidence: exact on at most 800 rows, then with the features in use on at most
    5000.

    Parameters
    ----------
    kernel : {"auto", "gaussian", "matern", "anova"}, another kernel's name, or Kernel
        ``"auto"`` compares all families; other names take one length scale by evidence; a
        Kernel object acts on the encoded table as it is.
    n_components : int, default=1024
        Number of real features, even.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : KreinRidge
        On the encoded table and the standardised target.
    kernel_ : Kernel
    record_ : dict
        Plain facts about the fit, kept in model files; add your own.
    target_mean_, target_scale_ : float

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bochner import TableRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = TableRegressor("gaussian", n_components=128, random_state=0).fit(X, y)
    >>> mean, std = model.predict(X, return_std=True)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _head_class = KreinRidge
    _criterion = ExactEvidence

    def _read_target(self, X: Any, y: Any) -> NDArray[Any]:
        return as_numbers(super()._read_target(X, y))

    def _targets(self, y: NDArray[Any]) -> Array:
        self.target_mean_ = float(y.mean())
        self.target_scale_ = float(y.std()) or 1.0
        return self._head_target(y)[:, None]

    def _head_target(self, y: NDArray[Any]) -> NDArray[Any]:
        standardised: Array = (y - self.target_mean_) / self.target_scale_
        return standardised

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Return predictive means (n,) and, if asked for, standard deviations with noise."""
        check_is_fitted(self, "head_")
        mean, std = self.head_.predict(self.encoder_.transform(X), return_std=True)
        mean = self.target_mean_ + self.target_scale_ * mean
        return (mean, self.target_scale_ * std) if return_std else mean


@persistable(encoder_=TableEncoder, head_=KreinRidgeClassifier, record_=dict[str, Any])
class TableClassifier(ClassifierMixin, KernelTable):
    r"""Classification on a table, with nothing to choose.

    As :class:`TableRegressor`, but length scales and inclusions minimise the leave-one-out
    squared error of the class indicators, which are no Gaussian draws.

    Parameters
    ----------
    kernel, n_components, random_state
        As in :class:`TableRegressor`.

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : KreinRidgeClassifier
    kernel_ : Kernel
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

    _head_class = KreinRidgeClassifier
    _criterion = LeaveOneOut

    def _targets(self, y: NDArray[Any]) -> Array:
        check_classification_targets(y)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"TableClassifier needs at least two classes, got 1 class: {classes[0]!r}."
            )
        return Indicators(classes)(y)

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels, sorted."""
        check_is_fitted(self, "head_")
        classes: NDArray[Any] = self.head_.classes_
        return classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row, of shape (n,)."""
        check_is_fitted(self, "head_")
        labels: NDArray[Any] = self.head_.predict(self.encoder_.transform(X))
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, of shape (n, n_classes)."""
        check_is_fitted(self, "head_")
        probability: Array = self.head_.predict_proba(self.encoder_.transform(X))
        return probability


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
