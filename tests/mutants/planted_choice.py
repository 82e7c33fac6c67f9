"""Bugs planted in the rule for schemes and in the choice of landmarks, and the laws to notice."""

from functools import partial

from features import test_landmarks as pivots
from mutants.registry import edit, planted
from spectral import test_choice as rule

from bochner import kernels
from bochner.features import landmarks
from bochner.spectral import schemes as choice

check_pivots = partial(
    pivots.test_pivots_are_those_of_one_row_after_the_other, 2, 0.2, 300, kernels.Gaussian
)

planted(check_pivots, name="wrong_predictions_that_are_taken")(
    edit(landmarks, "greatest_pivots", "pivot != np.argmax(left) or left", "left", pivots)
)
planted(
    partial(rule.test_the_scheme_of_a_law, rule.MIXTURE, 3, rule.ShiftedLattice()),
    name="lattices_end_one_input_earlier",
)(edit(choice, "best_scheme", "dim <= _LATTICE_MIXTURES", "dim < _LATTICE_MIXTURES", rule))
planted(
    partial(rule.test_transforms_pay_where_they_save_multiplications, 512, 512, 32, False),
    name="rows_of_blocks_that_cost_nothing",
)(edit(choice, "transforms_pay", "-(-m // order) * order * math", "m * math", rule))
