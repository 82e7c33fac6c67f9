"""Bugs of the parts of text, each with the law that notices it."""

from laws import text_laws as laws
from mutants.registry import plant_edits, replaces

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
def all_text_tells(scores, *arguments):
    return set(scores)


plant_edits(text_parts, "telling", laws.check_groups_are_left_out, users=(encoder,),
    rows_of_a_group_in_several_folds=("np.unique(groups, return_inverse=True)[1]",
                                      "np.arange(len(groups))"))  # fmt: skip
plant_edits(text_parts, "telling", laws.check_text_of_a_known_number_is_left_out, users=(encoder,),
    scores_of_all_levels=("< _FEWEST_OF_LEVEL", "< 0"))  # fmt: skip
plant_edits(encodings, "_scale_numbers", laws.check_parts_share_a_length_scale,
    parts_are_levels=("numbers, -1)", "numbers, 0)"),
    )  # fmt: skip


plant_edits(identifiers, "has_words", laws.check_words, users=(laws,),
    words_of_one_text=("1 < count <= most", "0 < count <= most"),
    )  # fmt: skip
