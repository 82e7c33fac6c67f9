"""Nyström features of kernels that need not be symmetric."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import svd
from sklearn.utils.validation import check_is_fitted

from bochner._base.arrays import FLOATS, Array, Floats, MatrixLike, RandomState, as_count
from bochner._base.checks import check_rows_given
from bochner._base.whole_fits import all_or_nothing
from bochner.baselines.kernel_features import KernelFeatures, resolved_kernel
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
from bochner.features.parameters import check_choice
from bochner.kernels import Kernel


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
        Tolerance relative to the largest singular value, below one. ``"auto"`` means the power of
        ten between 0.1 and 1e-13 with the least squared error on the exact Gram matrix of 500
        rows of either side that are not landmarks, if there are enough.

    Attributes
    ----------
    kernel_ : Kernel or callable
    landmarks_, landmarks_right_ : ndarrays of shapes (n_landmarks, d) and (n_landmarks, d2)
        Equal without ``right`` rows and with uniform landmarks.
    landmark_indices_, landmark_right_indices_ : ndarrays of shape (n_landmarks,)
        Their rows in the data.
    n_components_, tol_
        As for :class:`KreinNystroem`.
    singular_values_ : ndarray of shape (n_features,)
        Singular values kept, in descending order.
    signature_ : ndarray of shape (n_features,)
        All ones: the right features contain the signs of an indefinite kernel.

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
    >>> from bochner.baselines import AsymmetricNystroem
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 50, 3))
    >>> skew = np.array([[1.0, 2.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> k = lambda X, Y: X @ skew @ Y.T
    >>> map = AsymmetricNystroem(k, n_components=20, random_state=0).fit(X, right=Y)
    >>> map.n_components_, bool(np.allclose(map.gram(X, Y), k(X, Y)))
    (3, True)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Array, Array], Array] = "gaussian",
        n_components: int = 512,
        *,
        landmarks: str = "uniform",
        tol: object = "auto",
        n_candidates: int = 2000,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(kernel, n_components, random_state=random_state)
        self.landmarks = landmarks
        self.tol = tol
        self.n_candidates = n_candidates

    @all_or_nothing
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
        check_is_fitted(self)
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
        """Return the rows that are left and right landmarks, equally many."""
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


def _nonzero_svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return ``U``, the nonzero singular values, descending, and ``V``."""
    U, values, Vt = svd(matrix, full_matrices=False)
    keep = nonzero(values)
    return U[:, :keep], values[:keep], Vt[:keep].T
