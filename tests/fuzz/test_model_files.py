"""Changed model files with a right checksum: refused in one line, or a model that answers."""

import warnings
from zlib import crc32

import numpy as np
import pytest
from fuzz.mutation import mutated, shortened
from fuzz.oracle import bounded
from fuzz.saved import NAMES, saved

import bochner
from bochner.files import ModelFileError
from bochner.files import safetensors_container as container


def _check(name, path, number):
    """Change the model of a name, and return whether it is refused; AssertionError otherwise."""
    rng = np.random.default_rng([crc32(name.encode()), number])
    tree, tensors, done = mutated(rng, *_written_parts(name, path))
    return _is_refused(name, path, tree, tensors, done)


def _written_parts(name, path):
    """Return the tree and the tensors of the file of a model."""
    bochner.save(saved(name).model, path)
    return container.read(path)


def _is_refused(name, path, tree, tensors, done):
    """Write a changed file, and return whether it is refused; AssertionError if it misleads."""
    known = saved(name)
    expected = [len(answer) for answer in known.ask(known.model)]
    container.write(path, tree, tensors)
    with bounded(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model, refusal = _or_refusal(bochner.load, path, ModelFileError)
        assert "\n" not in refusal, f"{done}: {refusal}"
        if model is None:
            return True
        if type(model) is not type(known.model):
            return False
        answers, refusal = _or_refusal(known.ask, model, (ValueError, TypeError, AttributeError))
    if answers is None:
        assert refusal
        return True
    found = [len(answer) for answer in answers]
    assert found == expected, f"{done}: rows {found}, expected {expected}"
    return False


def _or_refusal(call, argument, refused):
    """Return what a call returns, or ``None`` and what the error says."""
    try:
        return call(argument), ""
    except refused as error:
        return None, str(error)


@pytest.mark.thorough_cases(
    "^(kernel|chain$|learned table$|forecaster|generalised$|process(?!.*labels)|table of c)",
    "^(asymmetric ridge, e|ridge$|ridge, signed|features, (si|fl|po))",
    "^pipeline, (?!one-hot$|rare|holes|union|head)",
)
@pytest.mark.parametrize("name", NAMES)
def test_changed_files(name, tmp_path):
    refused = [_check(name, tmp_path / "model", number) for number in range(3)]
    assert len(refused) == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_changed_files(name, tmp_path):
    count = 20_000 // len(NAMES) + 1
    refused = [_check(name, tmp_path / "model", number) for number in range(count)]
    assert 0.1 < np.mean(refused) < 1.0


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_lists_and_arrays_of_other_lengths(name, tmp_path):
    for changed in shortened(*_written_parts(name, tmp_path / "model")):
        _is_refused(name, tmp_path / "model", *changed)


@pytest.mark.thorough_cases("ridge")
@pytest.mark.parametrize("name", ["ridge", "features", "encoder"])
def test_bytes(name, tmp_path):
    """Some bytes of the header, and some of the body, with a checksum that is wrong."""
    path, whole, header = _file(name, tmp_path)
    rng = np.random.default_rng(0)
    body = rng.choice(np.arange(header, len(whole)), min(200, len(whole) - header), replace=False)
    head = rng.choice(np.arange(8, header), 200, replace=False)
    _flip(path, whole, [*range(8), *head.tolist(), *body.tolist()])


def _file(name, folder):
    """Save the model of a name; return path, content and the length of the header."""
    path = folder / "model"
    bochner.save(saved(name).model, path)
    whole = path.read_bytes()
    return path, whole, 8 + int.from_bytes(whole[:8], "little")


def _flip(path, whole, places):
    """Change bytes one by one: each file is refused, or it says the same with another spacing."""
    reference = bochner.load(_written(path, whole))
    for place in places:
        for change in (0x01, 0x80):
            changed = bytearray(whole)
            changed[place] ^= change
            try:
                model = bochner.load(_written(path, bytes(changed)))
            except ModelFileError:
                continue
            assert repr(model) == repr(reference), f"byte {place} was changed without a word"


def _written(path, content):
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["ridge", "table of text and dates"])
def test_files_cut_off(name, tmp_path):
    path, whole, _ = _file(name, tmp_path)
    for length in np.unique(np.geomspace(1, len(whole) - 1, 60).astype(int)).tolist():
        with pytest.raises(ModelFileError, match=r"cut off|not a model file|does not begin"):
            bochner.load(_written(path, whole[:length]))
