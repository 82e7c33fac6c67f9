"""Bugs that this kind of library has had, each with the law that must notice it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from laws import head_laws, kernel_laws, measure_laws, sampling_laws
from laws.registry import Case
from scipy.spatial.distance import cdist
from scipy.stats import qmc

from bochner import kernels
from bochner.estimators import krein_ridge_classifier
from bochner.features import FeatureSums
from bochner.frequencies import Frequencies, frequencies
from bochner.learning import ridge
from bochner.sampling import Directions, Uniforms, schemes
from bochner.spectral import (
    HalfByMass,
    Independent,
    Isotropic,
    Student,
    closed_forms,
    composite,
    measure,
)
from bochner.spectral.radial import GammaMixture

Plant = Callable[[pytest.MonkeyPatch], None]
SMALL_ALPHA = 1e-4

GAUSSIAN = Case(kernels.Gaussian((0.6, 0.9)), 2)
MATERN = Case(kernels.Matern(0.8, nu=0.8), 2)
RATIONAL = Case(kernels.RationalQuadratic(0.8, alpha=0.7), 2)
ANOVA = Case(kernels.Anova(kernels.Gaussian(0.8), (0.3, 0.8)), 2)
NO_CONSTANT = Case(kernels.Anova(kernels.Gaussian(0.8), (0.15, 0.4), constant=False), 2)
SUM = Case(kernels.Gaussian(0.3) + 4.0 * kernels.Exponential(2.0), 2)
PRODUCT = Case(kernels.Gaussian(0.8) * kernels.Matern(1.5), 2)
MIXTURE = Case(
    kernels.SpectralMixture([0.5, 1.5], [[1.0, 0.5], [0.0, -1.0]], [[0.4, 2.0], [1.0, 0.2]]), 2
)


@dataclass(frozen=True)
class Mutant:
    """A bug to plant, and the checks that must fail while it is there."""

    name: str
    plant: Plant
    checks: tuple[Callable[[], object], ...]

    def __str__(self) -> str:
        return self.name


def check_iid(case):
    return lambda: sampling_laws.check_iid(case)


def check_scheme(case, scheme):
    return lambda: sampling_laws.check_unbiased(case, scheme)


def check_transform(case):
    return lambda: measure_laws.check_transform(case)


def check_radius(case):
    return lambda: measure_laws.check_radius(case, SMALL_ALPHA)


def check_marginals(scheme, block):
    return lambda: sampling_laws.check_marginals(scheme, block)


def wide_bandwidth(patch):
    assemble = Isotropic.assemble
    patch.setattr(Isotropic, "assemble", lambda self, blocks: 1.1 * assemble(self, blocks))


def matern_with_nu_degrees(patch):
    radius = Student.radius
    patch.setattr(
        Student, "radius", lambda self, u, dim: radius(replace(self, dof=self.dof / 2.0), u, dim)
    )


def product_of_t(patch):
    def sample_lazy(self, m, rng, scheme):
        return Independent(self.radial, self.dim, self.length_scale).sample_lazy(m, rng, scheme)

    patch.setattr(Isotropic, "sample_lazy", sample_lazy)


def rational_quadratic_without_alpha(patch):
    radius = GammaMixture.radius
    patch.setattr(
        GammaMixture, "radius", lambda self, u, dim: np.sqrt(self.alpha) * radius(self, u, dim)
    )


def gaussian_without_half(patch):
    patch.setattr(
        kernels.Gaussian, "correlation", lambda self, X, Y: np.exp(-cdist(X, Y, "sqeuclidean"))
    )


def euclidean_laplacian(patch):
    patch.setattr(kernels.Laplacian, "correlation", lambda self, X, Y: np.exp(-cdist(X, Y)))


def city_block_exponential(patch):
    patch.setattr(
        kernels.Exponential, "correlation", lambda self, X, Y: np.exp(-cdist(X, Y, "cityblock"))
    )


def length_scale_multiplies(patch):
    def evaluate(self, X, Y):
        return self.correlation(
            X * np.asarray(self.length_scale), Y * np.asarray(self.length_scale)
        )

    patch.setattr(kernels.Correlation, "evaluate", evaluate)


def mixture_with_precisions(patch):
    factors = kernels.SpectralMixture.factors
    patch.setattr(
        kernels.SpectralMixture, "factors", lambda self: np.linalg.inv(factors(self)).swapaxes(1, 2)
    )


def mixture_in_cycles(patch):
    fact = closed_forms.fact

    def in_cycles(kernel, dim):
        means = np.asarray(kernel.means) / (2.0 * np.pi)
        return closed_forms._spectral_mixture(replace(kernel, means=means), dim)

    patch.setattr(
        closed_forms,
        "fact",
        lambda cls, *names: (
            ("closed_form", in_cycles) if cls is kernels.SpectralMixture else fact(cls, *names)
        ),
    )


def lost_root_two(patch):
    original = frequencies.trigonometric_features
    patch.setattr(
        frequencies,
        "trigonometric_features",
        lambda X, omega, phase, amplitude, *others, **options: original(
            X, omega, phase, amplitude / np.sqrt(2.0), *others, **options
        ),
    )


def flipped_sine(patch):
    features = Frequencies.features_right
    patch.setattr(
        Frequencies,
        "features_right",
        lambda self, Y: features(self, Y) * np.repeat([1.0, -1.0], self.n_frequencies),
    )


def lost_signature(patch):
    patch.setattr(Frequencies, "signature", property(lambda self: np.ones(2 * len(self.weight))))


def excluded_for_included(patch):
    assemble = Independent.assemble

    def swapped(self, blocks):
        exclusion = tuple(1.0 - np.broadcast_to(self.inclusion, self.dim))
        return assemble(replace(self, inclusion=exclusion), blocks)

    patch.setattr(Independent, "assemble", swapped)


def slab_without_rescaling(patch):
    """The spike is cut out of the slab's quantiles instead of making room for all of them."""
    assemble = Independent.assemble

    def cut(self, blocks):
        whole = assemble(replace(self, inclusion=1.0), blocks)
        return np.where(
            np.abs(2.0 * blocks[0] - 1.0) > 1.0 - np.asarray(self.inclusion), whole, 0.0
        )

    patch.setattr(Independent, "assemble", cut)


