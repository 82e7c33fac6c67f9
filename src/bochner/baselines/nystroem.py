"""Nyström features of symmetric kernels, definite or not."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from bochner._numerics.arrays import Array, as_count, as_positive_scalar
from bochner.baselines._landmarks import LANDMARKS
from bochner.baselines._low_rank import best_tol, checked_tol, count_kept, kernel_values, probe_rows
from bochner.baselines._shell import KernelFeatures, as_one_of, resolved_kernel
from bochner.kernels import Kernel

_SYMMETRIC = 1e-6


class KreinNystroem(KernelFeatures):
    r"""Nyström features of a symmetric kernel, positive definite or not, with their signs.

    With landmarks ``L`` among the rows and :math:`k(L, L) = V \Lambda V^\top`,

    .. math:: z(x) = |\Lambda|^{-1/2}\, V^\top k(L, x), \qquad \mathrm{signature} =
              \operatorname{sign} \Lambda

    so that :math:`\hat k(x, y) = k(x, L)\, k(L, L)^{-1} k(L, y)`, which is exact where ``x`` or
    ``y`` is a landmark. Eigenvalues whose size is at most ``tol`` times the largest are dropped,
    and a feature with each.

    A definite kernel bounds :math:`v^\top k(L, x)` by the root of its eigenvalue, an indefinite
    one does not: an eigenvalue that happens to be near zero can spoil the whole estimate. Hence
    ``tol="auto"``, which goes beyond the paper: the power of ten between 0.1 and 1e-13 that has
    the least squared error on the exact Gram matrix of 500 rows, if possible no landmarks.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="gaussian"
        A symmetric kernel, the name of one, whose length scale is then one, or a function
        ``k(X, Y)`` that returns an (n, n2) array.
    n_components : int, default=512
        Number of landmarks, and the most features that there can be. All rows, if they are fewer.
    landmarks : {"uniform", "leverage", "pivoted"}, default="uniform"
        Rows at random; rows with probabilities in proportion to their ridge leverage scores; or
        the pivots of a randomly pivoted Cholesky factorisation. See Notes.
    ridge : float or None, default=None
        Of the leverage scores. ``None`` is the sum of the sizes of the eigenvalues beyond the
        ``n_components`` largest, divided by ``n_components``.
    tol : "auto" or float, default="auto"
        Relative to the size of the largest eigenvalue; below one.
    n_candidates : int, default=2000
        Landmarks that are not uniform are chosen among this many rows, or twice
        ``n_components`` if that is more.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    kernel_ : Kernel or callable
    landmarks_ : ndarray of shape (n_landmarks, d)
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Their rows in the data.
    n_components_ : int
        Number of features, at most ``n_components``.
    tol_ : float
        The tolerance used.
    eigenvalues_ : ndarray of shape (n_features,)
        Those kept, from large to small in size.
    signature_ : ndarray of shape (n_features,)
        Their signs.

    Notes
    -----
    Scores and pivots are of :math:`|K|`, where ``K`` is the exact Gram matrix of the candidates
    and :math:`|K|` has its eigenvectors and the sizes of its eigenvalues: it is positive
    semidefinite, has the same best approximations in every rank, and is ``K`` itself if that is
    definite. A Cholesky factorisation of an indefinite ``K`` would not do: the diagonal of what
    it leaves, from which pivots are drawn, can be negative, or zero on rows that matter. The
    price is an eigendecomposition, cubic in the number of candidates.

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
        tol: Any = "auto",
        n_candidates: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.landmarks = landmarks
        self.ridge = ridge
        self.tol = tol
        self.n_candidates = n_candidates
        self.random_state = random_state

    def _draw(self, X: NDArray[Any], rng: np.random.Generator) -> Array:
        X = X.astype(np.float64)
        tol = checked_tol(self.tol)
        self.kernel_ = resolved_kernel(self.kernel, X.shape[1])
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
        signature: Array = np.sign(self.eigenvalues_)
        return signature

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        values = kernel_values(self.kernel_, X.astype(np.float64), self.landmarks_)
        features: Array = values @ self._projection
        return features

    def _choose(self, X: Array, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the rows that are landmarks."""
        rule = as_one_of("landmarks", self.landmarks, LANDMARKS)
        ridge = None if self.ridge is None else as_positive_scalar("ridge", self.ridge)
        n_candidates = max(as_count("n_candidates", self.n_candidates), 2 * self.n_components)
        candidates = rng.permutation(len(X))[:n_candidates]
        rows, m = X[candidates], min(self.n_components, len(X))
        chosen = rule(lambda: _spectrum(self.kernel_, rows), len(rows), m, ridge, rng)
        return candidates[chosen]


def _symmetric_gram(kernel: Any, rows: Array) -> Array:
    gram = kernel_values(kernel, rows, rows)
    if np.abs(gram - gram.T).max() > _SYMMETRIC * np.abs(gram).max():
        raise ValueError(
            f"{kernel!r} is not symmetric on these data: k(x, y) and k(y, x) differ by up to "
            f"{np.abs(gram - gram.T).max():.3g}. These features are for symmetric kernels: "
            f"use AsymmetricNystroem, or (k(x, y) + k(y, x)) / 2, which is one."
        )
    return 0.5 * (gram + gram.T)


def _spectrum(kernel: Any, rows: Array) -> tuple[Array, Array]:
    eigenvalues, vectors = eigh(_symmetric_gram(kernel, rows), driver="evd")
    return eigenvalues, vectors


def _by_size(gram: Array) -> tuple[Array, Array]:
    """Return eigenvalues other than zero and their vectors, from large to small in size."""
    eigenvalues, vectors = eigh(gram, driver="evd")
    order = np.argsort(-np.abs(eigenvalues), kind="stable")[: np.count_nonzero(eigenvalues)]
    if not order.size:
        raise ValueError(
            f"The kernel is zero between all {len(gram)} landmarks, which leaves no features. "
            f"Raise n_components, or give other data."
        )
    return eigenvalues[order], vectors[:, order]
