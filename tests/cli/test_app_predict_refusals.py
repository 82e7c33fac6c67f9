"""What `bochner predict` and `bochner inspect` refuse."""

import json
import zipfile

import numpy as np
import pytest
from cli.command import fit, labelled, refusal, table, write
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import bochner as library


@pytest.fixture(scope="module")
def regressor(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("regressor"), table())


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("classifier"), labelled())


def predict_refusal(folder, model, frame, *options):
    path = write(frame, folder / "new.csv")
    (folder / "out.csv").write_text("what was here before")
    return refusal(folder, "predict", model, path, "--out", folder / "out.csv", *options)


FEATURES = table(3).drop(columns="y")
TABLES = {
    "missing": (FEATURES.drop(columns="b"), "Missing column 'b'"),
    "renamed": (FEATURES.rename(columns={"b": "bb"}), "nearest name there: 'bb'"),
    "reordered": (FEATURES[["b", "a", "colour"]], "column 1 is 'b', expected 'a'"),
    "extra": (FEATURES.assign(z=1), "Unexpected column 'z'"),
    "text for numbers": (FEATURES.assign(a="x"), "'a' (numbers at fit, now text, row 1: 'x')"),
    "infinite": (FEATURES.assign(a=np.inf), "Infinite numbers"),
    "no rows": (FEATURES.head(0), "has a header but no rows"),
}


@pytest.mark.parametrize(("frame", "message"), TABLES.values(), ids=TABLES)
def test_tables(tmp_path, regressor, frame, message):
    assert message in predict_refusal(tmp_path, regressor, frame)


def test_std_of_a_class(tmp_path, classifier):
    assert "--std is for regression" in predict_refusal(tmp_path, classifier, FEATURES, "--std")


def cut(model):
    content = model.read_bytes()
    return content[: len(content) // 2]


def flipped(model):
    content = bytearray(model.read_bytes())
    content[-9] ^= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, "is cut off or damaged"),
        (lambda model: model.read_bytes()[:1000], "is cut off"),
        (lambda model: b"", "is empty"),
        (flipped, "do not match their checksum"),
        (lambda model: b"a,b\n1,2\n", "is not a model file"),
    ],
)
def test_damaged_models(tmp_path, regressor, damage, message):
    damaged = tmp_path / "m.bochner"
    damaged.write_bytes(damage(regressor))
    assert message in predict_refusal(tmp_path, damaged, FEATURES)
    assert message in refusal(tmp_path, "inspect", damaged)


def test_a_model_from_the_future(tmp_path, regressor):
    with safe_open(regressor, framework="np") as file:
        header = json.loads(file.metadata()["bochner"])
    future = tmp_path / "m.bochner"
    metadata = {"bochner": json.dumps(header | {"format": header["format"] + 1})}
    save_file(load_file(regressor), future, metadata=metadata)
    assert "newer bochner" in predict_refusal(tmp_path, future, FEATURES)
    assert "newer bochner" in refusal(tmp_path, "inspect", future)


def test_a_zip_bomb(tmp_path):
    bomb = tmp_path / "m.bochner"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"\0" * 10**7)
    assert "not a model file but a zip archive" in predict_refusal(tmp_path, bomb, FEATURES)
    assert "not a model file but a zip archive" in refusal(tmp_path, "inspect", bomb)


def test_models_of_no_table(tmp_path):
    path = tmp_path / "m.bochner"
    library.save(library.kernels.Gaussian(1.0), path)
    assert "holds a Gaussian" in predict_refusal(tmp_path, path, FEATURES)
    library.save(library.TableRegressor(), path)
    assert "not fitted yet" in predict_refusal(tmp_path, path, FEATURES)
    assert "not fitted yet" in refusal(tmp_path, "inspect", path)


def test_models_that_are_not_there(tmp_path):
    assert "There is no file" in predict_refusal(tmp_path, tmp_path / "none.bochner", FEATURES)
    assert "is a directory" in predict_refusal(tmp_path, tmp_path, FEATURES)


def test_output_that_cannot_be_written(tmp_path, regressor):
    path = write(FEATURES, tmp_path / "new.csv")
    for out, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "out.csv", "There is no folder"),
        (path, "is read from, and would be replaced"),
        (regressor, "is read from, and would be replaced"),
    ):
        assert message in refusal(tmp_path, "predict", regressor, path, "--out", out)
