"""Bugs that this kind of library has had, each with the law that must notice it."""

from dataclasses import replace

import numpy as np
from laws import head_laws, kernel_laws, measure_laws, sampling_laws
from laws.registry import Case
from mutants.registry import changes, deferred, planted, replaces
from scipy.spatial.distance import cdist
from scipy.stats import qmc
from spectral.test_every_map import test_the_gram_matrix_is_the_sum_of_cosines as check_gram
from spectral.test_schemes import (
    test_blocks_have_the_shapes_of_the_layout_and_seeds_repeat as check_seeds,
)

from bochner import kernels, spectral
from bochner.features import FeatureSums
from bochner.linear import krein_ridge_classifier
from bochner.linear import ridge_posterior as ridge
from bochner.spectral import frequencies, schemes

SMALL_ALPHA = 1e-4

GAUSSIAN = Case(kernels.Gaussian((0.6, 0.9)), 2)
ANOVA = Case(kernels.Anova(kernels.Gaussian(0.8), (0.3, 0.8)), 2)
NO_CONSTANT = Case(kernels.Anova(kernels.Gaussian(0.8), (0.15, 0.4), constant=False), 2)

check_iid = deferred(sampling_laws.check_iid)
check_scheme = deferred(sampling_laws.check_unbiased)
check_transform = deferred(measure_laws.check_transform)
check_radius = deferred(measure_laws.check_radius, SMALL_ALPHA)


def every_scheme(case):
    return check_iid(case), check_scheme(case, "orthogonal"), check_scheme(case, "energy")


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


@replaces(
    kernels.Gaussian, "correlation", check_closed_form(kernels.Gaussian(0.8)), check_iid(GAUSSIAN)
)
def gaussian_without_half(self, X, Y):
    return np.exp(-cdist(X, Y, "sqeuclidean"))


@changes(
    frequencies,
    "trigonometric_features",
    lambda: check_gram("plain"),
    check_iid(GAUSSIAN),
    check_scheme(GAUSSIAN, "energy"),
)
def lost_root_two(original, X, omega, phase, amplitude, *others, **options):
    return original(X, omega, phase, amplitude / np.sqrt(2.0), *others, **options)


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


@planted(lambda: check_seeds("energy", 17))
def sobol_without_scrambling(patch):
    class Plain(qmc.Sobol):
        def __init__(self, d, *, scramble, rng):
            super().__init__(d, scramble=False, rng=rng)

    patch.setattr(schemes.qmc, "Sobol", Plain)


@changes(
    ridge,
    "noise_variance",
    head_laws.check_posterior,
    head_laws.check_best_alpha,
    head_laws.check_coverage,
)
def noise_with_half_the_degrees(original, square, explained, degrees):
    return original(square, explained, 0.5 * degrees)


# Weighted sums divided by the number of rows instead of their weight.
changes(FeatureSums, "centred", head_laws.check_sums, name="means_by_count")(
    lambda centred, self: centred(replace(self, weight=float(self.n_samples)))
)


@replaces(krein_ridge_classifier, "left_out_indicators", head_laws.check_probabilities)
def fitted_indicators(sample, frequencies, targets, solution, *rest, **options):
    return solution.mean(frequencies.features(sample.rows.X))
