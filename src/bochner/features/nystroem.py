"""Nyström features of kernels, including indefinite and asymmetric ones."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, svd
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import (
    FLOATS,
    Array,
    Floats,
    MatrixLike,
    RandomState,
    as_count,
    as_positive_scalar,
)
from bochner._base.checks import check_choice, check_rows_given, drawn_seed, validated
from bochner.features.landmarks import (
    LANDMARKS,
    best_tol,
    checked_tol,
    chosen_rows,
    count_kept,
    kernel_values,
    nonzero,
    probe_rows,
)
from bochner.features.parameters import KernelParameters
from bochner.kernels import Kernel
from bochner.kernels.kernel_names import kernel_called, native

# Largest asymmetry, relative to the largest kernel value, that counts as rounding error: it allows
# for functions evaluated in single precision.
_SYMMETRIC = 1e-6


@dataclass(eq=False, repr=False)
class KernelFeatures(
    KernelParameters, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Base of transformers whose signed inner products of features approximate a kernel."""

    kernel: Kernel | str | Callable[[Array, Array], Array] = "gaussian"
    n_components: int = 512
    _: KW_ONLY
    landmarks: str = "uniform"
    tol: object = "auto"
    n_candidates: int = 2000
    random_state: RandomState = None

    signature_: Array = field(init=False)

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
        check_is_fitted(self, "signature_")
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


