"""Checks of the estimators that a user adds to the base models of a table."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from bochner._numerics.foreign import shown


def checked_base_models(models: object, kernel: object, of_classes: bool) -> tuple[Any, ...]:
    """Return base models as a tuple.

    Raises TypeError unless they are a list or tuple of regressors, or of classifiers with
    ``predict_proba``. Raises ValueError if there are some for a kernel other than ``"auto"``.
    """
    if not isinstance(models, list | tuple):
        raise TypeError(
            f"base_models must be a list or tuple of estimators, got {shown(models)}: write "
            "base_models=[estimator] for a single one."
        )
    if models and not (isinstance(kernel, str) and kernel == "auto"):
        raise ValueError(
            f"base_models need kernel='auto', got kernel={kernel!r}: leave one of them out."
        )
    kind, advice = "regressor", "an object of a class derived from RegressorMixin and BaseEstimator"
    methods, is_of_kind = ["__sklearn_tags__", "get_params", "fit", "predict"], is_regressor
    if of_classes:
        kind, advice = (
            "classifier with predict_proba",
            "an object, or wrap it in CalibratedClassifierCV",
        )
        methods, is_of_kind = [*methods[:3], "predict_proba"], is_classifier
    for number, model in enumerate(models):
        is_complete = not isinstance(model, type) and all(hasattr(model, name) for name in methods)
        if not (is_complete and is_of_kind(model)):
            raise TypeError(
                f"base_models[{number}] must be a {kind}, got {shown(model)}: pass {advice}."
            )
    return tuple(models)


def check_takes_weights(base_models: Sequence[Any]) -> None:
    """Raise ValueError if the fit of a base model does not take weights of rows."""
    for number, model in enumerate(base_models):
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"sample_weight differs between rows, but fit of base_models[{number}], "
                f"{shown(model)}, does not take it: leave the weights out, or pass an estimator "
                "whose fit has the parameter sample_weight."
            )
