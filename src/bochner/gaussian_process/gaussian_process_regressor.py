"""Gaussian process regression with scikit-learn's parameters, for few rows and for many."""

import warnings
from collections.abc import Mapping
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import gaussian_process
from sklearn.gaussian_process import kernels as sk
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from bochner._base.arrays import Array, ArrayLike, RandomState, as_array
from bochner._base.checks import drawn_seed, numbers, unfit
from bochner._base.registry import register
from bochner.gaussian_process.full_scale import (
    MOST_EXACT,
    Covariance,
    FullScaleProcess,
    ObservedRows,
    covariance_factor,
    exact_solution,
)
from bochner.gaussian_process.process_base import (
    CONSTRAINTS,
    ScikitProcess,
    fitted_process,
    in_blocks,
    learned_kernel,
    refuse_gradient,
    start_kernel,
    with_noise_of_near_rows,
)

_MOST_SEARCHED = 2000
"""Rows on which scikit-learn learns the hyper-parameters of a given kernel: a step takes n^3
operations, and memory for n^2 values per hyper-parameter. A process of more rows recomputes its
factor when it is loaded: a file of 2,000 rows has 16 MB."""

_FIRST_SEARCHED = 1000
"""Rows on which hyper-parameters are learned first, from all starts: an eighth of the time."""

_MOST_LACKING = 0.1
"""Estimated deficit of the log evidence per row, in nats, above which a fit warns: the deficit
of conditional variances that are a fifth too large."""


_TAKEN = (
    *("kernel_", "X_train_", "y_train_", "L_", "alpha_", "_y_train_mean", "_y_train_std"),
    "log_marginal_likelihood_value_",
)


