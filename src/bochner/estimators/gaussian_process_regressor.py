"""Gaussian process regression with scikit-learn's parameters, for few rows and for many."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import gaussian_process
from sklearn.base import BaseEstimator
from sklearn.gaussian_process import kernels as sk
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from bochner._numerics.arrays import Array, MatrixLike, RandomState, as_array
from bochner._numerics.whole_fits import all_or_nothing
from bochner.estimators.process_base import (
    CONSTRAINTS,
    ScikitProcess,
    fitted_process,
    refuse_gradient,
)
from bochner.estimators.process_kernels import learned_kernel, start_kernel, without_noise
from bochner.features.chunks import Chunk
from bochner.features.parameters import drawn_seed
from bochner.learning.ridge.process import FeatureProcess, process_features
from bochner.registry import register

MOST_EXACT = 2000
"""Rows up to which solver="auto" is exact. A step of the exact search takes n^3 operations and
memory for n^2 values of each hyper-parameter: at 2,000 rows of ten inputs a second and 400 MB."""

_EXACT_ONLY = ("L_", "alpha_")
"""Attributes of scikit-learn that only an exact process has."""

_SEARCH_ROWS = 1000
"""Rows on which the hyper-parameters of a given kernel are learned for a fit by features: an eighth
of the time of a step at 2,000 rows."""


class _ExactOnly:
    """An attribute that only an exact process sets; reading it otherwise says why it is missing."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: BaseEstimator, owner: type | None = None) -> Any:
        if model is None:
            return self
        if vars(model).get("process_") is None:
            raise AttributeError(f"{type(model).__name__!r} object has no attribute {self._name!r}")
        raise AttributeError(
            f"{self._name} belongs to an exact process, and this one was fitted to "
            f"{len(model.X_train_):,} rows by random features: solver='auto' is exact up to "
            f"{MOST_EXACT:,} rows. Fit with solver='exact', or see process_."
        )


