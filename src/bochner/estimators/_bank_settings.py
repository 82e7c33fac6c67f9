"""The parameters of models that learn their kernel, checked."""

from numbers import Integral
from typing import Any

import numpy as np

from bochner._numerics.arrays import as_positive_scalar
from bochner.learning.inference.settings import SAMPLERS, STRUCTURES, Settings

_HIGHEST_DEGREE = 2


def settings_of(model: Any) -> Settings:
    """Return the settings of a model's chains, from its parameters.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type, or is out of range.
    """
    for name in ("n_frequencies", "n_samples", "n_chains"):
        _check_count(name, getattr(model, name), least=1)
    _check_count("n_burn_in", model.n_burn_in, least=0)
    if not (isinstance(model.thin, str) and model.thin == "auto"):
        _check_count("thin", model.thin, least=1)
    check_name("structure", model.structure, STRUCTURES)
    check_name("sampler", model.sampler, SAMPLERS)
    _check_count("trend", model.trend, least=0)
    if model.trend > _HIGHEST_DEGREE:
        raise ValueError(f"trend must be 0, 1 or 2, got {model.trend!r}.")
    limit = model.time_limit
    if limit is not None:
        limit = as_positive_scalar("time_limit", limit)
    if model.n_jobs is not None and (
        isinstance(model.n_jobs, bool) or not isinstance(model.n_jobs, Integral)
    ):
        raise TypeError(f"n_jobs must be None or an integer, got {model.n_jobs!r}.")
    return Settings(
        n_frequencies=int(model.n_frequencies),
        structure=_structure(model),
        sampler=model.sampler,
        n_burn_in=int(model.n_burn_in),
        n_samples=int(model.n_samples),
        thin=None if isinstance(model.thin, str) else int(model.thin),
        n_chains=int(model.n_chains),
        n_jobs=None if model.n_jobs is None else int(model.n_jobs),
        time_limit=limit,
    )


def checked_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the type of the features."""
    chosen = np.dtype(np.float64 if dtype is None else dtype)
    if chosen not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be None, 'float32' or 'float64', got {dtype!r}.")
    return chosen


def _structure(model: Any) -> str:
    if model.sampler != "mh":
        return str(model.structure)
    if model.structure == "sparse":
        raise ValueError(
            "sampler='mh' is the paper's independence proposal for dense frequencies; "
            "use structure='dense' with it, or sampler='pcn'."
        )
    return "dense"


def _check_count(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, got {value!r}.")
    if int(value) < least:
        raise ValueError(f"{name} must be at least {least}, got {value!r}.")


def check_name(name: str, value: Any, names: tuple[str, ...]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless a parameter is one of some names."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}.")
    if value not in names:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, names))}, got {value!r}.")
