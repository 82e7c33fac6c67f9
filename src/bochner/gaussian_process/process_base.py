"""Base class of the processes with scikit-learn's parameters, and kernel conversion."""

import warnings
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from numbers import Integral
from operator import add, itemgetter, mul
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_solve, eigh
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import kernels as sk
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import validate_data

from bochner._base.arrays import Array, ArrayLike, InputRows, as_array, jittered_cholesky, spreads
from bochner._base.checks import refuse_no_numbers, unfit
from bochner._base.names import one_line, shown
from bochner._base.threads import single_threaded_blas
from bochner.features.chunks import Chunk
from bochner.features.parameters import KernelParameters, auto_length_scale, median_distance
from bochner.gaussian_process.full_scale import (
    Covariance,
    ObservedRows,
    Places,
    nearest,
    rates,
    row_steps,
)
from bochner.kernels import (
    Constant,
    Exponential,
    Gaussian,
    Kernel,
    Matern,
    Product,
    RationalQuadratic,
    Scaled,
    Sum,
    White,
)
from bochner.kernels.adapter import KernelAdapter, from_sklearn
from bochner.kernels.kernel_parameters import is_sklearn_kernel, refuse_mixed
from bochner.linear.kernel_families import MOST_SCALES
from bochner.linear.kernel_selection import SearchStage, canonical, drawn_rows, in_units
from bochner.linear.reparameterised import LengthScales
from bochner.linear.ridge_search import GramSearch

# ``kernel`` also accepts kernels of this package.
CONSTRAINTS: dict[str, Any] = {
    "kernel": [None, sk.Kernel, Kernel],
    "solver": [StrOptions({"auto", "exact", "approximate"})],
    "n_landmarks": [Interval(Integral, 0, None, closed="left")],
}
"""Constraints of parameters that are new, or accept other values than in scikit-learn."""


class ScikitProcess(KernelParameters, ABC):
    """Base of scikit-learn's Gaussian processes that use an approximation for many rows."""

    _exact_class: ClassVar[type[Any]]  # scikit-learn's class
    _new_parameters: ClassVar[tuple[str, ...]]  # Parameters that scikit-learn's class lacks

    def _validated(
        self: BaseEstimator, X: ArrayLike, y: ArrayLike, **options: object
    ) -> tuple[Any, Any, sk.Kernel]:
        """Return validated rows and targets, and the kernel as an object of scikit-learn."""
        refuse_mixed(self.kernel)
        takes_objects = is_sklearn_kernel(self.kernel) and not self.kernel.requires_vector_input
        if not takes_objects:
            refuse_no_numbers("X", X)
        unfit(self)
        dtype = None if takes_objects else "numeric"
        with np.errstate(over="ignore", invalid="ignore"):
            rows, targets = validate_data(
                self, X, y, dtype=dtype, ensure_2d=not takes_objects, **options
            )
        names = getattr(self, "feature_names_in_", None)
        return rows, targets, as_process_kernel(self.kernel, names, rows)

    def _exact(self: BaseEstimator, **changed: object) -> BaseEstimator:
        """Return scikit-learn's unfitted process with the same parameters, except ``changed``."""
        parameters = self.get_params(deep=False)
        for name in self._new_parameters:
            del parameters[name]
        return self._exact_class(**parameters | changed)

    def _fitted(self: BaseEstimator) -> BaseEstimator:
        """Return scikit-learn's process with the fitted attributes of this one."""
        names = getattr(self, "feature_names_in_", None)
        rows = getattr(self, "X_train_", None)
        process = self._exact(kernel=as_process_kernel(self.kernel, names, rows))
        parameters = set(process.get_params(deep=False))
        vars(process).update({k: v for k, v in vars(self).items() if k not in parameters})
        return process

    def _check_parameters(self: BaseEstimator) -> None:
        """Raise an error for invalid parameters, also of a model loaded from a file."""
        if isinstance(self.kernel, str):
            raise TypeError(
                f"kernel must be a kernel object or None, got the name {shown(self.kernel)}: write "
                "bochner.kernels.Gaussian(1.0) or sklearn.gaussian_process.kernels.RBF(1.0) for a "
                "Gaussian kernel. None learns one with a length scale for each input."
            )
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise InvalidParameterError(one_line(error)) from None
        if isinstance(self.kernel, sk.CompoundKernel):
            raise ValueError(
                "kernel cannot be a CompoundKernel, which has a kernel for each class."
            )

    def _try_out(self: BaseEstimator) -> None:
        """Raise ValueError unless the kernel of a model from a file has finite parameters."""
        if hasattr(self, "n_features_in_") and not np.isfinite(self.kernel_.theta).all():
            raise ValueError("the parameters of the kernel must be positive")


