"""Bugs that this kind of library has had, each with the law that must notice it."""

from dataclasses import replace

import numpy as np
from laws import head_laws, kernel_laws, measure_laws, sampling_laws
from laws.registry import Case
from mutants.registry import changes, deferred, planted, replaces
from scipy.spatial.distance import cdist
from scipy.special import gammainc
from scipy.stats import qmc
from spectral.test_every_map import test_the_gram_matrix_is_the_sum_of_cosines as check_gram

from bochner import kernels, spectral
from bochner.features import FeatureSums
from bochner.linear import krein_ridge_classifier
from bochner.linear import ridge_posterior as ridge
from bochner.spectral import (
    Coordinates,
    Directions,
    Uniforms,
    composite_laws,
    frequencies,
    measure,
    schemes,
)
from bochner.spectral.frequencies import Frequencies
from bochner.spectral.measure import HalfByMass

SMALL_ALPHA = 1e-4

GAUSSIAN = Case(kernels.Gaussian((0.6, 0.9)), 2)
MATERN = Case(kernels.Matern(0.8, nu=0.8), 2)
ANOVA = Case(kernels.Anova(kernels.Gaussian(0.8), (0.3, 0.8)), 2)
NO_CONSTANT = Case(kernels.Anova(kernels.Gaussian(0.8), (0.15, 0.4), constant=False), 2)
SUM = Case(kernels.Gaussian(0.3) + 4.0 * kernels.Exponential(2.0), 2)
PRODUCT = Case(kernels.Gaussian(0.8) * kernels.Matern(1.5), 2)
MIXTURE = Case(
    kernels.SpectralMixture([0.5, 1.5], [[1.0, 0.5], [0.0, -1.0]], [[0.4, 2.0], [1.0, 0.2]]), 2
)

check_iid = deferred(sampling_laws.check_iid)
check_scheme = deferred(sampling_laws.check_unbiased)
check_transform = deferred(measure_laws.check_transform)
check_radius = deferred(measure_laws.check_radius, SMALL_ALPHA)
check_marginals = deferred(sampling_laws.check_marginals)


def every_scheme(case):
    return check_iid(case), check_scheme(case, "orthogonal"), check_scheme(case, "qmc")


def check_closed_form(kernel):
    return lambda: kernel_laws.check_closed_form(Case(kernel, 2))


@changes(
    spectral.Isotropic,
    "assemble",
    *every_scheme(GAUSSIAN),
    check_transform(GAUSSIAN),
    check_radius(GAUSSIAN),
)
def wide_bandwidth(assemble, self, blocks):
    return 1.1 * assemble(self, blocks)


@changes(
    spectral.Student, "radius", *every_scheme(MATERN), check_transform(MATERN), check_radius(MATERN)
)
def matern_with_nu_degrees(radius, self, u, dim):
    return radius(replace(self, dof=self.dof / 2.0), u, dim)


@replaces(spectral.Isotropic, "draw", *every_scheme(MATERN), check_radius(MATERN))
def product_of_t(self, m, rng, scheme):
    return spectral.Independent(self.radial, self.dim, self.length_scale).draw(m, rng, scheme)


@replaces(
    kernels.Gaussian, "correlation", check_closed_form(kernels.Gaussian(0.8)), check_iid(GAUSSIAN)
)
def gaussian_without_half(self, X, Y):
    return np.exp(-cdist(X, Y, "sqeuclidean"))


@replaces(kernels.Laplacian, "correlation", check_closed_form(kernels.Laplacian(0.8)))
def euclidean_laplacian(self, X, Y):
    return np.exp(-cdist(X, Y))


@replaces(kernels.Correlation, "evaluate", check_closed_form(kernels.Cauchy((0.6, 0.9))))
def length_scale_multiplies(self, X, Y):
    return self.correlation(X * np.asarray(self.length_scale), Y * np.asarray(self.length_scale))


@changes(kernels.SpectralMixture, "factors", check_closed_form(MIXTURE.kernel))
def mixture_with_precisions(factors, self):
    return np.linalg.inv(factors(self)).swapaxes(1, 2)


@changes(
    frequencies,
    "trigonometric_features",
    lambda: check_gram("plain"),
    check_iid(GAUSSIAN),
    check_scheme(GAUSSIAN, "qmc"),
)
def lost_root_two(original, X, omega, phase, amplitude, *others, **options):
    return original(X, omega, phase, amplitude / np.sqrt(2.0), *others, **options)


@changes(Frequencies, "features_right", lambda: check_gram("two-sided"), check_iid(GAUSSIAN))
def flipped_sine(features, self, Y):
    return features(self, Y) * np.repeat([1.0, -1.0], self.n_frequencies)


@planted(lambda: check_gram("plain"))
def lost_signature(patch):
    patch.setattr(Frequencies, "signature", property(lambda self: np.ones(2 * len(self.weight))))


@changes(
    spectral.Independent,
    "assemble",
    lambda: measure_laws.check_inclusion(ANOVA, SMALL_ALPHA),
    check_transform(ANOVA),
    check_iid(ANOVA),
    check_scheme(ANOVA, "orthogonal"),
)
def excluded_for_included(assemble, self, blocks):
    exclusion = tuple(1.0 - np.broadcast_to(self.inclusion, self.dim))
    return assemble(replace(self, inclusion=exclusion), blocks)


