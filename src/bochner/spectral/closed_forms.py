"""The spectral measure of every kernel that has one in closed form."""

from functools import reduce, singledispatch
from operator import add, mul

import numpy as np

from bochner import kernels
from bochner._numerics.arrays import Array, LengthScale, as_array
from bochner.spectral.laws import Elliptical, Independent, Isotropic, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.modulated import modulated
from bochner.spectral.modulation import Modulation
from bochner.spectral.radial import Chi, ExponentialMagnitude, GammaMixture, RadialLaw, Student
from bochner.spectral.two_frequency import TwoFrequency
from bochner.spectral.wave_atoms import wave_atoms

_TRANSLATION = Modulation(0.0, 1.0, 1.0)  # exp(i t)


class UnknownClosedFormError(TypeError):
    """No spectral measure in closed form is known for a kernel."""


@singledispatch
def closed_form(kernel: object, dim: int) -> SpectralMeasure:
    """Return the closed form for ``kernel``; register a new kernel's here."""
    raise UnknownClosedFormError(
        f"No spectral measure in closed form is known for {kernel!r}; expected a kernel of "
        f"bochner.kernels, or a type registered with bochner.spectral.closed_form.register."
    )


@singledispatch
def radial_law(kernel: object) -> RadialLaw:
    """Return the law of one frequency's magnitude, for kernels that have an isotropic law."""
    raise TypeError(f"No radial law is known for {kernel!r}.")


@radial_law.register
def _(kernel: kernels.Gaussian) -> RadialLaw:
    return Chi()


@radial_law.register
def _(kernel: kernels.Matern) -> RadialLaw:
    return Student(2.0 * kernel.nu)


@radial_law.register(kernels.Exponential)
@radial_law.register(kernels.Laplacian)
def _(kernel: kernels.Exponential | kernels.Laplacian) -> RadialLaw:
    return Student(1.0)


@radial_law.register
def _(kernel: kernels.RationalQuadratic) -> RadialLaw:
    return GammaMixture(kernel.alpha)


@radial_law.register
def _(kernel: kernels.Cauchy) -> RadialLaw:
    return ExponentialMagnitude()


def _probability(law: Law) -> SpectralMeasure:
    return SpectralMeasure((Part(1.0, law),))


@closed_form.register(kernels.Gaussian)
@closed_form.register(kernels.Matern)
@closed_form.register(kernels.Exponential)
@closed_form.register(kernels.RationalQuadratic)
def _(kernel: kernels.Correlation, dim: int) -> SpectralMeasure:
    return _probability(Isotropic(radial_law(kernel), dim, kernel.length_scale))


@closed_form.register(kernels.Laplacian)
@closed_form.register(kernels.Cauchy)
def _(kernel: kernels.Correlation, dim: int) -> SpectralMeasure:
    return _probability(Independent(radial_law(kernel), dim, kernel.length_scale))


@closed_form.register
def _(kernel: kernels.Anova, dim: int) -> SpectralMeasure:
    slab = kernel.kernel
    law = Independent(
        radial_law(slab), dim, slab.length_scale, kernel.inclusion, allow_zero=kernel.constant
    )
    return _probability(law)


@closed_form.register
def _(kernel: kernels.SpectralMixture, dim: int) -> SpectralMeasure:
    factors = kernel.factors().tolist()
    return SpectralMeasure(
        tuple(
            Part(weight, Elliptical(Chi(), mean, tuple(map(tuple, factor))))
            for weight, mean, factor in zip(kernel.weights, kernel.means, factors, strict=True)
        )
    )


@closed_form.register
def _(kernel: kernels.ShiftGaussian, dim: int) -> SpectralMeasure:
    return _translated(kernel.length_scale, np.broadcast_to(kernel.shift, dim), _TRANSLATION)


@closed_form.register
def _(kernel: kernels.SinhGaussian, dim: int) -> SpectralMeasure:
    shift, factor = _tilt(kernel, dim)
    return _translated(kernel.length_scale, shift, Modulation(1.0, 0.0, -factor))


@closed_form.register
def _(kernel: kernels.CoshGaussian, dim: int) -> SpectralMeasure:
    shift, factor = _tilt(kernel, dim)
    return _translated(kernel.length_scale, shift, _TRANSLATION.reversed() * factor)


def _tilt(kernel: kernels.SinhGaussian | kernels.CoshGaussian, dim: int) -> tuple[Array, float]:
    r"""Return :math:`\ell^2 \beta` and :math:`\exp(\|\ell \beta\|^2 / 2)`."""
    scaled = np.broadcast_to(as_array(kernel.length_scale) * as_array(kernel.beta), dim)
    with np.errstate(over="ignore"):
        factor = float(np.exp(0.5 * scaled @ scaled))
    if not np.isfinite(factor):
        raise ValueError(
            f"The measure of {kernel!r} overflows: the norm of length_scale * beta is "
            f"{np.linalg.norm(scaled):.6g}, and must be at most 37."
        )
    return scaled * as_array(kernel.length_scale), factor


def _translated(length_scale: LengthScale, shift: Array, modulation: Modulation) -> SpectralMeasure:
    parts = modulated(length_scale, tuple(shift.tolist()), modulation)
    return SpectralMeasure(tuple(Part(mass, law) for mass, law in parts))


@closed_form.register
def _(kernel: kernels.Bilinear, dim: int) -> SpectralMeasure:
    inner = closed_form(kernel.kernel, kernel.left.shape[1])
    return inner.mapped(kernel.left, kernel.right)


@closed_form.register
def _(kernel: kernels.LocallyStationary, dim: int) -> SpectralMeasure:
    envelope, stationary = (closed_form(k, dim) for k in (kernel.envelope, kernel.stationary))
    centre = tuple(np.broadcast_to(kernel.centre, dim).tolist())
    return SpectralMeasure(
        tuple(
            Part(slow.mass * fast.mass, TwoFrequency(fast.law, slow.law, centre))
            for slow in envelope.parts
            for fast in stationary.parts
        )
    )


@closed_form.register
def _(kernel: kernels.ModulatedWaves, dim: int) -> SpectralMeasure:
    return SpectralMeasure((Part(*wave_atoms(kernel)),))


@closed_form.register
def _(kernel: kernels.Sum, dim: int) -> SpectralMeasure:
    return reduce(add, (closed_form(term, dim) for term in kernel.terms))


@closed_form.register
def _(kernel: kernels.Product, dim: int) -> SpectralMeasure:
    return reduce(mul, (closed_form(factor, dim) for factor in kernel.factors))


@closed_form.register
def _(kernel: kernels.Scaled, dim: int) -> SpectralMeasure:
    return kernel.factor * closed_form(kernel.kernel, dim)


@closed_form.register
def _(kernel: kernels.DeltaGaussian, dim: int) -> SpectralMeasure:
    return closed_form(kernels.Gaussian(kernel.tau1) - kernels.Gaussian(kernel.tau2), dim)


def find_closed_form(kernel: kernels.Kernel, dim: int) -> SpectralMeasure | None:
    """Return the closed form for ``kernel``, or ``None`` where none is known."""
    try:
        return closed_form(kernel, dim)
    except UnknownClosedFormError:
        return None
