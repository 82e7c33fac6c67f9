"""Bugs of functions drawn from tables, and of frequencies with tails."""

from functools import partial

from learning.tables import test_function_draws
from mutants.registry import plant_edits
from spectral import test_tails

from bochner.spectral import tails
from bochner.tables import drawn_functions as function_draws
from bochner.tables import ensemble

call = test_function_draws.assert_each_call_keeps_the_promise
OWN = "frequencies = [sample_with_tails(measure, _N_FREQUENCIES, rng) for _ in range(count)]"

plant_edits(
    function_draws,
    "_deviations",
    partial(call, "matern, turned", 0, 0),
    frequencies_that_functions_share=(
        OWN,
        "frequencies = count * [measure.sample(_N_FREQUENCIES, rng, scheme='orthogonal')]",
    ),
    frequencies_without_tails=(
        OWN,
        "frequencies = [measure.sample(_N_FREQUENCIES, rng) for _ in range(count)]",
    ),
    no_noise_of_the_rows=("R.T @ prior + eta", "R.T @ prior"),
)
plant_edits(
    function_draws,
    "drawn_functions",
    partial(call, "matern, turned", 0, 0),
    users=(ensemble,),
    waves_of_unmapped_columns=("drawn[place].omega @ matrix.T", "drawn[place].omega @ matrix"),
    waves_without_their_scale=("size[place] * waves", "waves"),
)
plant_edits(
    tails,
    "_upper_probabilities",
    partial(test_tails.assert_unbiased, "laplacian", 5),
    tails_of_the_wrong_density=("above * -np.log(_LEAST)", "-np.log(_LEAST)"),
    tails_of_any_coordinate=("density.mean(axis=1)", "density.max(axis=1)"),
    weights_of_plain_draws=("1.0 / (0.5 + 0.5 * density.mean(axis=1))", "np.ones(m)"),
)
plant_edits(
    tails,
    "_upper_probabilities",
    partial(test_tails.assert_between_rows, "matern", 1),
    tails_that_are_not_sampled=("_LEAST ** _strata", "1.0 - _strata"),
)
