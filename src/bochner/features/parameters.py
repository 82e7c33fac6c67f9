"""Parameters that estimators share: kernels, the number of features, their type, random states."""

from collections.abc import Collection
from contextlib import suppress
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import check_random_state

from bochner._base.arrays import RandomState, as_count
from bochner.kernels import Kernel


class KernelParameters:
    """A mixin of estimators: parameters of their kernels have names, ``kernel__length_scale``."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including parameters of a kernel: ``kernel__length_scale=2.0``.

        A kernel whose parameters are set is replaced by a copy, because kernels are immutable.
        :meth:`get_params` returns the names; :meth:`bochner.kernels.Kernel.with_params` explains
        them.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If a name is not the name of a parameter.
        """
        plain, of_kernels = dict(params), dict[str, dict[str, Any]]()
        for key, value in params.items():
            name, separator, inner = key.partition("__")
            current = params.get(name, getattr(self, name, None))
            if not separator or not isinstance(current, Kernel | str):
                continue
            if isinstance(current, str):
                raise ValueError(
                    f"{key} sets a parameter of a kernel, but {name} is {current!r}; give {name} a "
                    f"Kernel, such as Gaussian(1.0), or set length_scale."
                )
            of_kernels.setdefault(name, {})[inner] = value
            del plain[key]
        for name, some in of_kernels.items():
            plain[name] = params.get(name, getattr(self, name)).with_params(**some)
        updated: Self = super().set_params(**plain)  # type: ignore[misc]
        return updated


def count_frequencies(n_components: object, name: str = "n_components") -> int:
    """Return the number of frequencies behind ``n_components`` features: half of it.

    A single feature also needs one frequency; scikit-learn's checks require that every estimator
    with this parameter accepts it. ``name`` is the parameter's name in errors.
    """
    if isinstance(n_components, bool) or not isinstance(n_components, Integral):
        raise TypeError(f"{name} must be an even positive integer, got {n_components!r}.")
    count = int(n_components)
    if count < 1 or (count % 2 and count != 1):
        raise ValueError(
            f"{name} must be even and positive, because every frequency makes two "
            f"features, a cosine and a sine; got {count}, which is odd or not positive. "
            f"Use {max(2, count + count % 2)}."
        )
    return (as_count(name, count) + 1) // 2


def generators(random_state: RandomState, n: int) -> list[np.random.Generator]:
    """Return ``n`` independent generators from a scikit-learn ``random_state``."""
    seed = drawn_seed(random_state)
    return np.random.default_rng(seed).spawn(n)


def drawn_seed(random_state: RandomState) -> int:
    """Return a whole number drawn from a scikit-learn ``random_state``."""
    return int(check_seed(random_state).randint(np.iinfo(np.int32).max))


def check_seed(random_state: RandomState) -> np.random.RandomState:
    """Return the generator of a ``random_state``; raise ``ValueError`` for an unusable one."""
    try:
        state: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 4294967295 or a "
            f"numpy.random.RandomState, got {random_state!r}."
        ) from error
    return state


def check_choice(name: str, value: object, choices: Collection[str]) -> str:
    """Return the value of a parameter; raise ``ValueError`` if it is not an allowed choice."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def check_dtype(dtype: DTypeLike | None, *, is_optional: bool = True) -> Any:
    """Return ``dtype``, or raise ``ValueError`` unless it is float32 or float64.

    ``None`` is allowed where the parameter is optional.
    """
    if dtype is None and is_optional:
        return None
    with suppress(TypeError, ValueError):
        if dtype is not None and np.dtype(dtype) in (np.dtype("float32"), np.dtype("float64")):
            return dtype
    choices = "None, 'float32' or 'float64'" if is_optional else "'float32' or 'float64'"
    raise ValueError(f"dtype must be {choices}, got {dtype!r}.")