def zero_avoided_by_scaling(patch):
    """Inclusions are scaled up to the right margins, which leaves zero frequencies in."""

    def scaled(self, uniforms):
        inclusion = np.broadcast_to(self.inclusion, self.dim)
        some = 1.0 if self.allow_zero else 1.0 - np.prod(1.0 - inclusion)
        return np.broadcast_to(np.minimum(inclusion / some, 1.0), uniforms.shape)

    patch.setattr(Independent, "_inclusion", scaled)


def one_seed_for_all_blocks(patch):
    def sample_lazy(self, layout, m, rng):
        seed = int(rng.integers(2**32))
        return [self._block(block, m, np.random.default_rng(seed)) for block in layout]

    patch.setattr(schemes.Blockwise, "sample_lazy", sample_lazy)


def one_seed_for_all_parts(patch):
    class Repeating(np.random.Generator):
        def spawn(self, n_children):
            seed = int(self.integers(2**32))
            return [np.random.default_rng(seed) for _ in range(n_children)]

    patch.setattr(
        measure.np.random,
        "default_rng",
        lambda rng, default_rng=np.random.default_rng: (
            Repeating(rng.bit_generator)
            if isinstance(rng, np.random.Generator)
            else default_rng(rng)
        ),
    )


def strata_too_narrow(patch):
    def stratified(m, dim, rng):
        stratum = rng.permuted(np.tile(np.arange(m)[:, None], (1, dim)), axis=0)
        return (stratum + rng.random((m, dim))) / (m + 1)

    patch.setattr(schemes, "_stratified", stratified)


def strata_in_order(patch):
    """Without a permutation, the first row always has the least radius."""
    patch.setattr(
        schemes,
        "_stratified",
        lambda m, dim, rng: (np.arange(m)[:, None] + rng.random((m, dim))) / m,
    )


