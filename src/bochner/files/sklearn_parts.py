"""Parts of scikit-learn that model files may hold: classes and their fitted attributes."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn import linear_model, preprocessing
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.svm import LinearSVC

_Array = NDArray[Any]
_Numbers = NDArray[np.floating[Any]]
_Numbers_ = _Numbers | None
_Integer = int | np.integer[Any]
_Counts = _Integer | float | _Numbers | NDArray[np.integer[Any]]
_Number = float | np.floating[Any]

_COMPONENTS: Mapping[str, Any] = {
    "components_": _Numbers,
    "explained_variance_": _Numbers,
    "explained_variance_ratio_": _Numbers,
    "singular_values_": _Numbers,
}
_LINEAR: Mapping[str, Any] = {"coef_": _Numbers, "intercept_": _Number | _Numbers}
_CLASSES: Mapping[str, Any] = {
    **_LINEAR,
    "classes_": _Array,
    "n_iter_": _Integer | NDArray[np.integer[Any]],
}
_LEVELS: Mapping[str, Any] = {
    "categories_": list[_Array],
    "_infrequent_enabled": bool,
    "_infrequent_indices": list[Any],
    "_default_to_infrequent_mappings": list[Any],
}

_ATTRIBUTES: Mapping[type[BaseEstimator], Mapping[str, Any]] = {
    preprocessing.StandardScaler: {
        "n_samples_seen_": _Counts,
        "mean_": _Numbers_,
        "var_": _Numbers_,
        "scale_": _Numbers_,
    },
    preprocessing.MinMaxScaler: {
        "n_samples_seen_": _Counts,
        **dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _Numbers),
    },
    preprocessing.MaxAbsScaler: {
        "n_samples_seen_": _Counts,
        "max_abs_": _Numbers,
        "scale_": _Numbers,
    },
    preprocessing.RobustScaler: {"center_": _Numbers_, "scale_": _Numbers_},
    preprocessing.Normalizer: {},
    preprocessing.QuantileTransformer: {
        "n_quantiles_": _Integer,
        "references_": _Numbers,
        "quantiles_": _Numbers,
    },
    preprocessing.PowerTransformer: {"lambdas_": _Numbers, "_scaler": preprocessing.StandardScaler},
    preprocessing.OneHotEncoder: {
        **_LEVELS,
        "drop_idx_": _Array | None,
        "_drop_idx_after_grouping": _Array | None,
        "_n_features_outs": list[_Integer],
    },
    preprocessing.OrdinalEncoder: {**_LEVELS, "_missing_indices": dict[str, Any]},
    preprocessing.FunctionTransformer: {},  # What a ColumnTransformer passes through
    SimpleImputer: {
        "_fit_dtype": np.dtype,
        "_fill_dtype": np.dtype,
        "indicator_": type(None),
        "statistics_": _Array,
    },
    VarianceThreshold: {"variances_": _Numbers},
    PCA: {
        **_COMPONENTS,
        "_fit_svd_solver": str,
        "mean_": _Numbers,
        "noise_variance_": _Number,
        "n_samples_": _Integer,
        "n_components_": _Integer,
    },
    TruncatedSVD: _COMPONENTS,
    linear_model.LinearRegression: {**_LINEAR, "rank_": _Integer | _Array, "singular_": _Array},
    linear_model.Ridge: {**_LINEAR, "n_iter_": _Array | None, "solver_": str},
    linear_model.RidgeCV: {
        **_LINEAR,
        "alpha_": _Integer | _Number | _Numbers,
        "best_score_": _Number | _Numbers,
        "_store_cv_results": bool,  # Exists in scikit-learn 1.6
    },
    linear_model.Lasso: {
        **_LINEAR,
        "n_iter_": _Integer | list[int],
        "dual_gap_": _Number | _Numbers,
        "l1_ratio": float,
    },
    linear_model.ElasticNet: {
        **_LINEAR,
        "n_iter_": _Integer | list[int],
        "dual_gap_": _Number | _Numbers,
    },
    linear_model.LogisticRegression: _CLASSES,
    LinearSVC: _CLASSES,
    Pipeline: {},
    FeatureUnion: {},
    ColumnTransformer: {
        "_columns": list[Any],
        "_transformer_to_input_indices": dict[str, list[int]],
        "_remainder": tuple[Any, ...],
        "sparse_output_": bool,
        "transformers_": list[tuple[Any, ...]],
        "output_indices_": dict[str, slice],
    },
    TransformedTargetRegressor: {
        "_training_dim": int,
        "regressor_": BaseEstimator,
        "transformer_": BaseEstimator,
    },
}

_WHOLE = (ColumnTransformer, TransformedTargetRegressor)
"""Parts that have all of their attributes for all parameters."""

_OF_THE_MACHINE = ("memory", "n_jobs")
"""Parameters that files do not set: a cache on a disk holds pickles, and jobs are processes."""

_PREFIX = "sklearn."
"""Start of the names of parts in files: a user may register a class of the same name."""

PARTS: Mapping[str, type[BaseEstimator]] = {_PREFIX + cls.__name__: cls for cls in _ATTRIBUTES}
"""Parts by their names in model files."""


def is_part(cls: type) -> bool:
    """Tell whether model files may hold scikit-learn's estimators of a class."""
    return cls in _ATTRIBUTES


