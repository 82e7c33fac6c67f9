"""Spherical random features: a positive measure for a function of the distance."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.baselines.gaussian_sums import fit_gaussian_sum
from bochner._base.arrays import Array, Floats, RandomState, as_count, as_positive_scalar
from bochner._base.checks import check_choice
from bochner._base.limits import FLOAT32_ROUNDING
from bochner._base.warn import warn_user
from bochner.features.nystroem import KernelFeatures, resolved_kernel
from bochner.features.parameters import count_frequencies
from bochner.kernels import Kernel
from bochner.spectral import Directions, Iid
from bochner.spectral.frequencies import Frequencies

# Amplitudes of a mixture are positive; a clipped sum has any, since its negative part is cut off.
_LOWEST_AMPLITUDE = MappingProxyType({"clipped": -np.inf, "mixture": 0.0})


class SphericalRandomFeatures(KernelFeatures):
    r"""Random features of the positive measure closest to a kernel on the sphere.

    The kernel is a function :math:`f(z)` of the distance on a sphere. A sum
    :math:`\sum_i c_i e^{-\gamma_i z^2}` has the spectral density
    :math:`\sum_i c_i N(\omega; 0, 2 \gamma_i I)`, whose positive part, scaled to the mass
    :math:`f(0)`, is the measure that frequencies are drawn from, independently. ``fit`` chooses
    ``c`` and :math:`\gamma` to minimise the mean square difference from ``f`` over distances
    uniform between zero and the diameter, which depends on the number of inputs but not on the
    data. Features are cosines and sines.

    The measure is positive. For a kernel whose measure is signed, features converge to
    :meth:`profile`, at the distance ``fit_error_`` from ``f``. If :math:`f(0) \leq 0` the measure
    and all features are zero, and ``fit`` warns.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="spherical_polynomial"
        A kernel that is a function of the distance, or of the inner product, on the sphere; the
        name of one; or a function ``f`` of an array of distances.
    n_components : int, default=512
        Number of real features, even: a cosine and a sine for each frequency; or 1.
    n_gaussians : int, default=10
        Number of Gaussians in the sum.
    density : {"clipped", "mixture"}, default="clipped"
        The positive part of a signed sum, as in the paper, or a sum with positive amplitudes.
    radius : float, default=1.0
        Radius of the sphere that inputs lie on, in their units. Inputs are not checked.
    n_starts : int, default=5
        Number of starts of the optimisation, whose best result is kept.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    amplitudes_, rates_ : ndarrays of shape (n_gaussians,)
        :math:`c`, and :math:`\gamma` in inverse squared units of the inputs.
    fit_error_ : float
        Root mean square of ``profile - f`` over the distances.
    frequencies_ : Frequencies
    signature_ : ndarray of ones, of shape (n_components,)

    Notes
    -----
    The measure is the paper's, for kernels of any :math:`f(0)`. Gauss-Newton steps from random
    starts and from the best mixture on a grid of rates replace the paper's L-BFGS steps from random
    starts, and a cosine and a sine its one cosine with a random phase. Lengths of frequencies are
    on a grid of 1000, in steps of 1 %.

    References
    ----------
    Pennington, Yu and Kumar, "Spherical random features for polynomial kernels", 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.baselines import SphericalRandomFeatures
    >>> from bochner.kernels import SphericalPolynomial
    >>> X = np.eye(16)
    >>> map = SphericalRandomFeatures(SphericalPolynomial(2), random_state=0).fit(X)
    >>> map.transform(X).shape, round(map.fit_error_, 2)
    ((16, 512), 0.03)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Array], Array] = "spherical_polynomial",
        n_components: int = 512,
        *,
        n_gaussians: int = 10,
        density: str = "clipped",
        radius: float = 1.0,
        n_starts: int = 5,
        random_state: RandomState = None,
    ) -> None:
        given: Any = kernel
        super().__init__(given, n_components, random_state=random_state)
        self.n_gaussians = n_gaussians
        self.density = density
        self.radius = radius
        self.n_starts = n_starts

    def profile(self, distance: object) -> Array:
        """Return the function that the features estimate, at distances of shape (n,)."""
        return self._sum(np.asarray(distance, dtype=np.float64))

    def _draw(self, X: NDArray[np.floating], rng: Generator) -> Array:
        m, dim = count_frequencies(self.n_components), X.shape[1]
        lowest = _LOWEST_AMPLITUDE[check_choice("density", self.density, _LOWEST_AMPLITUDE)]
        radius = as_positive_scalar("radius", self.radius)
        n, starts = (as_count(name, getattr(self, name)) for name in ("n_gaussians", "n_starts"))
        function = _function(resolved_kernel(self.kernel, max(dim, 2)), radius, dim, rng)
        fitted, self.fit_error_ = fit_gaussian_sum(
            lambda z: function(radius * z), dim, n, lowest, starts, rng
        )
        if fitted.mass.sum() == 0.0:
            warn_user(
                f"{self.kernel!r} is not positive at distance zero, so its closest positive "
                f"measure is zero, and all features are zero. Use KreinNystroem."
            )
        self._sum = fitted.rescaled(radius)
        self.amplitudes_, self.rates_ = self._sum.amplitude, self._sum.rate
        (directions,) = Iid().sample((Directions(dim),), m, rng)
        omega = np.asarray(directions) * self._sum.sample_radii(m, rng)[:, None]
        self.frequencies_ = Frequencies(omega, np.full(m, self._sum.mass.sum() / m))
        return np.ones(self.n_components)

    def _features(self, X: NDArray[np.floating]) -> Floats:
        return self.frequencies_.features(X)[:, : self.n_components]


def _function(kernel: object, radius: float, dim: int, rng: Generator) -> Callable[[Array], Array]:
    """Return the kernel as a function of distances of shape (n,) on the sphere."""
    if isinstance(kernel, Kernel):
        # In one dimension the sphere is two points; distances between them need a circle.
        normal = rng.standard_normal((2, max(dim, 2), 2))
        circles = [np.linalg.qr(pair)[0].T for pair in normal]
        return lambda z: _along_circles(kernel, radius, circles, z)
    if callable(kernel):
        return lambda z: _checked(kernel, z)
    raise TypeError(
        f"kernel must be a Kernel, the name of one, or a function of an array of distances, got "
        f"{kernel!r}."
    )


def _along_circles(kernel: Kernel, radius: float, circles: list[Array], distance: Array) -> Array:
    """Return kernel values on pairs of points of great circles, which must agree."""
    angle = 2.0 * np.arcsin(np.minimum(0.5 * distance / radius, 1.0))
    points = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    start = radius * np.array([[1.0, 0.0]])
    values, again = (kernel(start @ circle, points @ circle).ravel() for circle in circles)
    if np.abs(values - again).max() > FLOAT32_ROUNDING * np.abs(values).max():
        raise ValueError(
            f"{kernel!r} is not a function of the distance on the sphere, which spherical random "
            f"features require. Use KreinNystroem, which takes every symmetric kernel."
        )
    return values


def _checked(function: Callable[[Array], Array], distance: Array) -> Array:
    values = np.asarray(function(distance.copy()), dtype=np.float64)
    if values.shape != distance.shape or not np.isfinite(values).all():
        raise ValueError(
            f"The function {function!r} must return finite values of the shape of its argument, "
            f"{distance.shape}."
        )
    return values
