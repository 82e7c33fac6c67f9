"""Classes by the names in model files, of this version and of older ones."""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from bochner._base.on_demand import import_all
from bochner._base.registry import registered_class
from bochner.files.sklearn_parts import PARTS
from bochner.files.stored_classes import found, is_estimator, is_value

_REMOVED: Mapping[str, str] = {
    "BaNKForecaster": "fit Forecaster to the series again",
    **{
        f"LearnedTable{task}": f"fit Table{task} to the table again, or LearnedKernel{task} to its "
        "encoded columns"
        for task in ("Regressor", "Classifier")
    },
}
"""Advice by names of classes in older files that the library no longer has."""


def class_named(name: str, *, estimator: bool) -> type:
    """Return the estimator or the value class of a name, or raise ``ValueError``."""
    if estimator and name in PARTS:
        return PARTS[name]
    cls = registered_class(name)
    if cls is None:
        import_all(import_module("bochner"))
        cls = registered_class(name)
    if cls is None or not (is_estimator(cls) if estimator else is_value(cls)):
        if name in _REMOVED:
            raise ValueError(f"bochner has no {name} any more; {_REMOVED[name]}")
        unknown = f"no estimator {name!r}" if estimator else f"no class {name!r} of values"
        raise ValueError(
            f"bochner has {unknown}; if it is your own, import the module that calls "
            f"bochner.register before loading"
        )
    return cls


_SPLIT: Mapping[tuple[str, str], str] = {
    ("AsymmetricKernelRidge", "PairSolution"): "AsymmetricPairRidge"
}
"""Present names of estimators, by name in older files and class of their ``posterior_``."""


def estimator_class(name: str, attributes: Mapping[str, object]) -> type[BaseEstimator]:
    """Return the class of an estimator, also in older files, or raise ``ValueError``."""
    solution = type(attributes.get("posterior_")).__name__
    return class_named(_SPLIT.get((name, solution), name), estimator=True)


_GONE: Mapping[tuple[str, str], Any] = {
    ("TableRegressor", "method"): "auto",
    ("TableRegressor", "varying_"): None,
    ("TableClassifier", "method"): "auto",
    ("TableClassifier", "varying_"): None,
    ("TableFunctions", "varying"): None,
}
"""Removed members of classes in older files, with the value that has no effect."""

_BARE_HEADS = (("TableRegressor", "KreinRidge"), ("TableClassifier", "KreinRidgeClassifier"))
"""Names of estimators in older files, and former classes of their ``head_``."""


def present(name: str, members: Mapping[str, object]) -> dict[str, Any]:
    """Return members of a class without members that only older files have.

    Raises ``ValueError`` if removing such a member changes the model.
    """
    current = dict(members)
    for (cls, member), neutral in _GONE.items():
        if cls == name and member in current:
            value = current.pop(member)
            if type(value) is not type(neutral) or value != neutral:
                raise ValueError(
                    f"{name} has no {member} any more, and this one has {found(value)}: fit "
                    f"{name} to the table again"
                )
    head = type(current.get("head_")).__name__
    if (name, head) in _BARE_HEADS:
        raise ValueError(
            f"{name} of a given kernel has another head_ than {head} now: fit {name} to the table "
            "again"
        )
    return current


_MOVED: Mapping[tuple[str, str], str] = {("Constant", "name"): "ConstantLevel"}
"""Present names of value classes, by name in older files and a field that they had."""


def value_class(name: str, members: Collection[str]) -> type:
    """Return the class of a value, also in older files, or raise ``ValueError``."""
    present = {old: new for (old, held), new in _MOVED.items() if held in members}
    return class_named(present.get(name, name), estimator=False)
