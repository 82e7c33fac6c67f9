"""The classes that a model file may hold, and what each consists of."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from types import MappingProxyType
from typing import Any, TypeVar, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from bochner import kernels
from bochner._numerics.arrays import Array
from bochner.features import FeatureSums, FourierFeatures
from bochner.features.region import Region
from bochner.frequencies import CosineFactors, Envelope, Frequencies
from bochner.kernels import Kernel
from bochner.learning.double_mixture.exact import Exact
from bochner.learning.inference.basis import Grid, Matched, Plain
from bochner.learning.inference.draws import Draws
from bochner.learning.inference.learned_kernel import Convergence, Learned
from bochner.learning.inference.preparation import Scaling, Trend
from bochner.learning.inference.relevance import Relevance
from bochner.learning.iterative import IterativeSolution
from bochner.learning.krein import KreinSolution
from bochner.learning.pair_ridge import PairSolution
from bochner.learning.published.digmm_taylor import Taylor
from bochner.learning.ridge import RidgePosterior
from bochner.learning.singular import SingularComponents
from bochner.learning.trace import Trace
from bochner.persist.container import ModelFileError
from bochner.persist.hints import conforms
from bochner.sampling import SCHEMES, HadamardRows
from bochner.spectral import DECOMPOSITIONS, PAIRINGS

Estimator = TypeVar("Estimator", bound=BaseEstimator)

VALUES: Mapping[str, type] = MappingProxyType(
    {
        cls.__name__: cls
        for cls in (
            *(
                cls
                for cls in vars(kernels).values()
                if inspect.isclass(cls) and issubclass(cls, Kernel) and not inspect.isabstract(cls)
            ),
            *map(type, SCHEMES.values()),
            *map(type, DECOMPOSITIONS.values()),
            HadamardRows,
            *map(type, PAIRINGS.values()),
            Exact,
            Taylor,
            Envelope,
            CosineFactors,
            Frequencies,
            Region,
            FeatureSums,
            RidgePosterior,
            KreinSolution,
            IterativeSolution,
            PairSolution,
            SingularComponents,
            Scaling,
            Trend,
            Plain,
            Matched,
            Grid,
            Draws,
            Trace,
            Learned,
            Convergence,
            Relevance,
        )
    }
)
"""Immutable values by name, all of them dataclasses."""

_SHAPES: Mapping[type, Mapping[str, str]] = MappingProxyType(
    {
        FeatureSums: {"gram": "pp", "cross": "pt", "square": "t", "features": "p", "targets": "t"},
        RidgePosterior: {
            "coef": "pt",
            "intercept": "t",
            "whitener": "pp",
            "noise_variance": "t",
            "centre": "p",
        },
        KreinSolution: {"coef": "pt", "intercept": "t", "poles": "q"},
        IterativeSolution: {"coef": "pt", "intercept": "t"},
        PairSolution: {"coef": "pp"},
        SingularComponents: {"values": "r", "left": "pr", "right": "pr"},
        Scaling: {"centre": "d", "scale": "d"},
        Trend: {"kept": "q", "transform": "qq"},
        Draws: {
            "omega": "smd",
            "coef": "sp",
            "precision": "s",
            "noise_variance": "s",
            "log_density": "s",
            "whitener": "wpp",
            "whitened": "w",
            "field_omega": "ski",
            "field_weights": "se",
        },
        Relevance: {"inclusion": "d", "importance": "d", "interactions": "dd"},
    }
)
"""Shapes in letters, for the classes whose constructors do not check them."""

_ARGUMENTS: Mapping[type, Mapping[str, str]] = MappingProxyType(
    {Frequencies: {"omega_blocks": "omega", "nu_blocks": "nu"}}
)
"""What constructors call fields, where it is not their name."""

_FORMER_NAMES: Mapping[str, str] = MappingProxyType({"ModulatingWaves": "CosineFactors"})
"""Present names of classes that older files name otherwise."""

_MAY_BE_UNKNOWN = frozenset((Convergence,))
"""Classes whose numbers may be NaN or infinite: too few draws tell nothing."""

_FROM_SCIKIT_LEARN: Mapping[str, Any] = MappingProxyType(
    {
        "n_features_in_": int,
        "feature_names_in_": NDArray[np.object_],
        "_sklearn_output_config": dict[str, str],
    }
)
"""Attributes that scikit-learn gives to any estimator, fitted or not."""

_ESTIMATORS: dict[str, tuple[type[BaseEstimator], Mapping[str, Any]]] = {}


def persistable(**attributes: Any) -> Callable[[type[Estimator]], type[Estimator]]:
    """Let model files hold an estimator class; a class decorator.

    Parameters
    ----------
    **attributes : type or annotation
        The type of each attribute that ``fit`` sets. They are saved with the parameters of the
        constructor, and are there all or none.

    Raises
    ------
    ValueError
        If another class has the same name.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> @persistable(level_=float)
    ... class Level(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         self.level_ = float(X[0][0])
    ...         return self
    """

    def register(cls: type[Estimator]) -> type[Estimator]:
        name = cls.__name__
        taken = VALUES.get(name) or _ESTIMATORS.get(name, (cls,))[0]
        if (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"{name} in model files is already {taken!r}; rename {cls!r}.")
        _ESTIMATORS[name] = (cls, MappingProxyType(attributes))
        return cls

    return register


def is_value(cls: type) -> bool:
    """Tell whether a class is among the immutable values of model files."""
    return VALUES.get(cls.__name__) is cls


def is_estimator(cls: type) -> bool:
    """Tell whether a class is among the estimators of model files."""
    return _ESTIMATORS.get(cls.__name__, (None,))[0] is cls


def holds_function(cls: type) -> bool:
    """Tell whether a value class has a function for a field, which is code and not data.

    >>> holds_function(kernels.Radial), holds_function(kernels.NTK)
    (True, False)
    """
    return any(get_origin(hint) is Callable for hint in get_type_hints(cls).values())


def value_class(name: str) -> type:
    """Return the value class of a name, or raise ``ValueError``."""
    name = _FORMER_NAMES.get(name, name)
    if name not in VALUES:
        raise ValueError(f"bochner has no class {name!r} of values")
    return VALUES[name]


def estimator_class(name: str) -> type[BaseEstimator]:
    """Return the estimator class of a name, or raise ``ValueError``."""
    if name not in _ESTIMATORS:
        raise ValueError(f"bochner has no estimator {name!r}")
    return _ESTIMATORS[name][0]


def value_fields(cls: type) -> dict[str, Field[Any]]:
    """Return the fields of a value class by what its constructor and model files call them."""
    names = _ARGUMENTS.get(cls, {})
    return {names.get(field.name, field.name): field for field in fields(cls)}


def check_value(cls: type, values: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless the fields are those of a value class, in type and shape."""
    hints, known = get_type_hints(cls), value_fields(cls)
    if cls in _MAY_BE_UNKNOWN:
        values = {name: 0.0 if _is_unknown(value) else value for name, value in values.items()}
    _check_types(cls, values, {name: hints[field.name] for name, field in known.items()})
    required = [name for name, field in known.items() if field.default is MISSING]
    missing = [name for name in required if name not in values]
    if missing:
        raise ValueError(f"{cls.__name__} lacks {', '.join(missing)}")
    sizes: dict[str, int] = {}
    for name, letters in _SHAPES.get(cls, {}).items():
        if values.get(name) is None:
            continue
        shape = np.shape(values[name])
        expected = tuple(sizes.setdefault(a, n) for a, n in zip(letters, shape, strict=False))
        if len(shape) != len(letters) or shape != expected:
            raise ValueError(
                f"{cls.__name__}.{name} has shape {shape}, which does not fit "
                f"({', '.join(letters)}) with {sizes}"
            )


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def check_attributes(cls: type[BaseEstimator], attributes: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` unless the attributes are those of a fitted or unfitted estimator.

    A function in place of a kernel is a ``ModelFileError``.
    """
    own = _ESTIMATORS[cls.__name__][1]
    for name, hint in own.items():
        value = attributes.get(name)
        if hint is Kernel and callable(value) and not isinstance(value, Kernel):
            raise ModelFileError(
                f"{cls.__name__}.{name} is the function {_name(value)}, which a model file cannot "
                f"hold: functions are code, and loading runs none. Use a kernel that is made of "
                f"numbers, such as Gaussian(length_scale) or Bilinear(kernel, left, right), or "
                f"keep the function in a module of your own and fit the model again where it is "
                f"needed."
            )
    _check_types(cls, attributes, {**_FROM_SCIKIT_LEARN, **own})
    missing = [name for name in own if name not in attributes]
    if missing and len(missing) < len(own):
        raise ValueError(f"{cls.__name__} is fitted in part only: it lacks {', '.join(missing)}")


def _check_types(cls: type, values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name not in hints:
            raise ValueError(f"{cls.__name__} has no attribute {name!r}")
        if not conforms(value, hints[name]):
            raise ValueError(
                f"{cls.__name__}.{name} should be {_shown(hints[name])}, found {_found(value)}"
            )


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def _found(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:56] + ' ...'} ({type(value).__name__})"


persistable(
    kernel_=Kernel,
    frequencies_=Frequencies,
    signature_=Array,
    max_error_=float | None,
    predicted_error_=float | None,
    fit_error_=float | None,
    _region=Region | None,
    _n_features_out=int,
)(FourierFeatures)
