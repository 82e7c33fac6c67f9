"""Bugs of the parts of text, each with the law that notices it."""

import numpy as np
from laws import text_laws as laws
from mutants.registry import changes, edit, plant_edits, planted, replaces

from bochner.files import identifiers
from bochner.tables import encoder, encodings, text_parts


def anew(law):
    """A check whose models are fitted anew, with the bug."""

    def run():
        laws.fitted.cache_clear()
        try:
            law()
        finally:
            laws.fitted.cache_clear()

    run.__name__ = law.__name__
    return run


random_text = anew(laws.check_random_text_is_left_out)


@replaces(encoder, "telling", random_text)
def all_text_tells(scores, base, targets, groups):
    return set(scores)


@replaces(encoder, "telling", anew(laws.check_titles_tell))
def no_text_tells(scores, base, targets, groups):
    return set()


@replaces(encoder, "recurs", anew(laws.check_recurring_names_have_levels))
def names_are_free_text(column):
    return False


plant_edits(text_parts, "telling", laws.check_groups_are_left_out, users=(encoder,),
    rows_of_a_group_in_several_folds=("np.unique(groups, return_inverse=True)[1]",
                                      "np.arange(len(groups))"))  # fmt: skip
plant_edits(text_parts, "telling", random_text, users=(encoder,),
    errors_of_rows_of_the_fit=(
        "cross_val_predict(RidgeCV(_ALPHAS), of_column, residuals, cv=folds)",
        "RidgeCV(_ALPHAS[:1]).fit(of_column, residuals).predict(of_column)"
    ))  # fmt: skip
plant_edits(encodings, "scale_numbers", laws.check_parts_share_a_length_scale, users=(laws,),
    parts_are_levels=("numbers, -1)", "numbers, 0)"),
    parts_have_scales=("numbers, -1)", "numbers, features + 1)"))  # fmt: skip


@changes(text_parts.TextParts, "__call__", anew(laws.check_text_without_known_parts))
def every_text_is_known(call, self, column):
    scores, is_known = call(self, column)
    return scores, np.ones_like(is_known)


planted(anew(laws.check_missing_text), name="all_texts_are_one_donor")(
    edit(encodings, "_levels", "return scores[:, 0]", "return 0.0 * scores[:, 0]")
)
plant_edits(identifiers, "has_words", laws.check_words, users=(laws,),
    words_of_one_text=("1 < count <= most", "0 < count <= most"),
    words_of_all_texts=("1 < count <= most", "1 < count"),
    words_of_addresses=('if "@" not in text', "if text"))  # fmt: skip
