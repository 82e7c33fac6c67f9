"""Expected errors are those on new rows, and intervals cover as many of them as they state."""

import numpy as np
import pytest
from laws import honest_laws as laws
from laws.honest_models import MODELS
from laws.honest_tables import KINDS

from bochner import TableClassifier

TABLES = {"numbers": MODELS["table quick"], "classes": MODELS["table classes quick"]}
CHANCE = [kind for kind in KINDS.values() if "chance" in kind.tags]
QUICK = {
    "two cells": 60,
    "ratings": 80,
    "weights of cells": 80,
    "counts as weights": 80,
    "two cells of labels": 60,
    "coin flips of levels": 40,
}
"""Kinds of the quick tests, and their numbers of rows."""

THOROUGH = {
    "zero-inflated": 100,
    "groups with their names": 120,
    "parity with errors": 100,
    "groups of labels with names": 120,
    "survey": 120,
    "counts of labels as weights": 100,
}
"""Further kinds of the thorough tests."""


def _cases(*names):
    return [
        pytest.param(kind, MODELS[name], id=f"{kind.name}-{name}")
        for name in names
        for kind in laws.slow_kinds(MODELS[name])
    ]


@pytest.mark.thorough_cases("100|120")
@pytest.mark.parametrize(
    ("name", "n"),
    [*QUICK.items(), *(pytest.param(*c, marks=pytest.mark.thorough) for c in THOROUGH.items())],
)
def test_tables_state_the_error_of_new_rows(name, n):
    kind = KINDS[name]
    laws.agrees(kind, TABLES[kind.task], 6, n)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "model"), _cases(*MODELS))
def test_every_model_states_the_error_of_new_rows(kind, model):
    laws.agrees(kind, model, model.n_seeds)


@pytest.mark.thorough
def test_names_of_many_groups_do_not_leak():
    laws.names_of_many_groups_do_not_leak(TABLES["numbers"], 0)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", CHANCE, ids=lambda kind: kind.name)
def test_no_label_beats_its_entropy(kind):
    laws.no_label_beats_its_entropy(kind, TABLES["classes"], 6, 40)


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 40, 120])
@pytest.mark.parametrize("kind", CHANCE, ids=lambda kind: kind.name)
def test_no_label_of_a_table_beats_its_entropy(kind, n):
    laws.no_label_beats_its_entropy(kind, TABLES["classes"], 20, n)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table classes learned", "bank classes"])
def test_no_label_beats_its_entropy_for_chains(name):
    laws.no_label_beats_its_entropy(KINDS["coin flips"], MODELS[name], 8, 40)


def test_labels_of_half_of_a_wide_table_do_not_help_the_other_half():
    """Length scales from all labels had an expected loss of 0.85 of chance, and 1.3 of new rows."""
    rng = np.random.default_rng(0)
    model = TableClassifier(effort="quick", random_state=0)
    tables = [(rng.normal(size=(50, 400)), rng.permutation(50) % 3) for _ in range(3)]
    losses = [model.fit(*table).score_ for table in tables]
    assert np.mean(losses) > 0.98 * np.log(3.0)
