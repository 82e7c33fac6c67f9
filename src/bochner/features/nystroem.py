"""Nyström features of symmetric kernels, definite or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from bochner._base.arrays import Array, Floats, RandomState, as_count, as_positive_scalar
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

# Largest asymmetry, relative to the largest kernel value, that counts as rounding: that of a
# function evaluated in single precision.
_SYMMETRIC = 1e-6


class KreinNystroem(KernelFeatures):
    r"""Nyström features of a symmetric kernel, positive definite or not, with their signs.

    With landmarks ``L`` among the rows and :math:`k(L, L) = V \Lambda V^\top`,

    .. math:: z(x) = |\Lambda|^{-1/2}\, V^\top k(L, x), \qquad \mathrm{signature} =
              \operatorname{sign} \Lambda

    so that :math:`\hat k(x, y) = k(x, L)\, k(L, L)^{-1} k(L, y)`, which is exact where ``x`` or
    ``y`` is a landmark. Eigenvalues whose size is at most ``tol`` times the largest are dropped,
    and a feature with each.

    With an indefinite kernel :math:`v^\top k(L, x)` is not bounded by the root of its eigenvalue,
    and an eigenvalue close to zero can spoil the whole estimate. The default ``tol="auto"``
    therefore goes beyond the paper: it is the power of ten between 0.1 and 1e-13 with the least
    squared error on the exact Gram matrix of 500 rows that are not landmarks, if there are enough.

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
    matrix ``K`` of the candidates and the absolute values of its eigenvalues. :math:`|K|` is
    positive semidefinite, has the same best approximations in every rank, and equals a positive
    definite ``K``. (Pivots are drawn from the diagonals of residuals. Residuals of an indefinite
    ``K`` can have negative diagonals, or zeros on rows that matter.) The eigendecomposition is
    cubic in the number of candidates.

    References
    ----------
    Oglic and Gärtner, "Scalable learning in reproducing kernel Kreĭn spaces", 2019. Chen,
    Epperly, Tropp and Webber, "Randomly pivoted Cholesky", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.baselines import KreinNystroem
    >>> from bochner.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> k = Polynomial(1, offset=-1.0)
    >>> map = KreinNystroem(k, n_components=20, random_state=0).fit(X)
    >>> sorted(map.signature_.tolist()), bool(np.allclose(map.gram(X), k(X)))
    ([-1.0, 1.0, 1.0, 1.0], True)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Array, Array], Array] = "gaussian",
        n_components: int = 512,
        *,
        landmarks: str = "uniform",
        ridge: float | None = None,
        tol: object = "auto",
        n_candidates: int = 2000,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(kernel, n_components, random_state=random_state)
        self.landmarks = landmarks
        self.ridge = ridge
        self.tol = tol
        self.n_candidates = n_candidates

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
        """Return the rows that are landmarks."""
        rule = check_choice("landmarks", self.landmarks, LANDMARKS)
        ridge = None if self.ridge is None else as_positive_scalar("ridge", self.ridge)
        n_candidates = max(as_count("n_candidates", self.n_candidates), 2 * self.n_components)
        candidates = rng.permutation(len(X))[:n_candidates]
        rows, m = X[candidates], min(self.n_components, len(X))

        def spectrum() -> tuple[Array, Array]:
            eigenvalues, vectors = eigh(_symmetric_gram(self.kernel_, rows), driver="evd")
            return eigenvalues, vectors

        return candidates[chosen_rows(rule, spectrum, len(rows), m, ridge, rng)]


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
    """Return the nonzero eigenvalues and their vectors, from large to small in size."""
    eigenvalues, vectors = eigh(gram, driver="evd")
    order = np.argsort(-np.abs(eigenvalues), kind="stable")[: nonzero(eigenvalues)]
    return eigenvalues[order], vectors[:, order]
