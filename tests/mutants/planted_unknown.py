"""Bugs of rows with unknown entries or numbers out of range, each with the law that notices it."""

from functools import partial

import numpy as np
from laws import test_unlike_rows as laws
from mutants.registry import edit, planted, replaces

from bochner.tables import donor_forests, new_rows, table_predictions
from bochner.tables import encodings as known_entries
from bochner.tables import new_rows as far_rows


def fresh(check, *args, **options):
    """A check whose models are fitted anew, with the bug."""

    def run():
        laws._numbers.cache_clear()
        laws.classes_of.cache_clear()
        try:
            check(*args, **options)
        finally:
            laws._numbers.cache_clear()
            laws.classes_of.cache_clear()

    return run


coverage, classes = fresh(laws.check_coverage), fresh(laws.check_classes)
width, explanations = fresh(laws.check_width), fresh(laws.check_explanations)


@replaces(new_rows.RowKnowledge, "unknown", coverage, classes)
def unknown_entries_are_medians(self, known):
    return np.zeros(known.is_missing.shape, dtype=bool)


for name, old, new in (
    ("donors_are_the_first_of_their_leaf", "(self.ranks[draw] * sizes)", "(0.0 * sizes)"),
    ("donors_are_any_rows", "leaf = tree.apply(inputs)", "leaf = 0 * tree.apply(inputs)"),
):
    planted(width, name=name)(edit(donor_forests.DonorForest, "donors", old, new))

planted(fresh(laws.check_coverage, unlike="new level"), name="new_levels_are_one_level")(
    edit(new_rows.Donors, "_of_levels", "places.astype(np.int64)", "0 * places.astype(np.int64)")
)
planted(width, name="donors_give_all_columns")(
    edit(
        new_rows.NewRows,
        "_completed",
        "completed[np.ix_(taken, block)] = self.background[np.ix_(donor[taken], block)]",
        "completed[taken] = self.background[donor[taken]]",
    )
)
planted(coverage, name="mixtures_have_one_component")(
    edit(
        table_predictions.NumberPredictor,
        "predictive",
        "mean = _spread(mean)",
        "mean = 0.0 * mean + mean.mean(axis=1, keepdims=True)",
    )
)
for name, old, new in (
    (
        "no_width_beyond_the_range",
        "return changes, as_array(np.maximum(rest",
        "return changes, as_array(0.0 * np.maximum(rest",
    ),
    ("slopes_of_the_full_distance", "share = _CONTINUED * most", "share = 3.0 * most"),
):
    planted(partial(laws.check_beyond), name=name)(edit(far_rows.FarRows, "continued", old, new))
planted(fresh(laws.check_far_entry), name="predictions_go_on_for_ever")(
    edit(
        far_rows.FarRows,
        "continued",
        "np.maximum(np.abs(self.beyond[:, j]), most)",
        "np.full(len(self.rows), most)",
    )
)
planted(partial(laws.check_beyond), name="only_greater_entries_are_out_of_range")(
    edit(known_entries.KnownEntries, "of", "np.nan_to_num(over + under)", "np.nan_to_num(over)")
)
planted(explanations, name="contributions_end_at_the_range")(
    edit(
        table_predictions.NumberPredictor,
        "changes_by_column",
        "changes[far.rows] = of_rows",
        "changes[far.rows] = 0.0 * of_rows",
    )
)


@replaces(new_rows.NewRows, "averaged", classes)
def probabilities_of_the_median(self, function):
    return function(self.encoded)
