"""Checkpoint files of runs: arrays and numbers, written whole or not at all."""

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from glob import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bochner.learning.inference.components import Components
from bochner.learning.inference.draws import Draw

_ARRAY = "\0array"
"""Key that stands for an array in the header; no name of a state or a record has it."""

_KEYS = ("fingerprint", "rng", "stage", "iteration", "seconds", "n_burn_in", "records", "state")


def chain_path(path: Path, index: int, n_chains: int) -> Path:
    """Return the file of one of the chains of a problem."""
    return path if n_chains == 1 else path.with_name(f"{path.name}.{index}")


def problem_paths(checkpoint: Any, count: int) -> list[Path | None]:
    """Return the file of each of the problems of a fit, or ``None`` without a checkpoint.

    A place where no file can be written raises ``ValueError``.
    """
    if checkpoint is None:
        return [None] * count
    path = Path(checkpoint)
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint {str(path)!r} lies in a folder that does not exist; create it first."
        )
    if path.is_dir():
        raise ValueError(f"checkpoint {str(path)!r} is a folder; give the name of a file in it.")
    return [path if count == 1 else path.with_name(f"{path.name}.class{i}") for i in range(count)]


def forget(path: Path | None, n_chains: int) -> None:
    """Delete the checkpoints of a finished problem."""
    if path is None:
        return
    for index in range(n_chains):
        one = chain_path(path, index, n_chains)
        one.unlink(missing_ok=True)
        # Runs that were killed while they wrote leave these.
        for partial in one.parent.glob(f"{escape(one.name)}.*.partial"):
            partial.unlink(missing_ok=True)


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write nested arrays, numbers and draws; a kill at any time leaves the old file or the new."""
    arrays: dict[str, Any] = {}
    header = _packed(content, "content", arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with fresh.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the content of a checkpoint; loading runs no code.

    A file that is no checkpoint raises ``ValueError``, one that cannot be read ``OSError``.
    """
    data = BytesIO(path.read_bytes())
    try:
        with np.load(data, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        content: dict[str, Any] = _unpacked(json.loads(arrays.pop("header").tobytes()), arrays)
        content["draws"] = [_draw(values) for values in content["draws"]]
        for name in _KEYS:
            content[name]
        return content
    except Exception as error:  # many kinds, from the first byte to a missing number
        raise ValueError(
            f"{path} is not a checkpoint of a fit, or is damaged ({error}); delete it to start "
            "anew, or give another path."
        ) from error


def _packed(value: Any, place: str, arrays: dict[str, Any]) -> Any:
    """Return a value for JSON, with names of arrays in the place of arrays."""
    if isinstance(value, np.ndarray):
        arrays[place] = value
        return {_ARRAY: place}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Draw | Components):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {name: _packed(each, f"{place}.{name}", arrays) for name, each in value.items()}
    if isinstance(value, list):
        return [_packed(each, f"{place}.{index}", arrays) for index, each in enumerate(value)]
    return value


def _unpacked(value: Any, arrays: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        if _ARRAY in value:
            return arrays[value[_ARRAY]]
        return {name: _unpacked(each, arrays) for name, each in value.items()}
    return [_unpacked(each, arrays) for each in value] if isinstance(value, list) else value


def _draw(values: dict[str, Any]) -> Draw:
    if values["components"] is not None:
        values["components"] = Components(**values["components"])
    return Draw(**values)
