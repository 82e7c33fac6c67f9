"""The kinds of models that `bochner fit` fits, and the options of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from bochner.estimators.learned_tables import LearnedTableClassifier, LearnedTableRegressor
from bochner.estimators.table_base import TableModel
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.tables.refusals import InputError, nearest

_LEARNED: Mapping[str, Any] = MappingProxyType(
    {
        "n_frequencies": 200,
        "n_burn_in": 100,
        "n_samples": 100,
        "time_limit": 120.0,
        "trend": 0,
    }
)

DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "bank": _LEARNED,
        "gabasr": _LEARNED,
        "fourier": {"kernel": "auto", "n_components": 1024},
    }
)
"""Options by kind of model, with their defaults. A time limit of zero is none."""

_CLASSES: Mapping[str, Mapping[str, Callable[..., TableModel]]] = MappingProxyType(
    {
        "bank": {
            "regression": LearnedTableRegressor,
            "classification": LearnedTableClassifier,
        },
        "gabasr": {
            "regression": partial(LearnedTableRegressor, envelope="learned"),
            "classification": partial(LearnedTableClassifier, envelope="learned"),
        },
        "fourier": {"regression": TableRegressor, "classification": TableClassifier},
    }
)


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of model and its options.

    Parameters
    ----------
    kind : {"bank", "gabasr", "fourier"}
    options : mapping
        See :data:`DEFAULTS`.

    Examples
    --------
    >>> Model.of("bank", {"n_frequencies": 50, "kernel": None}).n_features
    100
    """

    kind: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, given: Mapping[str, Any]) -> Model:
        """Return a model with the options that were given; those that were not are ``None``.

        Raises
        ------
        InputError
            If there is no such kind, or an option belongs to the other one.
        """
        if kind not in DEFAULTS:
            near = nearest(kind, list(DEFAULTS))
            hint = f" Did you mean {near!r}?" if near else ""
            raise InputError(f"--model must be one of {', '.join(DEFAULTS)}, got {kind!r}.{hint}")
        named = {name: value for name, value in given.items() if value is not None}
        for name in named:
            if name not in DEFAULTS[kind]:
                owner = next(other for other in DEFAULTS if name in DEFAULTS[other])
                raise InputError(
                    f"--{name.replace('_', '-')} is an option of --model {owner}, and this model "
                    f"is {kind}: leave it out, or use --model {owner}."
                )
        return cls(kind, {**DEFAULTS[kind], **named})

    @property
    def is_learned(self) -> bool:
        """Whether the kernel is learned by sampling."""
        return self.kind != "fourier"

    @property
    def n_features(self) -> int:
        """Number of real features."""
        if self.is_learned:
            return 2 * int(self.options["n_frequencies"])
        return int(self.options["n_components"])

    def make(self, task: str, seed: int) -> Any:
        """Return the estimator for a task."""
        options = dict(self.options)
        if "time_limit" in options:
            options["time_limit"] = options["time_limit"] or None
        return _CLASSES[self.kind][task](**options, random_state=seed)
