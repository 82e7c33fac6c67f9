"""What `bochner predict` and `bochner inspect` refuse."""

import pytest
from cli.command import fit, refusal, table, write

import bochner as library


@pytest.fixture(scope="module")
def regressor(tmp_path_factory):
    return fit(tmp_path_factory.mktemp("regressor"), table())


def predict_refusal(folder, model, frame, *options):
    path = write(frame, folder / "new.csv")
    (folder / "out.csv").write_text("what was here before")
    return refusal(folder, "predict", model, path, "--out", folder / "out.csv", *options)


FEATURES = table(3).drop(columns="y")
TABLES = {
    "missing": (FEATURES.drop(columns="b"), "Missing column 'b'"),
    "text for numbers": (FEATURES.assign(a="x"), "'a' (numbers at fit, now text, row 1: 'x')"),
    "no rows": (FEATURES.head(0), "has a header but no rows"),
}


@pytest.mark.parametrize(("frame", "message"), TABLES.values(), ids=TABLES)
def test_tables(tmp_path, regressor, frame, message):
    assert message in predict_refusal(tmp_path, regressor, frame)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b"a,b\n1,2\n", "is not a model file"), (None, "There is no file")],
)
def test_files_that_are_no_models(tmp_path, content, message):
    path = tmp_path / "m.bochner"
    if content is not None:
        path.write_bytes(content)
    assert message in predict_refusal(tmp_path, path, FEATURES)
    assert message in refusal(tmp_path, "inspect", path)


def test_models_of_no_table(tmp_path):
    path = tmp_path / "m.bochner"
    library.save(library.kernels.Gaussian(1.0), path)
    assert "holds a Gaussian" in predict_refusal(tmp_path, path, FEATURES)
    library.save(library.TableRegressor(), path)
    assert "not fitted yet" in predict_refusal(tmp_path, path, FEATURES)
    assert "not fitted yet" in refusal(tmp_path, "inspect", path)


def test_output_that_cannot_be_written(tmp_path, regressor):
    path = write(FEATURES, tmp_path / "new.csv")
    for out, message in (
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "out.csv", "There is no folder"),
        (path, "is read from, and would be replaced"),
        (regressor, "is read from, and would be replaced"),
    ):
        assert message in refusal(tmp_path, "predict", regressor, path, "--out", out)
