"""The spectral measure of every kernel that has one in closed form."""

from functools import reduce, singledispatch
from operator import add, mul

from bochner import kernels
from bochner.spectral.laws import Elliptical, Independent, Isotropic, Law
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import Chi, ExponentialMagnitude, GammaMixture, RadialLaw, Student


def spectral_measure(kernel: kernels.Kernel, dim: int) -> SpectralMeasure:
    r"""Return the measure whose transform is ``kernel`` on inputs with ``dim`` columns.

    Fourier convention: :math:`k(\Delta) = \int \exp(i\, \omega \cdot \Delta)\, \mu(d\omega)`.

    Parameters
    ----------
    kernel : Kernel
        Any kernel of :mod:`bochner.kernels`, and sums, products and positive multiples of them.
    dim : int
        Number of inputs.

    Returns
    -------
    measure : SpectralMeasure

    Raises
    ------
    ValueError
        If ``dim`` does not fit the kernel's length scales or means.
    NotImplementedError
        If a part of the kernel has a negative coefficient: its measure is signed.
    TypeError
        If no closed form is known for the kernel's type.

    Examples
    --------
    >>> from bochner import kernels, spectral_measure
    >>> spectral_measure(0.5 * kernels.Gaussian(2.0), dim=3).mass
    0.5
    """
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}.")
    if isinstance(kernel, kernels.Kernel):
        kernel.check_dim(dim)
    return closed_form(kernel, dim)


@singledispatch
def closed_form(kernel: object, dim: int) -> SpectralMeasure:
    """Return the closed form for ``kernel``; register a new kernel's here."""
    raise TypeError(
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
    if not kernel.factor > 0.0:
        raise NotImplementedError(
            f"{kernel!r} has a coefficient that is not positive, so its measure is signed (or "
            f"zero); splitting a signed measure into its Jordan parts is not available in this "
            f"version. Keep the coefficients of sums positive."
        )
    return kernel.factor * closed_form(kernel.kernel, dim)
