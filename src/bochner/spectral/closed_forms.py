"""The spectral measure of every kernel that has one in closed form."""

from functools import reduce, singledispatch
from operator import add, mul

from bochner import kernels
from bochner.spectral.laws import Elliptical, Independent, Isotropic, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import Chi, ExponentialMagnitude, GammaMixture, RadialLaw, Student


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
def _(kernel: kernels.Stationary, dim: int) -> SpectralMeasure:
    return _probability(Isotropic(radial_law(kernel), dim, kernel.length_scale))


@closed_form.register(kernels.Laplacian)
@closed_form.register(kernels.Cauchy)
def _(kernel: kernels.Stationary, dim: int) -> SpectralMeasure:
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
