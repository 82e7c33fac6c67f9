"""What all models of whole tables share."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from bochner._numerics.arrays import Array
from bochner._numerics.progress import Progress, silent
from bochner.tables.encoder import TableEncoder


class TableModel(BaseEstimator, ABC):
    """A model of a whole table: an encoder of its columns, and a head on what they become.

    Attributes
    ----------
    encoder_ : TableEncoder
    head_ : estimator
        On the encoded table.
    record_ : dict
        Plain facts about the fit, kept in model files.
    """

    encoder_: TableEncoder
    head_: Any
    record_: dict[str, Any]

    @abstractmethod
    def fit(self, X: Any, y: Any, *, progress: Progress = silent) -> Self:
        """Fit to a table."""

    def _read_target(self, X: Any, y: Any) -> NDArray[Any]:
        """Return the target as an array (n,) without missing or infinite entries."""
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        checked = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        target = np.asarray(column_or_1d(checked, warn=True))
        check_consistent_length(X, target)
        return target

    def _remember(self, encoder: TableEncoder, head: Any, n_samples: int) -> Self:
        """Keep what was fitted, and what scikit-learn wants to know of the table."""
        self.encoder_, self.head_ = encoder, head
        self.n_features_in_ = encoder.n_features_in_
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_
        self.record_ = {"n_samples": n_samples}
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags


def as_numbers(y: NDArray[Any]) -> Array:
    """Return a target of numbers (n,) as float64.

    Raises
    ------
    ValueError
        If it holds anything else.
    """
    if y.dtype.kind not in "fiub" and not all(isinstance(entry, Real) for entry in y):
        raise ValueError(f"y must be numbers for a regression, got {y.dtype} entries.")
    target: Array = y.astype(np.float64)
    return target
