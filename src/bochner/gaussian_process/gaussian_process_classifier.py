"""Gaussian process classification with scikit-learn's parameters, for few rows and for many."""

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import gaussian_process
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process import kernels as sk
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from bochner._base.arrays import Array, ArrayLike, MatrixLike, RandomState, as_array
from bochner._base.checks import check_classes, drawn_seed
from bochner._base.checks import labels as class_labels
from bochner._base.registry import register
from bochner.features.chunks import Indicators
from bochner.features.landmarks import LandmarkFeatures
from bochner.gaussian_process.kernel_glm import KernelGLMClassifier
from bochner.gaussian_process.process_base import (
    CONSTRAINTS,
    ScikitProcess,
    fitted_process,
    in_blocks,
    kernel_of_classes,
    refuse_gradient,
    without_noise,
)
from bochner.kernels import Kernel

_MOST_LEARNED = 1000
"""Rows on which solver="auto" learns hyper-parameters."""

_MOST_EXACT = 4000
"""Rows up to which solver="auto" is exact for two classes."""

_PROBED = 100  # Rows on which a kernel is tried out before landmarks are chosen: a millisecond


@register
class GaussianProcessClassifier(ScikitProcess, gaussian_process.GaussianProcessClassifier):
    """Gaussian process classification with the parameters of scikit-learn, also for many rows.

    A :class:`sklearn.gaussian_process.GaussianProcessClassifier`, by Laplace's approximation, that
    learns its default kernel, takes kernels of both libraries, and fits features at landmarks where
    there are too many rows for an exact process. Fits with ``solver="exact"`` are those of
    scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from bochner import GaussianProcessClassifier
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(60, 1))
    >>> model = GaussianProcessClassifier(1.0 * RBF(1.0)).fit(X, X[:, 0] > 0)
    >>> model.predict([[-2.0], [2.0]])
    array([False,  True])
    >>> model.predict_proba([[2.0]]).shape
    (1, 2)

    Parameters
    ----------
    kernel : kernel, default=None
        Covariance function of the latent functions: an object of
        :mod:`sklearn.gaussian_process.kernels` or of :mod:`bochner.kernels`. Its hyper-parameters
        are learned within their bounds, for each class. ``None`` is a constant, learned for each
        class, times a Gaussian kernel with a length scale for each input, learned by regression on
        indicators of the classes. With ``optimizer=None`` the kernel is
        ``ConstantKernel(1.0) * RBF(1.0)``, as in scikit-learn.
    optimizer, n_restarts_optimizer, copy_X_train, multi_class, n_jobs
        As in scikit-learn.
    max_iter_predict, warm_start
        As in scikit-learn; without effect on approximate fits.
    random_state : int, RandomState instance or None, default=None
        Seed of restarts, searches and landmarks.
    solver : {"auto", "exact", "approximate"}, default="auto"
        ``"exact"`` takes n³ operations for each class, and learns hyper-parameters on all rows.
        ``"approximate"`` takes n q² with q landmarks: hyper-parameters are learned on 1,000 rows,
        and :class:`bochner.KernelGLMClassifier` is fitted to all rows. ``"auto"`` is exact up to
        1,000 rows. Beyond that it learns hyper-parameters on 1,000 rows, and fits all rows exactly
        up to 4,000 for two classes and ``4000 / sqrt(C)`` for C classes, else approximately.
        Kernels that only scikit-learn has and ``multi_class="one_vs_one"`` are always exact.
    n_landmarks : int, default=1024
        Largest number of landmarks among the rows, for ``"approximate"``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_ : kernel of scikit-learn
        The learned kernel; a ``CompoundKernel`` of one kernel per class if there are more than two.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of ``kernel_.theta``, the mean over classes if there are more than
        two; with features it is that of the approximation at landmarks.
    base_estimator_ : estimator
        As in scikit-learn, for an exact process.
    processes_ : list of KernelGLMClassifier or None
        The models on features, one for two classes and else one per class; ``None`` for an exact
        process.

    See Also
    --------
    bochner.TableClassifier : Several kernels, text columns, probabilities.
    bochner.KernelGLMClassifier : Classes in an order, and one likelihood of several classes.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **gaussian_process.GaussianProcessClassifier._parameter_constraints,
        **CONSTRAINTS,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
    }
    _exact_class = gaussian_process.GaussianProcessClassifier
    _new_parameters = ("solver", "n_landmarks")
    _most_exact: ClassVar[int] = _MOST_LEARNED  # Rows up to which solver="auto" uses scikit-learn

    classes_: NDArray[Any]
    n_classes_: int
    log_marginal_likelihood_value_: float
    processes_: list[KernelGLMClassifier] | None
    _kernels: list[Any]
    _rows: Any
    _numbers: NDArray[np.intp]
    _seed: int
    _base = None  # Fitted again on loading, because files do not store models of scikit-learn
    _recomputed = ("_base",)

    def __init__(
        self,
        kernel: object = None,
        *,
        optimizer: object = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        max_iter_predict: int = 100,
        warm_start: bool = False,
        copy_X_train: bool = True,
        random_state: RandomState = None,
        multi_class: str = "one_vs_rest",
        n_jobs: int | None = None,
        solver: str = "auto",
        n_landmarks: int = 1024,
    ) -> None:
        super().__init__(
            kernel,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            max_iter_predict=max_iter_predict,
            warm_start=warm_start,
            copy_X_train=copy_X_train,
            random_state=random_state,
            multi_class=multi_class,
            n_jobs=n_jobs,
        )
        self.solver = solver
        self.n_landmarks = n_landmarks

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the process.

        Raises ``ValueError`` if a parameter is out of range, there is one class only, or
        ``solver="approximate"`` and the kernel has no counterpart in :mod:`bochner.kernels`.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of objects that the kernel takes
        y : array-like of shape (n,)
            Labels of at least two classes.
        """
        self._check_parameters()
        rows, labels, kernel = self._validated(X, class_labels(y), multi_output=False)
        check_classes(labels)
        seed = drawn_seed(self.random_state)
        classes = np.unique(labels)
        is_learned = self.optimizer is not None
        by_features = self._is_by_features(kernel, rows) and not self._is_small(rows, classes)
        few: Any = slice(None)
        if by_features or (is_learned and self.solver == "auto" and len(rows) > self._most_exact):
            few = _some_of_each(labels, self._most_exact, np.random.default_rng(seed))
        if kernel is None and is_learned and len(classes) > 1:
            rng = np.random.default_rng(seed)
            inputs = rows.astype(np.float64, copy=False)
            kernel = kernel_of_classes(inputs, Indicators(classes)(labels), rng)
        process = fitted_process(
            self._exact(kernel=kernel), rows[few], labels[few], self.kernel is None
        )
        self.classes_, self.n_classes_ = process.classes_, process.n_classes_
        self._seed = seed
        if by_features:
            self._fit_features(process, rows, labels)
        else:
            if not isinstance(few, slice):
                _refit(process, rows, np.searchsorted(classes, labels))
            self.processes_, self._base = None, process.base_estimator_
            self._kernels = [binary.kernel_ for binary in _binaries(self._base)]
            self._rows, self._numbers = rows, np.searchsorted(classes, labels)
            self.log_marginal_likelihood_value_ = float(process.log_marginal_likelihood_value_)
        return self

    def _is_by_features(self, kernel: sk.Kernel | None, rows: Array) -> bool:
        """Return whether the fit may use landmarks: on request, or for many rows if possible."""
        if self.solver == "exact" or (self.solver == "auto" and len(rows) <= self._most_exact):
            return False
        try:
            if kernel is not None and not kernel.requires_vector_input:
                raise ValueError(f"{kernel!r} is not of rows of numbers: use solver='exact'.")
            if self.multi_class == "one_vs_one":
                raise ValueError("multi_class='one_vs_one' needs solver='exact'.")
            if kernel is not None:
                some = rows[:_PROBED].astype(np.float64, copy=False)
                rng = np.random.default_rng(0)
                LandmarkFeatures.of(_latent_kernel(kernel, rows), some, len(some), rng)
        except (TypeError, ValueError):
            if self.solver == "approximate":
                raise
            return False
        return True

    def _is_small(self, rows: Array, classes: NDArray[Any]) -> bool:
        """Return whether rows are few enough for solver="auto" to fit all of them exactly."""
        n_processes = 1 if len(classes) == 2 else len(classes)
        return self.solver == "auto" and len(rows) ** 2 * n_processes <= _MOST_EXACT**2

    def _model(self, kernel: Kernel) -> KernelGLMClassifier:
        """Return an unfitted landmark model with weights of unit variance."""
        return KernelGLMClassifier(
            "bernoulli",
            kernel=kernel,
            n_components=self.n_landmarks,
            alpha=1.0,
            fit_intercept=False,
            random_state=getattr(self, "_seed", 0),
        )

    def _fit_features(self, process: BaseEstimator, X: Array, labels: NDArray[np.generic]) -> None:
        """Fit landmark models to all rows, with kernels learned on a subset."""
        self._base = None
        learned = process.kernel_
        is_binary = len(self.classes_) == 2
        self._kernels = [learned] if is_binary else list(learned.kernels)
        self._rows = X.astype(np.float64, copy=self.copy_X_train)
        self._numbers = np.searchsorted(self.classes_, labels)
        self.processes_ = self._on_features(self._kernels)
        evidences = [model.log_evidence_ for model in self.processes_]
        self.log_marginal_likelihood_value_ = float(np.mean(evidences))

    def _on_features(self, kernels: Sequence[sk.Kernel]) -> list[KernelGLMClassifier]:
        """Return fitted landmark models: one for two classes, else one for each class."""
        first = 1 if len(self.classes_) == 2 else 0
        return [
            self._model(_latent_kernel(kernel, self._rows)).fit(
                self._rows, np.asarray(self._numbers == number, dtype=np.intp)
            )
            for number, kernel in enumerate(kernels, start=first)
        ]

    @property
    def base_estimator_(self) -> Any:
        """The exact model of scikit-learn; ``None`` with landmarks."""
        if self.processes_ is None and self._base is None:
            kernels, numbers = self._kernels, self._numbers
            if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(self.classes_):
                raise ValueError("Labels are not those of classes_: fit the model again.")
            labels = self.classes_[numbers]
            process = self._exact(kernel=kernels[0], optimizer=None).fit(self._rows, labels)
            for binary, kernel in zip(_binaries(process.base_estimator_), kernels, strict=True):
                binary.kernel_ = kernel
            _refit(process, self._rows, self._numbers)
            self._base = process.base_estimator_
        return self._base

    def _fitted(self) -> BaseEstimator:
        process = super()._fitted()
        process.base_estimator_ = self.base_estimator_
        return process

    @property
    def kernel_(self) -> sk.Kernel:
        """The kernel, or a ``CompoundKernel`` with a kernel for each class."""
        kernels = self._kernels
        return kernels[0] if len(kernels) == 1 else sk.CompoundKernel(kernels)

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the most probable class of each row, of shape (n,)."""
        check_is_fitted(self, "log_marginal_likelihood_value_")
        if self.processes_ is None:
            return np.concatenate(in_blocks(self._fitted().predict, X, len(self._rows)))
        most_probable: NDArray[np.generic] = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return most_probable

    def predict_proba(self, X: MatrixLike) -> Array:
        """Return the probabilities (n, n_classes) of the classes, in the order of ``classes_``.

        Raises ``ValueError`` with ``multi_class="one_vs_one"``.
        """
        check_is_fitted(self, "log_marginal_likelihood_value_")
        if len(self.classes_) > 2 and self.multi_class == "one_vs_one":
            raise ValueError(
                "one_vs_one multi-class mode does not support predicting probability estimates. "
                "Use one_vs_rest mode instead."
            )
        if self.processes_ is None:
            return np.concatenate(in_blocks(self._fitted().predict_proba, X, len(self._rows)))
        X = self._checked(X)
        if len(self.processes_) == 1:
            return self.processes_[0].predict_proba(X)
        of_each = np.column_stack([model.predict_proba(X)[:, 1] for model in self.processes_])
        return as_array(of_each / of_each.sum(axis=1, keepdims=True))

    def latent_mean_and_variance(self, X: MatrixLike) -> tuple[Array, Array]:
        """Return means and variances (n,) of the latent function, for two classes.

        Raises ``ValueError`` if there are more classes.
        """
        check_is_fitted(self, "log_marginal_likelihood_value_")
        if self.processes_ is None:
            mean, variance = self._fitted().latent_mean_and_variance(X)
            return mean, variance
        if len(self.processes_) > 1:
            raise ValueError(
                "Returning the mean and variance of the latent function f is only supported for "
                f"binary classification, received {len(self.classes_)} classes."
            )
        blocks = list(self.processes_[0]._latent_blocks(self._checked(X)))
        means = [mean[:, 0] for _, mean, _ in blocks]
        variances = [covariance[:, 0, 0] for _, _, covariance in blocks]
        return np.concatenate(means), np.concatenate(variances)

    def log_marginal_likelihood(
        self, theta: object = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log marginal likelihood, the mean over classes if there are more than two.

        With features it is that of the approximation at landmarks, which are chosen anew for each
        kernel.

        Parameters are as in scikit-learn; the gradient is that of an exact process of two classes.

        Raises ``ValueError`` if the gradient is asked for without ``theta``, or of a process on
        features, or ``theta`` has a wrong shape.
        """
        check_is_fitted(self, "log_marginal_likelihood_value_")
        if theta is None or self.processes_ is None:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if eval_gradient:
            refuse_gradient()
        values = np.asarray(theta, dtype=np.float64)
        kernels = self._kernels
        q, n_kernels = kernels[0].n_dims, len(kernels)
        if values.shape[0] not in (q, q * n_kernels):
            raise ValueError(
                f"Shape of theta must be either {q} or {q * n_kernels}. Obtained theta with shape "
                f"{values.shape[0]}."
            )
        each = np.broadcast_to(values.reshape(-1, q), (n_kernels, q))
        pairs = zip(kernels, each, strict=True)
        models = self._on_features([kernel.clone_with_theta(theta) for kernel, theta in pairs])
        return float(np.mean([model.log_evidence_ for model in models]))

    def _checked(self, X: MatrixLike) -> Any:
        return validate_data(self, X, ensure_2d=True, dtype="numeric", reset=False)


