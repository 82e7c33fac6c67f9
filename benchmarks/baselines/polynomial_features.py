"""Random features of polynomial kernels: three published maps."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import binom
from sklearn.kernel_approximation import PolynomialCountSketch

from bochner._base.arrays import Array, Floats, RandomState, as_positive_scalar, row_blocks
from bochner.features.nystroem import KernelFeatures, resolved_kernel
from bochner.kernels import Kernel, Polynomial, SphericalPolynomial


class RandomMaclaurin(KernelFeatures):
    r"""Random Maclaurin features of a polynomial of the inner product.

    For :math:`k(x, y) = \sum_n a_n \langle x, y \rangle^n` each of ``p`` features draws a degree
    ``N`` with probability :math:`q_N \propto b^{-(N+1)}` among the degrees with a nonzero
    coefficient, and ``N`` independent vectors :math:`\omega_j` of random signs:

    .. math:: z(x) = \sqrt{|a_N| / (q_N p)} \prod_{j=1}^{N} \omega_j \cdot x

    The estimate of the kernel is unbiased for all inputs. Two things go beyond the paper: features
    of a negative coefficient have the signature -1, and degrees with a zero coefficient, whose
    features would be zero, are never drawn.

    Parameters
    ----------
    kernel : Kernel, str or sequence of float, default="polynomial"
        :class:`~bochner.kernels.Polynomial`, :class:`~bochner.kernels.SphericalPolynomial` (whose
        inputs are on the unit sphere), the name of one, or coefficients :math:`a_0, a_1, \dots`
    n_components : int, default=512
        Number of features ``p``.
    base : float, default=2.0
        Base :math:`b` of the degrees' probabilities, above 1. Larger means lower degrees.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    coefficients_ : ndarray of shape (degree + 1,)
        :math:`a`.
    degrees_, amplitude_ : ndarrays of shape (n_components,)
        Degree, ascending, and constant factor of each feature.
    projections_ : list of ndarrays of shape (count, d)
        Signs :math:`\omega_j`, one array for each ``j``, of the last ``count`` features.
    signature_ : ndarray of shape (n_components,)
        Signs of the features' coefficients.

    References
    ----------
    Kar and Karnick, "Random feature maps for dot product kernels", 2012, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import RandomMaclaurin
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
        random_state: RandomState = None,
    ) -> None:
        given: Any = kernel
        super().__init__(given, n_components, random_state=random_state)
        self.base = base

    def _draw(self, X: NDArray[np.floating], rng: np.random.Generator) -> Array:
        dim = X.shape[1]
        self.coefficients_ = _coefficients(resolved_kernel(self.kernel, dim))
        probability = _probabilities(self.coefficients_, self.base)
        self.degrees_ = np.sort(rng.choice(len(probability), size=self.n_components, p=probability))
        drawn = self.coefficients_[self.degrees_]
        self.amplitude_ = np.sqrt(np.abs(drawn) / (probability[self.degrees_] * len(drawn)))
        self.projections_ = [
            _random_signs(rng, int(np.count_nonzero(self.degrees_ > j)), dim)
            for j in range(self.degrees_[-1])
        ]
        return np.sign(drawn)

    def _features(self, X: NDArray[np.floating]) -> Floats:
        return _products(X, self.projections_, self.amplitude_)


class TensorizedRandomProjection(KernelFeatures):
    r"""Tensorised random projections of :math:`(\gamma \langle x, y \rangle + c)^p`.

    Each of ``m`` features is a product of ``p`` projections on independent vectors of random signs,

    .. math:: z_i(x) = \frac{1}{\sqrt m} \prod_{j=1}^{p} u_{ij} \cdot \tilde x,
              \qquad \tilde x = (\sqrt \gamma\, x, \sqrt c):

    the paper's sketch of the tensor product of ``p`` copies of one vector, without its initial
    count sketch of the inputs. A constant ``c`` of zero adds no column. The estimate of the kernel
    is unbiased for all inputs.

    Parameters
    ----------
    kernel : Kernel or str, default="polynomial"
        :class:`~bochner.kernels.Polynomial` with an offset of zero or more,
        :class:`~bochner.kernels.SphericalPolynomial` (whose inputs are on the unit sphere), or
        the name of one.
    n_components : int, default=512
        Number of features ``m``.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    projections_ : list of ndarrays of shape (n_components, d) or (n_components, d + 1)
        Signs :math:`u`, one array for each of the ``p`` factors.
    signature_ : ndarray of ones, of shape (n_components,)

    References
    ----------
    Meister, Sarlos and Woodruff, "Tight dimensionality reduction for sketching low degree
    polynomial kernels", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import TensorizedRandomProjection
    >>> from bochner.kernels import Polynomial
    >>> X = np.random.default_rng(0).normal(size=(5, 3))
    >>> map = TensorizedRandomProjection(Polynomial(2), n_components=8, random_state=0).fit(X)
    >>> map.transform(X).shape, len(map.projections_)
    ((5, 8), 2)
    """

    def _draw(self, X: NDArray[np.floating], rng: np.random.Generator) -> Array:
        self._form = _positive_form(resolved_kernel(self.kernel, X.shape[1]))
        _, constant, degree = self._form
        dim = X.shape[1] + (constant > 0.0)
        self.projections_ = [_random_signs(rng, self.n_components, dim) for _ in range(degree)]
        return np.ones(self.n_components)

    def _features(self, X: NDArray[np.floating]) -> Floats:
        gamma, constant, _ = self._form
        X = sqrt(gamma) * X
        if constant > 0.0:
            X = np.hstack([X, np.full((len(X), 1), sqrt(constant), dtype=X.dtype)])
        scale = np.full(self.n_components, 1.0 / sqrt(self.n_components))
        return _products(X, self.projections_, scale)


