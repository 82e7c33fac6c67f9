"""Data sets from a folder and from the package."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from bochner.datasets import Dataset, available, load, table_file
from bochner.datasets.dataset import infer_task
from bochner.datasets.npz import read_npz, write_npz


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch, tmp_path):
    monkeypatch.delenv("BOCHNER_DATA", raising=False)
    monkeypatch.setenv("BOCHNER_CACHE", str(tmp_path / "no_cache"))


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "tables"
    place.mkdir()
    return place


def save(folder, name="toy", **arrays):
    defaults = {"X": np.arange(6, dtype=np.uint8).reshape(3, 2), "y": np.array([0.5, 1.5, 2.5])}
    path = folder / f"{name}.npz"
    np.savez(path, **(defaults | arrays))
    return path


def test_unknown_tables_are_refused():
    with pytest.raises(ValueError, match="no bundled table 'iris': expected 'seattle_weather' or"):
        table_file("iris")


def test_the_weather_of_seattle_is_that_of_its_file():
    dataset = load("seattle_weather")
    with table_file("seattle_weather").open(encoding="utf-8") as file:
        frame = pd.read_csv(file, parse_dates=["date"])
    assert frame["date"].tolist() == list(pd.date_range("2012-01-01", "2015-12-31"))
    assert (frame["temp_max"] >= frame["temp_min"]).all()
    np.testing.assert_array_equal(dataset.y, frame["temp_max"])
    read = dataset.to_frame()
    assert read["weather"].tolist() == frame["weather"].tolist()
    np.testing.assert_allclose(read["wind"], frame["wind"], rtol=1e-6)
    date = frame["date"].dt
    years = date.year + (date.day_of_year - 1) / (365 + date.is_leap_year)
    np.testing.assert_allclose(dataset.X[:, 0], years, atol=1e-9)


def test_a_folder_gives_arrays_names_and_provenance(folder):
    save(folder, feature_names=np.array(["a", "b"]), source="here", license="CC0", notes="raw")
    dataset = load("toy", folder)
    np.testing.assert_array_equal(dataset.X, [[0, 1], [2, 3], [4, 5]])
    assert dataset.X.dtype == np.float64
    assert (dataset.task, dataset.feature_names) == ("regression", ("a", "b"))
    assert (dataset.source, dataset.license, dataset.notes) == ("here", "CC0", "raw")
    assert repr(dataset) == "Dataset('toy', 3 x 2, regression)"


def test_a_shipped_split_is_kept(folder):
    np.savez(
        folder / "split.npz",
        X_train=np.ones((4, 1)),
        y_train=np.array([-1, 1, -1, 1], dtype=np.int8),
        X_test=np.zeros((2, 1)),
        y_test=np.array([1, -1], dtype=np.int8),
        class_names=np.array(["no", "yes"]),
    )
    dataset = load("split", folder)
    assert (len(dataset.X), dataset.task, dataset.feature_names) == (4, "classification", ("x0",))
    np.testing.assert_array_equal(dataset.X_test, np.zeros((2, 1)))
    assert dataset.to_frame("test")["target"].tolist() == [1, -1]


def test_codes_become_text_in_a_frame(folder):
    save(
        folder,
        X=np.array([[0, 7], [1, 8], [1, 9]]),
        y=np.array([1, 0, 1]),
        feature_names=np.array(["colour", "size"]),
        categories='{"colour": ["blue", "red"]}',
        class_names=np.array(["cheap", "dear"]),
    )
    dataset = load("toy", folder)
    assert dataset.categorical == (True, False)
    frame = dataset.to_frame()
    assert frame["colour"].tolist() == ["blue", "red", "red"]
    assert frame["target"].tolist() == ["dear", "cheap", "dear"]
    assert frame["size"].tolist() == [7, 8, 9]


def test_a_csv_shows_the_digits_of_a_single_precision_source(folder):
    save(folder, X=np.array([[0.1], [0.2], [540]], dtype=np.float32))
    frame = load("toy", folder).to_frame()
    assert frame.to_csv(index=False).split() == ["x0,target", "0.1,0.5", "0.2,1.5", "540.0,2.5"]


def test_a_frame_keeps_double_precision_where_it_matters(folder):
    X = np.array([[1 / 3], [2 / 3], [0.1]])
    save(folder, X=X)
    np.testing.assert_array_equal(load("toy", folder).to_frame()["x0"], X[:, 0])


def test_a_frame_of_a_missing_part_is_refused(folder):
    save(folder)
    with pytest.raises(ValueError, match="no test part"):
        load("toy", folder).to_frame("test")
    with pytest.raises(ValueError, match="got 'validation'"):
        load("toy", folder).to_frame("validation")


def test_the_folder_comes_before_the_variable_and_that_before_the_package(
    folder, tmp_path, monkeypatch
):
    other = tmp_path / "other"
    other.mkdir()
    assert load("iris").source == "sklearn.datasets.load_iris"
    save(other, "iris", source="variable")
    monkeypatch.setenv("BOCHNER_DATA", str(other))
    assert load("iris").source == "variable"
    save(folder, "iris", source="folder")
    assert load("iris", folder).source == "folder"


def test_a_folder_without_the_name_falls_back_to_the_package(folder):
    np.testing.assert_array_equal(load("iris", folder).X, load_iris().data)


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer", "wine", "iris", "digits"])
def test_every_bundled_table_is_whole(name):
    dataset = load(name)
    frame = dataset.to_frame()
    assert frame.shape == (len(dataset.X), dataset.X.shape[1] + 1)
    assert frame.notna().all(axis=None)
    assert dataset.source
    assert dataset.license
    if dataset.task == "classification":
        assert frame[dataset.target_name].nunique() == len(dataset.levels[dataset.target_name])


def test_co2_is_the_published_record():
    dataset = load("mauna_loa_co2_weekly")
    year, co2 = dataset.X[:, 0], dataset.y
    assert dataset.X.shape == (2284, 1)
    assert np.isnan(co2).sum() == 59
    assert (co2[0], co2[-1]) == (316.1, 371.5)
    week = np.diff(year)
    assert 7 / 366 - 1e-9 < week.min() < week.max() < 7 / 365 + 1e-9
    # 29 March is the 88th day of 1958, 29 December the 363rd of 2001.
    np.testing.assert_allclose(year[[0, -1]], [1958 + 87 / 365, 2001 + 362 / 365])
    gain = np.nanmean(co2[year >= 2001]) - np.nanmean(co2[(year >= 1959) & (year < 1960)])
    assert 50 < gain < 60


def test_available_lists_the_folder_and_the_package(folder):
    save(folder, "mine")
    assert {"mine", "iris", "mauna_loa_co2_weekly"} <= set(available(folder))
    assert "mine" not in available()


def test_an_unknown_name_gets_the_nearest_and_the_ways_out(folder):
    save(folder, "concrete_mine")
    with pytest.raises(ValueError, match=r"did you mean 'concrete_mine'.*folder= or BOCHNER_DATA"):
        load("concrete_min", folder)
    with pytest.raises(ValueError, match=r"known: .*iris"):
        load("qqqq")


def test_loading_never_downloads_unasked(monkeypatch):
    monkeypatch.setattr("bochner.datasets.loading.fetch", lambda name: pytest.fail("downloaded"))
    with pytest.raises(ValueError, match=r"load\('letter', download=True\)"):
        load("letter")


@pytest.mark.parametrize("name", ["../toy", "a/b", "", "toy.npz/..", ".hidden", 3])
def test_a_name_is_no_path(name):
    with pytest.raises((TypeError, ValueError), match=r"folder=|string"):
        load(name)


def test_a_missing_folder_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"^folder must name an existing folder.*nowhere"):
        load("iris", tmp_path / "nowhere")
    monkeypatch.setenv("BOCHNER_DATA", str(tmp_path / "gone"))
    with pytest.raises(ValueError, match=r"BOCHNER_DATA must name an existing folder.*gone"):
        load("iris")


def flipped(content):
    return content[:1000] + bytes([content[1000] ^ 0xFF]) + content[1001:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            (
                lambda content, keep=keep: content[: int(keep * len(content))],
                r"toy\.npz is not an \.npz file, or is damaged",
            )
            for keep in (0.02, 0.5, 0.9, 0.999)
        ),
        (flipped, r"toy\.npz is damaged"),
        (lambda content: b"a,b\n1,2\n", r"not an \.npz file"),
    ],
)
def test_a_damaged_file_is_refused(folder, change, message):
    path = save(folder, X=np.random.default_rng(0).random((200, 2)), y=np.arange(200.0))
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        load("toy", folder)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"y": np.array([1, "a", None], dtype=object)}, "pickled objects"),
        ({"y": np.zeros(4)}, r"X must have shape \(n, d\)"),
        ({"X": np.zeros(3)}, r"X must have shape \(n, d\)"),
        ({"X": np.zeros((0, 2)), "y": np.zeros(0)}, "empty"),
        ({"X": np.array([["a"], ["b"], ["c"]])}, "could not convert"),
        ({"feature_names": np.array(["a"])}, "feature_names has 1"),
        ({"feature_names": np.array(["a", "a"])}, "column names must differ"),
        ({"feature_names": np.array(["a", "target"])}, "column names must differ"),
        ({"is_categorical": np.array([True])}, "categorical has 1"),
        ({"categories": "{not json"}, "Expecting property name"),
        ({"task": "ranking"}, "got 'ranking'"),
        ({"X_test": np.zeros((1, 2))}, "must be given together"),
        ({"X_test": np.zeros((1, 3)), "y_test": np.zeros(1)}, "X_test has 3"),
        ({"y": np.array([1j, 2j, 3j]), "class_names": np.array(["a"])}, "numbers or text"),
    ],
)
def test_what_does_not_fit_is_named_with_the_file(folder, arrays, message):
    path = save(folder, **arrays)
    with pytest.raises(ValueError, match=message) as caught:
        load("toy", folder)
    assert str(path) in str(caught.value)


def test_missing_arrays_are_named_with_those_found(folder):
    np.savez(folder / "graph.npz", edges=np.zeros((2, 2)), y=np.zeros(2))
    with pytest.raises(ValueError, match=r"must hold the arrays X and y.*it holds edges, y"):
        load("graph", folder)


def test_writing_and_reading_give_the_same(tmp_path):
    rng = np.random.default_rng(3)
    dataset = Dataset(
        name="round",
        X=rng.random((4, 2)),
        y=np.array(["a", "b", "a", "é"]),
        task="classification",
        feature_names=("u", "v"),
        target_name="label",
        X_test=rng.random((2, 2)),
        y_test=np.array(["b", "a"]),
        categorical=(False, True),
        levels={"v": ("low", "high")},
        source="s",
        license="l",
        notes="n",
    )
    write_npz(dataset, tmp_path / "round.npz")
    again = read_npz(tmp_path / "round.npz")
    for name in Dataset.__slots__:
        np.testing.assert_array_equal(getattr(again, name), getattr(dataset, name))


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["a", "b"]), "classification"),
        (np.array([True, False]), "classification"),
        (np.repeat([0, 1], 10), "classification"),
        (np.arange(100), "regression"),
        (np.repeat(np.arange(60), 100), "regression"),
        (np.repeat([0.0, 1.0], 50), "regression"),
    ],
)
def test_the_task_follows_the_target(y, task):
    assert infer_task(y) == task
