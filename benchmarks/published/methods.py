"""Methods at their defaults, by name; those whose package is missing are left out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from benchmarks.environment import with_packages
from benchmarks.published.design import (
    CATBOOST,
    EXACT,
    OURS,
    QUICK,
    SPARSE,
    THREADS,
    TREES,
    XRFM,
)
from bochner import TableClassifier, TableRegressor

Maker = Callable[[int, Sequence[bool]], Any]
"""Seed, and which columns are codes (empty: none), to a model with ``fit`` and ``predict``."""


def _catboost(seed: int, categorical: Sequence[bool]) -> Any:
    from catboost import CatBoostRegressor

    return CatBoostRegressor(random_seed=seed, **_CATBOOST)


def _catboost_classes(seed: int, categorical: Sequence[bool]) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, **_CATBOOST)


def _xrfm(seed: int, categorical: Sequence[bool]) -> Any:
    from benchmarks.published.feature_machines import FeatureMachineRegressor

    return FeatureMachineRegressor(seed, categorical)


def _xrfm_classes(seed: int, categorical: Sequence[bool]) -> Any:
    from benchmarks.published.feature_machines import FeatureMachineClassifier

    return FeatureMachineClassifier(seed, categorical)


def _exact(seed: int, categorical: Sequence[bool]) -> Any:
    from benchmarks.published.processes import ExactProcess

    return ExactProcess(seed)


def _sparse(seed: int, categorical: Sequence[bool]) -> Any:
    from benchmarks.published.processes import SparseProcess

    return SparseProcess(seed)


_CATBOOST = {"verbose": False, "thread_count": THREADS, "allow_writing_files": False}

REGRESSORS: Mapping[str, Maker] = {
    OURS: lambda seed, _: TableRegressor(n_jobs=THREADS, random_state=seed),
    QUICK: lambda seed, _: TableRegressor(effort="quick", n_jobs=THREADS, random_state=seed),
    TREES: lambda seed, _: HistGradientBoostingRegressor(random_state=seed),
    CATBOOST: _catboost,
    XRFM: _xrfm,
    EXACT: _exact,
    SPARSE: _sparse,
}
CLASSIFIERS: Mapping[str, Maker] = {
    OURS: lambda seed, _: TableClassifier(n_jobs=THREADS, random_state=seed),
    TREES: lambda seed, _: HistGradientBoostingClassifier(random_state=seed),
    CATBOOST: _catboost_classes,
    XRFM: _xrfm_classes,
}

_PACKAGES = {CATBOOST: "catboost", XRFM: "xrfm", EXACT: "gpytorch", SPARSE: "gpytorch"}


def installed(methods: Iterable[str]) -> list[str]:
    """Return the methods whose packages are installed, with a warning about each of the others."""
    return with_packages(methods, _PACKAGES, "bench")