def _latent_kernel(kernel: sk.Kernel, X: Array) -> Kernel:
    """Convert a scikit-learn kernel; raise ``ValueError`` if it contains white noise."""
    base, noise = without_noise(kernel, X.shape[1])
    if noise:
        raise ValueError(
            f"{kernel!r} contains white noise, which latent functions on features do not have: "
            f"leave WhiteKernel out, or use solver='exact'."
        )
    return base.resolved(None, X)


def _binaries(base: BaseEstimator) -> Sequence[Any]:
    """Return the binary processes of a scikit-learn model."""
    binaries: Sequence[Any] = getattr(base, "estimators_", [base])
    return binaries


def _refit(process: BaseEstimator, X: Array, numbers: NDArray[np.intp]) -> None:
    """Refit the binary processes of a classifier to all rows, with their kernels fixed."""
    base = process.base_estimator_
    n_classes = len(process.classes_)

    def fitted(binary: BaseEstimator, rows: Any, is_second: Any) -> BaseEstimator:
        made = clone(binary).set_params(kernel=binary.kernel_, optimizer=None)
        return made.fit(X[rows], is_second.astype(np.intp))

    if n_classes == 2:
        made = clone(base).set_params(kernel=base.kernel_, optimizer=None)
        process.base_estimator_ = made.fit(X, process.classes_[numbers])
        binaries = [process.base_estimator_]
    elif process.multi_class == "one_vs_rest":
        numbered = enumerate(base.estimators_)
        binaries = [fitted(binary, slice(None), numbers == number) for number, binary in numbered]
        base.estimators_ = binaries
    else:
        pairs = zip(combinations(range(n_classes), 2), base.estimators_, strict=True)
        binaries = [
            fitted(binary, part := np.isin(numbers, pair), numbers[part] == pair[1])
            for pair, binary in pairs
        ]
        base.estimators_ = tuple(binaries)
    evidences = [binary.log_marginal_likelihood_value_ for binary in binaries]
    process.log_marginal_likelihood_value_ = np.mean(evidences)


def _some_of_each(
    labels: NDArray[np.generic], most: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return sorted indices of ``most`` random rows, with two rows per class if possible."""
    order = rng.permutation(len(labels))
    shuffled = np.asarray(labels)[order]
    firsts = [order[np.flatnonzero(shuffled == label)[:2]] for label in np.unique(shuffled)]
    chosen = np.concatenate((*firsts, order))
    _, first = np.unique(chosen, return_index=True)
    return np.sort(chosen[np.sort(first)][: max(most, 2 * len(firsts))])
