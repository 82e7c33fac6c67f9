"""What every spectral measure obeys."""

from dataclasses import replace
from functools import singledispatch

import numpy as np
from laws.references import components, reference
from numpy.testing import assert_allclose
from scipy import stats
from scipy.special import betainc, gamma, jv
from scipy.stats import chi2, kstest

from bochner import kernels, spectral_measure
from bochner.spectral import Elliptical, Iid, Independent, Isotropic
from bochner.spectral.composite_laws import Convolution, Mapped

FAMILY_ALPHA = 1e-3
"""Chance that a whole battery of goodness-of-fit tests rejects a right implementation."""


def sphere_mean(u, dim):
    r"""The mean of cos(u e.v) over unit vectors v in ``dim`` dimensions."""
    order = dim / 2.0 - 1.0
    safe = np.maximum(u, 1e-8)
    return np.where(u < 1e-8, 1.0, gamma(dim / 2.0) * (2.0 / safe) ** order * jv(order, safe))


def quadrature(dim):
    """Nodes (N, dim) and weights (N,) on the cube, dense towards its faces.

    A midpoint rule after u = t - sin(2 pi t) / (2 pi), so that the heavy tails of a quantile
    function are resolved: errors stay below 1e-4 for the Cauchy law.
    """
    n = 2**13 if dim == 1 else 2**7
    t = (np.arange(n) + 0.5) / n
    u = np.clip(t - np.sin(2.0 * np.pi * t) / (2.0 * np.pi), 2.0**-53, 1.0 - 2.0**-53)
    weight = (1.0 - np.cos(2.0 * np.pi * t)) / n
    if dim == 1:
        return u[:, None], weight
    return np.stack(np.meshgrid(u, u), -1).reshape(-1, 2), np.outer(weight, weight).ravel()


@singledispatch
def characteristic_function(law, lag):
    """The mean of cos(omega . lag), by quadrature over the uniforms behind ``omega``."""
    raise TypeError(f"no quadrature for {law!r}")


@characteristic_function.register
def _(law: Isotropic, lag):
    return _elliptical(law, np.zeros(law.dim), lag / np.asarray(law.length_scale), lag)


@characteristic_function.register
def _(law: Elliptical, lag):
    mean = np.asarray(law.mean)
    return np.cos(mean @ lag) * _elliptical(law, mean, np.asarray(law.factor).T @ lag, lag)


def _elliptical(law, mean, along, lag):
    # One of all directions is assembled, along the lag; Bessel's factor averages the others.
    nodes, weight = quadrature(law.layout[1].dim)
    direction = np.tile(along / np.linalg.norm(along), (len(nodes), 1))
    projection = (law.assemble([direction, nodes]) - mean) @ lag
    return weight @ sphere_mean(projection, law.dim)


@characteristic_function.register
def _(law: Independent, lag):
    if not law.allow_zero:
        zero = np.prod(1.0 - np.broadcast_to(law.inclusion, law.dim))
        return (characteristic_function(replace(law, allow_zero=True), lag) - zero) / (1.0 - zero)
    extra = sum(block.dim for block in law.layout[1:]) // law.dim
    nodes, weight = quadrature(1 + extra)
    blocks = [np.repeat(column[:, None], law.dim, axis=1) for column in nodes.T]
    return np.prod(weight @ np.cos(law.assemble(blocks) * lag))


@characteristic_function.register
def _(law: Mapped, lag):
    return characteristic_function(law.law, law.left.T @ lag)


@characteristic_function.register
def _(law: Convolution, lag):
    return np.prod([characteristic_function(part, lag) for part in law.laws])


def check_mass(case):
    """The mass is k(0), and the total variation of a positive measure."""
    measure = spectral_measure(case.kernel, case.dim)
    at_zero = float(reference(case.kernel, np.zeros(case.dim)))
    assert_allclose(measure.mass, at_zero, rtol=1e-12)
    assert_allclose(measure.total_variation, at_zero, rtol=1e-12)
    assert measure.max_error == 0.0
    assert measure.dim == case.dim


def check_transform(case):
    """The transform of the measure is the kernel, off the axes."""
    measure = spectral_measure(case.kernel, case.dim)
    for lag in case.lags()[1::2]:
        transform = sum(
            part.mass * characteristic_function(part.law, lag) for part in measure.parts
        )
        assert_allclose(transform, reference(case.kernel, lag), atol=2e-4 * measure.mass, rtol=0)