class _ExactOnly:
    """Attribute of exact processes; reading it from an approximate process raises an error."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        process = vars(model).get("process_")
        if process is None and self._name == "L_" and "alpha_" in vars(model):
            return model._factor()
        if process is None:
            raise AttributeError(f"{type(model).__name__!r} object has no attribute {self._name!r}")
        raise AttributeError(
            f"{self._name} belongs to an exact process, and this one of {len(model.X_train_):,} "
            f"rows is approximate: solver='auto' is exact up to {MOST_EXACT:,} rows. See process_."
        )


@register
class GaussianProcessRegressor(ScikitProcess, gaussian_process.GaussianProcessRegressor):
    """Gaussian process regression with the parameters of scikit-learn, for few rows and for many.

    A :class:`sklearn.gaussian_process.GaussianProcessRegressor` that learns its default kernel in
    the units of the data, takes kernels of both libraries, and is exact for 16,500 rows. For more,
    landmarks and nearest neighbours approximate the process with the same kernel.

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

    Parameters
    ----------
    kernel : kernel, default=None
        Covariance function: an object of :mod:`sklearn.gaussian_process.kernels` or of
        :mod:`bochner.kernels`. Its hyper-parameters are learned within their bounds, on at most
        2,000 rows unless ``solver="exact"``. ``None`` is a constant times a Gaussian kernel with a
        length scale for each input, plus white noise, learned from several starts on standardised
        targets; with ``optimizer=None``, ``ConstantKernel(1.0) * RBF(1.0)`` as in scikit-learn.
    alpha : float or array of shape (n,), default=1e-10
        Variance of the noise, which is added to the kernel's white noise.
    optimizer, n_restarts_optimizer, copy_X_train, n_targets
        As in scikit-learn.
    normalize_y : bool, default=False
        Whether to standardise the targets.
    random_state : int, RandomState instance or None, default=None
        Seed of restarts, of the rows that hyper-parameters are learned on, and of the order of rows
        in an approximation.
    solver : {"auto", "exact", "approximate"}, default="auto"
        ``"exact"`` fits are those of scikit-learn. ``"auto"`` is exact up to 16,500 rows, whose
        covariance takes 2.2 GB, and for kernels of objects. ``"approximate"`` takes time
        proportional to the number of rows: landmarks determine a smooth part of the function, and
        the residual is conditioned on the nearest rows. Predicted variances contain the variance
        of the residual.
    n_landmarks : int, default=256
        Number of landmarks of an approximation: rows at which its kernel is exact.
    n_neighbors : int, default=256
        Number of training rows that a prediction of an approximation is conditioned on, next to
        the landmarks. Training rows are conditioned on a fourth of that number.

    Attributes
    ----------
    kernel_ : kernel of scikit-learn
        The learned kernel, with ``theta`` and ``bounds``.
    X_train_, y_train_ : ndarray
        Training rows and targets, standardised with ``normalize_y`` or a learned default kernel.
    log_marginal_likelihood_value_ : float
        Log marginal likelihood of ``kernel_.theta``; of an approximation, an estimate from below.
    log_marginal_likelihood_error_ : float
        Estimated deficit of that value: zero for an exact process, else the divergence of the
        residuals' density from one with four times as many neighbours. A fit warns above a
        tenth per row.
    L_, alpha_ : ndarray
        As in scikit-learn, for an exact process; an approximation has none.
    process_ : FullScaleProcess or None
        The approximate posterior; ``None`` for an exact process.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    bochner.TableRegressor : Several kernels, text columns, calibrated intervals.
    bochner.KreinRidge : Ridge regression on features: chunks, streams, indefinite kernels.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **gaussian_process.GaussianProcessRegressor._parameter_constraints,
        **CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    }
    _exact_class = gaussian_process.GaussianProcessRegressor
    _new_parameters = ("solver", "n_landmarks", "n_neighbors")

    kernel_: Any
    X_train_: Any
    y_train_: Any
    log_marginal_likelihood_value_: float
    log_marginal_likelihood_error_: float
    L_: Any = _ExactOnly()
    alpha_: Any = _ExactOnly()
    process_: FullScaleProcess | None
    _noise: Any  # Noise variances, without the kernel's white noise
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
        n_landmarks: int = 256,
        n_neighbors: int = 256,
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
        self.n_landmarks = n_landmarks
        self.n_neighbors = n_neighbors

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the process.

        Raises ``ValueError`` if a parameter is out of range, or the data are unusable, or
        ``solver="approximate"`` and the kernel is one of objects that are not rows of numbers.
        Raises ``LinAlgError`` if a Gram matrix is not positive definite.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of objects that the kernel takes
        y : array-like of shape (n,) or (n, n_targets)
        """
        self._check_parameters()
        rows, targets, kernel = self._validated(X, numbers(y), multi_output=True, y_numeric=True)
        n_targets = targets.shape[1] if targets.ndim > 1 else 1
        if self.n_targets is not None and n_targets != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter "
                f"`n_targets`. Got {n_targets} != {self.n_targets}."
            )
        self._seed = drawn_seed(self.random_state)
        process = self._exact(kernel=kernel)
        if kernel is None and self.optimizer is not None:
            process.normalize_y = True
            process.kernel, process.optimizer = self._default(rows, targets, self._seed)
        n_exact = self._n_exact(process.kernel)
        try:
            if n_exact is None or len(rows) <= min(n_exact, _MOST_SEARCHED):
                self._take(vars(fitted_process(process, rows, targets, self.kernel is None)))
                self.process_, self._noise, self.log_marginal_likelihood_error_ = None, None, 0.0
            else:
                self._fit_many(process, rows, targets, is_exact=len(rows) <= n_exact)
        except BaseException:  # Also an interrupt
            unfit(self)
            raise
        return self

    def _n_exact(self, kernel: sk.Kernel | None) -> int | None:
        """Return the largest number of rows to fit exactly; ``None`` if scikit-learn fits all."""
        takes_rows = kernel is None or kernel.requires_vector_input
        if self.solver == "approximate" and not takes_rows:
            raise ValueError(f"{kernel!r} is not of rows of numbers: use solver='exact'.")
        if self.solver == "exact" or not takes_rows:
            return None
        return 0 if self.solver == "approximate" else MOST_EXACT

    def _default(self, X: Array, y: Array, seed: int) -> tuple[sk.Kernel, object]:
        """Return the default kernel and its optimizer, which is ``None`` if it is learned here."""
        X, columns = X.astype(np.float64, copy=False), _standardised(y.reshape(len(y), -1))[0]
        is_plain = self.optimizer == "fmin_l_bfgs_b" if isinstance(self.optimizer, str) else False
        if not is_plain or self.n_restarts_optimizer or np.ndim(self.alpha):
            return start_kernel(X, columns), self.optimizer
        rng = np.random.default_rng(seed)
        return learned_kernel(X, columns, float(self.alpha), rng), None

    def _take(self, attributes: Mapping[str, object]) -> None:
        """Replace the fitted attributes by those of a scikit-learn process."""
        for name in _TAKEN:
            self.__dict__.pop(name, None)
            if name in attributes:
                setattr(self, name, attributes[name])

    def _fit_many(self, process: Any, X: Array, y: Array, *, is_exact: bool) -> None:
        """Learn the kernel on a subset, unless it is fixed, and fit the process to all rows."""
        if np.size(self.alpha) not in (1, len(X)):
            raise ValueError(
                f"alpha must be a scalar or an array with same number of entries as y. "
                f"({np.size(self.alpha)} != {len(X)})"
            )
        noise = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), len(X))
        self._take(vars(self._learned(process, X, y, noise)))
        for name in ("L_", "alpha_"):
            self.__dict__.pop(name, None)
        self._y_train_mean, self._y_train_std = np.zeros(1), np.ones(1)
        if process.normalize_y:
            y, self._y_train_mean, self._y_train_std = _standardised(y)
        # Kernel values are computed in the type of the rows.
        self.X_train_ = X.astype(np.float64, copy=self.copy_X_train)
        self.y_train_ = y.astype(np.float64, copy=self.copy_X_train)
        self._noise = noise.copy() if np.ndim(self.alpha) else float(self.alpha)
        if process.optimizer is not None and not np.ndim(self.alpha):
            self.kernel_ = with_noise_of_near_rows(
                self.kernel_, self._given(), self._noise, np.random.default_rng(self._seed)
            )
        if is_exact:
            self.process_, self.L_ = None, self._factor()
            coef, evidence = exact_solution(self.L_, self._given())
            self.alpha_ = coef.reshape(self.y_train_.shape)
            self.log_marginal_likelihood_value_, self.log_marginal_likelihood_error_ = evidence, 0.0
            return
        self.process_ = self._approximate(self.kernel_)
        self.log_marginal_likelihood_value_ = self.process_.log_likelihood
        self.log_marginal_likelihood_error_ = self.process_.log_likelihood_error
        self._warn_of_error()

    def _learned(self, process: Any, X: Array, y: Array, noise: Array) -> Any:
        """Return scikit-learn's process fitted to subsets of the rows, from which it may learn."""
        order = np.random.default_rng(self._seed).permutation(len(X))
        sizes = (_FIRST_SEARCHED, _MOST_SEARCHED)
        for size in (2,) if process.optimizer is None else sizes:  # Two rows set the attributes
            few = order[:size]
            process.alpha = noise[few]
            process = fitted_process(process, X[few], y[few], self.kernel is None)
            if size == _FIRST_SEARCHED:
                process.kernel, process.n_restarts_optimizer = process.kernel_, 0
        return process

    def _warn_of_error(self) -> None:
        lacking = self.log_marginal_likelihood_error_ / self.y_train_.size
        if lacking > _MOST_LACKING:
            warnings.warn(
                f"The approximation of {self.kernel_!r} by {self.n_landmarks} landmarks and "
                f"{self.n_neighbors} neighbours lacks about {lacking:.2g} nats of log likelihood "
                f"per row: standard deviations may be {np.expm1(lacking):.0%} wider than those of "
                f"the exact process. Raise n_neighbors and n_landmarks.",
                UserWarning,
                stacklevel=4,
            )

    def _given(self) -> ObservedRows:
        """Return the stored training rows and targets, with their noise variances."""
        noise = Covariance(self.kernel_).noise(self.X_train_) + self._noise
        return ObservedRows(self.X_train_, self.y_train_.reshape(len(self.y_train_), -1), noise)

    def _factor(self) -> Array:
        """Compute the Cholesky factor ``L_``, which model files of many rows do not store."""
        given = self._given()
        return covariance_factor(Covariance(self.kernel_), given.X, given.noise)

    @property
    def _recomputed(self) -> tuple[str, ...]:
        """Names of fitted attributes that model files do not store."""
        return ("L_",) if len(getattr(self, "X_train_", ())) > _MOST_SEARCHED else ()

    def _approximate(self, kernel: sk.Kernel) -> FullScaleProcess:
        covariance = Covariance(kernel)
        noise = covariance.noise(self.X_train_) + self._noise
        given = self._given()._replace(noise=noise)
        sizes = (self.n_landmarks, self.n_neighbors)
        return FullScaleProcess.of(covariance, given, sizes, self._seed)

    def predict(self, X: ArrayLike, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return means (n,) or (n, n_targets) and optionally standard deviations or covariances.

        Before a fit, predictions are those of the prior. White noise of the kernel is part of the
        standard deviations and covariances, and ``alpha`` is not, as in scikit-learn.

        Raises ``RuntimeError`` if both standard deviations and covariances are requested.

        Parameters
        ----------
        X : array-like of shape (n, d), or list of objects that the kernel takes
        return_std, return_cov : bool, default=False
            Whether to return standard deviations in the shape of the means, or the joint covariance
            of all rows, of shape (n, n) or (n, n, n_targets).
        """
        process = getattr(self, "process_", None)
        if process is None:
            return self._exactly(X, return_std, return_cov)
        if return_std and return_cov:
            raise RuntimeError("At most one of return_std or return_cov can be requested.")
        rows = validate_data(self, X, ensure_2d=True, dtype=np.float64, reset=False)
        covariance, given, scale = Covariance(self.kernel_), self._given(), self._y_train_std
        if return_cov:
            mean, cov = process.joint(covariance, given, rows)
            cov[np.diag_indices(len(rows))] += covariance.noise(rows)
            spread = cov[:, :, None] * self._all_targets(scale) ** 2
        else:
            mean, variance = process.moments(covariance, given, rows)
            std = np.sqrt(variance + covariance.noise(rows))
            spread = std[:, None] * self._all_targets(scale)
        mean = self._shaped(mean * scale + self._y_train_mean)
        return (mean, self._shaped(spread)) if return_std or return_cov else mean

    def _exactly(self, X: ArrayLike, return_std: bool, return_cov: bool) -> Any:
        """Return the predictions of scikit-learn's process, computed in blocks of rows."""
        if "alpha_" in vars(self) and "L_" not in vars(self) and (return_std or return_cov):
            self.L_ = self._factor()
        predict = partial(self._fitted().predict, return_std=return_std, return_cov=return_cov)
        if return_cov:
            return predict(X)
        parts = in_blocks(predict, X, len(getattr(self, "X_train_", ())))
        if not return_std:
            return np.concatenate(parts)
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

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

        An approximation returns an estimate from below, with the landmarks and the order of rows
        of the same seed.

        Parameters are as in scikit-learn; the gradient is that of an exact process.

        Raises ``ValueError`` if the gradient is asked for without ``theta``, or of an
        approximation.
        """
        if theta is None or getattr(self, "process_", None) is None:
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if eval_gradient:
            refuse_gradient()
        kernel = self.kernel_.clone_with_theta(np.asarray(theta, dtype=np.float64))
        if not clone_kernel:
            self.kernel_.theta = theta
        return self._approximate(kernel).log_likelihood


def _standardised(y: Array) -> tuple[Array, Array, Array]:
    """Return standardised targets, with their means and standard deviations."""
    mean, deviation = y.mean(axis=0), y.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, 1.0)
    return as_array((y - mean) / deviation), mean, deviation
