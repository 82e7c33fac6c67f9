"""Papers' names of learned kernels: aliases of the classes, in model files and pickles."""

import json
import pickle
from importlib import import_module

import numpy as np
import pytest
from fuzz.saved import saved
from persist.same import assert_same

import bochner
from bochner.files import container

ALIASES = {
    "BaNKRegressor": ("LearnedKernelRegressor", "bank_regressor", "chain"),
    "BaNKClassifier": ("LearnedKernelClassifier", "bank_classifier", "chain of classes"),
    "GaBaSRRegressor": ("LocallyStationaryRegressor", "gabasr", "local chain"),
    "GaBaSRClassifier": ("LocallyStationaryClassifier", "gabasr", "local chain of classes"),
    "DIGMMFeatures": ("SimilarityFeatures", "digmm_features", "mixture features"),
}


@pytest.fixture(params=ALIASES)
def alias(request):
    return request.param


def test_a_papers_name_is_the_class_itself(alias):
    name, module, _ = ALIASES[alias]
    assert getattr(bochner, alias) is getattr(bochner, name)
    assert getattr(import_module(f"bochner.tables.{module}"), alias) is getattr(bochner, name)
    assert {alias, name} <= set(bochner.__all__)
    assert repr(getattr(bochner, alias)()) == f"{name}()"


def test_a_model_file_with_a_papers_name_loads(alias, tmp_path):
    name, _, subject = ALIASES[alias]
    model = saved(subject).model
    path = tmp_path / "model.bochner"
    bochner.save(model, path)
    tree, tensors = container.read(path)
    assert tree["class"] == name
    as_text = json.dumps(tree).replace(f'"{name}"', f'"{alias}"')
    container.write(path, json.loads(as_text), {k: v.copy() for k, v in tensors.items()})
    assert container.read(path)[0]["class"] == alias
    assert_same(bochner.load(path), bochner.load(_written(model, tmp_path)))


def test_a_pickle_with_a_papers_name_loads(alias):
    name, _, subject = ALIASES[alias]
    known = saved(subject)
    content = pickle.dumps(known.model, protocol=0)  # Text, in which names can be replaced
    assert f"\n{name}\n".encode() in content
    older = pickle.loads(content.replace(f"\n{name}\n".encode(), f"\n{alias}\n".encode()))
    assert type(older) is type(known.model)
    for new, old in zip(known.ask(known.model), known.ask(older), strict=True):
        assert_same(np.asarray(old), np.asarray(new))


def _written(model, folder):
    bochner.save(model, folder / "new.bochner")
    return folder / "new.bochner"
