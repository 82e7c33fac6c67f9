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
    gains_do_not_change=("gain[later, i] += share * states[later, j, i]", "pass"),
    columns_begin_a_step_late=("if t >= starts[a]:", "if t > starts[a]:"),
)
plant_inner(
    regular_recursion,
    "forward",
    check=test_regular.assert_settled,
    gains_settle_too_soon=("< _SETTLED * total", "< 1e-2 * total"),
)
plant_inner(
    coefficient_loops,
    "posterior",
    "forward",
    coefficients_are_not_integrated_out=("added -= np.log(factor[i, i])", "pass"),
    unknown_values_have_a_normal_prior=("if i == j and kinds[i] != UNKNOWN:", "if i == j:"),
)
plant_inner(
    coefficient_loops,
    "add_slope_of_inputs",
    "backward",
    effects_have_no_spread=("(1.0 - some.shrunk[i, i])", "1.0"),
)
plant_inner(regular_recursion, "_begin", "forward", trends_begin_in_a_stationary_law=("+ q[0]", ""))
plant_inner(
    regular_slopes,
    "backward",
    gradients_ignore_the_variance_of_values=("d_total += u[t, j] * image / following**2", "pass"),
    gradients_ignore_errors_of_the_line=("d_error[j] += along", "pass"),
    gradients_ignore_what_columns_explain=("d_error[rank] += explained / total", "pass"),
    gradients_ignore_the_spread_of_coefficients=("spread += cov[a, b]", "spread += 0.0"),
)
plant_inner(
    regular_slopes,
    "_back_through_begin",
    "backward",
    gradients_ignore_the_first_variance=("d_total += d_middle[0, 0] / total**2", "pass"),
)
plant_inner(
    regular_loops,
    "write_entries",
    states_have_no_partners=("sign * decay * math.sin(h * turn)", "0.0"),
)
plant_inner(
    regular_loops,
    "add_chain_rule",
    gradients_ignore_memory=("of_memory += a * own[place]", "of_memory += 0.0 * own[place]"),
)
plant_inner(
    regular_loops,
    "_end",
    check=test_regular.assert_last_states,
    last_values_change_no_states=(
        "cov[place, i, k] -= gain[i]",
        "cov[place, i, k] -= 0.0 * gain[i]",
    ),
)
