"""Bugs of double mixtures, each with the test that must notice it."""

from dataclasses import replace
from functools import partial

import numpy as np
from learned import test_component_evidence, test_mixture_bound, test_similarity_features
from mutants.registry import changes, planted
from papers import test_digmm_taylor as test_taylor

from bochner.learned import exact_inference, mixture_inference
from bochner.learned.mixture_bound import ComponentPrior, ExpectedCosines
from bochner.papers import digmm as digmm_taylor

BOTH, GROUPS = test_mixture_bound.BOTH, test_taylor.SIZES["groups"]
check_gradient = partial(test_mixture_bound.assert_gradient, 2, BOTH, None)
check_moments = partial(test_mixture_bound.test_the_average_of_cosines_has_these_moments, 2)
check_letter = partial(test_taylor.assert_letter, GROUPS)


def check_features():
    one = test_similarity_features.model(inference=digmm_taylor.Taylor(), max_iter=2).fit(
        test_similarity_features.X
    )
    test_similarity_features.assert_parts(one)
    test_similarity_features.assert_signature(one)


check_outside = (
    test_similarity_features.test_frequencies_are_spread_outside_of_the_span_of_the_sketch
)
check_masses = test_similarity_features.test_masses_are_those_of_the_split
check_subspace = partial(
    test_component_evidence.test_coordinates_in_a_subspace_have_a_law_of_the_same_stiffness, 100.0
)


@planted(check_features)
def sign_of_the_negative_part_lost(patch):
    patch.setattr(
        mixture_inference.LearnedMixture,
        "kernel",
        property(lambda self: sum((p.kernel for p in self.parts[1:]), self.parts[0].kernel)),
    )


@changes(
    digmm_taylor.SignedData,
    "curvature",
    check_letter,
    lambda: test_taylor.test_the_likelihood_curves_upwards_where_the_update_curves_down(1),
)
def pairs_of_the_curvature_counted_twice(right, self):
    return 2.0 * right(self)


@changes(ExpectedCosines, "__init__", check_moments)
def half_lost_in_the_decay(right, self, factor, deltas):
    scaled = replace(factor, roots=np.sqrt(2.0) * factor.roots)
    right(self, scaled, deltas)


@changes(ExpectedCosines, "pulled_back", check_gradient)
def slope_of_the_variance_forgotten(right, self, one, two):
    return right(self, one, 0.0 * two)


@changes(exact_inference, "_part_of_factor", check_outside)
def nothing_outside_of_the_span(right, sign, mass, factor, data, distance):
    part = right(sign, mass, factor, data, distance)
    onto = data.basis @ data.basis.T
    return replace(part, covariances=onto @ part.covariances @ onto)


@changes(digmm_taylor, "eigen_split", check_masses)
def mass_of_the_split_normalised_away(right, *given):
    return tuple(part and replace(part, mass=1.0) for part in right(*given))


@planted(check_subspace)
def dofs_of_all_coordinates(patch):
    """As many whatever the width, so that subspaces have a law of another stiffness."""
    patch.setattr(ComponentPrior, "dof", property(lambda self: 7.0 + self.stiffness))
