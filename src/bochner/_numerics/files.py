"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write, which replaces ``path`` only if the block succeeds.

    The file ``NAME.TOKEN.partial`` in the folder of ``path`` is flushed to the disk before it
    replaces the old one, and removed if the block raises.
    """
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    try:
        yield fresh
        with fresh.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
