"""Kernels as functions of a distance or inner product, and the range that data cover."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from bochner import kernels
from bochner._base.arrays import Array, InputRows, as_array, dense_rows, squared_norms
from bochner._base.limits import FUNCTION_ROUNDING
from bochner._base.registry import fact, register
from bochner.kernels import Domain, Metric, NonNegative, RealSpace, UnitSphere
from bochner.spectral.atoms import Atoms, CityBlockExponentials, DampedGaussians, Shells

_ROWS = 1000  # half a million pairs, 4 MB
_PAIRS = 400  # quantiles of distances; the time of a design is linear in them
_OWN = 20  # quantiles of the norms, for the diagonal of a Gram matrix
_EQUAL_NORMS = 1e-5  # relative difference of norms that count as equal


@dataclass(frozen=True, slots=True)
class Pairs:
    """Quantiles of distances and inner products of rows; hashable, so that designs are cached."""

    distance: tuple[float, ...]
    inner: tuple[float, ...]
    reach: float
    least_inner: float
    squared_norms: tuple[float, ...]
    n_rows: int
    norm: float
    spherical: bool

    @classmethod
    def of_rows(cls, X: InputRows, metric: Metric, rng: np.random.Generator) -> "Pairs":
        """Return the pairs among at most 1000 random rows of ``X`` (n, d), dense or sparse."""
        norms = np.sqrt(squared_norms(X))
        rows = np.arange(X.shape[0])
        if len(rows) > _ROWS:
            rows = np.sort(rng.choice(rows, _ROWS, replace=False))
        sample = dense_rows(X, rows)
        if metric is Metric.EUCLIDEAN:
            return cls.of_distances(pdist(sample, "euclidean"), metric)
        if metric is Metric.CITY_BLOCK:
            return cls.of_distances(pdist(sample, "cityblock"), metric)
        spherical = bool(norms.min() >= (1.0 - _EQUAL_NORMS) * norms.max())
        i, j = np.triu_indices(len(sample), k=1)
        inner = (sample @ sample.T)[i, j]
        distance = np.sqrt(np.maximum(norms[rows[i]] ** 2 + norms[rows[j]] ** 2 - 2 * inner, 0.0))
        return cls._thinned(distance, inner, norms[rows] ** 2, float(norms.max()), spherical)

    @classmethod
    def of_distances(cls, distances: ArrayLike, metric: Metric) -> "Pairs":
        """Return the pairs with these distances, of any shape, finite and not negative."""
        flat = np.asarray(distances, dtype=np.float64).ravel()
        if not (np.isfinite(flat).all() and (flat >= 0.0).all()):
            raise ValueError("distances must be finite and not negative.")
        if metric is Metric.INNER_PRODUCT:
            return cls._thinned(flat, 1.0 - 0.5 * flat**2, np.ones(1), 1.0, True)
        return cls._thinned(flat, None, np.empty(0), 0.0, False)

    @classmethod
    def of_sphere(cls) -> "Pairs":
        """Return pairs at all possible distances on the unit sphere."""
        return cls.of_distances(np.linspace(0.0, 2.0, _PAIRS), Metric.INNER_PRODUCT)

    @classmethod
    def _thinned(
        cls,
        distance: Array,
        inner: Array | None,
        squared_norms: Array,
        norm: float,
        spherical: bool,
    ) -> "Pairs":
        if not distance.size:
            distance, inner = np.zeros(1), None if inner is None else np.full(1, norm**2)
        order = np.argsort(distance if inner is None else -inner, kind="stable")
        places = order[_quantiles(len(order), _PAIRS)]
        squared_norms = np.sort(squared_norms)[_quantiles(len(squared_norms), _OWN)]
        return cls(
            distance=tuple(distance[places].tolist()),
            inner=() if inner is None else tuple(inner[places].tolist()),
            reach=float(distance.max()),
            least_inner=0.0 if inner is None else float(inner.min()),
            squared_norms=tuple(squared_norms.tolist()),
            n_rows=round(0.5 + np.sqrt(0.25 + 2.0 * len(distance))),
            norm=norm,
            spherical=spherical,
        )


def _quantiles(n: int, most: int) -> NDArray[np.intp]:
    """Return the indices of at most ``most`` evenly spaced quantiles among ``n`` sorted values."""
    count = min(most, n)
    return ((np.arange(count) + 0.5) / max(count, 1) * n).astype(np.intp)


Function = Callable[[Array], Array]

_BISECTIONS = 40  # 2**-40 of a grid step: a continuous function differs by rounding there
_JUMP = 1e-3  # least jump, as a share of the function's range
# Multiples of the reach: checked densely from 1 to 3, sparsely from 3 to 100.
_OUTSIDE = (1.0, 3.0, 100.0)


@dataclass(frozen=True, slots=True)
class Profile:
    """A kernel as a function of one number, the distance or inner product ``metric``.

    ``function`` maps an array of numbers to the kernel's values, on inputs of the ``domain``.
    """

    metric: Metric
    domain: Domain
    function: Function


def profile(kernel: object) -> Profile | None:
    """Return a kernel's profile; ``None`` unless it depends on one distance or inner product."""
    if isinstance(kernel, kernels.Profiled):
        return Profile(kernel.metric, kernel.domain, kernel.profile)
    registered = fact(type(kernel), "profile")
    made = None if registered is None else registered[1](kernel)
    assert made is None or isinstance(made, Profile)
    return made


