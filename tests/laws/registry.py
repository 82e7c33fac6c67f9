"""Every instance that the batteries of laws run over."""

import inspect
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bochner import kernels
from bochner.kernels import (
    NTK,
    TL1,
    Anova,
    ArcCosine,
    Bilinear,
    Categorical,
    Cauchy,
    Constant,
    CoshGaussian,
    DeltaGaussian,
    DotProduct,
    Exponential,
    Gaussian,
    Harmonizable,
    Hellinger,
    Kernel,
    Laplacian,
    Linear,
    LocallyStationary,
    Matern,
    Ordinal,
    Periodic,
    Polynomial,
    Radial,
    RationalQuadratic,
    ShiftGaussian,
    SinhGaussian,
    SpectralMixture,
    SphericalPolynomial,
    Stationary,
    Tanh,
)

DIMS = (1, 2, 5)
LEVELS = (0.95, 0.8, 0.5, 0.2, 0.05)


def anywhere(X: np.ndarray) -> np.ndarray:
    return X


def on_the_sphere(X: np.ndarray) -> np.ndarray:
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def of_no_sign(X: np.ndarray) -> np.ndarray:
    return np.abs(X)


def concrete_kernels() -> set[type[Kernel]]:
    """All kinds of kernels that can be made."""
    classes = filter(inspect.isclass, vars(kernels).values())
    return {cls for cls in classes if issubclass(cls, Kernel) and not inspect.isabstract(cls)}


class AnyDim(Kernel):
    """A kernel of any number of inputs, whose diagonal is that of small matrices."""

    __slots__ = ()

    def check_dim(self, dim):
        pass

    def diag(self, X):
        return np.array([self.evaluate(x[None], x[None])[0, 0] for x in np.asarray(X)])


def check_mean(values, expected, alpha: float, what: str = "biased", max_error=0.0) -> None:
    """The mean over draws (n, ...) is what is expected, by Student's t, but for a known bias.

    Each of all comparisons rejects a right mean with the chance ``alpha``.
    """
    error = np.maximum(values.std(axis=0, ddof=1), 1e-12) / np.sqrt(len(values))
    t = np.maximum(np.abs(values.mean(axis=0) - expected) - max_error, 0.0) / error
    assert t.max() < stats.t.isf(alpha / 2.0, len(values) - 1), f"{what}: t = {t.max():.1f}"


class Streams:
    """Random numbers of a case, by its name."""

    def rng(self, purpose: str) -> np.random.Generator:
        """A stream that belongs to this case and purpose alone."""
        return np.random.default_rng(zlib.crc32(f"{self}/{purpose}".encode()))


@dataclass(frozen=True)
class Case(Streams):
    """A kernel on inputs with ``dim`` columns, where it is positive definite or not.

    ``place`` moves any inputs to where the kernel is defined.
    """

    kernel: Kernel
    dim: int
    place: Callable[[np.ndarray], np.ndarray] = anywhere
    definite: bool = True

    def __str__(self) -> str:
        return f"{self.dim}d-{self.kernel!r}"

    def points(self, n: int = 12, spread: float = 1.0) -> np.ndarray:
        return self.place(self.rng("points").normal(scale=spread, size=(n, self.dim)))

    def lags(self) -> np.ndarray:
        """Off-axis lags at which the kernel falls to each of the levels that it reaches."""
        directions = self.rng("lags").normal(size=(len(LEVELS), self.dim))
        radii = np.geomspace(1e-2, 1e2, 500)
        origin = np.zeros((1, self.dim))
        found = []
        for level, direction in zip(LEVELS, directions, strict=True):
            ray = radii[:, None] * direction / np.linalg.norm(direction)
            below = self.kernel(origin, ray)[0] <= level * self.kernel.diag(origin)
            if below.any():
                found.append(ray[np.argmax(below)])
        return np.array(found)


def per_input(dim: int) -> tuple[float, ...]:
    return tuple(round(0.6 * 1.4**i, 2) for i in range(dim))


