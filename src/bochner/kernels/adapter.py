"""Conversion of scikit-learn's kernels to kernels of this package, and back by an adapter."""

from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.gaussian_process import kernels as sk

from bochner._base.arrays import Array, LengthScale, as_array
from bochner.kernels.base import Kernel, Scaled, Sum
from bochner.kernels.kernel_parameters import Interval, refuse_mixed
from bochner.kernels.linear import Constant, Linear, White
from bochner.kernels.stationary import Gaussian, Matern, Periodic, RationalQuadratic

BOUNDS = (1e-5, 1e5)
"""Bounds of the hyper-parameters of converted kernels: the default bounds of scikit-learn."""

_STEP = 1e-5
"""Step of central differences by logarithms or log odds: its square, 1e-10, is the error relative
to third derivatives, and rounding of the values causes an equal error."""


def from_sklearn(kernel: object, dim: int) -> Kernel:
    """Convert a kernel of scikit-learn to the equal kernel of this package for ``dim`` inputs."""
    refuse_mixed(kernel)
    if not isinstance(kernel, sk.Kernel):
        raise TypeError(
            f"from_sklearn takes a kernel of sklearn.gaussian_process.kernels, got {kernel!r}."
        )
    return _converted(kernel, dim)


class KernelAdapter(sk.Kernel):  # type: ignore[misc]
    r"""Adapter that makes a kernel of this package a kernel of scikit-learn.

    Hyper-parameters are those of ``kernel.learnable()``. ``theta`` has the logarithms of length
    scales, variances, factors, periods and values, and the log odds of correlations and
    inclusions, which lie in bounded intervals. Derivatives are central differences.

    Parameters
    ----------
    kernel : Kernel
        A symmetric, positive definite kernel.
    parameter_bounds : pair of floats or "fixed", default=(1e-5, 1e5)
        Bounds of all hyper-parameters, and of the odds of correlations and inclusions;
        ``"fixed"`` learns none of them.

    Examples
    --------
    >>> from bochner.kernels import KernelAdapter, Laplacian
    >>> adapter = KernelAdapter(2.0 * Laplacian((0.5, 1.0)))
    >>> [(each.name, each.n_elements) for each in adapter.hyperparameters]
    [('factor', 1), ('kernel__length_scale', 2)]
    >>> adapter.clone_with_theta([0.0, 0.0, 0.0]).kernel
    1.0 * Laplacian(length_scale=(1.0, 1.0))
    """

    def __init__(self, kernel: Kernel, parameter_bounds: object = BOUNDS) -> None:
        self.kernel = kernel
        self.parameter_bounds = parameter_bounds

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` includes the parameters of the kernel."""
        parameters = {"kernel": self.kernel, "parameter_bounds": self.parameter_bounds}
        nested = self.kernel.get_params() if deep else {}
        return parameters | {f"kernel__{name}": value for name, value in nested.items()}

    def set_params(self, **params: object) -> Self:
        """Set parameters by the names of :meth:`get_params`; the kernel is replaced by a copy."""
        inner = {k.removeprefix("kernel__"): v for k, v in params.items() if "__" in k}
        for name in params.keys() - {f"kernel__{k}" for k in inner}:
            if name not in ("kernel", "parameter_bounds"):
                raise ValueError(f"Invalid parameter {name} for kernel KernelAdapter.")
            setattr(self, name, params[name])
        self.kernel = self.kernel.with_params(**inner)
        return self

    @property
    def hyperparameters(self) -> list[sk.Hyperparameter]:
        """The learnable parameters, as scikit-learn hyper-parameters."""
        params = self.kernel.get_params()
        return [
            sk.Hyperparameter(name, "numeric", self.parameter_bounds, np.size(params[name]))
            for name in self.kernel.learnable()
        ]

    @property
    def theta(self) -> Array:
        """Logarithms or log odds of the hyper-parameters that are not fixed."""
        params = self.kernel.get_params()
        numbers = [domain.free(np.ravel(params[name])) for name, domain in self._free.items()]
        return np.concatenate(numbers) if numbers else np.zeros(0)

    @theta.setter
    def theta(self, theta: ArrayLike) -> None:
        self.kernel = self._moved(np.asarray(theta, dtype=np.float64))

    def _moved(self, theta: Array) -> Kernel:
        """Return the kernel with the hyper-parameter values at ``theta``."""
        params, changes, end = self.kernel.get_params(), dict[str, object](), 0
        for name, domain in self._free.items():
            start, end = end, end + np.size(params[name])
            changes[name] = domain.values(theta[start:end]).reshape(np.shape(params[name])).tolist()
        return self.kernel.with_params(**changes)

    @property
    def _free(self) -> dict[str, Interval]:
        """The intervals of the hyper-parameters that are not fixed, by name."""
        return {} if isinstance(self.parameter_bounds, str) else self.kernel.learnable()

    def __call__(
        self, X: ArrayLike, Y: ArrayLike | None = None, eval_gradient: bool = False
    ) -> Array | tuple[Array, Array]:
        """Return the Gram matrix, and its derivatives by ``theta`` with ``eval_gradient``."""
        K = self.kernel(X, Y)
        if not eval_gradient:
            return K
        if Y is not None:
            raise ValueError("Gradient can only be evaluated when Y is None.")
        theta = self.theta
        slopes = np.empty((*K.shape, len(theta)))
        for index, step in enumerate(_STEP * np.eye(len(theta))):
            above, below = self._moved(theta + step)(X), self._moved(theta - step)(X)
            slopes[:, :, index] = (above - below) / (2.0 * _STEP)
        return K, slopes

    def diag(self, X: ArrayLike) -> Array:
        """Return the values ``k(x_i, x_i)`` of rows (n, d), of shape (n,)."""
        return as_array(self.kernel.diag(X))

    def is_stationary(self) -> bool:
        """Return whether the kernel is known to be stationary, a function of the lag only."""
        return False

    def __repr__(self) -> str:
        return repr(self.kernel)


def _converted(kernel: Any, dim: int) -> Kernel:
    """Convert a kernel by its exact class, because a subclass may compute other values."""
    kind = type(kernel)
    if kind is KernelAdapter:
        made: Kernel = kernel.kernel
        return made
    if kind is sk.ConstantKernel:
        return Constant(float(kernel.constant_value))
    if kind is sk.WhiteKernel:
        return White(float(kernel.noise_level))
    if kind is sk.RBF or (kind is sk.Matern and np.isinf(kernel.nu)):
        return Gaussian(_scale(kernel.length_scale))
    if kind is sk.Matern:
        return Matern(_scale(kernel.length_scale), float(kernel.nu))
    if kind is sk.RationalQuadratic:
        return RationalQuadratic(_scale(kernel.length_scale), float(kernel.alpha))
    if kind is sk.ExpSineSquared and dim == 1:
        return Periodic(float(kernel.periodicity), float(kernel.length_scale))
    if kind is sk.DotProduct:
        offset = float(kernel.sigma_0) ** 2
        return Linear() + Constant(offset) if offset > 0.0 else Linear()
    if kind is sk.Sum:
        return _converted(kernel.k1, dim) + _converted(kernel.k2, dim)
    if kind is sk.Product:
        return _product(_converted(kernel.k1, dim), _converted(kernel.k2, dim))
    if kind is sk.Exponentiation and kernel.exponent >= 1 and float(kernel.exponent).is_integer():
        return reduce(_product, [_converted(kernel.kernel, dim)] * int(kernel.exponent))
    raise ValueError(
        f"{kernel!r} has no counterpart in bochner.kernels. Sums, products and whole powers of "
        f"RBF, Matern, RationalQuadratic, ExpSineSquared (of one input: see Periodic), "
        f"DotProduct, ConstantKernel and WhiteKernel are converted. "
        f"bochner.GaussianProcessRegressor(kernel, solver='exact') takes any kernel of "
        f"scikit-learn."
    )


def _product(left: Kernel, right: Kernel) -> Kernel:
    """Multiply kernels; a constant becomes a factor, or multiplies the variance of White."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant):
            if isinstance(other, Constant):
                return Constant(one.value * other.value)
            if isinstance(other, White):
                return White(one.value * other.noise)
            if isinstance(other, Sum):
                return Sum(tuple(_product(one, term) for term in other.terms))
            return Scaled(other, one.value)
    return left * right


def _scale(length_scale: object) -> LengthScale:
    """Return a length scale as a float or as a tuple with one entry per input."""
    values = np.asarray(length_scale, dtype=np.float64)
    return float(values) if values.ndim == 0 else tuple(values.tolist())
