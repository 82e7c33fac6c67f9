"""Parameters of immutable kernels by scikit-learn's names, some of them set from the data."""

import difflib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import Field, fields, is_dataclass, replace
from typing import Any, Self

SEPARATOR = "__"


class Parameterised:
    """Base class of immutable values whose fields are parameters, which may be nested.

    A nested parameter is addressed by both names, such as ``kernel__length_scale``. The members of
    a sum or product are ``k1``, ``k2`` and so on, as in scikit-learn.
    """

    __slots__ = ()

    def nested(self) -> dict[str, "Parameterised"]:
        """Return the values that this one is made of, by the names of their parameters."""
        members: dict[str, Parameterised] = {}
        for name, value in _fields(self).items():
            if isinstance(value, Parameterised):
                members[name] = value
            elif _is_sequence(value):
                members |= {f"k{i}": member for i, member in enumerate(value, start=1)}
        return members

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

    def with_params(self, **params: Any) -> Self:
        """Return a copy with other values of some parameters, by the names of :meth:`get_params`.

        Raises ``ValueError`` for an unknown name, and the errors of the constructors.

        >>> from bochner.kernels import Gaussian, Matern
        >>> (Gaussian() + Matern()).with_params(k1__length_scale=0.5, k2__nu=2.5)
        Gaussian(length_scale=0.5) + Matern(length_scale=1.0, nu=2.5)
        """
        parameters = self.get_params(deep=False) | self.nested()
        plain: dict[str, Any] = {}
        inner: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, _, inner_name = key.partition(SEPARATOR)
            if name not in parameters or (
                inner_name and not isinstance(parameters[name], Parameterised)
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


def _fields(value: Parameterised) -> dict[str, Any]:
    dataclass_fields: tuple[Field[Any], ...] = fields(value) if is_dataclass(value) else ()
    return {field.name: getattr(value, field.name) for field in dataclass_fields}


def _is_sequence(value: object) -> bool:
    """Return whether a field holds the members of a sum or product."""
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], Parameterised)


def _unknown(value: Parameterised, key: str) -> str:
    parameter_names = list(value.get_params())
    near = difflib.get_close_matches(key, parameter_names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(parameter_names) or "none"
    return f"{value!r} has no parameter {key!r}.{hint} Its parameters are: {names}."
