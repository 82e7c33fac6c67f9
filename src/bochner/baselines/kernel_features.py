"""The abstract base of all baseline transformers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, Floats, MatrixLike, RandomState, as_count
from bochner._base.checks import validated
from bochner._base.whole_fits import all_or_nothing
from bochner.features.parameters import KernelParameters, drawn_seed
from bochner.kernels import Kernel, kernel_called
from bochner.kernels.adapter import native


class KernelFeatures(
    KernelParameters,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A transformer whose signed inner products approximate a kernel."""

    signature_: Array

    def __init__(
        self,
        kernel: object = "polynomial",
        n_components: int = 512,
        *,
        random_state: RandomState = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Fit the map to rows ``X`` (n, d); ``y`` is ignored."""
        return self._fitted(X, self._draw)

    def _fitted(self, X: object, draw: Callable[[Floats, np.random.Generator], Array]) -> Self:
        rows = validated(self, X, dtype=FLOATS)
        as_count("n_components", self.n_components)
        seed = drawn_seed(self.random_state)
        with np.errstate(over="ignore", invalid="ignore"):
            self.signature_ = draw(rows, np.random.default_rng(seed))
        self._n_features_out = len(self.signature_)
        return self

    def transform(self, X: MatrixLike) -> Floats:
        """Return the features (n, ``len(signature_)``) of rows (n, d), in float32 if ``X`` is."""
        check_is_fitted(self)
        rows = validated(self, X, dtype=FLOATS, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            features = self._features(rows).astype(rows.dtype, copy=False)
        if not np.isfinite(features).all():
            raise ValueError(f"Features of X overflow {rows.dtype}: scale X by a smaller factor.")
        return features

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> Floats:
        """Return the Gram matrix (n, n2) of rows (n, d) and (n2, d); ``Y=None`` means ``X``."""
        left = np.asarray(self.transform(X))
        right = left if Y is None else np.asarray(self.transform(Y))
        return np.asarray((left * self.signature_.astype(left.dtype)) @ right.T)

    @abstractmethod
    def _draw(self, X: NDArray[np.floating], rng: np.random.Generator) -> Array:
        """Fit the features to checked rows, and return the signature."""

    @abstractmethod
    def _features(self, X: NDArray[np.floating]) -> Floats:
        """Return the features of checked rows."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def resolved_kernel(kernel: object, dim: int, names: Sequence[str] | None = None) -> Any:
    """Return the kernel with a name, or a kernel with columns resolved by ``names``."""
    if isinstance(kernel, str):
        return kernel_called(kernel, dim)
    kernel = native(kernel, dim)
    return kernel.resolved(names) if isinstance(kernel, Kernel) else kernel