class TensorSketch(KernelFeatures):
    r"""TensorSketch of :math:`(\gamma \langle x, y \rangle + c)^p`.

    A count sketch of each of ``p`` copies of :math:`(\sqrt \gamma\, x, \sqrt c)`, convolved by the
    fast Fourier transform: :class:`sklearn.kernel_approximation.PolynomialCountSketch` with the
    interface of the other baselines. The estimate of the kernel is unbiased for all inputs.

    Parameters
    ----------
    kernel, n_components, random_state
        As for :class:`TensorizedRandomProjection`.

    Attributes
    ----------
    sketch_ : PolynomialCountSketch
    signature_ : ndarray of ones, of shape (n_components,)

    References
    ----------
    Pham and Pagh, "Fast and scalable polynomial kernels via explicit feature maps", 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import TensorSketch
    >>> from bochner.kernels import SphericalPolynomial
    >>> X = np.eye(4)
    >>> map = TensorSketch(SphericalPolynomial(3), n_components=8, random_state=0).fit(X)
    >>> map.sketch_.gamma, map.sketch_.coef0, map.sketch_.degree
    (0.5, 0.5, 3)
    """

    def _draw(self, X: NDArray[np.floating], rng: np.random.Generator) -> Array:
        gamma, constant, degree = _positive_form(resolved_kernel(self.kernel, X.shape[1]))
        self.sketch_ = PolynomialCountSketch(
            gamma=gamma,
            degree=degree,
            coef0=constant,
            n_components=self.n_components,
            random_state=int(rng.integers(2**31)),
        ).fit(X)
        return np.ones(self.n_components)

    def _features(self, X: NDArray[np.floating]) -> Floats:
        # A complex copy of the features exists for each factor, so rows go in blocks.
        row_bytes = 16 * self.n_components * self.sketch_.degree
        blocks = [self.sketch_.transform(X[rows]) for rows in row_blocks(len(X), row_bytes)]
        return np.concatenate(blocks)


def polynomial_form(kernel: object) -> tuple[float, float, int]:
    r"""Return :math:`\gamma`, ``c`` and ``p`` of :math:`(\gamma \langle x, y \rangle + c)^p`.

    Raises ``TypeError`` for an object that is not a polynomial kernel.
    """
    if isinstance(kernel, Polynomial):
        return 1.0, kernel.offset, kernel.degree
    if isinstance(kernel, SphericalPolynomial):
        # On the unit sphere, where z^2 = 2 - 2 <x, y>.
        return 2.0 / kernel.a**2, 1.0 - 2.0 / kernel.a**2, kernel.degree
    raise TypeError(
        f"This map needs a polynomial kernel, bochner.kernels.Polynomial or SphericalPolynomial, "
        f"got {kernel!r}. Use KreinNystroem, which takes every symmetric kernel."
    )


def _positive_form(kernel: object) -> tuple[float, float, int]:
    """Return the form of a polynomial kernel, whose constant must not be negative."""
    form = polynomial_form(kernel)
    if form[1] < 0.0:
        raise ValueError(
            f"{kernel!r} has the negative constant {form[1]:g}, which makes it indefinite, but "
            f"the features of this map are all positive. Use RandomMaclaurin or KreinNystroem."
        )
    return form


def _coefficients(kernel: object) -> Array:
    """Return the Maclaurin coefficients of a kernel, or the sequence itself, checked."""
    if callable(kernel):
        gamma, constant, degree = polynomial_form(kernel)
        n = np.arange(degree + 1)
        return np.asarray(binom(degree, n) * gamma**n * constant ** (degree - n))
    try:
        coefficients: Array = np.array(kernel, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"kernel must be a polynomial kernel or a flat sequence of finite coefficients, not "
            f"all zero, got {kernel!r}."
        ) from error
    if coefficients.ndim != 1 or not coefficients.any() or not np.isfinite(coefficients).all():
        raise ValueError(
            f"kernel must be a polynomial kernel or a flat sequence of finite coefficients, not "
            f"all zero, got {kernel!r}."
        )
    return coefficients


def _probabilities(coefficients: Array, base: object) -> Array:
    """Return geometric probabilities of the degrees with a nonzero coefficient."""
    base = as_positive_scalar("base", base)
    if base <= 1.0:
        raise ValueError(f"base must be above 1, got {base}.")
    weight = np.where(coefficients != 0.0, base ** -(np.arange(len(coefficients)) + 1.0), 0.0)
    return np.asarray(weight / weight.sum())


def _random_signs(rng: np.random.Generator, count: int, dim: int) -> Array:
    return rng.choice(np.array([-1.0, 1.0]), size=(count, dim))


def _products(X: NDArray[np.floating], projections: Sequence[Array], amplitude: Array) -> Floats:
    """Return products of projections of rows, (n, p), in the precision of ``X``.

    Each array of ``projections`` (count, d) multiplies the last ``count`` features.
    """
    Z = np.tile(amplitude.astype(X.dtype), (len(X), 1))
    for projection in projections:
        Z[:, -len(projection) :] *= X @ projection.T.astype(X.dtype)
    return Z
