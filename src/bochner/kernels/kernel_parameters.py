"""Named parameters of kernels, their intervals, and column selections."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from bochner._base.arrays import Array, as_array
from bochner._base.checks import check_rows_given
from bochner._base.names import nearest

SEPARATOR = "__"

_MOST_SHOWN = 20
"""Largest number of entries of a field, or columns, that a repr shows in full: two lines."""

_ENDS = 3
"""Number of entries that a repr shows of each axis of a longer field, the last of them included."""

_MOST_LEVELS = 40
"""Largest depth of nested kernels, because model files nest them and Python calls them nested."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An open interval of a parameter and its map to the real line: logarithm, or log odds."""

    low: float = 0.0
    high: float = np.inf

    def contains(self, values: object) -> bool:
        """Return whether all values are numbers strictly inside the interval."""
        try:
            numbers = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return bool(numbers.size and (self.low < numbers).all() and (numbers < self.high).all())

    def free(self, values: ArrayLike) -> Array:
        """Map values inside the interval to unconstrained numbers."""
        numbers = as_array(values)
        above = np.log(numbers - self.low)
        return above if np.isinf(self.high) else as_array(above - np.log(self.high - numbers))

    def values(self, free: ArrayLike) -> Array:
        """Map unconstrained numbers to values inside the interval."""
        numbers = as_array(free)
        if np.isinf(self.high):
            return as_array(self.low + np.exp(numbers))
        return as_array(self.low + (self.high - self.low) * expit(numbers))


POSITIVE = Interval()
"""Interval of scales and variances."""

PROPORTION = Interval(0.0, 1.0)
"""Interval of probabilities and shares."""


def checked_rows(X: ArrayLike) -> Array:
    """Return rows as a finite two-dimensional float64 array."""
    return as_array(check_rows_given(X, dtype=np.float64))


def checked_shape(kernel: object, method: str, values: Array, shape: tuple[int, int]) -> Array:
    """Return kernel values unchanged; raise ``ValueError`` if they do not have ``shape``."""
    if np.shape(values) != shape:
        raise ValueError(
            f"{type(kernel).__name__}.{method} must return an array of shape (n, n2), here "
            f"{shape}, got {np.shape(values)}."
        )
    return values


def check_count(kernel: Any, axis: str, dim: int) -> None:
    """Raise ``ValueError`` unless a kernel on ``kernel.dim`` inputs has as many."""
    if dim != kernel.dim:
        raise ValueError(
            f"This {type(kernel).__name__} is defined on {kernel.dim} inputs ({axis}), but the "
            f"data have {dim}."
        )


def nested_tuples(value: object) -> Any:
    """Return nested lists as tuples, which are hashable."""
    return tuple(map(nested_tuples, value)) if isinstance(value, list) else value


def convert_fields(kernel: "NamedParameters", **converters: Callable[[str, Any], Any]) -> None:
    """Replace each named field by ``converter(name, value)``; converters' errors propagate."""
    for name, convert in converters.items():
        object.__setattr__(kernel, name, convert(name, getattr(kernel, name)))


class NamedParameters:
    """Base of values with scikit-learn's parameters; members of sums are ``k1``, ``k2``, ..."""

    __slots__ = ()

    parameter_domains: ClassVar[Mapping[str, Interval]] = MappingProxyType({})
    """Intervals of the learnable parameters, by name; parameters without an interval are fixed."""

    def nested(self) -> dict[str, Any]:
        """Return the nested values, such as member kernels, by parameter name."""
        members: dict[str, Any] = {}
        for name, value in _fields(self).items():
            if isinstance(value, NamedParameters):
                members[name] = value
            elif _is_sequence(value):
                members |= {f"k{i}": member for i, member in enumerate(value, start=1)}
        return members

    def domain_of(self, name: str) -> Interval | None:
        """Return the interval of the parameter ``name`` if it is learnable, else ``None``."""
        return self.parameter_domains.get(name)

    def learnable(self) -> dict[str, Interval]:
        """Return the intervals of all learnable parameters, by the names of `get_params`."""
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
                inner_name and not isinstance(parameters[name], NamedParameters)
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
        """Return a copy with changed fields or changed members ``k1``, ``k2``, ..."""
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
        # An immutable value needs no copy.
        return self

    def __repr__(self) -> str:
        values = [f"{name}={_shown_value(value)}" for name, value in _fields(self).items()]
        return f"{type(self).__name__}({', '.join(values)})"


def _fields(value: NamedParameters) -> dict[str, Any]:
    dataclass_fields: tuple[Field[Any], ...] = fields(value) if is_dataclass(value) else ()
    return {field.name: getattr(value, field.name) for field in dataclass_fields}


def _is_sequence(value: object) -> bool:
    """Return whether a field value is a sequence of member kernels."""
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], NamedParameters)


def _unknown(value: NamedParameters, key: str) -> str:
    parameter_names = list(value.get_params())
    near = nearest(key, parameter_names)
    hint = f" Did you mean {near!r:.60}?" if near else ""
    names = ", ".join(parameter_names) or "none"
    return f"{value!r:.60} has no parameter {key!r:.60}.{hint} Its parameters are: {names}."


def _shown_value(value: object) -> str:
    """Return the repr of a field; of long tuples it shows the first two entries and the last."""
    if not isinstance(value, tuple) or _n_leaves(value) <= _MOST_SHOWN:
        return repr(value)
    return f"({', '.join(_ends(value))})"


