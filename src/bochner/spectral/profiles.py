"""Kernels as functions of one number for each pair of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add, mul

import numpy as np

from bochner import kernels
from bochner._numerics.arrays import Array, as_array
from bochner.kernels import Domain, Metric, RealSpace, UnitSphere
from bochner.registry import fact, register

Function = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Profile:
    """A kernel's values as a function of a distance or of the inner product, its ``metric``.

    ``function`` maps an array of numbers to the kernel's values, on inputs of the ``domain``.
    """

    metric: Metric
    domain: Domain
    function: Function


def profile(kernel: object) -> Profile | None:
    """Return a kernel's profile, or ``None`` where it depends on more than one number."""
    if isinstance(kernel, kernels.Profiled):
        return Profile(kernel.metric, kernel.domain, kernel.profile)
    found = fact(type(kernel), "profile")
    made = None if found is None else found[1](kernel)
    assert made is None or isinstance(made, Profile)
    return made


def _along_a_line(kernel: kernels.Correlation, metric: Metric) -> Profile | None:
    """Return the profile of a kernel with one length scale: its values in one dimension."""
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
    known = [found for found in profiles if found is not None]
    if len(known) < len(profiles):
        return None
    domains = list(dict.fromkeys(p.domain for p in known if not isinstance(p.domain, RealSpace)))
    if len(domains) > 1:
        return None
    domain = domains[0] if domains else RealSpace()
    if isinstance(domain, UnitSphere):
        known = [_of_distance(found) for found in known]
    metrics = {found.metric for found in known}
    if len(metrics) > 1:
        return None
    functions = [found.function for found in known]
    return Profile(known[0].metric, domain, lambda t: reduce(operation, (f(t) for f in functions)))


def _of_distance(found: Profile) -> Profile:
    """Return a profile on the unit sphere as one of the Euclidean distance."""
    if found.metric is not Metric.INNER_PRODUCT:
        return found
    function = found.function
    return Profile(Metric.EUCLIDEAN, found.domain, lambda t: function(1.0 - 0.5 * t * t))


register(kernels.Laplacian, profile=lambda kernel: _along_a_line(kernel, Metric.CITY_BLOCK))
register(kernels.Sum, profile=lambda kernel: _combined(kernel.terms, add))
register(kernels.Product, profile=lambda kernel: _combined(kernel.factors, mul))
register(kernels.Scaled, profile=_scaled)
for _cls in (kernels.Gaussian, kernels.Matern, kernels.Exponential, kernels.RationalQuadratic):
    register(_cls, profile=lambda kernel: _along_a_line(kernel, Metric.EUCLIDEAN))
