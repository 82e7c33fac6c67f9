"""Bugs in the evidence of regular series, with the tests that notice them."""

from mutants.registry import edited, planted
from series import test_regular

from bochner.series import process_loops as coefficient_loops
from bochner.series import regular as regular_loops
from bochner.series import regular_recursion
from bochner.series import regular_recursion as regular_slopes


def plant_inner(module, function, *callers, check=test_regular.assert_all, **edits):
    """Register bugs, each of which changes a line of a function that a compiled loop calls.

    ``callers`` in the same module are compiled anew, and then the loop that Python calls.
    """

    def planting(old, new):
        def plant(patch):
            changed = edited(getattr(module, function), old, new)
            for name, value in ((function, changed), *((caller, None) for caller in callers)):
                homes = (module, regular_recursion, regular_slopes)
                home = next(some for some in homes if hasattr(some, name))
                same = f"def {name}("
                compiled = value or edited(getattr(home, name), same, same)
                for user in (home, regular_recursion, regular_slopes, regular_loops):
                    patch.setattr(user, name, compiled, raising=user is home)
            start = "def _fill("
            patch.setattr(regular_loops, "_fill", edited(regular_loops._fill, start, start))

        return plant

    for name, (old, new) in edits.items():
        planted(check, name=name)(planting(old, new))


plant_inner(
    regular_recursion,
    "forward",
    middles_of_changes_do_not_change=("middle[now, j, i] - share * u[now, i]", "middle[now, j, i]"),
)
plant_inner(
    regular_recursion,
    "forward",
    check=test_regular.assert_settled,
    gains_settle_too_soon=("< _SETTLED * total", "< 1e-2 * total"),
)
plant_inner(coefficient_loops, "posterior", "forward")
plant_inner(coefficient_loops, "add_slope_of_inputs", "backward")
plant_inner(regular_recursion, "_begin", "forward")
plant_inner(regular_slopes, "backward")
plant_inner(regular_slopes, "_back_through_begin", "backward")
plant_inner(regular_loops, "write_entries")
plant_inner(regular_loops, "add_chain_rule")
plant_inner(
    regular_loops,
    "_end",
    check=test_regular.test_last_states_are_those_of_the_dense_law,
    last_values_change_no_states=(
        "cov[place, i, k] -= gain[i]",
        "cov[place, i, k] -= 0.0 * gain[i]",
    ),
)
