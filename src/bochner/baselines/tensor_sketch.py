"""TensorSketch of polynomial kernels, by scikit-learn."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import PolynomialCountSketch

from bochner._numerics.arrays import Array, row_blocks
from bochner.baselines._polynomials import positive_form
from bochner.baselines._shell import KernelFeatures, resolved_kernel
from bochner.kernels import Kernel


class TensorSketch(KernelFeatures):
    r"""TensorSketch of :math:`(\gamma \langle x, y \rangle + c)^p`.

    A count sketch of each of ``p`` copies of :math:`(\sqrt \gamma\, x, \sqrt c)`, convolved by the
    fast Fourier transform: :class:`sklearn.kernel_approximation.PolynomialCountSketch` behind the
    interface of the other baselines. The estimate of the kernel is unbiased for all inputs.

    Parameters
    ----------
    kernel : Kernel or str, default="polynomial"
        :class:`~bochner.kernels.Polynomial` of offset zero or more,
        :class:`~bochner.kernels.SphericalPolynomial` (whose inputs are on the unit sphere), or
        the name of one.
    n_components : int, default=512
        Number of features.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    sketch_ : PolynomialCountSketch
    signature_ : ndarray of shape (n_components,)
        All ones.

    References
    ----------
    Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.baselines import TensorSketch
    >>> from bochner.kernels import SphericalPolynomial
    >>> X = np.eye(4)
    >>> map = TensorSketch(SphericalPolynomial(3), n_components=8, random_state=0).fit(X)
    >>> map.sketch_.gamma, map.sketch_.coef0, map.sketch_.degree
    (0.5, 0.5, 3)
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
        form = positive_form(resolved_kernel(self.kernel, X.shape[1]))
        self.sketch_ = PolynomialCountSketch(
            gamma=form.gamma,
            degree=form.degree,
            coef0=form.coef0,
            n_components=self.n_components,
            random_state=int(rng.integers(2**31)),
        ).fit(X)
        return np.ones(self.n_components)

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        # One complex copy for each factor exists at a time, so rows go in blocks.
        row_bytes = 16 * self.n_components * self.sketch_.degree
        blocks = [self.sketch_.transform(X[rows]) for rows in row_blocks(len(X), row_bytes)]
        return np.concatenate(blocks)