def fitted_process(
    process: BaseEstimator, X: ArrayLike, y: ArrayLike, is_default: bool
) -> BaseEstimator:
    """Fit and return scikit-learn's process; the default kernel gives no ConvergenceWarning."""
    with warnings.catch_warnings():
        if is_default:
            warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(X, y)


def in_blocks(predict: Callable[[Any], Any], X: Any, n_training: int) -> list[Any]:
    """Return predictions of new rows by blocks, whose values with all training rows take memory."""
    n_rows = len(X) if getattr(X, "ndim", 0) == 2 else 0
    return [predict(X[rows]) for rows in row_steps(n_rows, n_training)] or [predict(X)]


def refuse_gradient() -> NoReturn:
    """Raise ``ValueError``: the evidence of an approximation has no gradient."""
    raise ValueError(
        "The log marginal likelihood of an approximation has no gradient here: fit with "
        "solver='exact', on fewer rows, or use differences of its values."
    )


_STAGES = (SearchStage(1000, 0, 25), SearchStage(2000, 0, 60))
"""Rows and steps of the searches from all starts, and of the search from the best end point.
A step takes 0.1 seconds on 1,000 rows, and one second on 2,000. With half of the rows, functions
of four inputs that vary jointly are mistaken for noise, also by random features."""


_BLOCKS, _BLOCK_ROWS = 16, 500
"""Blocks of near rows on which noise is learned if there are more rows, and their rows: their
eigenvalues take two seconds together, and determine the noise of draws within two per cent."""

_LOG_RATIOS = np.log(np.geomspace(1e-6, 10.0, 15))
"""Logarithms of ratios of noise to signal where the search begins, half a decade apart."""


class LearnedGaussian(NamedTuple):
    """A Gaussian kernel with length scales (d,), and variances of signal and noise."""

    length_scale: Array
    signal: float
    noise: float


def learned_gaussian(X: Array, y: Array, rng: Generator) -> LearnedGaussian:
    """Return the Gaussian kernel of greatest exact evidence on at most 2,000 of the rows (n, d)."""
    row_rng, median_rng, start_rng, block_rng = rng.spawn(4)
    some = drawn_rows(np.arange(len(X)), _STAGES[-1].n_rows, row_rng)
    all_rows, units = in_units("gaussian", Chunk(X[some], y[some]))
    start = np.full(len(units), median_distance(all_rows.X, median_rng))
    family = LengthScales(Gaussian, start, len(units) > MOST_SCALES, units)
    rows = canonical(all_rows)
    few, most = (
        GramSearch(
            family.in_units,
            rows[drawn_rows(np.arange(len(rows)), stage.n_rows, row_rng)],
            None,
            False,
        )
        for stage in _STAGES
    )
    with single_threaded_blas():
        starts = map(few.started, family.starts(start_rng))
        ends = [few.climbed(start, _STAGES[0].n_steps) for start in starts]
        point = most.explored(min(ends, key=itemgetter(1))[0], _STAGES[1].n_steps)
        # The weak prior is now centred at the end point instead of the median distance.
        family = replace(family, unit=family.unit * np.exp(point[:-1]))
        last = replace(most, family=family.in_units)
        point, _ = last.climbed(np.append(family.origin, point[-1]), _STAGES[1].n_steps)
    ratio = float(np.exp(point[-1]))
    lower = jittered_cholesky(family.in_units.kernel(point[:-1])(all_rows.X), ratio)
    # The evidence is greatest at this variance of the signal, for targets in their own units.
    misfit = np.sum(y[some] * cho_solve((lower, True), y[some]), axis=0)
    signal = float(np.mean(misfit)) / len(some)
    kernel: Any = family.kernel(point[:-1])
    length_scale = np.broadcast_to(as_array(kernel.length_scale), X.shape[1])
    noise = ratio * signal
    if len(X) > len(some):
        points, gaussian = X / length_scale, Gaussian(1.0)
        noise = noise_of_near_rows(
            lambda rows: signal * gaussian(points[rows]), points, y, noise, block_rng
        )
    return LearnedGaussian(length_scale, signal, noise)


