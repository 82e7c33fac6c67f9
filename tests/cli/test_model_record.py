"""Facts about the fit in changed model files, which commands read."""

import json

import pytest
from cli.command import SMALL, bochner, refusal, table, write

from bochner.files import safetensors_container as container

WRONG = {
    "target": (None, -1, [1, 2], ["y", "z"]),
    "dropped": (None, -1),
    "id": ([],),
    "layout": (None, [], "x"),
    "fingerprint": ([], "x", {"$": "dict", "items": {}}),
    "interval": (None, 2.0),
    "n_test_samples": (None, []),
    "test_rmse": (None, "x"),
}

LAYOUT = {
    "missing": (None, -1),
    "units": (None,),
    "words": ([], 1.0),
    "skip": ("x",),
    "types": (1,),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the paths of a table and of a model."""
    folder = tmp_path_factory.mktemp("record")
    path, model = write(table(60), folder / "t.csv"), folder / "m.bochner"
    options = ("--target", "y", "--out", model, *SMALL)
    assert bochner("fit", path, *options).exit_code == 0
    return path, model


def changed(model, folder, place, name, value):
    """Write a model with another fact."""
    tree, tensors = container.read(model)
    tree = json.loads(json.dumps(tree))
    items = tree["attributes"]["record_"]["items"]
    items = items[place]["items"] if place else items
    items[name] = value
    container.write(folder / "changed.bochner", tree, tensors)
    return folder / "changed.bochner"


@pytest.mark.thorough_cases("-target--1|-target-None")
@pytest.mark.parametrize(
    ("place", "name", "value"),
    [
        *(("", name, value) for name, values in WRONG.items() for value in values),
        *(("layout", name, value) for name, values in LAYOUT.items() for value in values),
    ],
)
def test_facts_of_other_types_are_refused(place, name, value, made, tmp_path):
    path, model = made
    file = changed(model, tmp_path, place, name, value)
    for command in (("predict", file, path), ("explain", file, "--json")):
        assert "for the fact" in refusal(tmp_path, *command)


def test_facts_that_a_user_adds_are_kept(made, tmp_path):
    path, model = made
    file = changed(model, tmp_path, "", "note", "of May")
    assert bochner("predict", file, path).exit_code == 0