def elementary(dim: int) -> Iterator[Kernel]:
    for scale in (0.8,) if dim == 1 else (0.8, per_input(dim)):
        yield Gaussian(scale)
        yield Laplacian(scale)
        yield Exponential(scale)
        yield Cauchy(scale)
        yield from (Matern(scale, nu=nu) for nu in (0.8, 1.5, 2.5, 6.0))
        yield from (RationalQuadratic(scale, alpha=alpha) for alpha in (0.7, 3.0))


def interactions(dim: int) -> Iterator[Kernel]:
    inclusion = tuple(np.linspace(0.3, 1.0, dim).round(2).tolist())
    for base in (Gaussian, Matern, Laplacian, Cauchy, RationalQuadratic):
        yield Anova(base(0.8), 0.6)
        if dim > 1:
            yield Anova(base(per_input(dim)), inclusion)
    yield Anova(Gaussian(0.8), tuple(0.5 * pi for pi in inclusion), constant=False)
    yield Anova(RationalQuadratic(0.8), 0.5, constant=False)


def mixtures(dim: int) -> Iterator[Kernel]:
    rng = np.random.default_rng(dim)
    means = rng.normal(size=(2, dim)).round(2)
    roots = rng.normal(size=(2, dim, dim))
    yield SpectralMixture([0.5, 1.5], means, [0.4, 1.2])
    yield SpectralMixture([0.5, 1.5], means, rng.uniform(0.2, 2.0, size=(2, dim)))
    yield SpectralMixture([0.5, 1.5], means, roots @ roots.swapaxes(1, 2) / dim)


def combinations(dim: int) -> Iterator[Kernel]:
    scale = per_input(dim)
    mixture = next(mixtures(dim))
    yield Gaussian(scale) + 2.0 * Exponential(1.5)
    yield 0.3 * Cauchy(0.9) + Matern(scale) + 4.0 * Laplacian(2.0)
    yield Gaussian(1.2) * Gaussian(scale)
    yield Laplacian(2.0) * Matern(scale, nu=1.5)
    yield Anova(Gaussian(scale), 0.5) * RationalQuadratic(2.0)
    yield mixture * Matern(2.0)
    yield 0.5 * ((Gaussian(0.7) + Exponential(scale)) * (Cauchy(3.0) + 2.0 * Gaussian(2.0)))


def on_columns(dim: int) -> Iterator[Kernel]:
    """Kernels of some of the inputs, and what they make with each other and with those of all."""
    yield Gaussian(0.6).on(-1)
    yield Matern(0.8).on(0) + 2.0 * Laplacian(1.1).on(-1)
    yield Gaussian(0.7).on(0) * RationalQuadratic(1.5).on(-1)
    if dim > 2:
        yield (0.5 * Matern((0.6, 0.9), nu=2.5)).on([3, 1]) + Gaussian(3.0)
        yield next(mixtures(2)).on([0, 2]) * Exponential(4.0).on(slice(1, 4))


CASES: tuple[Case, ...] = tuple(
    Case(kernel, dim)
    for dim in DIMS
    for family in (elementary, interactions, mixtures, combinations, on_columns)
    for kernel in family(dim)
)


def bump(z: np.ndarray) -> np.ndarray:
    """The spherical polynomial of degree two, zero beyond the sphere's diameter."""
    return np.where(z < 2.0, (1.0 - z**2 / 4.0) ** 2, 0.0)


def wave(z: np.ndarray) -> np.ndarray:
    """Positive definite on the line, and nowhere else."""
    return np.cos(1.5 * z)


def odd(u: np.ndarray) -> np.ndarray:
    return np.sin(u) + 0.25


def late(delta: np.ndarray) -> np.ndarray:
    return np.exp(-np.square(delta - 0.4).sum(axis=-1))


