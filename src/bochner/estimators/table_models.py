"""Models of whole tables with a fixed kernel, chosen by evidence."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress
from bochner._numerics.threads import single_threaded_blas
from bochner.estimators.inputs import refuse_asymmetric
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.ridge_head import RidgeHead
from bochner.estimators.table_base import ClassificationTable, RegressionTable, TableModel
from bochner.features.parameters import count_frequencies, generators
from bochner.features.targets import Indicators
from bochner.kernels import Kernel, named_kernel
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

Choice = tuple[TableEncoder, Sequence[Kernel | str]]


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
            encoder, head = self._best(choices, _rows(X, rows), y[rows], seed)
        progress("fitting all rows")
        head.fit(encoder.transform(X), y)
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
        """Return encoders, each with kernels to choose from."""
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
    ) -> tuple[TableEncoder, RidgeHead]:
        """Return the encoder and the head with the greatest evidence of the random features.

        The first kernels of all choices are compared. Richer kernels of the best choice
        are tried as long as the evidence grows. They are not tried for classes, whose indicators
        are not Gaussian, so that the evidence is no guide there.
        """

        def fitted(encoder: TableEncoder, kernel: Kernel | str) -> Any:
            encoded = encoder.transform(X)
            scheme = "qmc" if encoded.shape[1] <= _MOST_QMC_INPUTS else "orthogonal"
            options: dict[str, Any] = {"fit_intercept": True, "random_state": seed}
            options |= {"length_scale": "evidence", "scheme": scheme}
            head = self._head_class(kernel, self.n_components, "evidence", **options)
            return head.fit(encoded, y)

        heads = [fitted(encoder, kernels[0]) for encoder, kernels in choices]
        best = max(range(len(heads)), key=lambda index: heads[index].log_evidence_)
        head, (encoder, kernels) = heads[best], choices[best]
        for kernel in kernels[1:] if self._criterion is ExactEvidence else ():
            richer = fitted(encoder, kernel)
            if richer.log_evidence_ <= head.log_evidence_:
                break
            head = richer
        return encoder, head


@register
class TableRegressor(RegressionTable, FixedKernelTable):
    r"""Regression on a table, with predictive uncertainty and no parameters to choose.

    Encoding (standardised or by quantiles), kernel (Gaussian, Matérn, ANOVA of order one to
    three), a length scale and an inclusion for each input, and the noise are chosen by evidence:
    exactly on at most 800 rows, then with random features on at most 5000.

    Parameters
    ----------
    kernel : {"auto", "gaussian", "matern", "anova"}, another kernel's name, or Kernel
        ``"auto"`` compares all families. Kernels with another name get one length scale by
        evidence. A Kernel object is used as it is on the encoded table.
    n_components : int, default=1024
        Number of real features, even.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : KreinRidge
        Model of the encoded columns and the standardised target.
    kernel_ : Kernel
        The chosen kernel, on the encoded columns.
    record_ : dict
        Plain facts about the fit, stored in model files; entries may be added.
    target_mean_, target_scale_ : float
        Mean and standard deviation of the training target.

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

    head_: KreinRidge
    target_mean_: float
    target_scale_: float

    _head_class = KreinRidge
    _criterion = ExactEvidence

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


def _rows(X: Any, rows: NDArray[np.intp]) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
