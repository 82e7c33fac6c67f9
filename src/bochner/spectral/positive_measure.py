r"""The measure of :math:`e^{\langle x, y \rangle}` on imaginary frequencies, adapted to rows.

With ``u`` and ``v`` the mapped centred queries and keys, and :math:`z = u + v`,

.. math:: e^{\langle u, v \rangle} = e^{-\|u\|^2/2 - \|v\|^2/2}\, E\, e^{\omega \cdot z},
          \qquad \omega \sim N(0, I).

Three choices do not change the mean: the centres of both arguments, a linear map of one argument
with the inverse transpose for the other, and the Gaussian proposal of the frequencies, with the
ratio of the densities as a weight. The variance grows exponentially with
:math:`\|z\|^2`, so maps and centres make :math:`E \|z\|^2` least, and the Gaussian is the best one
for the second moments of ``z`` that remain.
"""

from dataclasses import dataclass

import numpy as np

from bochner._base.arrays import Array, as_array, squared_norms
from bochner.spectral.choice import resolve_scheme
from bochner.spectral.laws import Chi, Isotropic
from bochner.spectral.layouts import Scheme
from bochner.spectral.positive_frequencies import PositiveFrequencies


@dataclass(frozen=True, slots=True, eq=False)
class PositiveMeasure:
    r"""Frequencies :math:`\omega \sim N(0, S^{-1})` with weights, for mapped and centred inputs.

    Parameters
    ----------
    left, right : ndarray of shapes (d, q) and (d2, q)
        Maps of queries and keys; the kernel is :math:`e^{\langle x L,\, y R \rangle}`.
    centre_left, centre_right : ndarray of shape (q,)
        Centres of the mapped rows.
    precision : ndarray of shape (q,)
        Diagonal of ``S``, greater than zero and less than two; one is the measure itself.

    References
    ----------
    Likhosherstov, Choromanski, Dubey, Liu, Sarlos and Weller, "Chefs' random tables:
    non-trigonometric random features", 2022, and "FAVOR#: sharp attention kernel approximations
    via new classes of positive random features", 2023, for other Gaussians; the geometric mean of
    covariances as the map, and the variance of opposite pairs, are derived in
    :doc:`/mathematics/positive`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral import PositiveMeasure
    >>> unit, origin = np.eye(2), np.zeros(2)
    >>> mu = PositiveMeasure(unit, unit, origin, origin, np.ones(2))
    >>> mu.relative_variance([[0.5, 0.0]], [[0.5, 0.0]], 100).round(4)  # (cosh(1) - 1) / 50
    array([[0.0109]])
    """

    left: Array
    right: Array
    centre_left: Array
    centre_right: Array
    precision: Array

    @classmethod
    def adapted(
        cls, X: Array, Y: Array, temperature: float = 1.0, *, reshaped: bool = True
    ) -> "PositiveMeasure":
        r"""Return the measure of :math:`e^{\langle x, y \rangle / T}` adapted to given rows.

        Centres are the means. Of all invertible ``M``, the root of the geometric mean
        :math:`C_x^{-1} \# C_y` of covariances makes :math:`E \|x M\|^2 + E \|y M^{-\top}\|^2`
        least. Covariances are shrunk: the mean of a covariance's diagonal is added to it, because
        directions in which the given rows hardly vary may matter in others. With ``reshaped`` the
        precision is :func:`best_precision`, and else one.

        Parameters
        ----------
        X, Y : ndarray of shapes (n, d) and (n2, d)
            Queries and keys.
        temperature : float, default=1.0
            :math:`T`, in the squared units of the inputs.
        reshaped : bool, default=True
        """
        means = X.mean(axis=0), Y.mean(axis=0)
        first, second = (_covariance(rows, mean) for rows, mean in zip((X, Y), means, strict=True))
        (shape, size), (other_shape, other_size) = _shrunk(first), _shrunk(second)
        inner, outer = _power(shape, 0.5), _power(shape, -0.5)
        mean = outer @ _power(inner @ other_shape @ inner, 0.5) @ outer
        balance = (other_size / size) ** 0.25
        left = _power(mean, 0.5) * (balance / np.sqrt(temperature))
        right = _power(mean, -0.5) / (balance * np.sqrt(temperature))
        # Axes along which the coordinates of u + v are uncorrelated
        square, axes = np.linalg.eigh(left.T @ first @ left + right.T @ second @ right)
        left, right = left @ axes, right @ axes
        precision = best_precision(square) if reshaped else np.ones(len(square))
        return cls(left, right, means[0] @ left, means[1] @ right, precision)

    def sample(
        self, m: int, rng: np.random.Generator, scheme: str | Scheme = "orthogonal"
    ) -> PositiveFrequencies:
        """Draw ``m`` frequencies, in pairs of opposite ones; the estimate is unbiased."""
        law = Isotropic(Chi(), len(self.precision))
        half = np.asarray(law.draw(-(-m // 2), rng, resolve_scheme(scheme)).omega)
        normal = np.concatenate([half, -half])[:m]
        omega = normal / np.sqrt(self.precision)
        # The logarithm of the standard normal density over that of the draw
        ratio = 0.5 * (squared_norms(normal) - squared_norms(omega))
        ratio -= 0.5 * np.log(self.precision).sum()
        return PositiveFrequencies(
            omega, ratio - np.log(m), self.left, self.right, self.centre_left, self.centre_right
        )

    def relative_variance(self, X: Array, Y: Array, m: int) -> Array:
        r"""Return variances (n, n2) of :math:`\hat k / k` from ``m`` iid frequencies, m even.

        .. math:: \frac 2m \Big[ \tfrac12 |S (2 - S)|^{-1/2}\, e^{-\|z\|^2}
                  \big(e^{2 z^\top (2 - S)^{-1} z} + 1\big) - 1 \Big]

        for :math:`m/2` pairs of opposite frequencies, which is
        :math:`(2/m)(\cosh \|z\|^2 - 1)` with :math:`S = 1`.
        """
        u = as_array(X) @ self.left - self.centre_left
        v = as_array(Y) @ self.right - self.centre_right
        z = u[:, None] + v[None]
        S = self.precision
        constant = -0.5 * np.log(S * (2.0 - S)).sum() - (z**2).sum(axis=2)
        second = 0.5 * (np.exp(constant + 2.0 * (z**2 / (2.0 - S)).sum(axis=2)) + np.exp(constant))
        return as_array((second - 1.0) * (2.0 / m))


def best_precision(square: Array) -> Array:
    r"""Return the precisions ``S`` (q,) that make the mean logarithm of the variance least.

    With :math:`\lambda_i = E z_i^2`, in each coordinate

    .. math:: -\tfrac12 \log S - \tfrac12 \log(2 - S) + \frac{2 \lambda}{2 - S}

    is convex on (0, 2), and zero is its slope where :math:`S^2 - (3 + 2 \lambda) S + 2 = 0`: the
    smaller root, one at :math:`\lambda = 0`.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner.spectral.positive_measure import best_precision
    >>> best_precision(np.array([0.0, 1.0])).round(4)
    array([1.    , 0.4384])
    """
    middle = 3.0 + 2.0 * np.maximum(square, 0.0)
    # Without the difference of the two large numbers of the usual formula
    return as_array(4.0 / (middle + np.sqrt(middle**2 - 8.0)))


def _covariance(rows: Array, mean: Array) -> Array:
    centred = rows - mean
    return as_array(centred.T @ centred / len(rows))


def _shrunk(covariance: Array) -> tuple[Array, float]:
    """Return a covariance over the mean of its diagonal, plus the identity, and that mean."""
    unit, size = np.eye(len(covariance)), float(np.trace(covariance)) / len(covariance)
    if size < np.finfo(np.float64).tiny:  # Rows that are all the same, to rounding
        return unit, 1.0
    return as_array(covariance / size + unit), size


def _power(matrix: Array, exponent: float) -> Array:
    """Return a power of a symmetric positive definite matrix."""
    values, vectors = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return as_array((vectors * values**exponent) @ vectors.T)
