"""Spectral measures in closed form, by kernel."""

from collections.abc import Callable, Mapping
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from bochner import kernels
from bochner._base.arrays import Array, LengthScale, as_array
from bochner._base.registry import fact, register
from bochner.kernels.categorical import Levels
from bochner.spectral.composite_laws import TwoFrequency, WithAmplitude
from bochner.spectral.feature_factors import Amplitudes, CosineFactors
from bochner.spectral.lattice_measure import Lattice
from bochner.spectral.laws import (
    Chi,
    Elliptical,
    ExponentialMagnitude,
    GammaMixture,
    Independent,
    Isotropic,
    Law,
    NoMeasureError,
    Student,
)
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.shifted_gaussian import PhaseFactor, shifted_gaussian_parts

_TRANSLATION = PhaseFactor(0.0, 1.0, 1.0)  # exp(i t)


def closed_form(kernel: object, dim: int) -> SpectralMeasure:
    """Return the spectral measure of ``kernel`` on ``dim`` inputs in closed form."""
    registered = fact(type(kernel), "closed_form", "law")
    if registered is None:
        raise NoMeasureError(
            f"No spectral measure in closed form is known for {kernel!r}; expected a kernel of "
            f"bochner.kernels, or one that bochner.register was given closed_form= or law= for."
        )
    kind, function = registered
    made = function(kernel, dim)
    name = type(kernel).__name__
    if kind == "law":
        if not isinstance(made, Law):
            raise TypeError(
                f"law= of {name} must return a Law, got {made!r:.60}; wrap it in Isotropic or "
                f"Independent."
            )
        return SpectralMeasure((Part(1.0, made),))
    if not isinstance(made, SpectralMeasure):
        raise TypeError(f"closed_form= of {name} must return a SpectralMeasure, got {made!r:.60}.")
    return made


def find_closed_form(kernel: kernels.Kernel, dim: int) -> SpectralMeasure | None:
    """Return the closed form of the measure of ``kernel``, or ``None`` if it is unknown."""
    try:
        return closed_form(kernel, dim)
    except NoMeasureError:
        return None


_LAWS: Mapping[type, Callable[[Any, int], Law]] = {
    kernels.Gaussian: lambda kernel, dim: Isotropic(Chi(), dim, kernel.length_scale),
    kernels.Matern: lambda kernel, dim: Isotropic(
        Student(2.0 * kernel.nu), dim, kernel.length_scale
    ),
    kernels.Exponential: lambda kernel, dim: Isotropic(Student(1.0), dim, kernel.length_scale),
    kernels.RationalQuadratic: lambda kernel, dim: Isotropic(
        GammaMixture(kernel.alpha), dim, kernel.length_scale
    ),
    kernels.Laplacian: lambda kernel, dim: Independent(Student(1.0), dim, kernel.length_scale),
    kernels.Cauchy: lambda kernel, dim: Independent(
        ExponentialMagnitude(), dim, kernel.length_scale
    ),
}
"""Laws of a kernel's frequencies, as functions of the kernel and the number of inputs."""


def _anova(kernel: kernels.Anova, dim: int) -> Law:
    slab = kernel.kernel
    law = closed_form(slab, 1).parts[0].law
    if not isinstance(law, Isotropic | Independent):
        raise NoMeasureError(f"No law of the frequency of one input is known for {slab!r}.")
    return Independent(
        law.radial, dim, slab.length_scale, kernel.inclusion, allow_zero=kernel.constant
    )


def _spectral_mixture(kernel: kernels.SpectralMixture, dim: int) -> SpectralMeasure:
    factors = kernel.factors().tolist()
    return SpectralMeasure(
        tuple(
            Part(weight, Elliptical(Chi(), mean, tuple(map(tuple, factor))))
            for weight, mean, factor in zip(kernel.weights, kernel.means, factors, strict=True)
        )
    )


def _sinh_gaussian(kernel: kernels.SinhGaussian, dim: int) -> SpectralMeasure:
    shift, factor = _tilt(kernel, dim)
    return _translated(kernel.length_scale, shift, PhaseFactor(1.0, 0.0, -factor))


def _cosh_gaussian(kernel: kernels.CoshGaussian, dim: int) -> SpectralMeasure:
    shift, factor = _tilt(kernel, dim)
    return _translated(kernel.length_scale, shift, _TRANSLATION.reversed() * factor)


def _tilt(kernel: kernels.SinhGaussian | kernels.CoshGaussian, dim: int) -> tuple[Array, float]:
    r"""Return the shift :math:`\ell^2 \beta` and factor :math:`\exp(\|\ell \beta\|^2 / 2)`."""
    scaled = np.broadcast_to(as_array(kernel.length_scale) * as_array(kernel.beta), dim)
    with np.errstate(over="ignore"):
        factor = float(np.exp(0.5 * scaled @ scaled))
    if not np.isfinite(factor):
        raise ValueError(
            f"The measure of {kernel!r} overflows: the norm of length_scale * beta is "
            f"{np.linalg.norm(scaled):.6g}, and must be at most 37."
        )
    return scaled * as_array(kernel.length_scale), factor


def _translated(length_scale: LengthScale, shift: Array, factor: PhaseFactor) -> SpectralMeasure:
    parts = shifted_gaussian_parts(length_scale, tuple(shift.tolist()), factor)
    return SpectralMeasure(tuple(Part(mass, law) for mass, law in parts))


def _locally_stationary(kernel: kernels.LocallyStationary, dim: int) -> SpectralMeasure:
    envelope, stationary = (closed_form(k, dim) for k in (kernel.envelope, kernel.stationary))
    centre = tuple(np.broadcast_to(kernel.centre, dim).tolist())
    return SpectralMeasure(
        tuple(
            Part(slow.mass * fast.mass, TwoFrequency(fast.law, slow.law, centre))
            for slow in envelope.parts
            for fast in stationary.parts
        )
    )


