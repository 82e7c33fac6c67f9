"""Files in the safetensors format with tensors and one JSON header, written atomically."""

import json
import math
import os
import zlib
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from safetensors.numpy import save as to_safetensors

from bochner._base.file_writing import check_model_file, replacing
from bochner._base.names import one_line

Tensors = dict[str, NDArray[Any]]

FORMAT = 4
"""Version of the format, raised by every change that other versions cannot read."""

_KEY = "bochner"
_LONGEST_HEADER = 40_000_000  # bytes; safetensors itself refuses headers of 100 MB
_KINDS = {
    b"PK": "a zip archive (like skops, .npz and .xlsx files)",
    b"\x1f\x8b": "a gzip archive",
    b"\x80": "a Python pickle, which bochner never opens",
    b"\x93NUMPY": "a NumPy array",
    b"PAR1": "a Parquet table",
}
"""First bytes of other files that users may mistake for models, with their names."""


class ModelFileError(ValueError):
    """A model file that cannot be read or written; the message gives the reason."""


def write(path: Path, tree: object, tensors: Tensors) -> None:
    """Write a model file atomically; an ``OSError`` leaves an existing file unchanged."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a directory; give the name of a file in it.")
    if not path.parent.is_dir():
        raise ModelFileError(f"{path.parent} is not a directory; create it first.")
    text = _dumps(tree)
    if len(text) > _LONGEST_HEADER:
        raise ValueError(f"The model has {len(text)} bytes besides arrays of numbers: too many.")
    header = _dumps({"format": FORMAT, "crc32": _checksum(text, tensors), "model": tree})
    with replacing(path) as fresh:
        fresh.write_bytes(to_safetensors(tensors, metadata={_KEY: header}))


def read(path: Path) -> tuple[Any, Tensors]:
    """Return tree and tensors from one reading of a file; ``ModelFileError`` if it is unsound."""
    try:
        content = _content(path)
        tensors = dict(load(content))
        header = _header(path, content)
    except SafetensorError as problem:
        raise ModelFileError(f"{path} is cut off or damaged ({one_line(problem)}).") from problem
    except (OSError, MemoryError) as problem:
        reason = getattr(problem, "strerror", None) or problem or "not enough memory"
        raise ModelFileError(f"{path} cannot be read: {reason}.") from problem
    except (KeyError, ValueError, OverflowError) as problem:
        if str(path) in str(problem):
            raise ModelFileError(str(problem)) from problem.__cause__
        raise ModelFileError(f"{path} has an unusable tensor: {one_line(problem)}.") from problem
    tree = header.get("model")
    if header.get("crc32") != _checksum(_dumps(tree), tensors):
        raise ModelFileError(f"{path} is damaged: its contents do not match their checksum.")
    return tree, tensors


_dumps = partial(json.dumps, allow_nan=False, separators=(",", ":"))


def _checksum(text: str, tensors: Tensors) -> int:
    checksum = zlib.crc32(text.encode())
    for name in sorted(tensors):
        array = tensors[name]
        content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        checksum = zlib.crc32(content, checksum)
    return checksum


def _header(path: Path, content: bytes) -> dict[str, Any]:
    end = 8 + int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8:end]).get("__metadata__") or {}
    if _KEY not in metadata:
        raise ModelFileError(f"{path} is a safetensors file, but not a model that bochner saved.")
    try:
        header = json.loads(metadata[_KEY], parse_constant=_finite_float, parse_float=_finite_float)
    except ValueError as problem:
        reason = f"its header is not JSON ({one_line(problem)})"
        raise ModelFileError(f"{path} is damaged: {reason}.") from problem
    except RecursionError as problem:
        raise ModelFileError(f"{path} is damaged: its header is nested too deep.") from problem
    header = header if isinstance(header, dict) else {}
    version = header.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{path} is damaged: its header does not state a format.")
    if version != FORMAT:
        raise ModelFileError(
            f"{path} was made by another version of bochner (file format {version}; this one reads "
            f"{FORMAT}): load it there, or fit the model again."
        )
    return header


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number of double precision")
    return value


def _content(path: Path) -> bytes:
    """Return the bytes of a file whose beginning is that of the safetensors format."""
    check_model_file(path)
    with path.open("rb") as file:
        start, size = file.read(9), os.fstat(file.fileno()).st_size
        announced = int.from_bytes(start[:8], "little")
        for first, kind in _KINDS.items():
            if start.startswith(first) and start[8:] != b"{":
                raise ModelFileError(f"{path} is not a model file but {kind}.")
        if start[8:] != b"{":
            raise ModelFileError(f"{path} is not a model file: it does not begin as one.")
        if announced + 8 > size:
            raise ModelFileError(
                f"{path} is cut off: its header alone should take {announced} bytes, it has {size}."
            )
        return start + file.read()
