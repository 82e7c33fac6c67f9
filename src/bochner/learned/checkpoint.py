"""Checkpoint files of runs: arrays and numbers, written atomically."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from glob import escape
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from bochner._base.file_writing import as_path, replacing
from bochner._base.limits import LARGEST_ENTRY
from bochner.learned.draws import ChainDraw
from bochner.learned.gaussian_components import Components

_ARRAY = "\0array"
"""Key of a reference to an array in the header; states and records have no such name."""

_KEYS = ("fingerprint", "rng", "stage", "iteration", "seconds", "n_burn_in", "records", "state")


def chain_path(path: Path, index: int, n_chains: int) -> Path:
    """Return the checkpoint file of one chain of a problem."""
    return path if n_chains == 1 else path.with_name(f"{path.name}.{index}")


def problem_paths(checkpoint: object, count: int, n_chains: int) -> list[Path | None]:
    """Return the file of each problem of a fit, or ``None`` for each without a checkpoint.

    Raises ``ValueError`` if no file can be written there, or if a file exists at ``checkpoint``
    although the fit writes several files with longer names.
    """
    if checkpoint is None:
        return [None] * count
    path = as_path(checkpoint, "checkpoint")
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint {str(path)!r} lies in a folder that does not exist; create it first."
        )
    if path.is_dir():
        raise ValueError(f"checkpoint {str(path)!r} is a folder; give the name of a file in it.")
    if path.exists() and count * n_chains > 1:
        raise ValueError(
            f"checkpoint {str(path)!r} is a file that this fit has not written: its files, one for "
            f"each of {count * n_chains} chains, have longer names. Give a path where there is no "
            "file."
        )
    return [path if count == 1 else path.with_name(f"{path.name}.class{i}") for i in range(count)]


def forget(path: Path | None, n_chains: int) -> None:
    """Delete the checkpoints of a finished problem."""
    if path is None:
        return
    for index in range(n_chains):
        file = chain_path(path, index, n_chains)
        file.unlink(missing_ok=True)
        # Runs that are killed while they write leave partial files.
        for partial in file.parent.glob(f"{escape(file.name)}.*.partial"):
            partial.unlink(missing_ok=True)


def write_checkpoint(path: Path, content: Mapping[str, object]) -> None:
    """Write nested arrays, numbers and draws; a kill leaves either the old or the new file."""
    arrays: dict[str, Any] = {}
    header = json.dumps(_packed(content, "content", arrays)).encode()
    arrays["sha256"] = np.frombuffer(_digest(header, arrays), dtype=np.uint8)
    arrays["header"] = np.frombuffer(header, dtype=np.uint8)
    with replacing(path) as fresh, fresh.open("wb") as file:
        np.savez(file, **arrays)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the content of a checkpoint; loading runs no code.

    Raises ``ValueError`` for a file that is no checkpoint, ``OSError`` if it cannot be read.
    """
    if not path.is_file():
        raise OSError(f"{path} is not an ordinary file: give another path for the checkpoint.")
    data = BytesIO(path.read_bytes())
    try:
        # np.load also reads files of a single array.
        if not is_zipfile(data):
            raise ValueError("it is not an archive of arrays")
        with np.load(data, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header, expected = (arrays.pop(name).tobytes() for name in ("header", "sha256"))
        if _digest(header, arrays) != expected:
            raise ValueError("its contents do not match their checksum")
        for name, array in arrays.items():
            if (
                array.dtype.kind not in "biuf"
                or not (np.abs(array.astype(np.float64)) <= LARGEST_ENTRY).all()
            ):
                raise ValueError(f"{name} holds something else than numbers of a fit")
        content: dict[str, Any] = _unpacked(json.loads(header), arrays)
        content["draws"] = [_draw(values) for values in content["draws"]]
        _check(content)
        return content
    except Exception as error:  # many kinds, from the first byte to a missing number
        raise damaged(path, error) from error


def _digest(header: bytes, arrays: Mapping[str, Any]) -> bytes:
    digest = hashlib.sha256(header)
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype}{arrays[name].shape}".encode())
        digest.update(arrays[name].tobytes())
    return digest.digest()


