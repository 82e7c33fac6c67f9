"""Public sources of data sets, and a cache whose files are verified at each read.

scikit-learn's fetchers download and verify the data. The parsed table is cached as ``NAME.npz``,
with its SHA-256 in another file.
"""

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn import datasets as sklearn_datasets

from bochner._base.file_writing import replacing
from bochner.datasets.dataset import Dataset, Task, of_bunch
from bochner.datasets.npz import read_npz, write_npz


@dataclass(frozen=True, slots=True)
class Source:
    """Where a data set is published, and how to get it into an empty scratch folder."""

    address: str
    fetch: Callable[[Path], Dataset]


def fetch(name: str, *, refresh: bool = False) -> Dataset:
    """Return a published data set from the cache, after a download if necessary.

    Parameters
    ----------
    name : str
        One of :func:`downloadable`.
    refresh : bool, default=False
        Whether to download again and replace the cached file.

    Raises
    ------
    ValueError
        If the name is unknown, or the cached file does not match its checksum.
    OSError
        If the download fails or does not match its published checksum; the cache is unchanged.

    Notes
    -----
    The cache is the folder in ``BOCHNER_CACHE``, or ``bochner`` in the user's cache folder.
    """
    if name not in SOURCES:
        raise ValueError(
            f"No public source is known for {name!r}; those known are {', '.join(downloadable())}."
        )
    cached = None if refresh else read_cached(name)
    return cached if cached is not None else _download(name, SOURCES[name])


def downloadable() -> tuple[str, ...]:
    """Return the names that :func:`fetch` accepts, sorted."""
    return tuple(sorted(SOURCES))


def read_cached(name: str) -> Dataset | None:
    """Return a data set from the cache, or ``None`` if it is not in the cache."""
    path = cache_folder() / f"{name}.npz"
    if not path.is_file():
        return None
    content, sidecar = path.read_bytes(), _sidecar(path)
    expected = sidecar.read_text(encoding="ascii").split()[:1] if sidecar.is_file() else []
    if expected != [hashlib.sha256(content).hexdigest()]:
        raise ValueError(
            f"{path} does not match the checksum in {sidecar.name}; "
            f"get it again with fetch({name!r}, refresh=True), or delete it."
        )
    return read_npz(path, content)


def cache_folder() -> Path:
    """Return the folder of downloaded data sets; it need not exist."""
    chosen = os.environ.get("BOCHNER_CACHE")
    return Path(chosen) if chosen else _user_cache() / "bochner"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _sidecar(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _download(name: str, source: Source) -> Dataset:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as scratch:
        try:
            dataset = source.fetch(Path(scratch))
        except (OSError, ValueError) as error:
            raise OSError(
                f"{name!r} could not be downloaded from {source.address}: {error} Try again later, "
                f"or put {name}.npz into a folder and name it with folder= or BOCHNER_DATA."
            ) from error
    path = folder / f"{name}.npz"
    with replacing(path) as fresh:
        write_npz(dataset, fresh)
        digest = hashlib.sha256(fresh.read_bytes()).hexdigest()
        # The checksum is replaced first: after a crash in between it does not match.
        with replacing(_sidecar(path)) as sidecar:
            sidecar.write_text(f"{digest}  {path.name}\n", encoding="ascii")
    return dataset


def _openml(name: str, data_id: int, task: Task, license: str) -> Source:
    address = f"https://www.openml.org/d/{data_id}"

    def get(scratch: Path) -> Dataset:
        bunch = sklearn_datasets.fetch_openml(
            data_id=data_id, data_home=scratch, as_frame=False, parser="liac-arff"
        )
        bunch.target = np.asarray(bunch.target).astype(str if task == "classification" else float)
        levels = {key: tuple(map(str, texts)) for key, texts in (bunch.categories or {}).items()}
        levels.pop(str(bunch.target_names[0]), None)
        return of_bunch(name, bunch, task, levels=levels, source=address, license=license)

    return Source(address, get)


def _sklearn(name: str, task: Task, source: str, notes: str, license: str = "") -> Source:
    def get(scratch: Path) -> Dataset:
        bunch = getattr(sklearn_datasets, f"fetch_{name}")(data_home=scratch)
        full = f"{source}, through sklearn.datasets.fetch_{name}"
        return of_bunch(name, bunch, task, source=full, license=license, notes=notes)

    return Source("https://ndownloader.figshare.com", get)


_UCI = "CC BY 4.0 (UCI)"
# Names here, identifiers of data sets at OpenML, tasks and licences.
_OPENML: tuple[tuple[str, int, Task, str], ...] = (
    ("airfoil", 44957, "regression", _UCI),
    ("concrete", 44959, "regression", _UCI),
    ("eeg_eye_state", 1471, "classification", _UCI),
    ("electricity", 151, "classification", "none stated (Harries 1999)"),
    ("kr_vs_kp", 3, "classification", _UCI),
    ("letter", 6, "classification", _UCI),
    ("mnist", 554, "classification", "usually given as CC BY-SA 3.0"),
    ("spambase", 44, "classification", _UCI),
)

SOURCES: Mapping[str, Source] = {
    **{row[0]: _openml(*row) for row in _OPENML},
    "california_housing": _sklearn(
        "california_housing",
        "regression",
        "StatLib (Pace and Barry 1997)",
        "averages per household; the target in units of 100,000 dollars, capped at 5.00001",
    ),
    "covtype": _sklearn(
        "covtype",
        "classification",
        "UCI (Blackard and Dean)",
        "581,012 rows; the classes are 1 to 7",
        "CC BY 4.0",
    ),
}
