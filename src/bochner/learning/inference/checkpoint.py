"""Checkpoint files of runs: arrays and numbers, written whole or not at all."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from bochner._numerics.files import replacing
from bochner.learning.inference.components import Components
from bochner.learning.inference.draws import Draw
from bochner.learning.moves.base import StepSizes

_DRAW_ARRAYS = ("omega", "coef", "whitener", "field_omega", "field_weights")
_DRAW_NUMBERS = ("precision", "noise_variance", "log_density")
_HEADER = ("fingerprint", "rng", "stage", "iteration", "seconds", "n_burn_in", "records")


def chain_path(path: Path, index: int, n_chains: int) -> Path:
    """Return the file of one of the chains of a problem."""
    return path if n_chains == 1 else path.with_name(f"{path.name}.{index}")


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write a checkpoint beside ``path`` and move it there, so that a kill leaves the old one."""
    arrays: dict[str, Any] = {}
    header = {name: content[name] for name in _HEADER}
    header["sizes"] = asdict(content["sizes"])
    for group in ("state", "prior"):
        for name, value in content[group].items():
            arrays[f"{group}.{name}"] = np.asarray(value)
    header["n_draws"] = len(content["draws"])
    for index, draw in enumerate(content["draws"]):
        for name in _DRAW_ARRAYS:
            if getattr(draw, name) is not None:
                arrays[f"draw.{index}.{name}"] = getattr(draw, name)
        if draw.components is not None:
            for name, value in _by_field(draw.components).items():
                arrays[f"draw.{index}.components.{name}"] = value
        arrays[f"draw.{index}.numbers"] = np.array([getattr(draw, n) for n in _DRAW_NUMBERS])
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with replacing(path) as fresh, fresh.open("wb") as file:
        np.savez(file, **arrays)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the content of a checkpoint; loading runs no code.

    Raises
    ------
    ValueError
        If the file is no checkpoint.
    OSError
        If the file cannot be read.
    """
    data = BytesIO(path.read_bytes())
    try:
        with np.load(data, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        return _content(arrays)
    except Exception as error:  # of many kinds, from the first byte to a missing number
        raise ValueError(
            f"{path} is not a checkpoint of a fit, or is damaged ({error}); delete it to start "
            "anew, or give another path."
        ) from error


def _content(arrays: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(arrays.pop("header").tobytes())
    content["sizes"] = StepSizes(**content["sizes"])
    for group in ("state", "prior"):
        content[group] = {
            name.removeprefix(f"{group}."): _number_or_array(value)
            for name, value in arrays.items()
            if name.startswith(f"{group}.")
        }
    content["draws"] = [_draw(arrays, index) for index in range(content["n_draws"])]
    for name in _HEADER:
        content[name]
    return content


def _draw(arrays: Mapping[str, Any], index: int) -> Draw:
    values: dict[str, Any] = {name: arrays.get(f"draw.{index}.{name}") for name in _DRAW_ARRAYS}
    numbers = arrays[f"draw.{index}.numbers"].tolist()
    prefix = f"draw.{index}.components."
    parts = {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }
    return Draw(
        **values,
        **dict(zip(_DRAW_NUMBERS, numbers, strict=True)),
        components=Components(**parts) if parts else None,
    )


def _by_field(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _number_or_array(value: Any) -> Any:
    return value.item() if value.ndim == 0 else value