def check_homomorphism(case):
    """Sums, products and multiples of kernels are those of their measures."""
    k, other = case.kernel, kernels.Gaussian(0.4) + 3.0 * kernels.Laplacian(1.1)
    mu, nu = (spectral_measure(kernel, case.dim) for kernel in (k, other))
    assert spectral_measure(k + other, case.dim) == mu + nu
    assert spectral_measure(k * other, case.dim) == mu * nu
    assert spectral_measure(2.5 * k, case.dim) == 2.5 * mu == mu * 2.5
    assert_allclose((mu + nu).mass, mu.mass + nu.mass)
    assert_allclose((mu * nu).mass, mu.mass * nu.mass)


def check_parts(case):
    """A measure has one part for every product of summands, in their order."""
    measure = spectral_measure(case.kernel, case.dim)
    expected = [mass for mass, _ in components(case.kernel)]
    assert_allclose([part.mass for part in measure.parts], expected, rtol=1e-12)


CHECKS = (check_mass, check_transform, check_homomorphism, check_parts)

N_DRAWS = 5_000


def radial_distribution(kernel, dim):
    """The distribution function of one frequency's norm, at unit length scale."""
    if isinstance(kernel, kernels.Gaussian):
        return stats.chi(dim).cdf
    if isinstance(kernel, kernels.Exponential):
        return radial_distribution(kernels.Matern(nu=0.5), dim)
    if isinstance(kernel, kernels.Matern):
        dof = 2.0 * kernel.nu
        return lambda r: betainc(dim / 2.0, dof / 2.0, r**2 / (dof + r**2))
    # The rational quadratic: a chi variable times the root of a Gamma variable, by a fine grid.
    quantiles = (np.arange(400) + 0.5) / 400
    variance = stats.gamma(kernel.alpha).ppf(quantiles) / kernel.alpha
    return lambda r: chi2(dim).cdf(r[:, None] ** 2 / variance).mean(axis=1)


def coordinate_distribution(kernel):
    """The distribution function of one coordinate, for kernels that are products."""
    return {kernels.Laplacian: stats.cauchy.cdf, kernels.Cauchy: stats.laplace.cdf}[type(kernel)]


def check_radius(case, alpha):
    """Norms of frequencies follow the radial law (Kolmogorov-Smirnov)."""
    omega = _standardised(case)
    p_value = kstest(
        np.linalg.norm(omega, axis=1), radial_distribution(case.kernel, case.dim)
    ).pvalue
    assert p_value > alpha, p_value


def check_coordinates(case, alpha):
    """Coordinates of frequencies follow their law, and are independent of one another."""
    omega = _standardised(case)
    uniform = coordinate_distribution(case.kernel)(omega)
    p_values = [kstest(column, "uniform").pvalue for column in uniform.T]
    if case.dim > 1:
        # Magnitudes, not only signs: a shared chi-square leaves signs independent.
        size = np.abs(2.0 * uniform - 1.0)
        p_values.append(stats.pearsonr(size[:, 0], size[:, 1]).pvalue)
    assert min(p_values) > alpha / len(p_values), p_values


def check_inclusion(case, alpha):
    """Each coordinate is zero with probability one minus its inclusion, independently.

    Without the constant, given that some coordinate is not zero.
    """
    law = spectral_measure(case.kernel, case.dim).parts[0].law
    present = law.draw(N_DRAWS, case.rng("inclusion"), Iid()).omega != 0.0
    inclusion = np.broadcast_to(case.kernel.inclusion, case.dim)
    some = 1.0 if case.kernel.constant else 1.0 - np.prod(1.0 - inclusion)
    assert case.kernel.constant or present.any(axis=1).all()
    p_values = [
        stats.binomtest(int(count), N_DRAWS, min(pi / some, 1.0)).pvalue
        for count, pi in zip(present.sum(axis=0), inclusion, strict=True)
    ]
    if case.dim > 1:
        both = int((present[:, 0] & present[:, 1]).sum())
        p_values.append(stats.binomtest(both, N_DRAWS, inclusion[0] * inclusion[1] / some).pvalue)
    assert min(p_values) > alpha / len(p_values), p_values


def _standardised(case):
    measure = spectral_measure(case.kernel, case.dim)
    omega = measure.sample(N_DRAWS, case.rng("radius"), "iid").omega
    return omega * np.asarray(case.kernel.length_scale)
