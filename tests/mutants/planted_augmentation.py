"""Bugs of likelihoods with latent variables, each with the law that must notice it."""

from functools import partial

from estimators import test_bank_likelihoods
from laws import augmentation_laws as laws
from laws import test_likelihood_laws
from learning.chains.moves import test_augmentation
from mutants.registry import edit, plant_edits, planted, replaces

from bochner.gaussian_process.likelihood_mixtures import LikelihoodMixture
from bochner.learned.chain_evidence import KnownNoise
from bochner.learned.draws import Draws
from bochner.learned.moves import augmentation, censored, slices
from bochner.learned.moves.augmentation import Augmentation
from bochner.learned.moves.count_labels import NegativeBinomialCounts
from bochner.learned.moves.ordinal import OrdinalLabels
from bochner.learned.moves.student_t import StudentTNoise
from bochner.learned.wishart import GammaPrior


def posterior(name):
    return partial(laws.check_posterior, laws.TINY[name], 1000)


def chain(name):
    return partial(laws.check_chain, name, 20, 20, 1000)


plant_edits(
    StudentTNoise,
    "variables",
    posterior("student-t of weights"),
    degree_of_the_row_lost=("(df + 1.0)", "df"),
    residuals_twice=("df + z**2", "df + 2.0 * z**2"),
    weights_of_rows_ignored=("np.broadcast_to(counts, z.shape)", "np.ones(z.shape)"),
)
planted(chain("student-t"), name="degrees_of_freedom_without_a_jacobian")(
    edit(
        Augmentation,
        "_moved",
        "self.prior.shape * log_value",
        "(self.prior.shape - 1.0) * log_value",
    )
)
planted(posterior("student-t of known parameters"), name="a_known_scale_for_its_square")(
    lambda patch: patch.setattr(KnownNoise, "sample", lambda self, *args: self.value**0.5)
)
plant_edits(
    NegativeBinomialCounts,
    "variables",
    posterior("counts"),
    size_of_half_the_shape=("(y + 1.0 /", "(y + 0.5 /"),
    log_odds_without_the_offset=("activation + offset +", "activation +"),
)
plant_edits(
    NegativeBinomialCounts,
    "pseudo",
    posterior("counts"),
    slope_without_the_shape=("(y - 1.0 / law.overdispersion)", "y"),
    offset_lost=("(offset + np.log", "(np.log"),
    weights_lost=("0.5 * count_of(part)", "0.5"),
)
planted(
    test_augmentation.test_slices_leave_a_law_invariant,
    name="slices_of_twice_the_depth",
)(
    edit(
        slices,
        "slice_sampled",
        "- rng.standard_exponential()",
        "- 2.0 * rng.standard_exponential()",
        augmentation,
        test_augmentation,
    )
)
planted(
    partial(test_augmentation.test_normal_variates_below_a_limit_have_its_law, -2.0),
    name="truncated_draws_of_a_squared_uniform",
)(edit(censored, "normal_below", "-rng", "-2.0 * rng", test_augmentation))


plant_edits(
    OrdinalLabels,
    "pseudo",
    posterior("ordinal"),
    labels_of_cutpoints_exchanged=("(0.5, -0.5)", "(-0.5, 0.5)"),
    cutpoints_lost=("np.where(has, cut, 0.0)", "0.0"),
    weights_of_classes_lost=("slope * count_of(part)", "slope"),
)
planted(chain("ordinal"), name="distances_of_another_prior")(
    lambda patch: patch.setattr(OrdinalLabels, "prior", GammaPrior(3.0, 0.5))
)


@replaces(censored, "normal_below", posterior("censored"))
def draws_not_truncated(rng, limit):
    return rng.normal(size=limit.shape)


planted(
    test_likelihood_laws.test_a_mixture_averages_its_laws_and_a_factor_scales_distances,
    name="density_of_a_factor_too_many",
)(edit(LikelihoodMixture, "log_density", "len(self.laws) * self.factor", "len(self.laws)"))
planted(
    test_likelihood_laws.test_a_mixture_averages_its_laws_and_a_factor_scales_distances,
    name="factor_for_its_reciprocal",
)(edit(LikelihoodMixture, "_unscaled", "1.0 / self.factor - 1.0", "self.factor - 1.0"))
planted(
    test_bank_likelihoods.test_covariances_have_the_variances_on_their_diagonal,
    name="variance_of_heavy_tails_lost",
)(edit(Draws, "noise", "* unit.noise_variance", ""))
for name, owner, old, new in (
    ("counts", NegativeBinomialCounts, "0.5 * count_of(part)", "0.5"),
    ("ordinal", OrdinalLabels, "slope * count_of(part)", "slope"),
):
    planted(
        partial(test_augmentation.test_rows_of_weight_are_equal_rows, name),
        name=f"pseudo_targets_of_rows_of_weight_one_{name}",
    )(edit(owner, "pseudo", old, new))