@dataclass(eq=False, repr=False)
class KreinNystroem(KernelFeatures):
    r"""Nyström features of a symmetric kernel, positive definite or not, with their signs.

    With landmarks ``L`` among the rows and :math:`k(L, L) = V \Lambda V^\top`,

    .. math:: z(x) = |\Lambda|^{-1/2}\, V^\top k(L, x), \qquad \mathrm{signature} =
              \operatorname{sign} \Lambda

    so that :math:`\hat k(x, y) = k(x, L)\, k(L, L)^{-1} k(L, y)`, which is exact where ``x`` or
    ``y`` is a landmark. Eigenvalues whose size is at most ``tol`` times the largest are dropped
    together with their features.

    With an indefinite kernel an eigenvalue close to zero can spoil the whole estimate. The default
    ``tol="auto"`` is the power of ten between 0.1 and 1e-13 with the least squared error on the
    exact Gram matrix of 500 rows that are not landmarks, if there are enough.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        A symmetric kernel, the name of one, whose length scale is then one, or a function
        ``k(X, Y)`` that returns an (n, n2) array.
    n_components : int, default=512
        Number of landmarks, at most the number of rows. It bounds the number of features.
    landmarks : {"uniform", "leverage", "pivoted"}, default="uniform"
        Random rows; rows drawn in proportion to their ridge leverage scores; or pivots of a
        randomly pivoted Cholesky factorisation.
    ridge : float or None, default=None
        Ridge of the leverage scores. ``None`` means the sum of the sizes of all but the
        ``n_components`` largest eigenvalues, divided by ``n_components``.
    tol : "auto" or float, default="auto"
        Tolerance relative to the size of the largest eigenvalue, below one.
    n_candidates : int, default=2000
        Number of rows (at least twice ``n_components``) among which landmarks are chosen, unless
        they are uniform.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel or callable
    landmarks_, landmark_indices_ : ndarrays of shapes (n_landmarks, d) and (n_landmarks,)
        Landmarks and their rows in the data.
    n_components_ : int
        Number of features, at most ``n_components``.
    tol_ : float
        The tolerance used.
    eigenvalues_, signature_ : ndarrays of shape (n_features,)
        Eigenvalues kept, from large to small in size, and their signs.

    Notes
    -----
    Scores and pivots are computed from :math:`|K|`, which has the eigenvectors of the exact Gram
    matrix ``K`` of the candidates and the absolute values of its eigenvalues: residuals of an
    indefinite ``K`` can have negative diagonals, or zeros on rows that matter. The
    eigendecomposition is cubic in the number of candidates.

    References
    ----------
    Oglic and Gärtner, "Scalable learning in reproducing kernel Kreĭn spaces", 2019. Chen,
    Epperly, Tropp and Webber, "Randomly pivoted Cholesky", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.features import KreinNystroem
    >>> from bochner.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> k = Polynomial(1, offset=-1.0)
    >>> map = KreinNystroem(k, n_components=20, random_state=0).fit(X)
    >>> sorted(map.signature_.tolist()), bool(np.allclose(map.gram(X), k(X)))
    ([-1.0, 1.0, 1.0, 1.0], True)
    """

    _: KW_ONLY
    ridge: float | None = None

    def _draw(self, X: NDArray[Any], rng: np.random.Generator) -> Array:
        X = X.astype(np.float64)
        tol = checked_tol(self.tol)
        names = getattr(self, "feature_names_in_", None)
        self.kernel_ = resolved_kernel(self.kernel, X.shape[1], names)
        self.landmark_indices_ = self._choose(X, rng)
        self.landmarks_ = X[self.landmark_indices_]
        eigenvalues, vectors = _by_size(_symmetric_gram(self.kernel_, self.landmarks_))
        scaled = vectors / np.sqrt(np.abs(eigenvalues))
        if tol is None:
            probes = probe_rows(X, self.landmark_indices_, rng)
            features = kernel_values(self.kernel_, probes, self.landmarks_) @ scaled
            exact = kernel_values(self.kernel_, probes, probes)
            tol = best_tol(exact, features * np.sign(eigenvalues), features, eigenvalues)
        self.tol_ = tol
        self.n_components_ = count_kept(eigenvalues, tol)
        self.eigenvalues_ = eigenvalues[: self.n_components_]
        self._projection = scaled[:, : self.n_components_]
        return np.asarray(np.sign(self.eigenvalues_))

    def _features(self, X: Floats) -> Floats:
        values = kernel_values(self.kernel_, X.astype(np.float64), self.landmarks_)
        return np.asarray(values @ self._projection)

    def _choose(self, X: Array, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the rows chosen as landmarks."""
        rule = check_choice("landmarks", self.landmarks, LANDMARKS)
        ridge = None if self.ridge is None else as_positive_scalar("ridge", self.ridge)
        n_candidates = max(as_count("n_candidates", self.n_candidates), 2 * self.n_components)
        candidates = rng.permutation(len(X))[:n_candidates]
        rows, m = X[candidates], min(self.n_components, len(X))

        def spectrum() -> tuple[Array, Array]:
            eigenvalues, vectors = eigh(_symmetric_gram(self.kernel_, rows), driver="evd")
            return eigenvalues, vectors

        return candidates[chosen_rows(rule, spectrum, len(rows), m, ridge, rng)]


class AsymmetricNystroem(KernelFeatures):
    r"""Nyström features of a kernel, symmetric or not, from landmarks for either argument.

    With left landmarks ``L``, right landmarks ``L'`` and :math:`k(L, L') = U \Sigma V^\top`,

    .. math:: \mathrm{left}(x) = k(x, L')\, V \Sigma^{-1/2}, \qquad
              \mathrm{right}(y) = k(L, y)^\top\, U \Sigma^{-1/2}

    so that :math:`\hat k(x, y) = k(x, L')\, k(L, L')^{-1} k(L, y)`, exact where ``x`` is in ``L``
    and where ``y`` is in ``L'``. Singular values of at most ``tol`` times the largest are dropped
    with their features. For a symmetric kernel and ``L = L'`` the estimate is that of
    :class:`KreinNystroem`.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        A kernel, the name of one, whose length scale is then one, or a function ``k(X, Y)`` that
        returns an (n, n2) array.
    n_components : int, default=512
        Number of landmarks on either side, at most the number of rows. It bounds the number of
        features.
    landmarks, n_candidates, random_state
        As for :class:`KreinNystroem`; see Notes.
    tol : "auto" or float, default="auto"
        Tolerance relative to the largest singular value, below one; ``"auto"`` as for
        :class:`KreinNystroem`, on 500 rows of either side.

    Attributes
    ----------
    kernel_, n_components_, tol_
        As for :class:`KreinNystroem`.
    landmarks_, landmarks_right_ : ndarrays of shapes (n_landmarks, d) and (n_landmarks, d2)
        Equal without ``right`` rows and with uniform landmarks.
    landmark_indices_, landmark_right_indices_ : ndarrays of shape (n_landmarks,)
        Their rows in the data.
    singular_values_, signature_ : ndarrays of shape (n_features,)
        Singular values kept, in descending order, and ones: the right features contain the signs.

    Notes
    -----
    With candidates :math:`K = P D H^\top`, scores and pivots of left rows are computed from
    :math:`(K K^\top)^{1/2} = P D P^\top`, and scores and pivots of right rows from
    :math:`(K^\top K)^{1/2} = H D H^\top`. Both matrices equal :math:`|K|` if ``K`` is symmetric.

    References
    ----------
    Nemtsov, Averbuch and Schclar, "Matrix compression using the Nyström method", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.features import AsymmetricNystroem
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 50, 3))
    >>> skew = np.array([[1.0, 2.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> k = lambda X, Y: X @ skew @ Y.T
    >>> map = AsymmetricNystroem(k, n_components=20, random_state=0).fit(X, right=Y)
    >>> map.n_components_, bool(np.allclose(map.gram(X, Y), k(X, Y)))
    (3, True)
    """

    def fit(self, X: MatrixLike, y: ArrayLike | None = None, right: Any = None) -> Self:
        """Choose landmarks and decompose the kernel's values between them.

        ``X`` (n, d) are rows of the left argument, ``right`` (n2, d2) of the right argument;
        ``None`` means ``X``. ``y`` is ignored.
        """
        if right is not None:
            right = check_rows_given(right, "right", dtype=np.float64)
        return self._fitted(X, partial(self._draw, right=right))

    def transform_right(self, Y: MatrixLike) -> Floats:
        """Return the features (n, ``n_components_``) of rows (n, d2) of the right argument."""
        check_is_fitted(self, "signature_")
        rows = check_rows_given(Y, "Y", dtype=FLOATS)
        dim = self.landmarks_right_.shape[1]
        if rows.shape[1] != dim:
            raise ValueError(
                f"Y has {rows.shape[1]} columns; the rows of the right argument had {dim} in fit."
            )
        values = kernel_values(self.kernel_, self.landmarks_, rows.astype(np.float64))
        return np.asarray(values.T @ self._projection_right, dtype=rows.dtype)

    def gram(self, X: MatrixLike, Y: MatrixLike | None = None) -> Floats:
        """Return the Gram matrix (n, n2) of rows (n, d) and (n2, d2); ``Y=None`` means ``X``."""
        right = self.transform_right(X if Y is None else Y)
        return np.asarray(self.transform(X) @ right.T)

    def _features(self, X: Floats) -> Floats:
        values = kernel_values(self.kernel_, X.astype(np.float64), self.landmarks_right_)
        return np.asarray(values @ self._projection)

    def _draw(self, X: NDArray[Any], rng: np.random.Generator, right: Array | None = None) -> Array:
        X = X.astype(np.float64)
        Y = X if right is None else right
        tol = checked_tol(self.tol)
        names = getattr(self, "feature_names_in_", None)
        self.kernel_ = resolved_kernel(self.kernel, X.shape[1], names)
        self.landmark_indices_, self.landmark_right_indices_ = self._choose(X, right, rng)
        self.landmarks_ = X[self.landmark_indices_]
        self.landmarks_right_ = Y[self.landmark_right_indices_]
        U, values, V = _nonzero_svd(
            kernel_values(self.kernel_, self.landmarks_, self.landmarks_right_)
        )
        left, right_projection = V / np.sqrt(values), U / np.sqrt(values)
        if tol is None:
            left_probes = probe_rows(X, self.landmark_indices_, rng)
            right_probes = probe_rows(Y, self.landmark_right_indices_, rng)
            tol = best_tol(
                kernel_values(self.kernel_, left_probes, right_probes),
                kernel_values(self.kernel_, left_probes, self.landmarks_right_) @ left,
                kernel_values(self.kernel_, self.landmarks_, right_probes).T @ right_projection,
                values,
            )
        self.tol_ = tol
        self.n_components_ = count_kept(values, tol)
        self.singular_values_ = values[: self.n_components_]
        self._projection = left[:, : self.n_components_]
        self._projection_right = right_projection[:, : self.n_components_]
        return np.ones(self.n_components_)

    def _choose(
        self, X: Array, right: Array | None, rng: np.random.Generator
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return equally many left and right rows as landmarks."""
        rule = check_choice("landmarks", self.landmarks, LANDMARKS)
        n_candidates = max(as_count("n_candidates", self.n_candidates), 2 * self.n_components)
        Y = X if right is None else right
        m = min(self.n_components, len(X), len(Y))
        left_rows = rng.permutation(len(X))[:n_candidates]
        right_rows = left_rows if right is None else rng.permutation(len(Y))[:n_candidates]
        if rule == "uniform":
            return left_rows[:m], right_rows[:m]
        P, values, H = _nonzero_svd(kernel_values(self.kernel_, X[left_rows], Y[right_rows]))
        return (
            left_rows[chosen_rows(rule, lambda: (values, P), len(left_rows), m, None, rng)],
            right_rows[chosen_rows(rule, lambda: (values, H), len(right_rows), m, None, rng)],
        )


def resolved_kernel(kernel: object, dim: int, names: Sequence[str] | None = None) -> Any:
    """Return the kernel of a given name, or a kernel object with its column names resolved."""
    if isinstance(kernel, str):
        return kernel_called(kernel, dim)
    kernel = native(kernel, dim)
    return kernel.resolved(names) if isinstance(kernel, Kernel) else kernel


def _symmetric_gram(kernel: object, rows: Array) -> Array:
    gram = kernel_values(kernel, rows, rows)
    if np.abs(gram - gram.T).max() > _SYMMETRIC * np.abs(gram).max():
        raise ValueError(
            f"{kernel!r} is not symmetric on these data: k(x, y) and k(y, x) differ by up to "
            f"{np.abs(gram - gram.T).max():.3g}. KreinNystroem takes symmetric kernels only: "
            f"use AsymmetricNystroem, or the symmetric kernel (k(x, y) + k(y, x)) / 2."
        )
    return 0.5 * (gram + gram.T)


def _by_size(gram: Array) -> tuple[Array, Array]:
    """Return the nonzero eigenvalues, in descending order of size, and their eigenvectors."""
    eigenvalues, vectors = eigh(gram, driver="evd")
    order = np.argsort(-np.abs(eigenvalues), kind="stable")[: nonzero(eigenvalues)]
    return eigenvalues[order], vectors[:, order]


def _nonzero_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the reduced SVD: ``U``, nonzero singular values in descending order, ``V``."""
    U, values, Vt = svd(matrix, full_matrices=False)
    keep = nonzero(values)
    return U[:, :keep], values[:keep], Vt[:keep].T