@register
class GaussianProcessRegressor(ScikitProcess, gaussian_process.GaussianProcessRegressor):
    r"""Gaussian process regression with the parameters of scikit-learn, for few rows and for many.

    A :class:`sklearn.gaussian_process.GaussianProcessRegressor` that learns its default kernel in
    the units of the data, takes kernels of both libraries, and fits random features where there
    are too many rows for an exact process. Fits with ``solver="exact"`` are those of scikit-learn.

    Parameters
    ----------
    kernel : kernel, default=None
        Covariance function: an object of :mod:`sklearn.gaussian_process.kernels` or of
        :mod:`bochner.kernels`. Its hyper-parameters are learned within their bounds. ``None`` is a
        constant times a Gaussian kernel with a length scale for each input, plus white noise. All
        its values are learned: the length scales by the marginal likelihood with a weak prior, from
        several starts. Targets are then standardised. With ``optimizer=None`` it is
        ``ConstantKernel(1.0) * RBF(1.0)``, as in scikit-learn.
    alpha : float or array of shape (n,), default=1e-10
        Variance of the noise that is added to that of the kernel. An array needs the exact solver.
    optimizer, n_restarts_optimizer, copy_X_train, n_targets
        As in scikit-learn.
    normalize_y : bool, default=False
        Whether to standardise the targets.
    random_state : int, RandomState instance or None, default=None
        Seed of restarts, searches and random features.
    solver : {"auto", "exact", "features"}, default="auto"
        ``"exact"`` takes :math:`n^3` operations. ``"features"`` takes :math:`n p^2` with ``p``
        features, in blocks of rows, so that 100,000 rows need little memory; hyper-parameters of a
        given kernel are learned on 1,000 rows, those of the default kernel on up to 32,768.
        ``"auto"`` is exact up to 2,000 rows, and beyond that for kernels without random features
        and an array ``alpha``.
    n_components : int, default=512
        Number of random features, even, for ``"features"``.
    n_landmarks : int, default=256
        Number of landmarks, rows at which the kernel is exact, for ``"features"``; see
        :class:`~bochner.features.residual.ResidualFeatures`. With 0 the variance far from the
        training rows is too small.

    Attributes
    ----------
    kernel_ : kernel of scikit-learn
        The learned kernel, with ``theta`` and ``bounds``.
    X_train_, y_train_ : ndarray
        Training rows and targets, the latter normalised or centred.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of ``kernel_.theta``; with features it is that of the features.
    L_, alpha_ : ndarray
        As in scikit-learn, for an exact process; a process on features has none.
    process_ : FeatureProcess or None
        The posterior on features; ``None`` for an exact process.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    bochner.TableRegressor : Several kernels, text columns, calibrated intervals; no choices.
    bochner.KreinRidge : Ridge regression on features: chunks, streams, GPUs, indefinite kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> from bochner import GaussianProcessRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, size=(100, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=100)
    >>> model = GaussianProcessRegressor(1.0 * RBF(1.0) + WhiteKernel(0.1)).fit(X, y)
    >>> mean, std = model.predict([[np.pi / 2]], return_std=True)
    >>> bool(abs(mean[0] - 1.0) < 0.1 and 0.07 < std[0] < 0.15)
    True
    >>> bool(np.isclose(model.log_marginal_likelihood(), model.log_marginal_likelihood_value_))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **gaussian_process.GaussianProcessRegressor._parameter_constraints,
        **CONSTRAINTS,
        "n_landmarks": [Interval(Integral, 0, None, closed="left")],
    }
    _exact_class = gaussian_process.GaussianProcessRegressor
    _new_parameters = ("solver", "n_components", "n_landmarks")
    _most_exact = MOST_EXACT

    kernel_: Any
    X_train_: Any
    y_train_: Any
    log_marginal_likelihood_value_: float
    L_: Any = _ExactOnly()
    alpha_: Any = _ExactOnly()
    process_: FeatureProcess | None
    _y_train_mean: Any
    _y_train_std: Any
    _seed: int

    def __init__(
        self,
        kernel: object = None,
        *,
        alpha: object = 1e-10,
        optimizer: object = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        normalize_y: bool = False,
        copy_X_train: bool = True,
        n_targets: int | None = None,
        random_state: RandomState = None,
        solver: str = "auto",
        n_components: int = 512,
        n_landmarks: int = 256,
    ) -> None:
        super().__init__(
            kernel,
            alpha=alpha,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            normalize_y=normalize_y,
            copy_X_train=copy_X_train,
            n_targets=n_targets,
            random_state=random_state,
        )
        self.solver = solver
        self.n_components = n_components
        self.n_landmarks = n_landmarks

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the process.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of objects that the kernel takes
        y : array-like of shape (n,) or (n, n_targets)

        Raises
        ------
        ValueError
            If a parameter is out of range, or the data are unusable, or ``solver="features"`` and
            the kernel has no random features.
        numpy.linalg.LinAlgError
            If the Gram matrix of an exact process is not positive definite.
        """
        self._check_parameters()
        rows, targets, kernel = self._validated(X, y, multi_output=True, y_numeric=True)
        n_targets = targets.shape[1] if targets.ndim > 1 else 1
        if self.n_targets is not None and n_targets != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter "
                f"`n_targets`. Got {n_targets} != {self.n_targets}."
            )
        seed = drawn_seed(self.random_state)
        by_features = self._is_by_features(kernel, rows)
        process = self._exact(kernel=kernel)
        if kernel is None and self.optimizer is not None:
            process.normalize_y = True
            process.kernel, process.optimizer = self._default(rows, targets, seed)
        self.__dict__.pop("process_", None)
        if by_features:
            self._fit_features(process, rows, targets, seed)
        else:
            self._adopt(fitted_process(process, rows, targets, self.kernel is None))
        self._seed = seed
        return self

    def _check_features(self, kernel: sk.Kernel, rows: Array) -> None:
        if np.ndim(self.alpha):
            raise ValueError(
                "An array alpha, a noise variance for each row, needs solver='exact'; got "
                f"solver={self.solver!r}."
            )
        if kernel is not None:
            base, _ = without_noise(kernel, rows.shape[1])
            process_features(base.resolved(None, rows), rows[:2], 2, 0, 0)

    def _default(self, X: Array, y: Array, seed: int) -> tuple[sk.Kernel, object]:
        """Return the default kernel, and the optimizer that it is left to."""
        X, columns = X.astype(np.float64, copy=False), _standardised(y.reshape(len(y), -1))[0]
        is_plain = self.optimizer == "fmin_l_bfgs_b" if isinstance(self.optimizer, str) else False
        if not is_plain or self.n_restarts_optimizer or np.ndim(self.alpha):
            return start_kernel(X, columns), self.optimizer
        rng = np.random.default_rng(seed)
        return learned_kernel(X, columns, float(self.alpha), rng), None

    def _adopt(self, process: object) -> None:
        """Take over the fitted attributes of scikit-learn's process."""
        self.process_ = None
        self._take(vars(process))

    def _take(self, attributes: Mapping[str, object]) -> None:
        names = (
            *("kernel_", "X_train_", "y_train_", "L_", "alpha_", "_y_train_mean", "_y_train_std"),
            "log_marginal_likelihood_value_",
        )
        for name in names:
            self.__dict__.pop(name, None)
            if name in attributes:
                setattr(self, name, attributes[name])

    def _fit_features(self, process: BaseEstimator, X: Array, y: Array, seed: int) -> None:
        """Learn the kernel on some rows unless it is learned, and the features of all rows."""
        if process.optimizer is None:
            few = np.arange(min(len(X), 2))  # Two rows make scikit-learn's attributes
        else:
            few = np.random.default_rng(seed).permutation(len(X))[:_SEARCH_ROWS]
        self._take(vars(fitted_process(process, X[few], y[few], self.kernel is None)))
        for name in _EXACT_ONLY:
            self.__dict__.pop(name, None)
        self._y_train_mean, self._y_train_std = np.zeros(1), np.ones(1)
        if process.normalize_y:
            y, self._y_train_mean, self._y_train_std = _standardised(y)
        # Features are computed in the type of the rows.
        self.X_train_ = X.astype(np.float64, copy=self.copy_X_train)
        self.y_train_ = y
        self._seed = seed
        self.process_ = self._on_features(self.kernel_)
        self.log_marginal_likelihood_value_ = self.process_.log_likelihood

    def _on_features(self, kernel: sk.Kernel) -> FeatureProcess:
        """Return the posterior of a kernel of scikit-learn on features of the training rows."""
        base, noise = without_noise(kernel, self.X_train_.shape[1])
        base = base.resolved(None, self.X_train_)
        size, count = self.n_components, self.n_landmarks
        features = process_features(base, self.X_train_, size, count, self._seed)
        return FeatureProcess.of(features, Chunk(self.X_train_, self.y_train_), noise + self.alpha)

    def sample_y(self, X: MatrixLike, n_samples: int = 1, random_state: RandomState = 0) -> Array:
        """Return draws of the function at rows, from the posterior or, before a fit, the prior.

        Parameters
        ----------
        X : array-like of shape (n, d)
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=0

        Returns
        -------
        draws : ndarray of shape (n, n_samples) or (n, n_targets, n_samples)
        """
        return as_array(super().sample_y(X, n_samples, random_state))

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return predictive means and optionally standard deviations or covariances.

        Without a fit they are those of the prior. White noise of the kernel is part of the
        standard deviations and covariances, and ``alpha`` is not, as in scikit-learn.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of objects that the kernel takes
        return_std : bool, default=False
            Whether to return standard deviations.
        return_cov : bool, default=False
            Whether to return the joint covariance of all rows.

        Returns
        -------
        mean : ndarray of shape (n,) or (n, n_targets)
        std : ndarray of shape (n,) or (n, n_targets)
            Only if ``return_std``.
        cov : ndarray of shape (n, n) or (n, n, n_targets)
            Only if ``return_cov``.

        Raises
        ------
        RuntimeError
            If both are asked for.
        """
        process = getattr(self, "process_", None)
        if process is None:
            return self._fitted().predict(X, return_std=return_std, return_cov=return_cov)
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        rows = validate_data(self, X, ensure_2d=True, dtype=np.float64, reset=False)
        _, noise = without_noise(self.kernel_, rows.shape[1])
        scale = self._y_train_std
        mean = self._shaped(process.mean(rows) * scale + self._y_train_mean)
        if return_std:
            std = np.sqrt(process.variance(rows) + noise)
            return mean, self._shaped(std[:, None] * self._all_targets(scale))
        if return_cov:
            cov = process.covariance(rows) + noise * np.eye(len(rows))
            return mean, self._shaped(cov[:, :, None] * self._all_targets(scale) ** 2)
        return mean

    def _all_targets(self, scale: ArrayLike) -> Array:
        n_targets = 1 if self.y_train_.ndim == 1 else self.y_train_.shape[1]
        return as_array(np.broadcast_to(scale, n_targets))

    def _shaped(self, values: Array) -> Array:
        """Return values (..., t) without the last axis if there is one target."""
        return values[..., 0] if values.shape[-1] == 1 else values

    def log_marginal_likelihood(
        self, theta: object = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the log marginal likelihood of hyper-parameters given the training rows.

        With features it is that of the features of the kernel, whose base draws stay the same.

        Parameters
        ----------
        theta : array-like of shape (q,), default=None
            Logarithms of hyper-parameters, as ``kernel_.theta``, which ``None`` means.
        eval_gradient : bool, default=False
            Whether to return the gradient, of shape (q,), too; for an exact process.
        clone_kernel : bool, default=True
            Whether ``kernel_`` is left as it is; ``False`` sets its ``theta``.

        Raises
        ------
        ValueError
            If the gradient is asked for without ``theta``, or of a process on features.
        """
        if theta is None or getattr(self, "process_", None) is None:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if eval_gradient:
            refuse_gradient()
        kernel = self.kernel_.clone_with_theta(np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self.kernel_.theta = theta
        return self._on_features(kernel).log_likelihood


def _standardised(y: Array) -> tuple[Array, Array, Array]:
    """Return targets less their means, in units of their deviations, and both of these."""
    mean, deviation = y.mean(axis=0), y.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    return as_array((y - mean) / deviation), mean, deviation