def _harmonizable(kernel: kernels.Harmonizable, dim: int) -> SpectralMeasure:
    """Return the measure of a harmonizable mixture: one positive part for each real amplitude."""
    kernel.check_dim(dim)
    parts: list[Part] = []
    every = zip(
        *map(as_array, (kernel.factors, kernel.phases, kernel.frequencies)),
        *map(as_array, (kernel.centres, kernel.inverse_widths, kernel.spreads)),
        strict=True,
    )
    for factors, phases, mu, centre, inverse, spread in every:
        window = np.diag(inverse)[None], (centre * inverse)[None]
        if len(mu) == 1:
            # With a single frequency, it is the mean and its phase cancels.
            law, total = _gaussian_law(mu[0], spread), float(np.sum(factors**2))
            coef_of_one = np.ones((1, 1))
            made = Amplitudes(
                np.zeros(1), *window, np.zeros((1, 1, dim)), coef_of_one, 0.0 * coef_of_one
            )
            parts += [Part(total, WithAmplitude(law, made))] if total else []
            continue
        law = _gaussian_law(np.zeros(dim), spread)
        for column, phase in zip(factors, phases - mu @ centre, strict=True):
            # First the amplitude's real part, then the imaginary part, a quarter turn later.
            for turn in (0.0, -0.5 * np.pi):
                total = float(np.sum(column**2))
                if not total:
                    continue
                coef = column[None] / np.sqrt(total)
                made = Amplitudes(np.zeros(1), *window, mu[None], coef, (phase + turn)[None])
                parts.append(Part(total, WithAmplitude(law, made)))
    return SpectralMeasure(tuple(parts))


def _gaussian_law(mean: Array, spread: Array) -> Law:
    """Return a Gaussian law with standard deviations ``spread``; one atom if all are zero."""
    if not spread.any():
        return Lattice(mean[None], np.ones(1), np.zeros(1))
    factor = tuple(map(tuple, np.diag(spread).tolist()))
    return Elliptical(Chi(), tuple(mean.tolist()), factor)


def _mapped(kernel: kernels.Bilinear | kernels.OnColumns, dim: int) -> SpectralMeasure:
    maps = kernel.maps(dim)
    return closed_form(kernel.kernel, maps[0].shape[1]).mapped(*maps)


def _by_lines(kernel: Levels | kernels.Periodic, dim: int) -> SpectralMeasure:
    """Return the measure of a product of kernels, one per input, whose spectra are lines."""
    lines = (
        SpectralMeasure((Part(1.0, Lattice(omega[:, None], weight, np.zeros(len(weight)))),))
        for omega, weight in kernel.lines(dim)
    )
    axes = np.eye(dim)[:, :, None]
    return reduce(
        mul, (measure.mapped(axis, axis) for measure, axis in zip(lines, axes, strict=True))
    )


def _constant(kernel: kernels.Constant, dim: int) -> SpectralMeasure:
    nothing = Lattice(np.zeros((1, dim)), np.ones(1), np.zeros(1))
    return SpectralMeasure((Part(kernel.value, nothing),))


def _linear(kernel: kernels.Linear, dim: int) -> SpectralMeasure:
    rate, phase, mass = kernel.angles(dim)
    # sin(a) = cos(a - pi/2); CosineFactors halves its vectors, hence the factor of two.
    sines = CosineFactors(np.diag(2.0 * rate), phase - 0.5 * np.pi)
    total = float(mass.sum())
    zeros = np.zeros((dim, dim))
    law = Lattice(zeros, mass / total, zeros[0], factor=sines, amplitude=kernel.angle**2)
    return SpectralMeasure((Part(total, law),))


def _white(kernel: kernels.White, dim: int) -> SpectralMeasure:
    raise ValueError(
        f"{kernel!r} has no features, since noise is a row's own. Leave it out of the kernel: in a "
        f"ridge model give alpha, the variance of the noise in units of the kernel's, or "
        f"alpha='evidence', which learns it. bochner.GaussianProcessRegressor takes it as it is."
    )


_CLOSED_FORMS: Mapping[type, Callable[[Any, int], SpectralMeasure]] = {
    kernels.SpectralMixture: _spectral_mixture,
    kernels.ShiftGaussian: lambda kernel, dim: _translated(
        kernel.length_scale, np.broadcast_to(kernel.shift, dim), _TRANSLATION
    ),
    kernels.SinhGaussian: _sinh_gaussian, kernels.CoshGaussian: _cosh_gaussian,
    kernels.Bilinear: _mapped, kernels.OnColumns: _mapped,
    Levels: _by_lines, kernels.Periodic: _by_lines,
    kernels.Constant: _constant, kernels.Linear: _linear, kernels.White: _white,
    kernels.LocallyStationary: _locally_stationary, kernels.Harmonizable: _harmonizable,
    kernels.DeltaGaussian: lambda kernel, dim: closed_form(
        kernels.Gaussian(kernel.tau1) - kernels.Gaussian(kernel.tau2), dim
    ),
    kernels.Sum: lambda kernel, dim: reduce(add, (closed_form(k, dim) for k in kernel.terms)),
    kernels.Product: lambda kernel, dim: reduce(mul, (closed_form(k, dim) for k in kernel.factors)),
    kernels.Scaled: lambda kernel, dim: kernel.factor * closed_form(kernel.kernel, dim),
}  # fmt: skip
for _cls, _form in _CLOSED_FORMS.items():
    register(_cls, closed_form=_form)
for _cls, _law in _LAWS.items():
    register(_cls, law=_law)
register(kernels.Anova, law=_anova)