def known_parts() -> str:
    """Return the names of all parts, for messages."""
    return ", ".join(sorted(cls.__name__ for cls in _ATTRIBUTES))


def part_attributes(cls: type[BaseEstimator]) -> Mapping[str, Any]:
    """Return the attributes that ``fit`` may set, and their types."""
    return _ATTRIBUTES[cls]


def required_attributes(cls: type[BaseEstimator]) -> Mapping[str, Any]:
    """Return the attributes that every fitted part of a class has."""
    return _ATTRIBUTES[cls] if cls in _WHOLE else {}


def part_name(cls: type[BaseEstimator]) -> str:
    """Return the name of a part in model files."""
    return _PREFIX + cls.__name__


def portable(cls: type, parameters: Mapping[str, object]) -> dict[str, object]:
    """Return estimator parameters with the machine-specific parameters of parts set to None."""
    dropped = _OF_THE_MACHINE if is_part(cls) else ()
    return {name: None if name in dropped else value for name, value in parameters.items()}


def check_parameters(estimator: BaseEstimator, attributes: Mapping[str, object]) -> None:
    """Raise ``TypeError`` or ``ValueError`` for a parameter that no fit of the estimator takes.

    Estimators without a fit may have any parameters, which their ``fit`` refuses.
    """
    if attributes and hasattr(estimator, "_check_parameters"):
        estimator._check_parameters()


def check_part(estimator: BaseEstimator, version: str) -> None:
    """Raise ``ValueError`` if a part is not consistent; warn if another scikit-learn wrote it."""
    for name in _OF_THE_MACHINE:
        if getattr(estimator, name, None) is not None:
            raise ValueError(f"{type(estimator).__name__}.{name} should be None in a model file")
    if hasattr(estimator, "_parameter_constraints"):  # All but FeatureUnion
        estimator._validate_params()
    if hasattr(estimator, "categories_"):
        _check_levels(estimator)
    if version != sklearn.__version__:
        warnings.warn(
            InconsistentVersionWarning(
                estimator_name=type(estimator).__name__,
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=repr(version)[1:20].rstrip("'"),
            ),
            stacklevel=2,
        )


def _check_levels(encoder: BaseEstimator) -> None:
    """Raise ``ValueError`` unless the codes of all levels fit: SciPy does not check them."""
    levels, n_features = encoder.categories_, encoder.n_features_in_
    dropped = _each(getattr(encoder, "_drop_idx_after_grouping", None), n_features)
    grouped = encoder._infrequent_enabled
    rare = _each(encoder._infrequent_indices if grouped else None, n_features)
    mappings = _each(encoder._default_to_infrequent_mappings if grouped else None, n_features)
    sizes = []
    for values, few, codes, left_out in zip(levels, rare, mappings, dropped, strict=True):
        n_codes = len(values) if few is None else len(values) - len(few) + 1
        is_sorted = values.dtype == object or (values[1:] > values[:-1]).all()
        _check(values.ndim == 1 and len(values) and is_sorted)
        _check(few is None or (len(few) and _are_codes(few, len(values))))
        _check((few is None) == (codes is None))
        _check(codes is None or (_are_codes(codes, n_codes) and len(codes) == len(values)))
        _check(left_out is None or (type(left_out) is int and 0 <= left_out < n_codes))
        sizes.append(n_codes - (left_out is not None))
    _check(sizes == getattr(encoder, "_n_features_outs", sizes))
    _check(not getattr(encoder, "_missing_indices", {}))


def _each(values: object, n_features: int) -> Any:
    return [None] * n_features if values is None else values


def _are_codes(codes: object, n_codes: int) -> bool:
    return isinstance(codes, np.ndarray) and bool(
        codes.ndim == 1 and codes.dtype.kind in "iu" and ((codes >= 0) & (codes < n_codes)).all()
    )


def _check(holds: object) -> None:
    if not holds:
        raise ValueError("the levels of an encoder do not fit together")
