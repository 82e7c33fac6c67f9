"""Bugs of the mixture over frequencies, each with the law that must notice it."""

from dataclasses import replace
from functools import partial

import numpy as np
from learned import test_dirichlet_mixture, test_wishart
from mutants.registry import changes, planted, replaces

from bochner.learned import dirichlet_mixture
from bochner.learned.dirichlet_mixture import GammaPrior, GaussianComponent, NormalInverseWishart

bayes = partial(test_wishart.test_the_posterior_is_that_of_bayes, 2)
draws = partial(test_wishart.test_draws_follow_their_laws, 2)
t = partial(test_wishart.test_the_marginal_is_a_multivariate_t, 2)
few = partial(
    test_dirichlet_mixture.test_partitions_are_visited_as_their_posterior_says, 0.25, 3000
)
joint = partial(test_dirichlet_mixture.test_sweeps_and_redraws_have_the_models_joint_law, 2500)


def change_posterior(patch, **changes):
    """Replace fields of every posterior by functions of the prior and the posterior."""
    posterior = NormalInverseWishart.posterior

    def changed(self, omega):
        right = posterior(self, omega)
        return replace(right, **{name: value(self, right) for name, value in changes.items()})

    patch.setattr(NormalInverseWishart, "posterior", changed)


def change_counts(patch, change):
    """Change the counts that a frequency sees; the first is the concentration."""
    without = dirichlet_mixture._without
    patch.setattr(
        dirichlet_mixture, "_without", lambda counts, seat: change(counts, without(counts, seat))
    )


@planted(bayes, joint)
def posterior_with_one_degree_more(patch):
    change_posterior(patch, dof=lambda prior, right: right.dof + 1.0)


@planted(bayes)
def posterior_with_one_degree_less(patch):
    # Where no frequencies came, nothing is lost.
    change_posterior(
        patch, dof=lambda prior, right: right.dof - (1.0 if right.dof > prior.dof else 0.0)
    )


@planted(bayes, joint)
def strength_that_stays(patch):
    change_posterior(patch, strength=lambda prior, right: prior.strength)


changes(NormalInverseWishart, "log_marginal", t, name="marginal_with_one_degree_more")(
    lambda marginal, self, omega: marginal(replace(self, dof=self.dof + 1.0), omega)
)
# The spread of the mean, 1 / strength, lost.
changes(NormalInverseWishart, "log_marginal", t, name="marginal_of_a_known_mean")(
    lambda marginal, self, omega: marginal(replace(self, strength=1000000000000.0), omega)
)
changes(NormalInverseWishart, "sample", draws, name="draws_with_one_degree_more")(
    lambda sample, self, rng: sample(replace(self, dof=self.dof + 1.0), rng)
)


@changes(NormalInverseWishart, "sample", draws)
def mean_of_strength_squared(sample, self, rng):
    mean, covariance = sample(self, rng)
    return self.mean + (mean - self.mean) / np.sqrt(self.strength), covariance


planted(few, joint, name="new_component_without_alpha")(
    lambda patch: change_counts(patch, lambda counts, others: [1.0, *others[1:]])
)
planted(few, name="no_new_component")(
    lambda patch: change_counts(patch, lambda counts, others: [0.0, *others[1:]])
)
planted(few, joint, name="own_count_kept")(
    lambda patch: change_counts(patch, lambda counts, others: counts)
)


@replaces(GaussianComponent, "colour", test_dirichlet_mixture.test_whitening_is_undone_by_colouring)
def upper_for_lower(self, xi):
    """Coloured by the transpose of the Cholesky factor."""
    return self.mean + xi @ self.factor


@changes(
    GammaPrior, "sample_given", test_wishart.test_the_concentration_follows_its_posterior, joint
)
def components_counted_once_more(given, self, rng, last, n_components, m):
    return given(self, rng, last, n_components + 1, m)


@changes(GammaPrior, "sample_given", test_wishart.test_the_concentration_follows_its_posterior)
def beta_of_one_parameter_less(given, self, rng, last, n_components, m):
    return given(self, rng, last, n_components, m - 1)
