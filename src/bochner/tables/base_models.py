"""Checks of the estimators that a user adds to the base models of a table."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from bochner._base.converted import shown


def checked_base_models(models: object, of_classes: bool) -> tuple[Any, ...]:
    """Return base models as a tuple.

    Raises TypeError unless they are a list or tuple of regressors, or of classifiers with
    ``predict_proba``.
    """
    if not isinstance(models, list | tuple):
        raise TypeError(
            f"base_models must be a list or tuple of estimators, got {shown(models)}: write "
            "base_models=[estimator] for a single one."
        )
    kind = "classifier with predict_proba" if of_classes else "regressor"
    for number, model in enumerate(models):
        if advice := _advice(model, of_classes):
            raise TypeError(
                f"base_models[{number}] must be a {kind}, got {shown(model)}: {advice}."
            )
    return tuple(models)


def _advice(model: Any, of_classes: bool) -> str:
    """Return what to do about a model that cannot be a base model, or an empty string."""
    if isinstance(model, type):
        return f"pass an object, {model.__name__}()"
    of_both = "__sklearn_tags__", "get_params", "fit"
    has_kind = all(hasattr(model, name) for name in of_both)
    if has_kind and (is_classifier(model) if of_classes else is_regressor(model)):
        if hasattr(model, "predict_proba" if of_classes else "predict"):
            return ""
        return "wrap it in CalibratedClassifierCV" if of_classes else "its class needs predict"
    if has_kind and (is_regressor(model) if of_classes else is_classifier(model)):
        other = "TableRegressor" if of_classes else "TableClassifier"
        return f"it is for bochner.{other}"
    mixin = "ClassifierMixin" if of_classes else "RegressorMixin"
    return f"derive its class from {mixin} and BaseEstimator, in this order"


def check_takes_weights(base_models: Sequence[Any]) -> None:
    """Raise ValueError if the fit of a base model does not take weights of rows."""
    for number, model in enumerate(base_models):
        if not has_fit_parameter(model, "sample_weight"):
            raise ValueError(
                f"sample_weight differs between rows, but fit of base_models[{number}], "
                f"{shown(model)}, does not take it: leave the weights out, or pass an estimator "
                "whose fit has the parameter sample_weight."
            )
