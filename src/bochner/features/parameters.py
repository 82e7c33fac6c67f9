"""Parameters of features that estimators share: kernels, length scales, numbers of features."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import issparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import euclidean_distances

from bochner._base.arrays import (
    Array,
    ArrayLike,
    InputRows,
    LengthScale,
    as_count,
    as_flag,
    as_positive,
    as_positive_scalar,
    spreads,
)
from bochner._base.checks import check_choice, check_dtype, check_seed
from bochner._base.registry import resolved
from bochner._base.threads import checked_n_jobs
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import kernel_called, native
from bochner.spectral.decompositions import DECOMPOSITIONS, Decomposition
from bochner.spectral.schemes import SCHEMES, Scheme

AnyKernel = Kernel | Callable[[Array, Array], Any]
"""A kernel, or a function ``k(X, Y)`` that returns Gram matrices."""


class KernelParameters:
    """Mixin that gives estimators access to kernel parameters, as ``kernel__length_scale``."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including parameters of a kernel: ``kernel__length_scale=2.0``.

        A kernel whose parameters are set is replaced by a copy, because kernels are immutable.
        Raises ``ValueError`` for an unknown name; :meth:`bochner.kernels.Kernel.with_params` has
        the names.
        """
        plain, of_kernels = dict(params), dict[str, dict[str, Any]]()
        for key, value in params.items():
            name, separator, inner = key.partition("__")
            current = params.get(name, getattr(self, name, None))
            if not separator or not isinstance(current, Kernel | str):
                continue
            if isinstance(current, str):
                raise ValueError(
                    f"{key} sets a parameter of a kernel, but {name} is {current!r:.60}; give "
                    f"{name} a Kernel, such as Gaussian(1.0), or set length_scale."
                )
            of_kernels.setdefault(name, {})[inner] = value
            del plain[key]
        for name, some in of_kernels.items():
            plain[name] = params.get(name, getattr(self, name)).with_params(**some)
        updated: Self = super().set_params(**plain)  # type: ignore[misc]
        return updated


def count_frequencies(n_components: object, name: str = "n_components") -> int:
    """Return the number of frequencies, half of the number ``n_components`` of features."""
    if isinstance(n_components, bool) or not isinstance(n_components, Integral):
        raise TypeError(f"{name} must be an even positive integer, got {n_components!r:.60}.")
    count = int(n_components)
    if count < 1 or (count % 2 and count != 1):
        raise ValueError(
            f"{name} must be even and positive, because every frequency makes two "
            f"features, a cosine and a sine; got {count}, which is odd or not positive. "
            f"Use {max(2, count + count % 2)}."
        )
    return (as_count(name, count) + 1) // 2


def resolve_kernel(
    kernel: AnyKernel | str,
    length_scale: ArrayLike,
    X: InputRows,
    rng: np.random.Generator,
    sample_weight: Array | None = None,
    *,
    names: Sequence[str] | None = None,
) -> AnyKernel:
    """Return the kernel of a given name, with a length scale chosen on ``X`` if needed."""
    if not isinstance(kernel, Kernel | str):
        kernel = native(kernel, X.shape[1])
    if isinstance(kernel, str):

        def scale() -> LengthScale:
            if not isinstance(length_scale, str):
                return as_positive("length_scale", length_scale)
            check_length_scale("length_scale", length_scale)
            find = auto_length_scale if length_scale == "auto" else median_distance
            return find(X, rng, sample_weight)

        return kernel_called(kernel, X.shape[1], scale).resolved(names, X)
    if isinstance(kernel, Kernel):
        return kernel.resolved(names, X)
    check_kernel("kernel", kernel)
    return kernel


Check = Callable[[str, Any], object]
"""Takes the name and the value of a parameter, and raises an error for an unusable value."""


class Parametrised(Protocol):
    """Protocol of an estimator with ``get_params``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""


def check_each(model: Parametrised, checks: Mapping[str, Check]) -> None:
    """Raise ``TypeError`` or ``ValueError`` for the first invalid parameter of an estimator."""
    for name, value in model.get_params(deep=False).items():
        checks[name](name, value)


def optional(check: Check) -> Check:
    """Return a version of ``check`` that also accepts ``None``."""
    return lambda name, value: None if value is None else check(name, value)


def one_of(choices: Collection[str]) -> Check:
    """Return a check that a parameter is one of the names ``choices``."""
    return partial(check_choice, choices=choices)


def unchecked(name: str, value: object) -> None:
    """Accept any value, for a parameter without a check or with a check that needs the rows."""


def check_kernel(name: str, value: object) -> None:
    """Raise an error unless a value is a kernel, a kernel name, or a function."""
    if isinstance(value, str):
        kernel_called(value, 1)
    elif isinstance(value, type) or not (callable(value) or isinstance(value, Kernel)):
        raise TypeError(
            f"{name} must be a Kernel, the name of one or a function k(X, Y), got {value!r:.60}."
        )


def check_length_scale(
    name: str, value: ArrayLike, choices: Collection[str] = ("auto", "median")
) -> None:
    """Raise an error unless a length scale is positive numbers or a name in ``choices``."""
    if not isinstance(value, str):
        as_positive(name, value)
    elif value not in choices:
        also = " 'evidence' needs targets: KreinRidge and KernelGLMRegressor learn with it."
        raise ValueError(
            f"{name} must be {', '.join(map(repr, choices))}, a number or one per input, got "
            f"{value!r:.60}.{also if value == 'evidence' else ''}"
        )