def _along_a_line(kernel: kernels.Correlation, metric: Metric) -> Profile | None:
    """Return the profile of a kernel with one length scale, from its values in one dimension."""
    if isinstance(kernel.length_scale, tuple):
        return None

    def function(t: Array) -> Array:
        flat = kernel.evaluate(np.zeros((1, 1)), np.ravel(t)[:, None])[0]
        return as_array(flat.reshape(np.shape(t)))

    return Profile(metric, RealSpace(), function)


def _scaled(kernel: kernels.Scaled) -> Profile | None:
    inner = profile(kernel.kernel)
    if inner is None:
        return None
    function = inner.function
    return Profile(inner.metric, inner.domain, lambda t: kernel.factor * function(t))


def _combined(
    members: tuple[kernels.Kernel, ...], operation: Callable[[Array, Array], Array]
) -> Profile | None:
    profiles = [profile(member) for member in members]
    usable = [member_profile for member_profile in profiles if member_profile is not None]
    if len(usable) < len(profiles):
        return None
    domains = list(dict.fromkeys(p.domain for p in usable if not isinstance(p.domain, RealSpace)))
    if len(domains) > 1:
        return None
    domain = domains[0] if domains else RealSpace()
    if isinstance(domain, UnitSphere):
        usable = [_of_distance(member_profile) for member_profile in usable]
    metrics = {member_profile.metric for member_profile in usable}
    if len(metrics) > 1:
        return None
    functions = [member_profile.function for member_profile in usable]
    return Profile(usable[0].metric, domain, lambda t: reduce(operation, (f(t) for f in functions)))


def _of_distance(profile_on_sphere: Profile) -> Profile:
    """Convert a profile on the unit sphere to a function of the Euclidean distance."""
    if profile_on_sphere.metric is not Metric.INNER_PRODUCT:
        return profile_on_sphere
    function = profile_on_sphere.function
    return Profile(
        Metric.EUCLIDEAN, profile_on_sphere.domain, lambda t: function(1.0 - 0.5 * t * t)
    )


