"""Downloads and their cache, with local files in the place of public sources."""

import hashlib
import io
import tarfile

import numpy as np
import pytest
from sklearn.datasets import _california_housing
from sklearn.utils import Bunch

from bochner.datasets import Dataset, available, fetch, load, remote

HOUSING = """-122.23,37.88,41,880,129,322,126,8.3252,452600
-122.22,37.86,21,7099,1106,2401,1138,8.3014,358500
-122.24,37.85,52,1467,190,496,177,7.2574,352100
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("BOCHNER_DATA", raising=False)
    monkeypatch.setenv("BOCHNER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class FakeSource:
    """A public source that counts its downloads and may die half-way."""

    def __init__(self, error=None):
        self.error, self.count = error, 0

    def __call__(self, scratch):
        self.count += 1
        (scratch / "raw.part").write_bytes(b"half of it")
        if self.error is not None:
            raise self.error
        y = np.array([1.0, 2.0]) * self.count
        return Dataset("far", np.arange(4.0).reshape(2, 2), y, "regression", source="far away")


@pytest.fixture
def use(monkeypatch):
    def install(fetcher):
        source = remote.Source("https://example.org/far", fetcher)
        monkeypatch.setattr(remote, "SOURCES", {"far": source})
        return fetcher

    return install


def files(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_download_is_cached_with_its_checksum(cache, use):
    source = use(FakeSource())
    first, again = fetch("far"), fetch("far")
    assert source.count == 1
    assert files(cache) == ["far.npz", "far.npz.sha256"]
    digest = hashlib.sha256((cache / "far.npz").read_bytes()).hexdigest()
    assert (cache / "far.npz.sha256").read_text() == f"{digest}  far.npz\n"
    np.testing.assert_array_equal(first.y, again.y)
    assert again.source == "far away"


def test_refresh_replaces_what_the_cache_holds(cache, use):
    source = use(FakeSource())
    fetch("far")
    assert fetch("far", refresh=True).y[0] == 2.0
    assert (source.count, load("far").y[0]) == (2, 2.0)


def test_load_downloads_when_asked_and_then_reads_the_cache(cache, use):
    source = use(FakeSource())
    with pytest.raises(ValueError, match="download=True"):
        load("far")
    assert source.count == 0
    load("far", download=True)
    load("far", download=True)
    assert load("far").name == "far"
    assert source.count == 1
    assert "far" in available()


@pytest.mark.parametrize(
    "error", [ConnectionResetError("reset"), ValueError("md5 is wrong"), KeyboardInterrupt("stop")]
)
def test_a_download_that_dies_leaves_nothing(cache, use, error):
    use(FakeSource(error))
    is_failure = isinstance(error, Exception)
    message = rf"'far'.*https://example\.org/far: {error}.*far\.npz" if is_failure else "stop"
    with pytest.raises(OSError if is_failure else KeyboardInterrupt, match=message):
        fetch("far")
    assert files(cache) == []


def test_a_failed_refresh_keeps_the_old_file(cache, use):
    source = use(FakeSource())
    fetch("far")
    source.error = TimeoutError("slow")
    with pytest.raises(OSError, match="slow"):
        fetch("far", refresh=True)
    assert load("far").y[0] == 1.0
    assert files(cache) == ["far.npz", "far.npz.sha256"]


@pytest.mark.parametrize("damage", ["byte", "sidecar", "no sidecar", "empty sidecar"])
def test_a_corrupted_cache_is_refused(cache, use, damage):
    use(FakeSource())
    fetch("far")
    path, sidecar = cache / "far.npz", cache / "far.npz.sha256"
    if damage == "byte":
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif damage == "sidecar":
        sidecar.write_text("0" * 64 + "  far.npz\n")
    elif damage == "no sidecar":
        sidecar.unlink()
    else:
        sidecar.write_text("")
    for read in (load, fetch):
        with pytest.raises(ValueError, match=r"does not match the checksum.*refresh=True"):
            read("far")
    assert fetch("far", refresh=True).name == "far"
    assert load("far").name == "far"


def test_an_unknown_source_lists_the_known(cache):
    with pytest.raises(ValueError, match=r"'nowhere'.*electricity"):
        fetch("nowhere")


def test_the_cache_is_in_the_users_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("BOCHNER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(remote.sys, "platform", "linux")
    assert remote.cache_folder() == tmp_path / "bochner"


def test_openml_tables_arrive_with_their_types(cache, monkeypatch):
    asked = {}

    def fake_openml(**arguments):
        asked.update(arguments)
        return Bunch(
            data=np.array([[0.0, 1.5], [1.0, 2.5]]),
            target=np.array(["UP", "DOWN"], dtype=object),
            feature_names=["day", "price"],
            target_names=["class"],
            categories={"day": ["1", "2"], "class": ["DOWN", "UP"]},
        )

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fake_openml)
    dataset = fetch("electricity")
    assert (asked["data_id"], asked["parser"], asked["as_frame"]) == (151, "liac-arff", False)
    assert asked["data_home"].parent == cache
    assert dataset.y.tolist() == ["UP", "DOWN"]
    assert (dataset.task, dataset.target_name) == ("classification", "class")
    assert dataset.categorical == (True, False)
    assert load("electricity").to_frame()["day"].tolist() == ["1", "2"]
    assert files(cache) == ["electricity.npz", "electricity.npz.sha256"]


def test_california_housing_comes_through_sklearns_checksum(cache, tmp_path, monkeypatch):
    path = tmp_path / "cal_housing.tgz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        info.size = len(HOUSING)
        archive.addfile(info, io.BytesIO(HOUSING.encode()))
    checksum = hashlib.sha256(path.read_bytes()).hexdigest()
    archive = _california_housing.ARCHIVE._replace(url=path.as_uri(), checksum=checksum)
    monkeypatch.setattr(_california_housing, "ARCHIVE", archive)
    dataset = fetch("california_housing")
    assert dataset.X.shape == (3, 8)
    np.testing.assert_allclose(dataset.y, [4.526, 3.585, 3.521])
    assert files(cache) == ["california_housing.npz", "california_housing.npz.sha256"]
