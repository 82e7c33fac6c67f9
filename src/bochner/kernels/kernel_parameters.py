"""Parameters of kernels by scikit-learn's names, and how kernels are shown."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import Field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Self

from bochner._base.names import nearest
from bochner.kernels.parameter_intervals import Interval

SEPARATOR = "__"

_MOST_SHOWN = 20
"""Numbers of a field that a repr shows in full: two lines of a screen."""

_ENDS = 3
"""Numbers shown of each level of longer ones: 27 of matrices, three lines."""

_MOST_LEVELS = 40
"""Kernels within each other: model files hold them, and Python calls each from the one around."""


def nested_tuples(value: object) -> Any:
    """Return nested lists as tuples, which are hashable."""
    return tuple(map(nested_tuples, value)) if isinstance(value, list) else value


def convert_fields(kernel: "NamedParameters", **converters: Callable[[str, Any], Any]) -> None:
    """Convert fields by functions of their names and values; errors of these functions pass."""
    for name, convert in converters.items():
        object.__setattr__(kernel, name, convert(name, getattr(kernel, name)))


class NamedParameters:
    """A value whose fields are parameters with scikit-learn's names.

    A parameter of a nested kernel has both names, such as ``kernel__length_scale``. The members of
    a sum or product are ``k1``, ``k2`` and so on, as in scikit-learn.
    """

    __slots__ = ()

    parameter_domains: ClassVar[Mapping[str, Interval]] = MappingProxyType({})
    """Domains of the parameters that are learned, by name; all other parameters are given."""

    def nested(self) -> dict[str, "NamedParameters"]:
        """Return the values that this one is made of, by the names of their parameters."""
        members: dict[str, NamedParameters] = {}
        for name, value in _fields(self).items():
            if isinstance(value, NamedParameters):
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


def _fields(value: NamedParameters) -> dict[str, Any]:
    dataclass_fields: tuple[Field[Any], ...] = fields(value) if is_dataclass(value) else ()
    return {field.name: getattr(value, field.name) for field in dataclass_fields}


def _is_sequence(value: object) -> bool:
    """Return whether a field holds the members of a sum or product."""
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], NamedParameters)


def _unknown(value: NamedParameters, key: str) -> str:
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
    if not isinstance(value, NamedParameters):
        raise TypeError(
            f"{name} must be made of kernels of bochner.kernels, got {value!r}. "
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
    if isinstance(kernel, NamedParameters) or not hasattr(kernel, "get_params"):
        return
    for name, value in kernel.get_params().items():
        if name.endswith("constant_value") and isinstance(value, NamedParameters):
            refuse_sklearn(kernel)