def noise_of_near_rows(
    gram: Callable[[Places], Array], points: Array, y: Array, noise: float, rng: Generator
) -> float:
    """Return the noise variance of greatest evidence on blocks of neighbouring rows.

    Between rows of a small subset, which are far apart, a function looks like noise. ``gram``
    returns its covariance at some rows; distances are between ``points`` (n, d).
    """
    values, squares = list[Array](), list[Array]()
    for block in nearest(points, points[rng.permutation(len(points))[:_BLOCKS]], _BLOCK_ROWS):
        eigenvalues, vectors = eigh(gram(block), driver="evd")
        values.append(np.maximum(eigenvalues, 0.0))
        squares.append(np.sum((vectors.T @ y[block]) ** 2, axis=1))
    of_function, total = np.concatenate(values), np.concatenate(squares)

    def loss(log_noise: float) -> float:
        variance = of_function + np.exp(log_noise)
        return float(np.sum(y.shape[1] * np.log(variance) + total / variance))

    logs = np.append(np.log(np.mean(of_function)) + _LOG_RATIOS, np.log(noise))
    best = logs[np.argmin([loss(value) for value in logs])]
    reach = _LOG_RATIOS[1] - _LOG_RATIOS[0]
    minimum = minimize_scalar(loss, bounds=(best - reach, best + reach), method="bounded")
    return float(np.exp(minimum.x))


_REACH = 1e4
"""Ratio of the bounds of learned length scales and variances to their initial values: beyond the
bounds, functions are flat or white on the rows."""

_LEAST_NOISE = 1e-8
"""Least signal and noise of a learned kernel relative to the variance of the targets: the square
root of the rounding of float64, so that its Gram matrix has a Cholesky factor."""

_LOG_ODDS = 4.0
"""Variance of latent functions of classes where a search starts: probabilities 0.02 to 0.98."""

_LOG_ODDS_BOUNDS = (0.01, 100.0)
"""Bounds of the latent variance: probabilities at one standard deviation are at most 0.99995."""

_EQUAL = 1e-6  # Relative difference up to which noise variances count as equal: far above rounding


def as_process_kernel(
    kernel: object, names: Sequence[str] | None = None, X: InputRows | None = None
) -> Any:
    """Return a kernel of scikit-learn for a parameter ``kernel``; ``None`` stays ``None``."""
    if isinstance(kernel, Kernel):
        kernel = kernel.resolved(names, X)
        if not kernel.is_symmetric:
            raise ValueError(
                f"{kernel!r} is not symmetric, and a covariance is: use its symmetric part, "
                f"kernel.symmetrised, or bochner.AsymmetricKernelRidge."
            )
        return _counterpart(kernel)
    return kernel


def _counterpart(kernel: Kernel) -> sk.Kernel:
    """Return the scikit-learn kernel with the same values, or an adapter."""
    match kernel:
        case Gaussian(scale):
            return sk.RBF(_listed(scale))
        case Exponential(scale):
            return sk.Matern(_listed(scale), nu=0.5)
        case Matern(scale, nu):
            return sk.Matern(_listed(scale), nu=nu)
        case RationalQuadratic(float() as scale, alpha):
            return sk.RationalQuadratic(scale, alpha)
        case Constant(value) if value > 0.0:
            return sk.ConstantKernel(value)
        case White(noise):
            return sk.WhiteKernel(noise)
        case Scaled(inner, factor) if factor > 0.0:
            return sk.Product(sk.ConstantKernel(factor), _counterpart(inner))
        case Sum(terms):
            return reduce(add, map(_counterpart, terms))
        case Product(factors):
            return reduce(mul, map(_counterpart, factors))
    return KernelAdapter(kernel)


