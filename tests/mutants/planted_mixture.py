"""Bugs of the mixture over frequencies, each with the law that must notice it."""

from dataclasses import replace
from functools import partial

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


changes(NormalInverseWishart, "log_marginal", t, name="marginal_with_one_degree_more")(
    lambda marginal, self, omega: marginal(replace(self, dof=self.dof + 1.0), omega)
)
# The spread of the mean, 1 / strength, lost.
changes(NormalInverseWishart, "sample", draws, name="draws_with_one_degree_more")(
    lambda sample, self, rng: sample(replace(self, dof=self.dof + 1.0), rng)
)


planted(few, joint, name="new_component_without_alpha")(
    lambda patch: change_counts(patch, lambda counts, others: [1.0, *others[1:]])
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
