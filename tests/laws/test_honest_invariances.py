"""Changes of a table that do not matter do not change a model."""

import pytest
from laws import honest_invariances as laws
from laws.honest_laws import slow_kinds
from laws.honest_models import MODELS
from laws.honest_tables import KINDS

TABLES = [MODELS["table quick"], MODELS["table classes quick"]]
CHANGED = (
    *("thirty cells", "ratings", "smooth", "skewed", "weights over two decades", "one column"),
    *("groups with their names", "text of 300 levels", "groups of labels with names"),
    *("twenty cells of labels", "smooth classes", "parity with errors", "six cells of labels"),
)
"""Kinds of the comparisons of tables: fits of the others tell nearly the same, and errors of the
one year that is scored of "ties in time" differ by their chance."""


def _cases(models, names=None):
    return [
        pytest.param(kind, model, id=f"{kind.name}-{model.name}")
        for model in models
        for kind in slow_kinds(model)
        if names is None or kind.name in names
    ]


EVERY = [m for m in MODELS.values() if "default" not in m.name]


@pytest.mark.parametrize(("kind", "model"), _cases(TABLES, ("ratings", "six cells of labels")))
def test_units_do_not_matter(kind, model):
    laws.units_do_not_matter(kind, model, 0, 100)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "model"), _cases(EVERY))
def test_units_do_not_matter_to_any_model(kind, model):
    laws.units_do_not_matter(kind, model, 1, 100)


@pytest.mark.thorough_cases(but=r"\bof\b")
@pytest.mark.parametrize(
    "name", ["two cells of labels", pytest.param("four random classes", marks=pytest.mark.thorough)]
)
def test_labels_do_not_matter(name):
    laws.labels_do_not_matter(KINDS[name], MODELS["table classes quick"], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "model"), _cases([m for m in EVERY if m.task == "classes" and not m.is_sampled])
)
def test_labels_do_not_matter_to_any_model(kind, model):
    laws.labels_do_not_matter(kind, model, 1)


@pytest.mark.slow
def test_labels_do_not_matter_to_chains_on_average():
    kind, model = KINDS["six cells of labels"], MODELS["bank classes"]
    laws.labels_do_not_matter_on_average(kind, model, 6, 60)


@pytest.mark.parametrize("change", laws.CHANGES)
@pytest.mark.parametrize(
    ("kind", "model"), _cases(TABLES, ("thirty cells", "twenty cells of labels"))
)
@pytest.mark.thorough
def test_errors_change_little(change, kind, model):
    laws.changes_little(change, kind, model, 1, 200)


@pytest.mark.slow
@pytest.mark.parametrize("change", laws.CHANGES)
@pytest.mark.parametrize(("kind", "model"), _cases(EVERY, CHANGED))
def test_errors_of_every_model_change_little(change, kind, model):
    laws.changes_little(change, kind, model, 5 if model.n_seeds == 20 else 3)