def _listed(scale: object) -> object:
    return list(scale) if isinstance(scale, tuple) else scale


def default_kernel(X: Array, signal: float, noise: float, scale: ArrayLike) -> sk.Kernel:
    """Return a constant times a Gaussian kernel with a length scale per input, and white noise."""
    scales = np.broadcast_to(scale, X.shape[1]).astype(np.float64)
    lengths = sk.RBF(scales.copy(), np.column_stack((scales / _REACH, scales * _REACH)))
    kernel = sk.ConstantKernel(signal, (signal / _REACH, signal * _REACH)) * lengths
    return kernel + sk.WhiteKernel(noise, (noise / _REACH, noise * _REACH))


def kernel_of_classes(X: Array, indicators: Array, rng: np.random.Generator) -> sk.Kernel:
    """Return a constant times a Gaussian kernel, with length scales of greatest evidence."""
    lengths = sk.RBF(np.array(learned_gaussian(X, indicators, rng).length_scale), "fixed")
    return sk.ConstantKernel(_LOG_ODDS, _LOG_ODDS_BOUNDS) * lengths


def start_kernel(X: Array, y: Array) -> sk.Kernel:
    """Return the default kernel in the units of rows (n, d) and of standardised targets (n, t)."""
    scale = auto_length_scale(X, np.random.default_rng(0))
    variance = float(np.mean(spreads(y, np.ones(len(y))) ** 2))
    return default_kernel(X, variance, 0.1 * variance, scale)


def learned_kernel(X: Array, y: Array, alpha: float, rng: np.random.Generator) -> sk.Kernel:
    """Return the default kernel of greatest evidence, next to a noise of variance ``alpha``."""
    learned = learned_gaussian(X, y, rng)
    variance = float(np.mean(spreads(y, np.ones(len(y))) ** 2))
    least = _LEAST_NOISE * variance
    signal, white = max(learned.signal, least), max(learned.noise - alpha, least)
    return default_kernel(X, signal, white, learned.length_scale)


def with_noise_of_near_rows(
    kernel: sk.Kernel, given: ObservedRows, alpha: float, rng: np.random.Generator
) -> sk.Kernel:
    """Return ``kernel`` with its single free white noise learned on blocks of near rows."""
    free = [
        (name, part)
        for name, part in kernel.get_params(deep=True).items()
        if isinstance(part, sk.WhiteKernel) and not part.hyperparameter_noise_level.fixed
    ]
    of_kernel = given.noise - alpha
    if len(free) != 1 or np.ptp(of_kernel) > _EQUAL * of_kernel.max():
        return kernel
    [(name, white)] = free
    covariance = Covariance(kernel)
    points = given.X * rates(covariance, given.X, rng)
    total = noise_of_near_rows(
        lambda rows: covariance(given.X[rows]), points, given.Y, float(given.noise[0]), rng
    )
    # Constant factors of the white-noise term stay unchanged.
    level = white.noise_level * (total - alpha) / of_kernel[0]
    level = float(np.clip(level, *np.ravel(white.noise_level_bounds)))
    return clone(kernel).set_params(**{f"{name}__noise_level": level})


def without_noise(kernel: sk.Kernel, dim: int) -> tuple[Kernel, float]:
    """Return a scikit-learn kernel converted without its white noise, and the noise variance."""
    converted = from_sklearn(kernel, dim)
    terms = converted.terms if isinstance(converted, Sum) else (converted,)
    noise, rest = 0.0, list[Kernel]()
    for term in terms:
        if isinstance(term, White):  # Factors are in its variance
            noise += term.noise
        else:
            rest.append(term)
    if not rest or any(term.has_noise for term in rest):
        raise ValueError(
            f"{kernel!r} has no random features: white noise must be a term of a sum with other "
            f"kernels, such as RBF() + WhiteKernel(). solver='exact' takes any kernel."
        )
    return (rest[0] if len(rest) == 1 else Sum(tuple(rest))), noise
