"""Bugs in laws of counts, with the tests that notice them."""

from mutants.registry import edit, planted
from series.test_counts import (
    assert_chain,
    assert_draws,
    assert_effects,
    assert_mixture,
    assert_paths,
    assert_weights,
)

from bochner.series import count_law, count_levels, fitted_series
from bochner.series.count_law import CountLaw
from bochner.series.count_mixture import CountMixture

for check, owner, function, name, old, new in (
    (assert_mixture, CountMixture, "_distribution", "a_quantile_is_one_too_low", "+ 1.0", "+ 2.0"),
    (
        assert_chain,
        count_levels,
        "transitions",
        "levels_do_not_return",
        "** HEADS",
        "** (0 * HEADS)",
    ),
    (assert_paths, count_levels, "smoothed", "smoothing_takes_steps_forward", ".mT", ""),
    (
        assert_paths,
        count_levels,
        "filtered",
        "unequal_likelihoods_lose_their_size",
        "+ peaks",
        "+ 0.0 * peaks",
    ),
    (assert_draws, CountLaw, "sample", "paths_forget_the_level_at_once", "-length", "-30 * length"),
    (
        assert_draws,
        CountLaw,
        "sample",
        "paths_have_no_dispersion",
        "rng.gamma(size, means / size)",
        "means",
    ),
    (assert_effects, count_law, "_regression", "a_constant_is_missing", "np.ones(", "np.zeros("),
):
    planted(check, name=name)(edit(owner, function, old, new))
planted(assert_weights, name="unlikely_laws_weigh_most")(
    edit(
        *(count_law, "learn_counts"),
        "evidence - logsumexp(evidence)",
        "-evidence - logsumexp(-evidence)",
        fitted_series,
    )
)
