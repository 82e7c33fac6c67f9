"""Files by which a fit that was killed goes on."""

from dataclasses import replace
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from bochner.learning.inference.checkpoint import chain_path
from bochner.learning.inference.settings import Data, Settings


def problem_paths(checkpoint: Any, count: int) -> list[Path | None]:
    """Return the file of each of the problems of a fit, or ``None`` without a checkpoint.

    Raises
    ------
    ValueError
        If the file cannot be written where it is to be.
    """
    if checkpoint is None:
        return [None] * count
    path = Path(checkpoint)
    if not path.parent.is_dir():
        raise ValueError(
            f"checkpoint {str(path)!r} lies in a folder that does not exist; make it first."
        )
    if path.is_dir():
        raise ValueError(f"checkpoint {str(path)!r} is a folder; give the name of a file in it.")
    return [path if count == 1 else path.with_name(f"{path.name}.class{i}") for i in range(count)]


def fingerprint_of(data: Data, settings: Settings, seed: int) -> str:
    """Return what tells a problem from others, so that no checkpoint continues another one."""
    # How many processes and threads do the work changes nothing.
    settings = replace(settings, n_jobs=None, n_threads=1)
    digest = sha256(repr((settings, seed, data.is_binary)).encode())
    for array in (data.X, data.y, data.fixed, data.weight):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def forget(path: Path | None, n_chains: int) -> None:
    """Delete the checkpoints of a finished problem."""
    if path is None:
        return
    for index in range(n_chains):
        one = chain_path(path, index, n_chains)
        one.unlink(missing_ok=True)
        # Of runs that were killed while they wrote.
        for partial in one.parent.glob(f"{escape(one.name)}.*.partial"):
            partial.unlink(missing_ok=True)