def damaged(path: Path, reason: object) -> ValueError:
    """Return the error for a file from which no fit can be resumed."""
    description = " ".join(str(reason).split())
    return ValueError(
        f"{path} is not a checkpoint of a fit, or is damaged ({description}); delete it to start "
        "anew, or give another path."
    )


def _check(content: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` or ``KeyError`` unless the content is a valid checkpoint."""
    missing = set(_KEYS) - set(content)
    if missing or len(content) > len(_KEYS) + 1:  # With the draws
        raise ValueError(f"it has the entries {sorted(content)}")
    for name in ("stage", "iteration", "n_burn_in"):
        if type(content[name]) is not int or content[name] < 0:
            raise ValueError(f"{name} is {content[name]!r}")
    seconds = content["seconds"]
    if not isinstance(seconds, float) or not math.isfinite(seconds) or seconds < 0.0:
        raise ValueError(f"seconds is {seconds!r}")
    for record in content["records"]:
        if not all(isinstance(value, int | float) for value in record.values()):
            raise ValueError("a record holds something else than numbers")
    if content["n_burn_in"] != len(content["records"]) - len(content["draws"]):
        raise ValueError("its draws and its records are not of one run")


def check_form(loaded: object, expected: object, place: str = "state", n_free: int = 0) -> None:
    """Raise ``ValueError`` unless nested values have the keys, types and shapes of ``expected``.

    The first ``n_free`` axes may differ: mixtures vary in their number of components. Compiled
    loops, which do not check shapes, rely on the other axes.
    """
    if isinstance(expected, np.generic):
        expected = expected.item()
    if isinstance(expected, Mapping):
        if not isinstance(loaded, Mapping) or loaded.keys() != expected.keys():
            raise ValueError(f"{place} should have the entries {sorted(expected)}")
        if (
            "labels" in expected
            and not np.isin(loaded["labels"], np.arange(len(loaded["means"]))).all()
        ):
            raise ValueError(f"{place} has labels of no component")
        for name, value in expected.items():
            of_mixture = "labels" in expected and name in ("means", "covariances")
            check_form(loaded[name], value, f"{place}.{name}", n_free=int(of_mixture))
    elif isinstance(expected, np.ndarray):
        forms = [
            (value.dtype, value.ndim, value.shape[n_free:])
            for value in (np.asarray(loaded), expected)
        ]
        if forms[0] != forms[1]:
            raise ValueError(f"{place} should be {forms[1]}, is {forms[0]}")
    elif type(loaded) is not type(expected) or (
        isinstance(loaded, float) and not 0.0 < loaded < math.inf
    ):
        raise ValueError(f"{place} should be a positive {type(expected).__name__}, is {loaded!r}")


def _packed(value: Any, place: str, arrays: dict[str, Any]) -> Any:
    """Return a value for JSON, in which arrays are replaced by references."""
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {_ARRAY: place}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, ChainDraw | Components):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _packed(each, f"{place}.{name}", arrays) for name, each in value.items()}
    if isinstance(value, list):
        return [_packed(each, f"{place}.{index}", arrays) for index, each in enumerate(value)]
    return value


def _unpacked(value: object, arrays: Mapping[str, object]) -> Any:
    if isinstance(value, dict):
        if _ARRAY in value:
            return arrays[value[_ARRAY]]
        return {name: _unpacked(each, arrays) for name, each in value.items()}
    return [_unpacked(each, arrays) for each in value] if isinstance(value, list) else value


def _draw(values: dict[str, Any]) -> ChainDraw:
    if values["components"] is not None:
        values["components"] = Components(**values["components"])
    return ChainDraw(**values)
