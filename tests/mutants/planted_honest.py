"""Planted bugs of what is left out, which comparisons with new rows must notice."""

from dataclasses import replace
from functools import partial

import numpy as np
from laws import honest_laws as laws
from laws.honest_models import MODELS
from laws.honest_tables import KINDS
from mutants.registry import changes

from bochner.linear.softmax_weights import fit_softmax
from bochner.tables import encodings, table_rows, weighted_sum
from bochner.tables.level_means import Removal


def agrees(name, n, seeds=4):
    """Return the check that a kind's expected errors are those on new rows."""
    kind = KINDS[name]
    model = MODELS["table quick" if kind.task == "numbers" else "table classes quick"]
    return partial(laws.agrees, kind, model, seeds, n)


@changes(table_rows, "table_rows", agrees("zero-inflated", 100), agrees("two cells of labels", 60))
def equal_rows_are_left_out_together(right, *args, **named):
    rows = right(*args, **named)
    table = rows.X.assign(_target=rows.y)
    return replace(rows, removal=Removal.of_labels(table.groupby(list(table)).ngroup().to_numpy()))


@changes(
    encodings,
    "level_scores",
    partial(laws.names_of_many_groups_do_not_leak, MODELS["table quick"], 0),
)
def means_of_levels_know_the_groups_that_are_left_out(right, codes, target, clip, removal):
    return right(codes, target, clip, Removal())


@changes(
    weighted_sum,
    "left_out_probabilities",
    partial(
        laws.no_label_beats_its_entropy, KINDS["coin flips"], MODELS["table classes quick"], 12, 40
    ),
)
def the_last_stage_is_scored_on_its_own_rows(_, scores, labels, units, groups=None, **_fit):
    softmax = fit_softmax(scores, labels, units.weights)
    return softmax.probabilities(scores)[np.arange(len(labels)), labels]
