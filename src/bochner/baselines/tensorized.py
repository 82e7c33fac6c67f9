"""Tensorised random projections of polynomial kernels."""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bochner._numerics.arrays import Array
from bochner.baselines._polynomials import positive_form, product_features, random_signs
from bochner.baselines._shell import KernelFeatures, resolved_kernel
from bochner.kernels import Kernel


class TensorizedRandomProjection(KernelFeatures):
    r"""Tensorised random projections of :math:`(\gamma \langle x, y \rangle + c)^p`.

    Every feature is a product of ``p`` projections on independent vectors of fair signs,

    .. math:: z_i(x) = \frac{1}{\sqrt m} \prod_{j=1}^{p} u_{ij} \cdot \tilde x,
              \qquad \tilde x = (\sqrt \gamma\, x, \sqrt c)

    with ``m`` features: the paper's sketch :math:`(S x)_i = \prod_j \langle u^{i,j}, x^j
    \rangle / \sqrt m` of the tensor product of ``p`` copies of one vector. The constant is a
    column more, and none if it is zero. The paper's further step, a count sketch of the inputs
    first, is not taken. The estimate of the kernel is unbiased for all inputs.

    Parameters
    ----------
    kernel : Kernel or str, default="polynomial"
        :class:`~bochner.kernels.Polynomial` of offset zero or more,
        :class:`~bochner.kernels.SphericalPolynomial` (whose inputs are on the unit sphere), or
        the name of one.
    n_components : int, default=512
        Number of features ``m``.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    projections_ : list of ndarrays of shape (n_components, d) or (n_components, d + 1)
        The signs :math:`u`, one array for each of the ``p`` factors.
    signature_ : ndarray of shape (n_components,)
        All ones.

    References
    ----------
    Meister, Sarlos and Woodruff, "Tight dimensionality reduction for sketching low degree
    polynomial kernels", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.baselines import TensorizedRandomProjection
    >>> from bochner.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> map = TensorizedRandomProjection(Polynomial(2), n_components=8, random_state=0).fit(X)
    >>> map.transform(X).shape, len(map.projections_)
    ((5, 8), 2)
    """

    def __init__(
        self,
        kernel: Kernel | str = "polynomial",
        n_components: int = 512,
        *,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.random_state = random_state

    def _draw(self, X: NDArray[Any], rng: np.random.Generator) -> Array:
        self._form = positive_form(resolved_kernel(self.kernel, X.shape[1]))
        dim = X.shape[1] + (self._form.coef0 > 0.0)
        self.projections_ = [
            random_signs(rng, self.n_components, dim) for _ in range(self._form.degree)
        ]
        return np.ones(self.n_components)

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        X = sqrt(self._form.gamma) * X
        if self._form.coef0 > 0.0:
            constant = np.full((len(X), 1), sqrt(self._form.coef0), dtype=X.dtype)
            X = np.hstack([X, constant])
        scale = np.full(self.n_components, 1.0 / sqrt(self.n_components))
        return product_features(X, self.projections_, scale)