def haar_without_signs(patch):
    def rows(m, dim, rng):
        q, _ = np.linalg.qr(rng.standard_normal((-(-m // dim), dim, dim)))
        return q.reshape(-1, dim)[:m]

    patch.setattr(schemes, "_haar_rows", rows)


def sobol_without_scrambling(patch):
    class Plain(qmc.Sobol):
        def __init__(self, d, *, scramble, rng):
            super().__init__(d, scramble=False, rng=rng)

    patch.setattr(schemes.qmc, "Sobol", Plain)


def equal_weights_for_all_parts(patch):
    share = HalfByMass.share

    def equal(self, mass, m, rng):
        counts, _ = share(self, mass, m, rng)
        return counts, np.full(len(mass), mass.sum() / m)

    patch.setattr(HalfByMass, "share", equal)


def product_with_the_first_factor_only(patch):
    patch.setattr(
        composite,
        "_assembled",
        lambda laws, blocks: [laws[0].assemble(blocks[: len(laws[0].layout)])],
    )


def noise_with_half_the_degrees(patch):
    original = ridge.noise_variance

    def variance(square, explained, degrees):
        return original(square, explained, 0.5 * degrees)

    patch.setattr(ridge, "noise_variance", variance)


def deviation_without_noise(patch):
    def std(self, Z):
        spread = np.sum(((Z - self.centre) @ self.whitener) ** 2, axis=1)
        return np.sqrt(spread[:, None] * self.noise_variance)

    patch.setattr(ridge.RidgePosterior, "std", std)


def evidence_without_the_prior(patch):
    original = ridge._log_evidence
    patch.setattr(
        ridge,
        "_log_evidence",
        lambda noise, log_determinant, degrees: original(noise, 0.0, degrees),
    )


def halved_alpha(patch):
    cholesky = ridge.jittered_cholesky
    patch.setattr(
        ridge,
        "jittered_cholesky",
        lambda matrix, ridge: cholesky(matrix, 0.5 * ridge),
    )


def means_by_count(patch):
    """Weighted sums divided by the number of rows instead of their weight."""
    centred = FeatureSums.centred
    patch.setattr(
        FeatureSums, "centred", lambda self: centred(replace(self, weight=float(self.n_samples)))
    )


def weights_not_rooted(patch):
    original = FeatureSums.from_rows.__func__

    def from_rows(cls, Z, Y, weight=None):
        return original(cls, Z, Y, None if weight is None else weight**2)

    patch.setattr(FeatureSums, "from_rows", classmethod(from_rows))


def clipped_probabilities(patch):
    def clipped(points):
        positive = np.maximum(points, 0.0)
        return positive / positive.sum(axis=1, keepdims=True)

    patch.setattr(krein_ridge_classifier, "_project_to_simplex", clipped)


def check_closed_form(kernel):
    return lambda: kernel_laws.check_closed_form(Case(kernel, 2))


MUTANTS: tuple[Mutant, ...] = tuple(
    Mutant(plant.__name__, plant, checks)
    for plant, checks in {
        wide_bandwidth: (
            check_iid(GAUSSIAN),
            check_scheme(GAUSSIAN, "orthogonal"),
            check_scheme(GAUSSIAN, "qmc"),
            check_transform(GAUSSIAN),
            check_radius(GAUSSIAN),
        ),
        matern_with_nu_degrees: (
            check_iid(MATERN),
            check_scheme(MATERN, "orthogonal"),
            check_scheme(MATERN, "qmc"),
            check_transform(MATERN),
            check_radius(MATERN),
        ),
        product_of_t: (
            check_iid(MATERN),
            check_scheme(MATERN, "orthogonal"),
            check_scheme(MATERN, "qmc"),
            check_radius(MATERN),
        ),
        rational_quadratic_without_alpha: (check_transform(RATIONAL), check_radius(RATIONAL)),
        gaussian_without_half: (
            check_closed_form(kernels.Gaussian(0.8)),
            check_iid(GAUSSIAN),
        ),
        euclidean_laplacian: (check_closed_form(kernels.Laplacian(0.8)),),
        city_block_exponential: (check_closed_form(kernels.Exponential(0.8)),),
        length_scale_multiplies: (check_closed_form(kernels.Cauchy((0.6, 0.9))),),
        mixture_with_precisions: (check_closed_form(MIXTURE.kernel),),
        mixture_in_cycles: (check_transform(MIXTURE), check_iid(MIXTURE)),
        lost_root_two: (
            head_laws.check_features,
            check_iid(GAUSSIAN),
            check_scheme(GAUSSIAN, "qmc"),
        ),
        flipped_sine: (lambda: head_laws.check_features("general"), check_iid(GAUSSIAN)),
        lost_signature: (head_laws.check_features,),
        excluded_for_included: (
            lambda: measure_laws.check_inclusion(ANOVA, SMALL_ALPHA),
            check_transform(ANOVA),
            check_iid(ANOVA),
            check_scheme(ANOVA, "orthogonal"),
        ),
        slab_without_rescaling: (check_transform(ANOVA), check_iid(ANOVA)),
        zero_avoided_by_scaling: (
            lambda: measure_laws.check_inclusion(NO_CONSTANT, SMALL_ALPHA),
            check_iid(NO_CONSTANT),
        ),
        one_seed_for_all_blocks: (
            check_scheme(Case(kernels.Gaussian(0.8) * kernels.Gaussian(0.8), 2), "orthogonal"),
            lambda: sampling_laws.check_streams("iid"),
            lambda: sampling_laws.check_streams("orthogonal"),
        ),
        one_seed_for_all_parts: (
            check_iid(Case(kernels.Gaussian(0.8) + kernels.Gaussian(0.8), 2)),
        ),
        strata_too_narrow: (
            check_marginals("orthogonal", Uniforms(1)),
            check_marginals("structured", Uniforms(2)),
        ),
        strata_in_order: (check_marginals("orthogonal", Uniforms(1)),),
        haar_without_signs: (check_marginals("orthogonal", Directions(2)),),
        sobol_without_scrambling: (
            check_scheme(GAUSSIAN, "qmc"),
            check_marginals("qmc", Uniforms(1)),
        ),
        equal_weights_for_all_parts: (check_iid(SUM), check_scheme(SUM, "orthogonal")),
        product_with_the_first_factor_only: (check_iid(PRODUCT), check_scheme(PRODUCT, "qmc")),
        noise_with_half_the_degrees: (
            head_laws.check_posterior,
            head_laws.check_best_alpha,
            head_laws.check_coverage,
        ),
        deviation_without_noise: (head_laws.check_posterior, head_laws.check_coverage),
        evidence_without_the_prior: (head_laws.check_posterior, head_laws.check_best_alpha),
        halved_alpha: (head_laws.check_posterior,),
        means_by_count: (head_laws.check_sums,),
        weights_not_rooted: (head_laws.check_sums,),
        clipped_probabilities: (head_laws.check_probabilities,),
    }.items()
)