def length_scale_check(*names: str) -> Check:
    """Return a check that a length scale is positive numbers or the name of a rule."""
    return partial(check_length_scale, choices=names)


KERNEL_CHECKS: Mapping[str, Check] = {
    "kernel": check_kernel,
    "n_components": lambda name, value: count_frequencies(value, name),
    "length_scale": check_length_scale,
    "scheme": partial(resolved, kind=Scheme, choices=SCHEMES),
    "weights": one_of(("sampled", "least_squares")),
    "decomposition": partial(resolved, kind=Decomposition, choices=DECOMPOSITIONS),
    "masses": one_of(("exact", "least_squares")),
    "dtype": lambda _, value: check_dtype(value),
    "random_state": lambda _, value: check_seed(value),
    "fit_intercept": as_flag,
    "tol": as_positive_scalar,
    "n_jobs": lambda _, value: checked_n_jobs(value),
    "time_limit": optional(as_positive_scalar),
    "residual": optional(as_count),
    "verbose": unchecked,
}
"""Checks of parameters that estimators share, by name."""


_SUBSAMPLE = 1000
"""Rows for the median distance, half a million pairs: its standard error falls with the root of the
number of rows, while time and memory grow with the square."""

_MOST_COLUMNS = 100
"""Largest number of columns with separate length scales, as where the evidence learns them."""

_EQUAL = 1e-7
"""Distance, relative to the greatest one, below which rows count as equal: the distance of sparse
rows is the root of a difference of squares, whose rounding error is 1e-15."""


_ROUNDINGS = 100.0
"""Largest difference of kernel values that counts as rounding, in machine epsilons."""


def kernel_name(kernel: AnyKernel) -> str:
    """Return a kernel's expression, or a function's name."""
    if isinstance(kernel, Kernel):
        return repr(kernel)
    name: str = getattr(kernel, "__qualname__", None) or repr(kernel)
    return name


def exact_values(kernel: AnyKernel, X: Array, Y: Array) -> NDArray[Any]:
    """Return the Gram matrix (n, n2); ``ValueError`` unless the kernel returns real numbers."""
    values = np.asarray(kernel(X, Y))
    name = kernel_name(kernel)
    if values.shape != (len(X), len(Y)):
        raise ValueError(
            f"{name} must return an array of shape {(len(X), len(Y))} for inputs with these "
            f"numbers of rows, got {values.shape}."
        )
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must return real numbers, got {values.dtype}.")
    if values.dtype.kind != "f":  # Differences of booleans or unsigned integers are no numbers
        values = values.astype(np.float64)
    finite = np.isfinite(values)
    if not finite.all():
        i, j = np.argwhere(~finite)[0].tolist()
        raise ValueError(
            f"{name} returned {values[i, j]} for a pair of rows; "
            f"{np.count_nonzero(~finite)} of {values.size} values are not finite. "
            f"Scale the inputs, or define the kernel for these rows."
        )
    return values


def rounding_of(values: NDArray[Any], least: float) -> float:
    """Return 100 times the machine epsilon of the values' type, but at least ``least``."""
    precision = np.finfo(values.dtype).eps if values.dtype.kind == "f" else 0.0
    return max(least, _ROUNDINGS * float(precision))


def is_symmetric(gram: Array, tolerance: float) -> bool:
    """Return whether a Gram matrix is symmetric up to ``tolerance`` times its greatest entry."""
    return bool(np.abs(gram - gram.T).max() <= tolerance * np.abs(gram).max())


def auto_length_scale(
    X: InputRows, rng: np.random.Generator, sample_weight: Array | None = None
) -> LengthScale:
    """Return length scales (d,): column deviations times the median distance of scaled rows."""
    if X.shape[1] > _MOST_COLUMNS:
        return median_distance(X, rng, sample_weight)
    deviations = spreads(X, np.ones(X.shape[0]) if sample_weight is None else sample_weight)
    scaled: Any = X @ sparse.diags_array(1.0 / deviations)
    scales = median_distance(scaled, rng, sample_weight) * deviations
    return tuple(scales.tolist())


def median_distance(
    X: InputRows, rng: np.random.Generator, sample_weight: Array | None = None
) -> float:
    """Return the median distance between distinct rows, one if all rows are equal.

    At most 1000 rows of ``X`` (n, d), dense or CSR, are used. A pair of rows counts with the
    product of its weights ``sample_weight`` (n,): integer weights are repetitions.
    """
    weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
    rows = np.flatnonzero(weight > 0)
    if len(rows) > _SUBSAMPLE:
        rows = np.sort(rng.choice(rows, _SUBSAMPLE, replace=False))
    i, j = np.triu_indices(len(rows), k=1)
    sampled_rows = X[rows]
    distance = (
        euclidean_distances(sampled_rows)[i, j] if issparse(sampled_rows) else pdist(sampled_rows)
    )
    # Repeated rows are removed, because they could make the median zero.
    distinct = distance > _EQUAL * distance.max(initial=0.0)
    if not distinct.any():
        return 1.0
    distance, i, j = distance[distinct], i[distinct], j[distinct]
    order = np.argsort(distance)
    cumulated = np.cumsum((weight[rows][i] * weight[rows][j])[order])
    return float(distance[order][np.searchsorted(cumulated, cumulated[-1] / 2.0)])
