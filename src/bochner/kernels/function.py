"""Kernels as functions of two inputs with named parameters, evaluated exactly on arrays."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bochner._base.arrays import Array, InputRows, as_array, row_blocks
from bochner._base.checks import check_rows_given, column_names
from bochner._base.intervals import Interval
from bochner._base.naming import nearest
from bochner.kernels.column_kernels import named_columns

SEPARATOR = "__"

_MOST_SHOWN = 20
"""Numbers of a field that a repr shows in full: two lines of a screen."""

_ENDS = 3
"""Numbers shown of each level of longer ones: 27 of matrices, three lines."""

_MOST_LEVELS = 40
"""Kernels within each other: model files hold them, and Python calls each from the one around."""


def checked_rows(X: ArrayLike) -> Array:
    """Return rows as a finite two-dimensional float64 array."""
    return as_array(check_rows_given(X, dtype=np.float64))


def nested_tuples(value: object) -> Any:
    """Return nested lists as tuples, which are hashable."""
    return tuple(map(nested_tuples, value)) if isinstance(value, list) else value


def convert_fields(kernel: "KernelFunction", **converters: Callable[[str, Any], Any]) -> None:
    """Convert fields by functions of their names and values; errors of these functions pass."""
    for name, convert in converters.items():
        object.__setattr__(kernel, name, convert(name, getattr(kernel, name)))


def checked_shape(
    kernel: "KernelFunction", method: str, values: Array, shape: tuple[int, int]
) -> Array:
    """Return values of a kernel; raise ``ValueError`` if a method returned another shape."""
    if np.shape(values) != shape:
        raise ValueError(
            f"{type(kernel).__name__}.{method} must return an array of shape (n, n2), here "
            f"{shape}, got {np.shape(values)}."
        )
    return values


def decay(values: Array, rate: float = 1.0) -> Array:
    """Return ``exp(-rate * values)`` in place, since new memory would cost half the time again."""
    values *= -rate
    return np.exp(values, out=values)


class KernelFunction(ABC):
    """A function of two inputs whose fields are parameters with scikit-learn's names.

    A parameter of a nested kernel is addressed by both names, such as ``kernel__length_scale``. The
    members of a sum or product are ``k1``, ``k2`` and so on, as in scikit-learn.
    """

    __slots__ = ()

    parameter_domains: ClassVar[Mapping[str, Interval]] = MappingProxyType({})
    """Domains of the parameters that are learned, by name; all other parameters are given."""

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> Array:
        """Return the Gram matrix ``k(x_i, y_j)``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows of the left argument. A data frame is needed if the kernel is :meth:`on` columns
            given by name.
        Y : array-like of shape (n2, d), default=None
            Rows of the right argument; ``None`` means ``X``. For a :class:`Bilinear` kernel the
            number of columns may differ from that of ``X``.

        Returns
        -------
        K : ndarray of shape (n, n2)
            Filled block of rows by block of rows, so that memory beyond the result stays small.

        Raises
        ------
        ValueError
            If an input is not a finite two-dimensional array, or the kernel is not defined on
            rows of these widths or on some row.
        """
        left = checked_rows(X)
        right: Array = left if Y is None else check_rows_given(Y, "Y", dtype=np.float64)
        kernel = self.resolved(named_columns(column_names(X), column_names(Y)))
        kernel.check_widths(left.shape[1], right.shape[1])
        kernel.check_inputs(left)
        if right is not left or not kernel.is_symmetric:
            kernel.check_right_inputs(right)
        K: Array = kernel._gram(left, right)
        if Y is None and kernel.has_noise:
            np.fill_diagonal(K, kernel.diag(left))
        return K

    def _gram(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix of checked rows, block of rows by block of rows."""
        K = np.empty((len(X), len(Y)))
        for rows in row_blocks(len(X), K.itemsize * len(Y)):
            # Distances and norms may overflow where the kernel's limit is finite.
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                K[rows] = self._values(X[rows], Y)
            self.check_finite(K[rows])
        return K

    def _values(self, X: Array, Y: Array) -> Array:
        """Return the result of `evaluate`, whose author may be a user, after a check of it."""
        return checked_shape(self, "evaluate", self.evaluate(X, Y), (len(X), len(Y)))

    def check_finite(self, values: Array) -> None:
        """Raise ``ValueError`` unless values of the kernel are finite."""
        if not np.isfinite(values).all():
            raise ValueError(
                f"Values of {self!r} overflow on these rows. Scale X, or the kernel, by a smaller "
                f"factor."
            )

    @abstractmethod
    def evaluate(self, X: Array, Y: Array) -> Array:
        """Return a new array ``k(x_i, y_j)`` for one block of checked rows."""

    @abstractmethod
    def diag(self, X: ArrayLike) -> Array:
        """Return ``k(x_i, x_i)``, of shape (n,), without forming the Gram matrix."""

    @abstractmethod
    def check_dim(self, dim: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined on inputs with ``dim`` columns."""

    def check_widths(self, left: int, right: int) -> None:
        """Raise ``ValueError`` unless the kernel is defined for arguments of these widths."""
        if left != right:
            raise ValueError(f"X has {left} columns and Y has {right}: expected the same number.")
        self.check_dim(left)

    def right_dim(self, dim: int) -> int:
        """Return the number of columns of right rows if left rows have ``dim`` columns."""
        return dim

    def check_inputs(self, X: InputRows) -> None:  # noqa: B027  # Most take all
        """Raise ``ValueError`` unless every finite row of ``X`` can be the left argument.

        ``X`` (n, d) is dense or CSR.
        """

    def check_right_inputs(self, Y: InputRows) -> None:
        """Raise ``ValueError`` unless every row of ``Y`` can be the right argument."""
        self.check_inputs(Y)

    @property
    def is_symmetric(self) -> bool:
        """Whether ``k(x, y) == k(y, x)`` for all inputs."""
        return True

    @abstractmethod
    def resolved(self, names: Sequence[str] | None, rows: InputRows | None = None) -> Any:
        """Return a copy with its data-dependent parameters filled in."""

    @property
    def has_noise(self) -> bool:
        """Whether the kernel contains White noise, the covariance of a row with itself only."""
        return any(part.has_noise for part in self.nested().values())

    def nested(self) -> dict[str, "KernelFunction"]:
        """Return the values that this one is made of, by the names of their parameters."""
        members: dict[str, KernelFunction] = {}
        for name, value in _fields(self).items():
            if isinstance(value, KernelFunction):
                members[name] = value
            elif _is_sequence(value):
                members |= {f"k{i}": member for i, member in enumerate(value, start=1)}
        return members

    def domain_of(self, name: str) -> Interval | None:
        """Return the domain of a parameter of this kernel that is learned, else ``None``."""
        return self.parameter_domains.get(name)

    def learnable(self) -> dict[str, Interval]:
        """Return the domains of the parameters that are learned, by the names of `get_params`.

        A parameter at an end of its domain, such as an inclusion of one, is given.

        >>> from bochner.kernels import RationalQuadratic
        >>> list((2.0 * RationalQuadratic(0.5)).learnable())
        ['factor', 'kernel__length_scale', 'kernel__alpha']
        """
        domains: dict[str, Interval] = {}
        for name, value in _fields(self).items():
            domain = self.domain_of(name)
            if domain is not None and domain.contains(value):
                domains[name] = domain
        for name, part in self.nested().items():
            domains |= {f"{name}{SEPARATOR}{key}": each for key, each in part.learnable().items()}
        return domains

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep`` includes parameters of nested kernels.

        >>> from bochner.kernels import Gaussian
        >>> (2.0 * Gaussian(0.5)).get_params()
        {'kernel': Gaussian(length_scale=0.5), 'factor': 2.0, 'kernel__length_scale': 0.5}
        """
        params = _fields(self)
        for name, part in self.nested().items() if deep else ():
            params[name] = part
            params |= {f"{name}{SEPARATOR}{inner}": v for inner, v in part.get_params().items()}
        return params

    def with_params(self, **params: object) -> Self:
        """Return a copy with other values of some parameters, by the names of :meth:`get_params`.

        Raises ``ValueError`` for an unknown name, and the errors of the constructors.

        >>> from bochner.kernels import Gaussian, Matern
        >>> (Gaussian() + Matern()).with_params(k1__length_scale=0.5, k2__nu=2.5)
        Gaussian(length_scale=0.5) + Matern(length_scale=1.0, nu=2.5)
        """
        parameters = self.get_params(deep=False) | self.nested()
        plain: dict[str, object] = {}
        inner: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, _, inner_name = key.partition(SEPARATOR)
            if name not in parameters or (
                inner_name and not isinstance(parameters[name], KernelFunction)
            ):
                raise ValueError(_unknown(self, key))
            if inner_name:
                inner[name][inner_name] = value
            else:
                plain[name] = value
        made = self.replaced(plain)
        for name, some in inner.items():
            part = made.nested().get(name)
            if part is None:
                raise ValueError(_unknown(made, f"{name}{SEPARATOR}{next(iter(some))}"))
            made = made.replaced({name: part.with_params(**some)})
        return made

    def replaced(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some fields, and members ``k1``, ``k2`` ... of a sequence, changed."""
        if not changes:
            return self
        values = {name: changes.get(name, value) for name, value in _fields(self).items()}
        for name, value in values.items():
            if _is_sequence(value):
                numbered = enumerate(value, start=1)
                values[name] = tuple(changes.get(f"k{i}", member) for i, member in numbered)
        made: Self = replace(self, **values)  # type: ignore[type-var]
        return made

    def __sklearn_clone__(self) -> Self:
        # Nothing changes an immutable value.
        return self

    def __repr__(self) -> str:
        named: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        values = [f"{each.name}={_shown_value(getattr(self, each.name))}" for each in named]
        return f"{type(self).__name__}({', '.join(values)})"


def _fields(value: KernelFunction) -> dict[str, Any]:
    dataclass_fields: tuple[Field[Any], ...] = fields(value) if is_dataclass(value) else ()
    return {field.name: getattr(value, field.name) for field in dataclass_fields}


def _is_sequence(value: object) -> bool:
    """Return whether a field holds the members of a sum or product."""
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], KernelFunction)


def _unknown(value: KernelFunction, key: str) -> str:
    parameter_names = list(value.get_params())
    near = nearest(key, parameter_names)
    hint = f" Did you mean {near!r}?" if near else ""
    names = ", ".join(parameter_names) or "none"
    return f"{value!r} has no parameter {key!r}.{hint} Its parameters are: {names}."


def _shown_value(value: object) -> str:
    """Return the repr of a field; of many numbers the first two and the last of each level."""
    if not isinstance(value, tuple) or _n_leaves(value) <= _MOST_SHOWN:
        return repr(value)
    return f"({', '.join(_ends(value))})"


def _ends(value: tuple[Any, ...]) -> list[str]:
    parts = [f"({', '.join(_ends(v))})" if isinstance(v, tuple) else repr(v) for v in value]
    return parts if len(parts) <= _ENDS else [*parts[: _ENDS - 1], "...", parts[-1]]


def joined(sign: str, parts: list[str]) -> str:
    """Return terms or factors joined by a sign; of many the first two and the last."""
    many = len(parts) > _MOST_SHOWN
    return sign.join([*parts[: _ENDS - 1], "...", parts[-1]] if many else parts)


def _n_leaves(value: object) -> int:
    return sum(map(_n_leaves, value)) if isinstance(value, tuple) else 1


def check_kernel(name: str, value: object) -> None:
    """Raise TypeError if a member is not a kernel, ValueError if it is nested too deeply."""
    if not isinstance(value, KernelFunction):
        raise TypeError(
            f"{name} must be made of kernels of bochner.kernels, got {value!r}. "
            "FourierFeatures takes other functions k(X, Y) by itself."
        )
    level: dict[int, KernelFunction] = {id(value): value}
    for _ in range(_MOST_LEVELS):
        level = {id(part): part for each in level.values() for part in each.nested().values()}
    if level:
        raise ValueError(
            f"{name} is nested more than {_MOST_LEVELS} deep: add kernels in one sum, and multiply "
            f"them in one product: bochner.kernels.Sum((k1, k2, k3))."
        )


def is_sklearn_kernel(kernel: object) -> bool:
    """Return whether an object is a kernel of scikit-learn, without importing its kernels."""
    modules = {each.__module__ for each in type(kernel).__mro__}
    return "sklearn.gaussian_process.kernels" in modules


def refuse_sklearn(other: object) -> None:
    """Raise TypeError for a kernel of scikit-learn, which takes its own kernels only."""
    if is_sklearn_kernel(other):
        raise TypeError(
            f"{type(other).__name__} is a kernel of scikit-learn, and the other kernel one of "
            "bochner: make the latter a kernel of scikit-learn by kernels.KernelAdapter(kernel)."
        )


def refuse_mixed(kernel: Any) -> None:
    """Raise TypeError for a kernel of scikit-learn that takes one of this package for a number.

    Its operators do so with their right operand, as in ``ConstantKernel() * Gaussian()``.
    """
    if isinstance(kernel, KernelFunction) or not hasattr(kernel, "get_params"):
        return
    for name, value in kernel.get_params().items():
        if name.endswith("constant_value") and isinstance(value, KernelFunction):
            refuse_sklearn(kernel)