def _ends(value: tuple[Any, ...]) -> list[str]:
    parts = [f"({', '.join(_ends(v))})" if isinstance(v, tuple) else repr(v) for v in value]
    return parts if len(parts) <= _ENDS else [*parts[: _ENDS - 1], "...", parts[-1]]


def joined(sign: str, parts: list[str]) -> str:
    """Join reprs of terms or factors by a sign; of long lists only the first two and the last."""
    many = len(parts) > _MOST_SHOWN
    return sign.join([*parts[: _ENDS - 1], "...", parts[-1]] if many else parts)


def _n_leaves(value: object) -> int:
    return sum(map(_n_leaves, value)) if isinstance(value, tuple) else 1


def check_kernel(name: str, value: object) -> None:
    """Raise TypeError if a member is not a kernel, ValueError if it is nested too deeply."""
    if not isinstance(value, NamedParameters):
        raise TypeError(
            f"{name} must be made of kernels of bochner.kernels, got {value!r:.60}. "
            "FourierFeatures takes other functions k(X, Y) by itself."
        )
    level: dict[int, NamedParameters] = {id(value): value}
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
    """Raise TypeError if ``other`` is a kernel of scikit-learn, which cannot be combined."""
    if is_sklearn_kernel(other):
        raise TypeError(
            f"{type(other).__name__} is a kernel of scikit-learn, and the other kernel one of "
            "bochner: make the latter a kernel of scikit-learn by kernels.KernelAdapter(kernel)."
        )


def refuse_mixed(kernel: Any) -> None:
    """Raise TypeError if a scikit-learn kernel contains a kernel of this package."""
    if isinstance(kernel, NamedParameters) or not hasattr(kernel, "get_params"):
        return
    for name, value in kernel.get_params().items():
        if name.endswith("constant_value") and isinstance(value, NamedParameters):
            refuse_sklearn(kernel)


Columns = tuple[int | str, ...]
"""Columns that a kernel is on: names, and positions, of which negative ones count from the end."""


def as_columns(columns: object) -> Columns:
    """Convert columns in any accepted form to a tuple of positions and names."""
    if isinstance(columns, slice):
        columns = _positions(columns)
    if isinstance(columns, str | Integral):
        columns = (columns,)
    if not isinstance(columns, Sequence) and hasattr(columns, "tolist"):
        columns = columns.tolist()
    if not isinstance(columns, list | tuple | range):
        raise TypeError(
            f"columns must be a position, a name, a slice or a sequence of these, got {columns!r}."
        )
    for column in columns:
        if isinstance(column, bool) or not isinstance(column, str | Integral):
            raise TypeError(
                f"columns must be positions or names, got {column!r:.60}; numpy.flatnonzero(mask) "
                f"returns the positions of a mask."
            )
    if not len(columns):
        raise ValueError("columns must name at least one column, got none.")
    made = tuple(str(column) if isinstance(column, str) else int(column) for column in columns)
    _check_distinct(made)
    return made


def _positions(columns: slice) -> range:
    start, stop, step = columns.start or 0, columns.stop, columns.step or 1
    if not all(isinstance(end, int | np.integer) and end >= 0 for end in (start, stop, step)):
        raise ValueError(
            f"A slice of columns needs both ends, zero or more, such as slice(0, 3), because the "
            f"kernel does not know how many columns there will be; got {columns!r}."
        )
    return range(start, stop, step)


def _check_distinct(columns: Columns) -> None:
    if len(set(columns)) < len(columns):
        twice = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"columns must be different, but {twice!r:.60} is there twice: {columns}.")


def indices_of(columns: Columns, names: Sequence[str] | None, dim: int | None) -> tuple[int, ...]:
    """Return the zero-based positions of columns among ``dim`` columns called ``names``."""
    dim = len(names) if dim is None and names is not None else dim
    indices = tuple(_index(column, names, dim) for column in columns)
    _check_distinct(indices)
    return indices


def _index(column: int | str, names: Sequence[str] | None, dim: int | None) -> int:
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"The kernel is on the column {column!r:.60}, but the data have no names of "
                f"columns. Give a data frame whose column names are text (in a pipeline, "
                f"set_output(transform='pandas') keeps them), or the column's position."
            )
        column_names = [str(name) for name in names]
        if column not in column_names:
            near = nearest(column, column_names)
            hint = f" Did you mean {near!r:.60}?" if near else ""
            raise ValueError(
                f"The kernel is on the column {column!r:.60}, which the data do not have.{hint} "
                f"Columns: {', '.join(column_names)}."
            )
        return column_names.index(column)
    if dim is None:
        return column
    if not -dim <= column < dim:
        raise ValueError(
            f"The kernel is on column {column}, but the data have {dim} columns, 0 to {dim - 1}."
        )
    return column % dim


def named_columns(left: Sequence[str] | None, right: Sequence[str] | None) -> Sequence[str] | None:
    """Return the column names of both arguments, which must agree, or ``None``."""
    if left is not None and right is not None and list(left) != list(right):
        raise ValueError(
            f"X and Y have different columns: {', '.join(left)}, and {', '.join(right)}. Choose "
            f"the same ones in the same order."
        )
    return right if left is None else left


def shown(columns: Columns) -> str:
    """Format columns as in ``kernel.on(...)``; long lists are shortened."""
    if len(columns) > _MOST_SHOWN:
        return f"[{columns[0]!r:.60}, {columns[1]!r:.60}, ..., {columns[-1]!r:.60}]"
    return repr(columns[0]) if len(columns) == 1 else repr(list(columns))
