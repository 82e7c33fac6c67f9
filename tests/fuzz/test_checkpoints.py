"""Changed checkpoints: refused in one line, or a fit that ends with finite predictions."""

import json
import os
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from estimators.bank_fits import CASES, NEW, X, fitted
from estimators.test_bank_checkpoint import interrupt
from fuzz.mutation import mutated
from fuzz.oracle import bounded, finite

from bochner.learned import checkpoint, driver

CHOSEN = ("dense", "sparse", "two classes", "joint pairs", "varying noise", "modulated classes")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Checkpoints in the middle of fits, by case."""
    folder = tmp_path_factory.mktemp("checkpoints")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        patch.setattr(driver, "REBUILD_EVERY", 5)
        return {name: interrupt(25, name, folder / name) for name in CHOSEN if name in CASES}


def changed(source, target, number):
    """Write a changed copy of a checkpoint, and return what was done."""
    with np.load(source) as file:
        arrays = dict(file)
    del arrays["sha256"]
    tree = json.loads(arrays.pop("header").tobytes())
    rng = np.random.default_rng([crc32(source.name.encode()), number])
    tree, arrays, done = mutated(rng, tree, arrays)
    header = json.dumps(tree).encode()
    digest = np.frombuffer(checkpoint._digest(header, arrays), dtype=np.uint8)
    with target.open("wb") as file:
        np.savez(file, header=np.frombuffer(header, dtype=np.uint8), sha256=digest, **arrays)
    return done


def check(name, source, path, number):
    """Go on from a changed checkpoint; return whether it was refused."""
    done = changed(source, path, number)
    content = path.read_bytes()
    refusal, model = "", None
    with bounded(), np.errstate(all="ignore"):
        try:
            model = fitted(name, path)
        except ValueError as error:
            refusal = str(error)
    if model is None:
        words = "not a checkpoint of a fit", "belongs to a fit with other data"
        assert any(word in refusal for word in words), f"{done}: {refusal}"
        assert "\n" not in refusal
        assert path.read_bytes() == content, "a refused checkpoint was changed"
        os.unlink(path)
        return True
    assert finite(model.predict(NEW)), f"{done}: predictions are not finite"
    assert finite(model.predict(X)), f"{done}: predictions are not finite"
    return False


@pytest.mark.parametrize("name", CHOSEN)
def test_changed_checkpoints(checkpoints, name, tmp_path):
    refused = [check(name, checkpoints[name], tmp_path / "fit", number) for number in range(8)]
    assert any(refused)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_many_changed_checkpoints(checkpoints, name, tmp_path):
    refused = [check(name, checkpoints[name], tmp_path / "fit", number) for number in range(300)]
    assert 0.2 < np.mean(refused) < 1.0


def test_a_cut_or_flipped_checkpoint_is_refused(checkpoints, tmp_path):
    whole, path = Path(checkpoints["dense"]).read_bytes(), tmp_path / "fit"
    for length in np.linspace(0, len(whole) - 1, 30).astype(int).tolist():
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="not a checkpoint of a fit"):
            fitted("dense", path)
