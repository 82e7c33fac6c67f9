"""Random Maclaurin features of dot-product kernels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bochner._numerics.arrays import Array, as_positive_scalar
from bochner.baselines._polynomials import polynomial_form, product_features, random_signs
from bochner.baselines._shell import KernelFeatures, resolved_kernel
from bochner.kernels import Kernel


class RandomMaclaurin(KernelFeatures):
    r"""Random Maclaurin features of a polynomial of the inner product.

    For :math:`k(x, y) = \sum_n a_n \langle x, y \rangle^n` every feature draws a degree ``N``
    with probability :math:`q_N \propto b^{-(N+1)}` over the degrees whose coefficient is not
    zero, and ``N`` independent vectors :math:`\omega_j` of fair signs:

    .. math:: z(x) = \sqrt{|a_N| / (q_N p)} \prod_{j=1}^{N} \omega_j \cdot x

    with ``p`` features. The estimate of the kernel is unbiased for all inputs. Degrees are
    sorted, which changes nothing in law.

    Beyond the paper, whose coefficients are not negative, features of a negative coefficient have
    the signature -1; the paper's unrestricted distribution of degrees, under which features of a
    zero coefficient would be zero, is restricted to the others.

    Parameters
    ----------
    kernel : Kernel, str or sequence of float, default="polynomial"
        :class:`~bochner.kernels.Polynomial`, :class:`~bochner.kernels.SphericalPolynomial` (whose
        inputs are on the unit sphere), the name of one, or the coefficients
        :math:`a_0, a_1, \dots`
    n_components : int, default=512
        Number of features ``p``.
    base : float, default=2.0
        :math:`b` above 1. Larger means lower degrees.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    coefficients_ : ndarray of shape (degree + 1,)
        :math:`a`.
    degrees_ : ndarray of shape (n_components,)
        The degree of every feature, ascending.
    amplitude_ : ndarray of shape (n_components,)
        The constant factor of every feature.
    projections_ : list of ndarrays of shape (count, d)
        The signs :math:`\omega_j`, one array for each ``j``, of the last ``count`` features.
    signature_ : ndarray of shape (n_components,)
        Signs of the features' coefficients.

    References
    ----------
    Kar and Karnick, "Random feature maps for dot product kernels", 2012, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.baselines import RandomMaclaurin
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> RandomMaclaurin([0.0, 1.0, -0.5], n_components=8, random_state=0).fit(X).signature_
    array([ 1.,  1.,  1.,  1.,  1., -1., -1., -1.])
    """

    def __init__(
        self,
        kernel: Kernel | str | ArrayLike = "polynomial",
        n_components: int = 512,
        *,
        base: float = 2.0,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.base = base
        self.random_state = random_state

    def _draw(self, X: NDArray[Any], rng: np.random.Generator) -> Array:
        dim = X.shape[1]
        self.coefficients_ = _coefficients(resolved_kernel(self.kernel, dim))
        probability = _probabilities(self.coefficients_, self.base)
        self.degrees_ = np.sort(rng.choice(len(probability), size=self.n_components, p=probability))
        drawn = self.coefficients_[self.degrees_]
        self.amplitude_ = np.sqrt(np.abs(drawn) / (probability[self.degrees_] * len(drawn)))
        self.projections_ = [
            random_signs(rng, int(np.count_nonzero(self.degrees_ > j)), dim)
            for j in range(self.degrees_[-1])
        ]
        return np.sign(drawn)

    def _features(self, X: NDArray[Any]) -> NDArray[Any]:
        return product_features(X, self.projections_, self.amplitude_)


def _coefficients(kernel: Any) -> Array:
    """Return the Maclaurin coefficients of a kernel, or the sequence itself, checked."""
    if callable(kernel):
        return polynomial_form(kernel).coefficients
    coefficients: Array = np.array(kernel, dtype=np.float64)
    if coefficients.ndim != 1 or not coefficients.any() or not np.isfinite(coefficients).all():
        raise ValueError(
            f"kernel must be a polynomial kernel or a flat sequence of finite coefficients, not "
            f"all zero, got {kernel!r}."
        )
    return coefficients


def _probabilities(coefficients: Array, base: Any) -> Array:
    """Return the law of degrees, geometric on those with a coefficient."""
    base = as_positive_scalar("base", base)
    if base <= 1.0:
        raise ValueError(f"base must be above 1, got {base}.")
    weight = np.where(coefficients != 0.0, base ** -(np.arange(len(coefficients)) + 1.0), 0.0)
    probability: Array = weight / weight.sum()
    return probability
