"""Registry of classes: spectral measures of kernels, and classes allowed in model files."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from bochner._base.arrays import hinting

Kind = TypeVar("Kind")

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Registration:
    """What is registered for one class; the fields are the parameters of `register`."""

    closed_form: Callable[[Any, int], Any] | None = None
    law: Callable[[Any, int], Any] | None = None
    profile: Callable[[Any], Any] | None = None
    shapes: Mapping[str, str] = field(default_factory=dict)
    arguments: Mapping[str, str] = field(default_factory=dict)
    allow_nan: bool = False


_REGISTRATIONS: dict[type, Registration] = {}
_CLASSES: dict[str, type] = {}
"""Classes by their names in model files."""
_KERNEL_NAMES: dict[str, type] = {}
"""Kernel classes by the strings that estimators accept for them."""
_RESERVED_NAMES: set[str] = set()
"""Strings that estimators resolve without `_KERNEL_NAMES`, or that name no kernel."""


def register(
    cls: type | None = None,
    *,
    closed_form: Callable[[Any, int], Any] | None = None,
    law: Callable[[Any, int], Any] | None = None,
    profile: Callable[[Any], Any] | None = None,
    name: str | None = None,
    shapes: Mapping[str, str] = _NOTHING,
    arguments: Mapping[str, str] = _NOTHING,
    allow_nan: bool = False,
) -> Any:
    """Register a kernel, another immutable value or an estimator with the library.

    Use it as a class decorator, with or without arguments, or call it with a class. Model files
    may then hold objects of the class, and a kernel gets its spectral measure. The types of the
    saved attributes are read from annotations: the fields of a dataclass; the annotations
    ``level_: float`` in the body of an estimator, for the attributes that ``fit`` sets. Loading
    a model file needs the same registration, and never runs code from the file.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import bochner
    >>> from bochner.kernels import Correlation
    >>> from bochner.spectral import (Chi, Isotropic)
    >>> def gaussian_law(kernel, dim):
    ...     return Isotropic(Chi(), dim, kernel.length_scale)
    >>> @bochner.register(law=gaussian_law, name="bell")
    ... @dataclass(frozen=True, slots=True)
    ... class Bell(Correlation):
    ...     def correlation(self, X, Y):
    ...         return np.exp(-0.5 * ((X[:, None] - Y[None]) ** 2).sum(axis=2))
    >>> bochner.spectral_measure(Bell(0.5), dim=3).is_positive
    True

    Parameters
    ----------
    cls : type
        A dataclass or a subclass of scikit-learn's ``BaseEstimator``.
    closed_form : callable, default=None
        Function ``(kernel, dim) -> SpectralMeasure``, the kernel's measure on ``dim`` inputs. It
        raises :class:`bochner.spectral.NoMeasureError` if the measure is unknown.
    law : callable, default=None
        Function ``(kernel, dim) -> Law``, the probability law of the frequencies of a kernel that
        is one at a zero lag; short for a closed form with one part of mass one.
    profile : callable, default=None
        Function ``kernel -> Profile``, for kernels that are functions of one distance or of the
        inner product: measures are designed for it. Subclasses of
        :class:`bochner.kernels.Profiled` do not need it.
    name : str, default=None
        Name of the kernel, as in ``FourierFeatures(kernel=name)``. The kernel is
        made from the length scale if its constructor takes a ``length_scale``, and from no
        arguments otherwise.
    shapes : mapping, default={}
        Shapes of array fields, a letter for each axis, such as ``{"gram": "pp", "cross": "pt"}``:
        equal letters are equal sizes. Only for classes whose constructors do not check them.
    arguments : mapping, default={}
        Names of constructor arguments by field, where the two differ.
    allow_nan : bool, default=False
        Whether float fields may be NaN or infinite.

    Returns
    -------
    cls : type
        The class; a decorator for it if ``cls`` is left out.

    Raises
    ------
    TypeError
        If the class is neither a dataclass nor an estimator.
    ValueError
        If another class or kernel has the name, one of the library's kernels included.
    """

    def registered(cls: type) -> type:
        if not isinstance(cls, type) or not (is_dataclass(cls) or issubclass(cls, BaseEstimator)):
            raise TypeError(
                f"Expected a dataclass or an estimator derived from sklearn.base.BaseEstimator, "
                f"got {cls!r:.60}."
            )
        if name in _RESERVED_NAMES and not cls.__module__.startswith("bochner."):
            raise ValueError(
                f"kernel={name!r:.60} already has a meaning in the library; register "
                f"{cls.__qualname__} under another name."
            )
        _claim(_CLASSES, cls.__name__, cls, "in model files")
        if registration(cls) is None and cls.__module__.startswith("bochner."):
            cls.__init__ = hinting(cls.__init__)  # type: ignore[misc]
        if name is not None:
            _claim(_KERNEL_NAMES, name, cls, "as a kernel's name")
        facts = Registration(closed_form, law, profile, shapes, arguments, allow_nan)
        new = {each.name: getattr(facts, each.name) for each in fields(facts)}
        # Calls accumulate, because different modules register saving and the spectral measure.
        _REGISTRATIONS[cls] = replace(
            _REGISTRATIONS.get(cls, Registration()), **{k: v for k, v in new.items() if v}
        )
        return cls

    return registered if cls is None else registered(cls)


def _claim(table: dict[str, type], name: str, cls: type, where: str) -> None:
    registered = table.get(name, cls)
    # A class that is defined again, as in a notebook, replaces the earlier class.
    if (registered.__module__, registered.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"{name} {where} is already {registered!r:.60}; rename {cls!r:.60}.")
    table[name] = cls


def reserve_kernel_names(names: Iterable[str]) -> None:
    """Reserve the library's kernel names, so that other kernels cannot use them."""
    _RESERVED_NAMES.update(names)


def registration(cls: type) -> Registration | None:
    """Return the registration of a class, not of its bases; ``None`` if it is unregistered."""
    return _REGISTRATIONS.get(cls)


def registered_class(name: str) -> type | None:
    """Return the class that a name in model files refers to, or ``None``."""
    package = sys.modules[__name__.partition(".")[0]]
    if name not in _CLASSES and name in package.__all__:
        getattr(package, name)
    if name not in _CLASSES:
        for public in package.__all__:
            getattr(package, public)
    return _CLASSES.get(name)


def is_registered(cls: type) -> bool:
    """Return whether model files may contain objects of this class (subclasses excluded)."""
    return _CLASSES.get(cls.__name__) is cls


def fact(cls: type, *names: str) -> tuple[str, Callable[..., Any]] | None:
    """Return name and value of the first field among ``names`` that a class or base registered."""
    for base in cls.__mro__:
        registration = _REGISTRATIONS.get(base)
        for name in names if registration else ():
            if (function := getattr(registration, name)) is not None:
                return name, function
    return None


def registered_kernel_names() -> dict[str, tuple[type, bool]]:
    """Map names of registered kernels to the class and whether it has a length scale."""
    return {
        name: (cls, "length_scale" in inspect.signature(cls).parameters)
        for name, cls in _KERNEL_NAMES.items()
    }


def resolved(parameter: str, value: "str | Kind", kind: Any, choices: Mapping[str, Kind]) -> Kind:
    """Return the object of a name in ``choices``, or of class ``kind``; else raise ValueError."""
    if isinstance(value, kind):
        instance: Kind = value
        return instance
    if isinstance(value, str) and value in choices:
        return choices[value]
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    raise ValueError(
        f"{parameter} must be one of {', '.join(map(repr, choices))} or {article} {kind.__name__}, "
        f"got {value!r:.60}."
    )