register(kernels.Laplacian, profile=lambda kernel: _along_a_line(kernel, Metric.CITY_BLOCK))
register(kernels.Sum, profile=lambda kernel: _combined(kernel.terms, add))
register(kernels.Product, profile=lambda kernel: _combined(kernel.factors, mul))
register(kernels.Scaled, profile=_scaled)
for _cls in (kernels.Gaussian, kernels.Matern, kernels.Exponential, kernels.RationalQuadratic):
    register(_cls, profile=lambda kernel: _along_a_line(kernel, Metric.EUCLIDEAN))


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """The input of a design: a function of a distance, the atoms to fit, and the data's range.

    ``distance`` and ``damping`` (n_pairs,) belong to the sampled pairs; ``weight`` and ``distinct``
    (n_pairs,) are their shares of all entries of a Gram matrix, and of those off its diagonal. The
    function is fitted from zero to ``reach``; ``limit`` is the greatest possible distance.
    """

    function: Function
    atoms: Atoms
    distance: Array
    damping: Array
    weight: Array
    distinct: Array
    reach: float
    limit: float

    @classmethod
    def of(cls, profile: Profile, pairs: Pairs, dim: int, margin: float) -> "Geometry":
        """Return the geometry of a kernel on data, with the reach enlarged by ``margin``."""
        zeros = np.zeros(max(len(pairs.squared_norms), 1))
        distance = np.concatenate([zeros, pairs.distance])
        diagonal = 1.0 / pairs.n_rows
        weight = np.full(len(distance), (1.0 - diagonal) / len(pairs.distance))
        weight[: len(zeros)] = diagonal / len(zeros)
        distinct = weight.copy()
        if pairs.n_rows > 1:
            distinct[: len(zeros)] = 0.0
            distinct /= distinct.sum()
        no_damping = np.zeros_like(distance)
        f = profile.function
        if profile.metric is Metric.CITY_BLOCK:
            reach = _reach(pairs.reach * margin, np.inf)
            atoms: Atoms = CityBlockExponentials(dim)
            return cls(f, atoms, distance, no_damping, weight, distinct, reach, np.inf)
        if profile.metric is Metric.EUCLIDEAN:
            limit = 2.0 if isinstance(profile.domain, UnitSphere) else np.inf
            reach = _reach(pairs.reach * margin, limit)
            return cls(f, Shells(dim), distance, no_damping, weight, distinct, reach, limit)
        if pairs.spherical or isinstance(profile.domain, UnitSphere):
            radius, lifted, damping = pairs.norm, distance, no_damping
            atoms = Shells(dim, radius)
        else:
            radius = pairs.norm * np.sqrt(margin) or 1.0
            atoms = DampedGaussians(dim, radius)
            inner = np.concatenate([pairs.squared_norms, pairs.inner])
            lifted = np.sqrt(np.maximum(2.0 * (radius**2 - inner), 0.0))
            damping = np.maximum(lifted**2 - distance**2, 0.0)
        right_angle = isinstance(profile.domain, NonNegative)
        limit = (np.sqrt(2.0) if right_angle else 2.0) * radius
        least = pairs.least_inner - (margin - 1.0) * (pairs.norm**2 - pairs.least_inner)
        farthest = np.sqrt(max(2.0 * (radius**2 - least), 0.0))
        possible = lifted <= limit
        return cls(
            lambda z: f(radius**2 - 0.5 * z * z),
            atoms,
            lifted[possible],
            damping[possible],
            weight[possible] / weight[possible].sum(),
            distinct[possible] / distinct[possible].sum(),
            _reach(farthest, limit),
            limit,
        )

    def inside(self, n: int) -> Array:
        """Return a grid of about ``n`` distances up to the reach, denser towards zero."""
        unit = np.r_[np.linspace(0.0, 1.0, n - n // 5), np.geomspace(1e-4, 0.1, n // 5)]
        return np.unique(self.reach * unit)

    def outside(self, n: int) -> Array:
        """Return a grid of distances beyond the reach, where the fit must stay bounded."""
        if isinstance(self.atoms, Shells) and np.isfinite(self.limit):
            steps = np.linspace(self.reach, self.limit, n + 1)[1:]
            return steps if self.reach < self.limit else steps[:0]
        near, middle, far = _OUTSIDE
        half = n // 2 + 1
        unit = np.r_[np.linspace(near, middle, half)[1:], np.geomspace(middle, far, half)[1:]]
        return as_array(self.reach * unit)

    def lasting(self, scales: Array) -> NDArray[np.bool_]:
        """Return a mask of the atoms whose features do not vanish far from the data."""
        if isinstance(self.atoms, Shells) and np.isfinite(self.limit):
            return np.zeros(len(scales), dtype=np.bool_)
        return np.array([self.atoms.envelope(scale)[1] == 0.0 for scale in scales.tolist()])

    def largest_value(self, inside: Array) -> float:
        """Return the greatest absolute value of the function up to three times the reach."""
        greatest = float(np.abs(inside).max())
        end = min(_OUTSIDE[1] * self.reach, self.limit)
        try:
            beyond = self.function(np.linspace(self.reach, end, 101))
        except ValueError:  # the function is not defined there
            return greatest
        return max(greatest, float(np.abs(beyond[np.isfinite(beyond)]).max(initial=0.0)))

    def check(self) -> None:
        """Raise ``ValueError`` unless the function is finite and continuous where it is fitted."""
        grid = np.linspace(0.0, self.reach, 2049)
        values = self.function(grid)
        if not np.isfinite(values).all():
            where = grid[~np.isfinite(values)][0]
            raise ValueError(
                f"The kernel's function is {values[~np.isfinite(values)][0]} at the distance "
                f"{where:.6g}; it must be finite for distances from 0 to {self.reach:.6g}, as far "
                f"as the data reach. Scale the inputs, or define the function there."
            )
        at, jump = _greatest_jump(self.function, grid, values)
        if jump > max(_JUMP * np.ptp(values), FUNCTION_ROUNDING * np.abs(values).max()):
            raise ValueError(
                f"The kernel's function jumps by {jump:.4g} at the distance {at:.6g}; a finite "
                f"measure has a continuous transform, so features need a continuous function. "
                f"Smooth the step, or use least-squares weights with a callable kernel. A steep "
                f"function looks like a step if the rows reach far, here to {self.reach:.4g}: "
                f"scale X by a smaller factor, or give the kernel a longer scale."
            )


def _reach(distance: float, limit: float) -> float:
    return float(min(distance, limit)) or 1.0


def _greatest_jump(function: Function, grid: Array, values: Array) -> tuple[float, float]:
    """Return the location and size of the greatest jump, refined by bisection."""
    i = int(np.argmax(np.abs(np.diff(values))))
    low, high = grid[i], grid[i + 1]
    at_low, at_high = values[i], values[i + 1]
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        at_middle = function(np.array([middle]))[0]
        if abs(at_middle - at_low) > abs(at_high - at_middle):
            high, at_high = middle, at_middle
        else:
            low, at_low = middle, at_middle
    return float(high), float(abs(at_high - at_low))
