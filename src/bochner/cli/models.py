"""The kinds of models that `bochner fit` fits, and the options of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from bochner.estimators.learned_tables import LearnedTableClassifier, LearnedTableRegressor
from bochner.estimators.table_base import TableModel
from bochner.estimators.table_models import TableClassifier, TableRegressor
from bochner.tables.refusals import InputError, nearest

_LEARNED: Mapping[str, Any] = {
    "n_frequencies": 200,
    "n_burn_in": 100,
    "n_samples": 100,
    "time_limit": 120.0,
    "trend": 0,
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "bank": _LEARNED,
    "gabasr": _LEARNED,
    "fourier": {"kernel": "auto", "n_components": 1024},
}
"""Defaults of the options, by kind of model. A time limit of zero means no limit."""

_CLASSES: Mapping[tuple[str, str], Callable[..., TableModel]] = {
    ("bank", "regression"): LearnedTableRegressor,
    ("bank", "classification"): LearnedTableClassifier,
    ("gabasr", "regression"): partial(LearnedTableRegressor, envelope="learned"),
    ("gabasr", "classification"): partial(LearnedTableClassifier, envelope="learned"),
    ("fourier", "regression"): TableRegressor,
    ("fourier", "classification"): TableClassifier,
}


@dataclass(frozen=True, slots=True)
class Model:
    """A kind of model and its options, see :data:`DEFAULTS`."""

    kind: str
    options: Mapping[str, Any]

    @classmethod
    def of(cls, kind: str, given: Mapping[str, Any]) -> Model:
        """Return a model with the given options; options that are ``None`` keep their defaults.

        Raises InputError if there is no such kind, or an option belongs to another one.
        """
        if kind not in DEFAULTS:
            near = nearest(kind, DEFAULTS)
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
        name, factor = ("n_frequencies", 2) if self.is_learned else ("n_components", 1)
        return factor * int(self.options[name])

    def make(self, task: str, seed: int) -> TableModel:
        """Return the estimator for a task."""
        options = dict(self.options)
        if "time_limit" in options:
            options["time_limit"] = options["time_limit"] or None
        return _CLASSES[self.kind, task](**options, random_state=seed)