def late_gram(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return late(X[:, None] - Y[None])


def drift(delta: np.ndarray) -> np.ndarray:
    """Falls more slowly on one side of zero than on the other."""
    return np.exp(-np.sum(delta**2, axis=-1)) * (1.0 + 0.5 * np.tanh(np.sum(delta, axis=-1)))


FUNCTIONS = {f.__name__: f for f in (bump, wave, odd, drift)}


def profiled(dim: int) -> Iterator[Case]:
    """Functions of one number: those that are indefinite, and those that may look it."""
    indefinite = [
        DeltaGaussian(), DeltaGaussian(1.9, 0.7), Polynomial(1, -0.5), Polynomial(2, -1.0), Tanh(),
        Tanh(0.4, -0.5), Tanh(-0.3, 0.0), Radial(bump), DotProduct(odd),
    ]  # fmt: skip
    yield from (Case(kernel, dim, definite=False) for kernel in indefinite)
    yield from (Case(TL1(tau * dim), dim, definite=dim == 1) for tau in (0.8, 1.6))
    yield Case(Radial(wave), dim, definite=dim == 1)
    yield Case(Hellinger(), dim, of_no_sign, definite=dim == 1)
    yield from (Case(Polynomial(*parameters), dim) for parameters in ((1, 0.0), (2, 1.0), (3, 0.5)))
    spherical = [
        SphericalPolynomial(1),
        SphericalPolynomial(2),
        SphericalPolynomial(3, 2.5),
        ArcCosine(0),
        ArcCosine(1),
        NTK(),
    ]
    yield from (Case(kernel, dim, on_the_sphere) for kernel in spherical)


def profiled_combinations(dim: int) -> Iterator[Case]:
    yield Case(0.5 * NTK() + ArcCosine(1) * SphericalPolynomial(2), dim, on_the_sphere)
    yield Case(ArcCosine(0) - 1.1 * ArcCosine(1), dim, on_the_sphere, definite=False)
    yield Case(2.0 * Hellinger() * Tanh() + DeltaGaussian(), dim, of_no_sign, definite=False)
    yield Case(Radial(bump) * Gaussian(0.8) - Polynomial(1), dim, definite=False)


PROFILED_CASES: tuple[Case, ...] = tuple(
    case for dim in DIMS for family in (profiled, profiled_combinations) for case in family(dim)
)


def skewed(dim: int) -> Iterator[Case]:
    """Kernels of the lag that change when the arguments are exchanged."""
    each = round(0.5 / dim**0.5, 2)
    for scale in (0.8,) if dim == 1 else (0.8, per_input(dim)):
        yield Case(ShiftGaussian(scale, each), dim)
        yield Case(SinhGaussian(scale, 2.0 * each), dim)
        yield Case(CoshGaussian(scale, each), dim)
    vector = tuple(each * (-1.0) ** i for i in range(dim))
    yield Case(ShiftGaussian(per_input(dim), vector), dim)
    yield Case(0.5 * ShiftGaussian(0.8, each) + SinhGaussian(1.1, vector).T, dim)
    yield Case(CoshGaussian(0.8, vector) * Cauchy(2.0), dim)
    yield Case(Stationary(drift), dim)
    yield Case(Stationary(drift).T, dim)


def maps(dim: int) -> tuple[list[list[float]], list[list[float]]]:
    """Two matrices of shape (dim, 2)."""
    left, right = np.random.default_rng(dim).normal(size=(2, dim, 2)).round(2)
    return left.tolist(), right.tolist()


def bilinear(dim: int) -> Iterator[Case]:
    left, right = maps(dim)
    yield Case(Bilinear(CoshGaussian(1.5, 0.4), left, right), dim)
    yield Case(Bilinear(Gaussian(), left, right), dim)
    yield Case(Bilinear(ShiftGaussian(1.0, 0.3), left), dim)


def harmonizable_cases(dim: int) -> Iterator[Case]:
    """Windows with correlated pairs of frequencies, complex and real; a grid; one stationary."""
    rng = np.random.default_rng(dim)
    mu, factors, phases = (
        rng.normal(size=(2, n, k)).round(2) for n, k in ((2, dim), (2, 2), (2, 2))
    )
    centre, inverse, spread = rng.uniform(0.1, 0.9, size=(3, 2, dim)).round(2)
    yield Case(Harmonizable(factors, mu, centre, inverse, spread, phases), dim)
    yield Case(Harmonizable([1.0, 0.5], mu[0], -centre, 2.0 * inverse, spread), dim)
    grid = rng.normal(size=(1, 3, dim)).round(2)
    yield Case(
        Harmonizable(rng.normal(size=(1, 2, 3)).round(2), grid, phases=[[[0, 1, 2]] * 2]), dim
    )
    yield Case(Harmonizable([1.3], mu[0, :1], spreads=spread[:1]), dim)


def to_codes(n_levels: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda X: np.floor(np.abs(3.0 * X)) % n_levels


def finite(dim: int) -> Iterator[Case]:
    """Kernels that finitely many frequencies make exactly."""
    scale = per_input(dim)
    yield Case(Periodic(1.3, 0.8), dim)
    yield Case(Periodic(tuple(2.0 * s for s in scale), scale), dim)
    yield Case(Categorical(0.2, n_levels=5), dim, to_codes(5))
    yield Case(Categorical(-0.25, n_levels=4), dim, to_codes(4))
    yield Case(Categorical(tuple(0.3 / s for s in scale), n_levels=2), dim, to_codes(2))
    yield Case(Ordinal(1.5, n_levels=6), dim, to_codes(6))
    yield Case(Ordinal(scale, n_levels=(3,) * dim), dim, to_codes(3))
    yield Case(Constant(2.5), dim)
    yield Case(Linear(0.7, 0.3, 4.0), dim)
    yield Case(Linear(scale, tuple(-s for s in scale), 9.0), dim)
    yield Case(Periodic(2.0).on(0) * Categorical(0.1, n_levels=3).on(-1), dim, to_codes(3))
    yield Case(Linear(reach=4.0).on(-1) * Periodic(2.0).on(0) + 0.5 * Constant(3.0), dim)


FINITE_CASES: tuple[Case, ...] = tuple(case for dim in (1, 2) for case in finite(dim))
HARMONIZABLE_CASES: tuple[Case, ...] = tuple(
    case for dim in DIMS for case in harmonizable_cases(dim)
)
SKEWED_CASES: tuple[Case, ...] = tuple(case for dim in DIMS for case in skewed(dim))
BILINEAR_CASES: tuple[Case, ...] = (
    *(case for dim in DIMS for case in bilinear(dim)),
    *(Case(Bilinear(Gaussian(), maps(dim)[0]), dim) for dim in DIMS),
)


def local(dim: int) -> Iterator[Case]:
    """Amplitudes that change with the place, slowly enough or too fast."""
    scale, centre = per_input(dim), tuple(round(0.3 * (-1.0) ** i, 2) for i in range(dim))
    mixture = next(mixtures(dim))
    waves = SpectralMixture([1.0, 0.3], [[0.0] * dim, [0.9] * dim], [0.2, 0.2])
    yield Case(LocallyStationary(Gaussian(2.0), Gaussian(scale), centre), dim)
    yield Case(LocallyStationary(waves, Gaussian(0.8), 0.5), dim)
    yield Case(LocallyStationary(2.0 * Gaussian(2.0) + Gaussian(4.0), Gaussian() * Matern()), dim)
    yield Case(0.5 * LocallyStationary(Gaussian(2.0), Gaussian(0.8)) + Matern(2.0), dim)
    yield Case(LocallyStationary(mixture, Exponential(3.0), centre), dim, definite=False)
    yield Case(LocallyStationary(Gaussian(0.3), Gaussian(2.0)), dim, definite=False)
    yield Case(LocallyStationary(Anova(Gaussian(0.3), 0.9), Cauchy(4.0)), dim, definite=False)


LOCAL_CASES: tuple[Case, ...] = tuple(case for dim in DIMS for case in local(dim))

PLANE_CASES: tuple[Case, ...] = tuple(
    case
    for cases in (
        CASES,
        PROFILED_CASES,
        HARMONIZABLE_CASES,
        SKEWED_CASES,
        BILINEAR_CASES,
        LOCAL_CASES,
    )
    for case in cases
    if case.dim == 2
)
"""Every kernel once, in two inputs, for what does the same in any number of them: graphs and torch
modules."""