@replaces(
    spectral.Independent,
    "_inclusion",
    lambda: measure_laws.check_inclusion(NO_CONSTANT, SMALL_ALPHA),
    check_iid(NO_CONSTANT),
)
def zero_avoided_by_scaling(self, uniforms):
    """Inclusions are scaled up to the right margins, which leaves zero frequencies in."""
    inclusion = np.broadcast_to(self.inclusion, self.dim)
    some = 1.0 if self.allow_zero else 1.0 - np.prod(1.0 - inclusion)
    return np.broadcast_to(np.minimum(inclusion / some, 1.0), uniforms.shape)


@replaces(
    schemes.Blockwise,
    "sample",
    check_scheme(Case(kernels.Gaussian(0.8) * kernels.Gaussian(0.8), 2), "orthogonal"),
    lambda: sampling_laws.check_streams("iid"),
    lambda: sampling_laws.check_streams("orthogonal"),
)
def one_seed_for_all_blocks(self, layout, m, rng):
    seed = int(rng.integers(2**32))
    return [self._block(block, m, np.random.default_rng(seed)) for block in layout]


@planted(check_iid(Case(kernels.Gaussian(0.8) + kernels.Gaussian(0.8), 2)))
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


@replaces(
    schemes,
    "_stratified",
    check_marginals("orthogonal", Uniforms(1)),
    check_marginals("structured", Uniforms(2)),
)
def strata_too_narrow(m, dim, rng):
    stratum = rng.permuted(np.tile(np.arange(m)[:, None], (1, dim)), axis=0)
    return (stratum + rng.random((m, dim))) / (m + 1)


@replaces(schemes, "haar_rows", check_marginals("orthogonal", Directions(2)))
def haar_without_signs(m, dim, rng):
    q, _ = np.linalg.qr(rng.standard_normal((-(-m // dim), dim, dim)))
    return q.reshape(-1, dim)[:m]


@planted(check_scheme(GAUSSIAN, "qmc"), check_marginals("qmc", Uniforms(1)))
def sobol_without_scrambling(patch):
    class Plain(qmc.Sobol):
        def __init__(self, d, *, scramble, rng):
            super().__init__(d, scramble=False, rng=rng)

    patch.setattr(schemes.qmc, "Sobol", Plain)


@changes(schemes, "shifted_lattice", check_marginals("lattice", Coordinates(3)))
def a_lattice_without_a_shift(shifted, m, dim, rng):
    points = shifted(m, dim, rng)
    return points - points.min(axis=0)


@replaces(schemes, "gammainc", check_scheme(GAUSSIAN, "lattice"), check_scheme(MATERN, "lattice"))
def radii_of_twice_as_many_inputs(half_dim, half_square):
    return gammainc(2.0 * half_dim, half_square)


@changes(HalfByMass, "share", check_iid(SUM), check_scheme(SUM, "orthogonal"))
def equal_weights_for_all_parts(share, self, mass, m, rng, most):
    counts, _ = share(self, mass, m, rng, most)
    return counts, np.full(len(mass), mass.sum() / m)


@replaces(composite_laws, "_assembled", check_iid(PRODUCT), check_scheme(PRODUCT, "qmc"))
def product_with_the_first_factor_only(laws, blocks):
    return [laws[0].assemble(blocks[: len(laws[0].layout)])]


@changes(
    ridge,
    "noise_variance",
    head_laws.check_posterior,
    head_laws.check_best_alpha,
    head_laws.check_coverage,
)
def noise_with_half_the_degrees(original, square, explained, degrees):
    return original(square, explained, 0.5 * degrees)


@replaces(ridge.FunctionLaw, "std", head_laws.check_posterior, head_laws.check_coverage)
def deviation_without_noise(self, Z):
    spread = np.sum(((Z - self.centre) @ self.noise_root) ** 2, axis=1)
    return np.sqrt(spread[:, None] * self.noise_variance)


changes(ridge, "jittered_cholesky", head_laws.check_posterior, name="halved_alpha")(
    lambda cholesky, matrix, ridge, scale: cholesky(matrix, 0.5 * ridge, scale)
)
# Weighted sums divided by the number of rows instead of their weight.
changes(FeatureSums, "centred", head_laws.check_sums, name="means_by_count")(
    lambda centred, self: centred(replace(self, weight=float(self.n_samples)))
)


@planted(head_laws.check_sums)
def weights_not_rooted(patch):
    original = FeatureSums.from_rows.__func__

    def from_rows(cls, Z, Y, weight=None):
        return original(cls, Z, Y, None if weight is None else weight**2)

    patch.setattr(FeatureSums, "from_rows", classmethod(from_rows))


@replaces(krein_ridge_classifier, "left_out_indicators", head_laws.check_probabilities)
def fitted_indicators(sample, frequencies, targets, solution, *rest, **options):
    return solution.mean(frequencies.features(sample.rows.X))
